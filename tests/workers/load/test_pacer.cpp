// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/load/pacer.h"

#include <gtest/gtest.h>

namespace n2nq::worker {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

struct Case {
  const char* name;
  Interval interval;
  StartPhase start;
  std::uint32_t number, total;
  std::int64_t index;
  std::int64_t due_ns;
};

TEST(Pacer, DueTimes) {
  const Case cases[] = {
      {"the first in phase", {500'000'000, 1}, StartPhase::in_phase, 7, 50, 0, 0},
      {"the tenth in phase", {500'000'000, 1}, StartPhase::in_phase, 7, 50, 9, 4'500'000'000},
      {"the first sender, spread", {500'000'000, 1}, StartPhase::spread, 1, 50, 0, 0},
      {"the second sender, spread", {500'000'000, 1}, StartPhase::spread, 2, 50, 0, 10'000'000},
      {"the last sender, spread", {500'000'000, 1}, StartPhase::spread, 50, 50, 0, 490'000'000},
      {"spread and later", {500'000'000, 1}, StartPhase::spread, 50, 50, 3, 1'990'000'000},
      {"3,000 a second", {second_ns, 3000}, StartPhase::in_phase, 1, 1, 1, 333'333},
      {"3,000 a second, second 1", {second_ns, 3000}, StartPhase::in_phase, 1, 1, 3000, second_ns},
      {"3,000 a second, a year later", {second_ns, 3000}, StartPhase::in_phase, 1, 1, 3000ll * 31'536'000, 31'536'000 * second_ns},
      {"spread over a part of a nanosecond", {second_ns, 3000}, StartPhase::spread, 2, 3, 0, 111'111},
      {"the warm-up's last, spread", {500'000'000, 1}, StartPhase::spread, 50, 50, -1, -10'000'000},
      {"the warm-up's first", {500'000'000, 1}, StartPhase::in_phase, 1, 1, -1'000'000, -500'000 * second_ns},
      {"warm-up at 3,000 a second", {second_ns, 3000}, StartPhase::in_phase, 1, 1, -1, -333'334},
      {"warm-up at 3,000 a second, a second before", {second_ns, 3000}, StartPhase::in_phase, 1, 1, -3000, -second_ns},
      {"0.333333 a second", {1'000'000'000'000'000, 333'333}, StartPhase::in_phase, 1, 1, 333'333, 1'000'000 * second_ns},
  };
  for (const Case& c : cases) EXPECT_EQ(Pacer(c.interval, c.start, c.number, c.total).due_ns(c.index), c.due_ns) << c.name;
}

TEST(Pacer, AMinuteOf3000ASecondIs180000) {
  const Pacer pacer({second_ns, 3000}, StartPhase::spread, 1, 1);
  EXPECT_EQ(pacer.messages_within(60 * second_ns), 180'000u);
  EXPECT_LT(pacer.due_ns(179'999), 60 * second_ns);
  EXPECT_EQ(pacer.due_ns(180'000), 60 * second_ns);
}

TEST(Pacer, DoesNotDrift) {
  const Pacer pacer({second_ns, 3000}, StartPhase::spread, 1, 1);
  for (std::int64_t second = -60; second < 3600; ++second) ASSERT_EQ(pacer.due_ns(second * 3000), second * second_ns);
}

TEST(Pacer, EverySenderSendsAsMuchInAWholeNumberOfIntervals) {
  for (std::uint32_t number = 1; number <= 50; ++number) {
    const Pacer pacer({500'000'000, 1}, StartPhase::spread, number, 50);
    EXPECT_EQ(pacer.messages_within(5 * second_ns), 10u) << number;
  }
}

TEST(Pacer, MessagesWithinAgreesWithTheDueTimes) {
  for (const Interval interval : {Interval{1, 1}, Interval{7, 3}, Interval{second_ns, 3000}, Interval{500'000'000, 1}, Interval{3, 7}}) {
    for (std::uint32_t number = 1; number <= 3; ++number) {
      const Pacer pacer(interval, StartPhase::spread, number, 3);
      for (const std::int64_t duration_ns : {0, 1, 2, 3, 10, 999, 1000}) {
        std::uint64_t counted = 0;
        while (counted < 10'000 && pacer.due_ns(static_cast<std::int64_t>(counted)) < duration_ns) ++counted;
        ASSERT_EQ(pacer.messages_within(duration_ns), counted) << interval.num_ns << "/" << interval.den << " within " << duration_ns;
      }
    }
  }
}

TEST(Pacer, KnowsThatThereIsNoPlan) {
  EXPECT_TRUE(Pacer({0, 1}, StartPhase::spread, 1, 1).as_fast_as_it_goes());
  EXPECT_FALSE(Pacer({1, 1}, StartPhase::spread, 1, 1).as_fast_as_it_goes());
}

}  // namespace
}  // namespace n2nq::worker
