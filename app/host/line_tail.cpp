// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/line_tail.h"

namespace n2nq::app {

void LineTail::add(const QByteArray& bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      take_line();
    } else if (open_line_.size() < line_chars_max_) {
      open_line_ += c;
    }
  }
}

QStringList LineTail::lines() const {
  QStringList out = lines_;
  if (!open_line_.trimmed().isEmpty()) out += QString::fromUtf8(open_line_).trimmed();
  return out.mid(qMax(0, static_cast<int>(out.size()) - lines_max_));
}

void LineTail::take_line() {
  const QString line = QString::fromUtf8(open_line_).trimmed();
  open_line_.clear();
  if (line.isEmpty()) return;
  lines_ += line;
  if (lines_.size() > lines_max_) lines_.removeFirst();
}

}  // namespace n2nq::app
