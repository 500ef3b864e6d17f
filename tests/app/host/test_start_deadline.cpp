// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/start_deadline.h"

#include <gtest/gtest.h>

#include <thread>

#include "app/host/ssh_shared.h"

namespace n2nq::app {
namespace {

constexpr int long_ms = 60'000;

std::shared_ptr<StartDeadline> in(int limit_ms) {
  return std::make_shared<StartDeadline>(limit_ms);
}

TEST(StartDeadline, steps_have_what_is_left_as_long_as_a_start_is_under_way) {
  const auto starts = in(start_ms_max);
  EXPECT_EQ(starts->step_ms(long_ms), long_ms) << "no start waits for it";
  auto one = starts->begin(), other = starts->begin();
  EXPECT_LE(starts->step_ms(long_ms), start_ms_max);
  EXPECT_EQ(starts->step_ms(1), 1);
  one.reset();
  EXPECT_LE(starts->step_ms(long_ms), start_ms_max);
  other.reset();
  EXPECT_EQ(starts->step_ms(long_ms), long_ms);
}

TEST(StartDeadline, a_step_has_as_long_as_a_slow_answer_takes_and_as_a_slow_host_took_to_be_reached) {
  const auto starts = in(0);
  const auto start = starts->begin();
  EXPECT_EQ(starts->step_ms(long_ms), slow_answer_ms);
  starts->note_reached(4'000);
  EXPECT_EQ(starts->step_ms(long_ms), 5'000);
  starts->note_reached(1);
  EXPECT_EQ(starts->step_ms(long_ms), slow_answer_ms);
}

TEST(StartDeadline, one_that_begins_later_is_not_hurried_by_one_before_it) {
  const auto starts = in(long_ms);
  const auto one = starts->begin();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const int left_ms = starts->step_ms(2 * long_ms);
  EXPECT_LE(left_ms, long_ms - 1000);
  const auto other = starts->begin();
  EXPECT_GT(starts->step_ms(2 * long_ms), left_ms);
}

TEST(StartDeadline, what_a_person_and_sending_take_does_not_count_and_an_answer_begins_anew) {
  constexpr std::chrono::milliseconds takes{2'000};
  const auto starts = in(long_ms);
  const auto start = starts->begin();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto costs_ms = [&](const auto& meanwhile) {
    const int before_ms = starts->step_ms(2 * long_ms);
    meanwhile();
    return before_ms - starts->step_ms(2 * long_ms);
  };
  EXPECT_LT(costs_ms([&] {
              starts->stand_still(true);
              std::this_thread::sleep_for(takes);
              EXPECT_EQ(starts->step_ms(2 * long_ms), 2 * long_ms);
              starts->stand_still(false);
            }),
            0);
  EXPECT_LT(costs_ms([&] {
              starts->note_sent(true);
              std::this_thread::sleep_for(takes);
              starts->note_sent(false);
            }),
            takes.count());
  EXPECT_GE(costs_ms([&] {
              std::this_thread::sleep_for(takes);
              starts->note_sent(true);
            }),
            takes.count())
      << "before that nothing was sent";
}

TEST(StartDeadline, a_session_hurries_by_it) {
  SshShared shared(nullptr);
  EXPECT_EQ(shared.step_ms(long_ms), long_ms);
  const auto starts = in(0);
  shared.hurry_by(starts);
  const auto start = starts->begin();
  EXPECT_EQ(shared.step_ms(long_ms), slow_answer_ms);
  shared.begin_reach(ssh_reach_ms_max - 4'000);
  shared.note_reached();
  EXPECT_GE(shared.step_ms(long_ms), 5'000);
  SshShared hop(nullptr);
  hop.hurry_by(starts, OnTheWay::yes);
  hop.begin_reach();
  hop.note_reached();
  EXPECT_GE(shared.step_ms(long_ms), 5'000) << "a jump host that is reached soon says nothing about who is behind it";
}

TEST(StartDeadline, what_this_bench_stood_still_does_not_count_and_is_told_by_each_connection) {
  const auto starts = in(long_ms);
  const auto start = starts->begin();
  const auto before = StartDeadline::Clock::now();
  const int before_ms = starts->step_ms(2 * long_ms);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (int connection = 0; connection < 2; ++connection) starts->note_standstill(before - std::chrono::seconds(20));
  EXPECT_GT(starts->step_ms(2 * long_ms), before_ms - 1000);
  EXPECT_LE(starts->step_ms(2 * long_ms), long_ms) << "neither twice, nor what was before the start";
}

}  // namespace
}  // namespace n2nq::app
