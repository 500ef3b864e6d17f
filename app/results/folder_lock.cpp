// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QByteArray>
#include <QFile>
#include <cerrno>
#include <utility>

namespace n2nq::app {

std::optional<FolderLock> FolderLock::take(const QString& file) {
  const QByteArray path = QFile::encodeName(file);
  for (;;) {
    const int fd = ::open(path.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return std::nullopt;
    struct stat facts {};
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 || ::fstat(fd, &facts) != 0) {
      const int why = errno;
      ::close(fd);
      errno = why;
      return std::nullopt;
    }
    if (facts.st_nlink == 0) {  // who had it has just removed it: whoever comes makes another one
      ::close(fd);
      continue;
    }
    const QByteArray own = QByteArray::number(::getpid()) + '\n';
    // Only for who reads it.
    [[maybe_unused]] const bool is_told =
        ::ftruncate(fd, 0) == 0 && ::pwrite(fd, own.constData(), static_cast<std::size_t>(own.size()), 0) == own.size();
    return FolderLock(file, fd);
  }
}

qint64 FolderLock::holder(const QString& file) {
  const int fd = ::open(QFile::encodeName(file).constData(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 0;
  char text[32] = {};
  const bool is_held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const auto bytes = is_held ? ::pread(fd, text, sizeof text - 1, 0) : 0;
  ::close(fd);
  return bytes > 0 ? QByteArray(text).trimmed().toLongLong() : 0;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)) {}

FolderLock::~FolderLock() {
  if (fd_ < 0) return;
  ::unlink(QFile::encodeName(file_).constData());
  ::close(fd_);
}

}  // namespace n2nq::app
