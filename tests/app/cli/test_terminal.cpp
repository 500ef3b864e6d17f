// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

namespace n2nq::app {
namespace {

TEST(Terminal, ObeysNothingThatAHostHasSaid) {
  testing::internal::CaptureStderr();
  Terminal().say(QString::fromUtf8("S001: N2NQ says: \x1b]0;mine\a\r\nsecond line, Größe"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "S001: N2NQ says: \\x1B]0;mine\\x07\\x0D\nsecond line, Größe\n");
}

TEST(Terminal, ObeysNothingOnStdoutEitherAndLeavesJsonAsItIs) {
  testing::internal::CaptureStdout();
  EXPECT_TRUE(Terminal().print(QString::fromUtf8("± 4 µs\nh2: \x1b[31mred\r\n")));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "± 4 µs\nh2: \\x1B[31mred\\x0D\n");
  testing::internal::CaptureStdout();
  EXPECT_TRUE(Terminal().print_json("{\"a\": \"\x7f\"}"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{\"a\": \"\x7f\"}\n");
}

/// What a terminal of so many columns is sent while stderr is that terminal.
template <class Do>
std::string sent_to_terminal(unsigned short columns, Do&& what) {
  const int screen = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_TRUE(screen >= 0 && ::grantpt(screen) == 0 && ::unlockpt(screen) == 0);
  const int line = ::open(::ptsname(screen), O_RDWR | O_NOCTTY);
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(::ioctl(line, TIOCSWINSZ, &size), 0);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(line, STDERR_FILENO);
  what();
  ::dup2(before, STDERR_FILENO);
  std::string out(4096, '\0');
  const ssize_t count = ::read(screen, out.data(), out.size());
  for (const int fd : {before, line, screen}) ::close(fd);
  return out.substr(0, count > 0 ? static_cast<std::size_t>(count) : 0);
}

TEST(Terminal, CutsALineOfProgressThatIsTooLongAndSaysSo) {
  EXPECT_EQ(sent_to_terminal(20, [] { Terminal().progress("nineteen characters"); }), "\r\x1b[Knineteen characters");
  EXPECT_EQ(sent_to_terminal(20, [] { Terminal().progress("twenty characters. ."); }), "\r\x1b[Ktwenty characters.…");
  int columns = 0;
  sent_to_terminal(80, [&] {
    Terminal terminal;
    columns = terminal.progress_columns();
    terminal.progress("read by this test");
  });
  EXPECT_EQ(columns, 79);
}

}  // namespace
}  // namespace n2nq::app
