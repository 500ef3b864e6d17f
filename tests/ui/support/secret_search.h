// SPDX-License-Identifier: GPL-3.0-or-later
// Whether something that must not be kept is found in files, in arguments or in environment variables, as holders() of test_lab_logins.py.
#pragma once

#include <QByteArray>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QList>
#include <QString>
#include <QStringList>
#include <algorithm>

namespace n2nq::ui_test {

inline constexpr qint64 piece_bytes = 1 << 20;
inline constexpr qint64 looked_at_bytes_max = 512 * piece_bytes;  // of a file; a program with sanitizers has some 50 MB
inline constexpr int looked_at_files_max = 20'000;

/// The path where any of the words is in that file; what to say where it is too large to be looked at as a whole; else empty.
inline QString holder(const QList<QByteArray>& words, const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly | QIODevice::Unbuffered)) return {};  // of a process that has ended
  qsizetype longest = 1;
  for (const QByteArray& word : words) longest = std::max(longest, word.size());
  QByteArray text;
  for (qint64 read_bytes = 0; read_bytes < looked_at_bytes_max;) {
    const QByteArray piece = file.read(piece_bytes);
    if (piece.isEmpty()) return {};
    read_bytes += piece.size();
    text = text.right(longest - 1) + piece;  // a word may begin in the piece before
    for (const QByteArray& word : words) {
      if (text.contains(word)) return path;
    }
  }
  return path + QStringLiteral(": has more than is looked at");
}

/// Where any of the words is: command lines and environments of all processes, those on pretend hosts, too; files below the folders. Also
/// which of these could not be looked at as a whole. For any thread.
inline QStringList holders(const QList<QByteArray>& words, const QStringList& folders) {
  QStringList found;
  const auto look_at = [&](const QString& path) {
    if (const QString said = holder(words, path); !said.isEmpty()) found << said;
  };
  for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
    if (entry.toInt() <= 0) continue;
    look_at(QStringLiteral("/proc/%1/cmdline").arg(entry));
    look_at(QStringLiteral("/proc/%1/environ").arg(entry));
  }
  int files = 0;
  for (const QString& folder : folders) {
    if (!QFileInfo(folder).isDir()) found << folder + QStringLiteral(": is not there");
    QDirIterator each(folder, QDir::Files | QDir::Hidden | QDir::NoSymLinks, QDirIterator::Subdirectories);
    while (each.hasNext() && ++files <= looked_at_files_max) look_at(each.next());
  }
  if (files > looked_at_files_max) found << QStringLiteral("there are more files than are looked at");
  return found;
}

}  // namespace n2nq::ui_test
