// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/start_deadline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "app/host/ssh_shared.h"

namespace n2nq::app {
namespace {

constexpr int long_ms = 60'000;

/// By a clock that goes on when it is told to.
class StartDeadlineTest : public testing::Test {
 protected:
  std::shared_ptr<StartDeadline> in(int limit_ms) {
    return std::make_shared<StartDeadline>(limit_ms, [this] { return now; });
  }
  void pass(int ms) { now += std::chrono::milliseconds(ms); }

  StartDeadline::Clock::time_point now{std::chrono::hours(1)};
};

TEST_F(StartDeadlineTest, steps_have_what_is_left_as_long_as_a_start_is_under_way) {
  const auto starts = in(start_ms_max);
  EXPECT_EQ(starts->step_ms(long_ms), long_ms) << "no start waits for it";
  auto one = starts->begin(), other = starts->begin();
  EXPECT_EQ(starts->step_ms(long_ms), start_ms_max);
  pass(2'000);
  EXPECT_EQ(starts->step_ms(long_ms), start_ms_max - 2'000);
  EXPECT_EQ(starts->step_ms(1), 1);
  one.reset();
  EXPECT_EQ(starts->step_ms(long_ms), start_ms_max - 2'000);
  other.reset();
  EXPECT_EQ(starts->step_ms(long_ms), long_ms);
}

TEST_F(StartDeadlineTest, a_step_has_as_long_as_a_slow_answer_takes_and_as_a_slow_host_took_to_be_reached) {
  const auto starts = in(0);
  const auto start = starts->begin();
  EXPECT_EQ(starts->step_ms(long_ms), slow_answer_ms);
  starts->note_reached(4'000);
  EXPECT_EQ(starts->step_ms(long_ms), 5'000);
}

TEST_F(StartDeadlineTest, what_was_slow_once_in_a_start_may_be_slow_again_to_its_end) {
  const auto starts = in(0);
  auto start = starts->begin();
  for (const int took_ms : {4'000, 1}) starts->note_answer(took_ms);
  EXPECT_EQ(starts->step_ms(long_ms), 5'000);
  start.reset();
  start = starts->begin();
  EXPECT_EQ(starts->step_ms(long_ms), slow_answer_ms) << "that says nothing about the next one";
  for (const int took_ms : {8'000, 4'000}) starts->note_reached(took_ms);
  EXPECT_EQ(starts->step_ms(long_ms), 10'000) << "it is logged in to twice";
  start.reset();
  start = starts->begin();
  EXPECT_EQ(starts->step_ms(long_ms), 5'000) << "but how it was reached last does, as it is not reached anew";
}

TEST_F(StartDeadlineTest, who_had_less_than_its_time_is_not_blamed_alone) {
  EXPECT_EQ(advice_in_hurry("Is it slow?", 8'000, 8'000), "Is it slow?");
  const QString rest = "All steps of a start have 9 s together; what came before has taken the rest";
  EXPECT_EQ(advice_in_hurry("Is it slow?", 3'000, 8'000), "Is it slow? " + rest);
  EXPECT_EQ(advice_in_hurry("Look there", 3'000, 8'000), "Look there. " + rest);
}

TEST_F(StartDeadlineTest, one_that_begins_later_is_not_hurried_by_one_before_it) {
  const auto starts = in(long_ms);
  const auto one = starts->begin();
  pass(1'000);
  const auto other = starts->begin();
  EXPECT_EQ(starts->step_ms(2 * long_ms), long_ms);
}

TEST_F(StartDeadlineTest, when_a_person_has_answered_the_time_begins_anew) {
  const auto starts = in(long_ms);
  const auto start = starts->begin();
  pass(1'000);
  starts->stand_still(true);
  pass(2'000);
  EXPECT_EQ(starts->step_ms(2 * long_ms), 2 * long_ms);
  starts->stand_still(false);
  EXPECT_EQ(starts->step_ms(2 * long_ms), long_ms);
}

TEST_F(StartDeadlineTest, what_sending_takes_does_not_count) {
  const auto starts = in(long_ms);
  const auto start = starts->begin();
  pass(1'000);
  starts->note_sent(true);
  EXPECT_EQ(starts->step_ms(2 * long_ms), long_ms - 1'000) << "before that nothing was sent";
  pass(2'000);
  starts->note_sent(false);
  EXPECT_EQ(starts->step_ms(2 * long_ms), long_ms - 1'000);
}

TEST_F(StartDeadlineTest, what_this_bench_stood_still_does_not_count_and_is_told_by_each_connection) {
  const auto starts = in(long_ms);
  const auto start = starts->begin();
  const auto before = now - std::chrono::seconds(20);
  pass(2'000);
  for (int connection = 0; connection < 2; ++connection) starts->note_standstill(before);
  EXPECT_EQ(starts->step_ms(2 * long_ms), long_ms) << "neither twice, nor what was before the start";
}

TEST_F(StartDeadlineTest, a_standstill_in_which_something_was_sent_is_given_back_once) {
  const auto starts = in(long_ms);
  const auto start = starts->begin();
  starts->note_sent(true);
  const auto before = now;
  pass(2'000);
  starts->note_sent(false);
  starts->note_standstill(before);
  EXPECT_EQ(starts->step_ms(2 * long_ms), long_ms);
}

TEST_F(StartDeadlineTest, a_session_hurries_by_it) {
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

}  // namespace
}  // namespace n2nq::app
