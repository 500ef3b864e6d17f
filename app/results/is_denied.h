// SPDX-License-Identifier: GPL-3.0-or-later
// What this user may not look at is not to be told as missing.
#pragma once

#include <unistd.h>

#include <QFile>
#include <QString>
#include <cerrno>

namespace n2nq::app {

/// Whether nobody can say if it is there: a folder on the way to it may not be searched. With R_OK: or it may not be read.
inline bool is_denied(const QString& path, int mode = F_OK) {
  return ::access(QFile::encodeName(path).constData(), mode) != 0 && errno == EACCES;
}

/// The same of a folder and what is in it.
inline bool is_denied_folder(const QString& folder) {
  return is_denied(folder + "/.", R_OK);
}

inline QString denied_words(const QString& path) {
  return QString("%1 cannot be read: permission denied").arg(path);
}

}  // namespace n2nq::app
