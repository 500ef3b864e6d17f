// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QSaveFile>
#include <algorithm>
#include <cerrno>

namespace n2nq::app {

namespace {

constexpr qint64 piece_bytes = 1 << 20;

QString kind_words(mode_t mode) {
  if (S_ISFIFO(mode)) return "it is a pipe, and no file";
  if (S_ISDIR(mode)) return "it is a folder, and no file";
  return "it is a device, and no file";
}

}  // namespace

QString open_regular(QFile& file) {
  // Without O_NONBLOCK a pipe that nobody writes into is waited for already here.
  const int fd = ::open(QFile::encodeName(file.fileName()).constData(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return qt_error_string(errno);
  struct stat facts {};
  QString why;
  if (::fstat(fd, &facts) != 0) {
    why = qt_error_string(errno);
  } else if (!S_ISREG(facts.st_mode)) {
    why = kind_words(facts.st_mode);
  } else if (!file.open(fd, QIODevice::ReadOnly, QFileDevice::AutoCloseHandle)) {
    why = file.errorString();
  }
  if (!why.isEmpty()) ::close(fd);
  return why;
}

std::optional<QByteArray> read_whole(const QString& path, qint64 bytes_max, QString& error) {
  QFile file(path);
  QString why = open_regular(file);
  QByteArray bytes;
  if (why.isEmpty()) {
    // Whatever its size is said to be: it may grow meanwhile. In pieces, for so much may be allowed that nobody has as much memory.
    QByteArray piece;
    while (bytes.size() <= bytes_max && !(piece = file.read(std::min(piece_bytes, bytes_max + 1 - bytes.size()))).isEmpty()) bytes += piece;
    if (file.error() != QFileDevice::NoError) why = file.errorString();
    if (bytes.size() > bytes_max) why = QString("it is larger than %1 B").arg(bytes_max);
  }
  if (!why.isEmpty()) return error = QString("Cannot read %1: %2").arg(path, why), std::nullopt;
  return bytes;
}

bool write_all(QFileDevice& file, const QByteArray& bytes) {
  qint64 taken = 0;
  while (taken < bytes.size()) {
    const qint64 more = file.write(bytes.constData() + taken, bytes.size() - taken);
    if (more <= 0) return false;
    taken += more;
  }
  return true;
}

QString write_whole(const QString& path, const QByteArray& bytes, std::optional<QFileDevice::Permissions> permissions) {
  QSaveFile file(path);
  // Neither flush() nor commit() tells why buffered bytes were taken in part.
  const bool open = file.open(QIODevice::WriteOnly | QIODevice::Unbuffered) && (!permissions || file.setPermissions(*permissions));
  if (open && write_all(file, bytes) && file.commit()) return {};
  return QString("Cannot write %1: %2").arg(path, file.errorString());
}

}  // namespace n2nq::app
