// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/clock_correction.h"

#include <gtest/gtest.h>

namespace n2nq::worker {
namespace {

constexpr std::int64_t s = 1'000'000'000;

measure::ClockLine ahead_by(std::int64_t offset_ns) {
  return {.at_ns = 0, .offset_ns = offset_ns, .drift_ppt = 0};
}

TEST(ClockCorrection, is_off_until_both_clocks_are_known) {
  ClockCorrection clocks;
  EXPECT_FALSE(clocks.is_on());
  clocks.set_own(ahead_by(5), 0);
  EXPECT_FALSE(clocks.is_on());
  clocks.set_senders(ahead_by(7), 0);
  EXPECT_TRUE(clocks.is_on());
  EXPECT_EQ(clocks.offsets(s, s).sender_ns, 7);
  EXPECT_EQ(clocks.offsets(s, s).receiver_ns, 5);
}

TEST(ClockCorrection, what_was_read_seconds_ago_gets_the_line_of_then) {
  ClockCorrection clocks;
  for (int i = 0; i < 10; ++i) {
    clocks.set_own(ahead_by(i), i * s);
    clocks.set_senders(ahead_by(100 + i), i * s + s / 2);
  }
  EXPECT_EQ(clocks.offsets(0, 20 * s).receiver_ns, 9);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(clocks.offsets(0, i * s).receiver_ns, i) << "from its instant on";
    EXPECT_EQ(clocks.offsets(0, (i + 1) * s - 1).receiver_ns, i) << "until the next one's";
    EXPECT_EQ(clocks.offsets(0, i * s + s / 2).sender_ns, 100 + i) << "by the instant of receipt, on our clock";
  }
  EXPECT_EQ(clocks.offsets(0, -s).receiver_ns, 0) << "before all of them: the first";
}

TEST(ClockCorrection, the_oldest_lines_make_room) {
  ClockCorrection clocks;
  const auto lines = static_cast<std::int64_t>(2 * ClockCorrection::lines_kept + 3);
  clocks.set_senders_same(0);
  for (std::int64_t i = 0; i < lines; ++i) clocks.set_own(ahead_by(i), i);
  const auto kept = static_cast<std::int64_t>(ClockCorrection::lines_kept);
  EXPECT_EQ(clocks.offsets(0, lines).receiver_ns, lines - 1);
  EXPECT_EQ(clocks.offsets(0, lines - kept).receiver_ns, lines - kept);
  EXPECT_EQ(clocks.offsets(0, 0).receiver_ns, lines - kept) << "of what is forgotten the oldest that is not";
}

TEST(ClockCorrection, what_was_read_while_both_were_taken_for_one_clock_stays_that_and_the_other_way_round) {
  ClockCorrection clocks;
  clocks.set_own(ahead_by(5), 0);
  clocks.set_senders_same(0);
  EXPECT_TRUE(clocks.is_on());
  clocks.set_senders(ahead_by(100), 10 * s);
  clocks.set_senders_same(20 * s);
  EXPECT_EQ(clocks.offsets(0, 9 * s).sender_ns, 5);
  EXPECT_EQ(clocks.offsets(0, 10 * s).sender_ns, 100);
  EXPECT_EQ(clocks.offsets(0, 20 * s).sender_ns, 5);
  EXPECT_FALSE(clocks.late(ahead_by(100), {}, 30 * s, 0, INT64_MIN)) << "no line of theirs is in force";
  clocks.set_senders(ahead_by(100), 30 * s);
  EXPECT_EQ(clocks.late(ahead_by(100), {}, 40 * s, 0, INT64_MIN)->total_ns(), 0) << "nor was one before";
}

/// The bench stands still from the instant 10 s on: the senders' line of then comes 7 s later.
TEST(ClockCorrection, a_line_that_comes_late_says_how_wrong_the_one_before_was) {
  const measure::ClockLine old = ahead_by(100), drifts = {.at_ns = 10 * s, .offset_ns = 100, .drift_ppt = 50'000'000};
  const measure::ClockBound bound = {.asymmetry_ns = 1000, .estimation_ns = 20};
  ClockCorrection clocks;
  EXPECT_FALSE(clocks.late(drifts, bound, 17 * s, 0, INT64_MIN)) << "nothing was corrected";
  clocks.set_own(ahead_by(0), 0);
  clocks.set_senders(old, 0);
  const auto late = clocks.late(drifts, bound, 17 * s, 0, INT64_MIN);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->asymmetry_ns, 1000);
  EXPECT_NEAR(static_cast<double>(late->estimation_ns), 20 + 350'000, 100);
  EXPECT_LT(clocks.late(drifts, bound, 10 * s + 1'000'000, 0, INT64_MIN)->total_ns(), 1020 + 100) << "in time";
  EXPECT_FALSE(clocks.late(drifts, bound, 17 * s, 18 * s, INT64_MIN)) << "before traffic began";
  EXPECT_FALSE(clocks.late(drifts, bound, 17 * s, 0, 18 * s)) << "all in the span of a jump";
}

/// Senders are started again: their line is of a burst of probes, and what the process before sent is still on its way.
TEST(ClockCorrection, what_was_sent_before_its_line_was_made_says_how_wrong_that_can_be) {
  const auto made_at = [](std::int64_t at_ns) { return measure::ClockLine{.at_ns = at_ns}; };
  const measure::ClockBound bound = {.asymmetry_ns = 1000, .estimation_ns = 20};
  const measure::ClockPast past = {.span_ns = 2 * s, .bound_ns = 2020, .pace_ppt = 500'000'000};
  ClockCorrection clocks;
  clocks.measured(0, s);  // nothing is corrected
  clocks.set_own(ahead_by(0), 0);
  clocks.set_senders(made_at(10 * s), 10 * s, {bound, past});
  clocks.measured(11 * s, 12 * s);
  EXPECT_FALSE(clocks.worst_before()) << "the senders answer for that";
  const auto worst_ns = [&clocks] { return static_cast<double>(clocks.worst_before()->total_ns()); };
  clocks.measured(9 * s, 12 * s);
  ASSERT_TRUE(clocks.worst_before());
  EXPECT_NEAR(worst_ns(), 1520, 10) << "halfway back in the span of its probes";
  clocks.measured(4 * s, 12 * s);
  EXPECT_NEAR(worst_ns(), 2020 + 2'000'000, 10) << "4 s before them";
  EXPECT_EQ(clocks.worst_before()->asymmetry_ns, 1000);
  clocks.measured(9 * s, 12 * s);
  EXPECT_NEAR(worst_ns(), 2020 + 2'000'000, 10) << "the worst of all";
  clocks.set_senders(made_at(20 * s), 20 * s, {bound, past, 19 * s});
  clocks.measured(1 * s, 21 * s);
  EXPECT_NEAR(worst_ns(), 2020 + 2'000'000, 10) << "in the span of a jump";
  clocks.measured(2 * s, 15 * s);
  EXPECT_NEAR(worst_ns(), 2020 + 3'000'000, 10) << "by the line of when it was received";
  clocks.set_senders_same(30 * s);
  clocks.measured(0, 31 * s);
  EXPECT_NEAR(worst_ns(), 2020 + 3'000'000, 10) << "one clock";
}

TEST(ClockCorrection, of_lines_that_come_late_together_the_one_counts_that_was_in_force) {
  const auto drifted = [](std::int64_t at_ns) { return measure::ClockLine{.at_ns = at_ns, .offset_ns = at_ns / 20'000}; };
  ClockCorrection clocks;
  clocks.set_own(ahead_by(0), 0);
  clocks.set_senders(drifted(0), 0);
  clocks.set_senders(drifted(10 * s), 20 * s);
  const auto late = clocks.late(drifted(19 * s), {}, 20 * s + 1000, 0, INT64_MIN);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->total_ns(), 950'000) << "the one of 10 s came a moment before this one";
  const auto next = clocks.late(drifted(20 * s), {}, 21 * s, 0, INT64_MIN);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->total_ns(), 500'000) << "and counts from then on";
}

}  // namespace
}  // namespace n2nq::worker
