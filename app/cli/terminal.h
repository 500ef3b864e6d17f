// SPDX-License-Identifier: GPL-3.0-or-later
// The two streams of a command: results on stdout, everything else on stderr, where one line may be overwritten while it works.
// Control characters that a host or N2NQ has put into what is said there are shown as "\xNN", not obeyed; JSON is printed as it is.
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <functional>
#include <string>

namespace n2nq::app {

class Terminal {
 public:
  Terminal();
  /// Shows where the work is: overwritten on a terminal, and cut with "…" where it is too narrow; otherwise a line every few seconds.
  void progress(const QString& text);
  /// So many characters of it are seen.
  int progress_columns() const;
  /// A line of its own on stderr.
  void say(const QString& text);
  /// A page on stdout. The progress line is gone by then. False when it could not be written as a whole; why is said on stderr.
  bool print(const QString& text);
  /// So, too, a line or more for programs: not a letter of it is changed.
  bool print_json(const std::string& json);
  /// Called before each line and page: somebody else's line may stand there without an end.
  void set_before_lines(std::function<void()> call) { before_lines_ = std::move(call); }

 private:
  bool write_out(const QString& text);
  void clear_line();

  bool overwrites_;
  bool line_open_ = false;
  QElapsedTimer since_line_;
  std::function<void()> before_lines_;
};

/// What others have said, as one line: control characters and ends of lines as "\xNN".
QString one_line(const QString& text);
/// Padded on the left or right by characters, not bytes.
QString right_aligned(const QString& text, int width);
QString left_aligned(const QString& text, int width);

}  // namespace n2nq::app
