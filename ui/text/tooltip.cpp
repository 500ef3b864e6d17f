// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/tooltip.h"

#include <QStringList>
#include <QTextDocument>
#include <algorithm>

namespace n2nq::ui {

namespace {

constexpr qsizetype line_chars_max = 80;

/// A word that is longer than a line, as paths are, stays whole; what follows an indent stands below it.
void add_lines(QString line, QStringList& lines) {
  qsizetype indent = 0;
  while (indent < std::min(line.size(), line_chars_max / 2) && line[indent] == u' ') ++indent;
  const QString before(indent, u' ');
  while (line.size() > line_chars_max) {
    qsizetype at = line.lastIndexOf(u' ', line_chars_max);
    if (at <= indent) at = line.indexOf(u' ', line_chars_max);  // behind the indent in any case, so that it ends
    if (at < 0) break;
    lines << line.left(at);
    line = before + line.mid(at + 1);
  }
  lines << line;
}

}  // namespace

QString tooltip_of(const QString& text) {
  QStringList lines;
  for (const QString& line : text.split(u'\n')) add_lines(line, lines);
  const QString wrapped = lines.join(u'\n');
  return Qt::mightBeRichText(wrapped) ? Qt::convertFromPlainText(wrapped, Qt::WhiteSpaceNormal) : wrapped;
}

}  // namespace n2nq::ui
