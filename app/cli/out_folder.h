// SPDX-License-Identifier: GPL-3.0-or-later
// The folder that --out names.
#pragma once

#include <QDir>
#include <QFileInfo>
#include <QString>
#include <filesystem>
#include <system_error>

namespace n2nq::app {

/// As an absolute path; empty: `error` says why not. Without a working folder Qt takes the root for it.
inline QString absolute_out(const QString& out, QString& error) {
  std::error_code gone;
  if (QDir::isRelativePath(out) && std::filesystem::current_path(gone).empty()) {
    return error = out + ": the working folder is gone: give an absolute path", QString();
  }
  return QDir::current().absoluteFilePath(out);
}

/// Whether another one has to be named: it is a file, not empty, or below a file. What else keeps a result from being written is no bad
/// input. To be asked before anything is written into it.
inline bool is_wrong_out(const QString& folder) {
  const QFileInfo named(folder);
  if (named.isDir()) return !QDir(folder).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
  QFileInfo nearest = named;
  while (!nearest.exists() && !nearest.isRoot()) nearest.setFile(nearest.path());
  return !nearest.isDir();
}

}  // namespace n2nq::app
