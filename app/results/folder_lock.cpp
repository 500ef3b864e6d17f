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

/// Each time it was removed between our opening and our locking it. A file system may say of every file that it was.
constexpr int attempts_max = 20;

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
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    const int fd = ::open(path.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
    if (fd < 0) return std::nullopt;
    struct stat facts {};
    struct flock all = whole_file();
    errno = EINVAL;  // of what is no file
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || ::fcntl(fd, F_OFD_SETLK, &all) != 0) {
      const int why = errno;
      ::close(fd);
      errno = why;
      return std::nullopt;
    }
    // Behind the lock: who had it may have just removed it, and whoever comes makes another one.
    if (::fstat(fd, &facts) != 0 || facts.st_nlink == 0) {
      ::close(fd);
      continue;
    }
    const QByteArray own = QByteArray::number(::getpid()) + '\n';
    // Only for who reads it.
    [[maybe_unused]] const bool is_told =
        ::ftruncate(fd, 0) == 0 && ::pwrite(fd, own.constData(), static_cast<std::size_t>(own.size()), 0) == own.size();
    return FolderLock(file, fd);
  }
  errno = ENOLCK;
  return std::nullopt;
}

qint64 FolderLock::holder(const QString& file) {
  // Somebody else may have put a pipe in its place: that is not waited for.
  const int fd = ::open(QFile::encodeName(file).constData(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return 0;
  char text[32] = {};
  struct stat facts {};
  struct flock all = whole_file();
  const bool is_held =
      ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && ::fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
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
