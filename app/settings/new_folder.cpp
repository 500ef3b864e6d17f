// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/new_folder.h"

#include <QDir>
#include <QFileInfo>

namespace n2nq::app {

namespace {

constexpr int same_name_max = 1000;

}  // namespace

QString make_own_folder(const QString& parent, const QString& name, QString& error) {
  if (!QDir().mkpath(parent)) return error = "Cannot make the folder " + parent, QString();
  for (int i = 1; i <= same_name_max; ++i) {
    const QString path = QDir(parent).absoluteFilePath(i == 1 ? name : QString("%1-%2").arg(name, QString::number(i)));
    // mkdir, not mkpath: two benches that begin in the same second must not share a folder.
    if (QDir().mkdir(path)) return path;
    if (!QFileInfo::exists(path)) break;
  }
  error = QString("Cannot make the folder %1/%2: is it writable?").arg(parent, name);
  return {};
}

QString make_exact_folder(const QString& path, const QString& or_else, QString& error) {
  const QDir folder(path);
  if (QFileInfo::exists(path) && !QFileInfo(path).isDir()) {
    error = QString("%1 is a file: name a folder that does not exist yet").arg(path);
  } else if (folder.exists() && !folder.isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)) {
    error = QString("The folder %1 is not empty: name one that does not exist yet, %2").arg(path, or_else);
  } else if (!QDir().mkpath(path)) {
    error = QString("Cannot make the folder %1: is it writable?").arg(path);
  } else {
    return QFileInfo(path).absoluteFilePath();
  }
  return {};
}

}  // namespace n2nq::app
