// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/folder_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QByteArray>
#include <QFile>
#include <cerrno>
#include <utility>

namespace n2nq::app {

namespace {

/// Of the open file, not of the process (fcntl(2), open file description locks): who asks for it by F_OFD_GETLK takes nothing meanwhile.
struct flock whole_file() {
  struct flock out {};
  out.l_type = F_WRLCK;
  out.l_whence = SEEK_SET;
  return out;
}

}  // namespace

std::optional<FolderLock> FolderLock::take(const QString& file) {
  const QByteArray path = QFile::encodeName(file);
  for (;;) {
    const int fd = ::open(path.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return std::nullopt;
    struct stat facts {};
    struct flock all = whole_file();
    if (::fcntl(fd, F_OFD_SETLK, &all) != 0 || ::fstat(fd, &facts) != 0) {
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
  struct flock all = whole_file();
  const bool is_held = ::fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
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
