// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace n2nq::app
