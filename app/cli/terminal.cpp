// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <QStringList>
#include <algorithm>
#include <cstring>
#include <limits>

#include "broker/wire/printable.h"

namespace n2nq::app {

namespace {

constexpr int line_every_ms = 5'000;
constexpr int columns_default = 80;

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : columns_default;
}

bool write_to(FILE* stream, const QString& text) {
  const QByteArray bytes = text.toUtf8();
  const auto size = static_cast<std::size_t>(bytes.size());
  return ::fwrite(bytes.constData(), 1, size, stream) == size && ::fflush(stream) == 0;
}

/// Lines as they are to be seen: what a host or N2NQ has said is among them.
QString printable_lines(const QString& text) {
  QStringList lines = text.split('\n');
  for (QString& line : lines) line = one_line(line);
  return lines.join('\n');
}

}  // namespace

Terminal::Terminal() : overwrites_(::isatty(STDERR_FILENO) == 1) {}

void Terminal::progress(const QString& progress) {
  const QString text = printable_lines(progress);
  if (overwrites_) {
    const int columns = progress_columns();
    const bool fits = text.size() <= columns;
    write_to(stderr, "\r\033[K" + (fits ? text : text.left(columns - 1) + QString::fromUtf8("…")));
    line_open_ = true;
  } else if (!since_line_.isValid() || since_line_.elapsed() >= line_every_ms) {
    since_line_.start();
    write_to(stderr, text + '\n');
  }
}

int Terminal::progress_columns() const {
  // One column is left free: a full last column would begin a new line.
  return overwrites_ ? std::max(terminal_columns() - 1, 1) : std::numeric_limits<int>::max();
}

void Terminal::say(const QString& text) {
  clear_line();
  write_to(stderr, printable_lines(text) + '\n');
}

bool Terminal::print(const QString& text) {
  return write_out(printable_lines(text));
}

bool Terminal::print_json(const std::string& json) {
  return write_out(QString::fromStdString(json) + '\n');
}

bool Terminal::write_out(const QString& text) {
  clear_line();
  if (write_to(stdout, text)) return true;
  say(QString("n2nq-bench: cannot write to standard output: %1").arg(QString::fromLocal8Bit(std::strerror(errno))));
  return false;
}

void Terminal::clear_line() {
  if (before_lines_) before_lines_();
  if (line_open_) write_to(stderr, "\r\033[K");
  line_open_ = false;
}

QString one_line(const QString& text) {
  return QString::fromStdString(wire::printable(text.toStdString()));
}

QString right_aligned(const QString& text, int width) {
  return text.rightJustified(width);
}

QString left_aligned(const QString& text, int width) {
  return text.leftJustified(width);
}

}  // namespace n2nq::app
