// SPDX-License-Identifier: GPL-3.0-or-later
// The two streams of a command: results on stdout, everything else on stderr, where one line may be overwritten while it works.
// Control characters that a host or N2NQ has put into what is said on stderr are shown as "\xNN", not obeyed.
#pragma once

#include <QElapsedTimer>
#include <QString>

namespace n2nq::app {

class Terminal {
 public:
  Terminal();
  /// Shows where the work is: overwritten on a terminal, otherwise a line every few seconds.
  void progress(const QString& text);
  /// A line of its own on stderr.
  void say(const QString& text);
  /// On stdout. The progress line is gone by then. False when it could not be written as a whole; why is said on stderr.
  bool print(const QString& text);

 private:
  void clear_line();

  bool overwrites_;
  bool line_open_ = false;
  QElapsedTimer since_line_;
};

/// Padded on the left or right by characters, not bytes.
QString right_aligned(const QString& text, int width);
QString left_aligned(const QString& text, int width);

}  // namespace n2nq::app
