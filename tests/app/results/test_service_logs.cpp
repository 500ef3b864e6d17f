// SPDX-License-Identifier: GPL-3.0-or-later
// What the lines between clocks in a receiver's log make of its stamps.
#include "app/results/service_logs.h"

#include <gtest/gtest.h>

#include <string>

namespace n2nq::app {
namespace {

std::string clock_line(const char* whose, std::int64_t from_ns, std::int64_t offset_ns) {
  return std::string("# clock: ") + whose + " from_ns=" + std::to_string(from_ns) + " at_ns=" + std::to_string(from_ns) +
         " offset_ns=" + std::to_string(offset_ns) + " drift_ppt=0 asymmetry_ns=1 estimation_ns=1";
}

TEST(LogClocks, ALineCountsFromItsInstantOn) {
  LogClocks clocks;
  EXPECT_EQ(clocks.between(90, 100, 0), 0) << "of one clock";
  ASSERT_TRUE(clocks.take(clock_line("own", 100, 10), 0));
  ASSERT_TRUE(clocks.take(clock_line("senders", 100, 3), 0));
  ASSERT_TRUE(clocks.take(clock_line("own", 200, 20), 5));
  EXPECT_EQ(clocks.between(90, 50, 0), 7) << "what was read before the first gets that";
  EXPECT_EQ(clocks.between(90, 199, 5), 7) << "it was read before, and looked at behind it";
  EXPECT_EQ(clocks.between(90, 200, 5), 17);
  ASSERT_TRUE(clocks.take("# clock: senders from_ns=300 same as own", 8));
  EXPECT_EQ(clocks.between(90, 299, 8), 17);
  EXPECT_EQ(clocks.between(90, 300, 8), 0);
}

TEST(LogClocks, WhereTheClockWentBackALineCountsForWhatStandsBehindIt) {
  LogClocks clocks;
  ASSERT_TRUE(clocks.take(clock_line("own", 1'000, 10), 0));
  ASSERT_TRUE(clocks.take(clock_line("own", 1'800, 11), 20));
  ASSERT_TRUE(clocks.take(clock_line("own", 1'300, 1'010), 30));  // it went back by 1,000
  ASSERT_TRUE(clocks.take(clock_line("own", 2'500, 1'011), 60));
  EXPECT_EQ(clocks.between(0, 1'700, 19), 10);
  EXPECT_EQ(clocks.between(0, 1'900, 29), 11) << "the first time that it said so";
  EXPECT_EQ(clocks.between(0, 1'200, 29), 10) << "it had gone back, and nobody knew yet";
  EXPECT_EQ(clocks.between(0, 1'900, 50), 1'010) << "the second time";
  EXPECT_EQ(clocks.between(0, 2'600, 70), 1'011);
}

TEST(LogClocks, TakesNoOtherLine) {
  LogClocks clocks;
  for (const char* line : {"# clock: own", "# clock: broker from_ns=1", "# clock: own from_ns=1 at_ns=1 offset_ns=x drift_ppt=0",
                           "# clock: own from_ns=1 at_ns=1 offset_ns=1 drift_ppt=99000000000", "# lines: 7"}) {
    EXPECT_FALSE(clocks.take(line, 0)) << line;
  }
  EXPECT_EQ(clocks.between(90, 100, 0), 0);
}

}  // namespace
}  // namespace n2nq::app
