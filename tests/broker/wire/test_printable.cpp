// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/printable.h"

#include <gtest/gtest.h>

#include "broker/wire/messages.h"

namespace n2nq::wire {
namespace {

TEST(Printable, LeavesLettersOfAllLanguagesAsTheyAre) {
  const std::string text = "plain, Größe, 队列, 🚀, \\ and \"quotes\"";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, NamesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[2Jgone"), "\\x1B[2Jgone");
  EXPECT_EQ(printable("one\r\ntwo\ttabs\x7f"), "one\\x0D\\x0Atwo\\x09tabs\\x7F");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b" "31m"), "\\xC2\\x9B31m") << "the C1 way to begin a control sequence";
  EXPECT_EQ(printable("a\xe2\x80\xae" "b"), "a\\xE2\\x80\\xAEb") << "turns the direction of writing";
}

TEST(Printable, NamesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xFF");
  EXPECT_EQ(printable("\x9b" "31m"), "\\x9B31m");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xC0\\x9B") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xE0\\x80\\x9B") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xED\\xA0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80") << "above the last letter";
  EXPECT_EQ(printable("cut \xe9\x98"), "cut \\xE9\\x98");
}

TEST(Printable, WhatAnErrorSaysIsReadSo) {
  Bytes bytes;
  Error{ErrorCode::frame, "\x1b]0;owned\a \xff\nline"}.encode(bytes);
  const auto error = Error::decode(ByteView(bytes).subspan(frame_header_bytes));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->text, "\\x1B]0;owned\\x07 \\xFF\\x0Aline");
}

}  // namespace
}  // namespace n2nq::wire
