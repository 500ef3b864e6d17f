// SPDX-License-Identifier: GPL-3.0-or-later
// The last lines of a stream, in bounded memory: what a process said last when it died.
#pragma once

#include <QByteArray>
#include <QStringList>

namespace n2nq::app {

class LineTail {
 public:
  LineTail(int lines_max, int line_chars_max) : lines_max_(lines_max), line_chars_max_(line_chars_max) {}
  /// Bytes in pieces of any size. A line that is too long keeps its beginning.
  void add(const QByteArray& bytes);
  /// Oldest first; a last line without newline counts.
  QStringList lines() const;

 private:
  void take_line();
  int lines_max_;
  int line_chars_max_;
  QByteArray open_line_;
  QStringList lines_;
};

}  // namespace n2nq::app
