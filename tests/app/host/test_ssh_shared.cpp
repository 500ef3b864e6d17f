// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_shared.h"

#include <gtest/gtest.h>

#include <thread>

namespace n2nq::app {
namespace {

using std::chrono::milliseconds;

struct SshSharedTest : ::testing::Test {
  static constexpr int step_ms = 400;
  QObject owner;
  std::shared_ptr<SshShared> shared = std::make_shared<SshShared>(&owner);

  void begin_step() { shared->begin_step(step_ms, {SshProblem::Kind::silent, "took too long", {}}); }
  /// As a session's owner does while its thread runs.
  void look_for(milliseconds time) {
    for (const auto until = SshShared::Clock::now() + time; SshShared::Clock::now() < until;) {
      shared->look_at_deadline();
      std::this_thread::sleep_for(milliseconds(20));
    }
    shared->look_at_deadline();  // the last sleep may have been as long as all
  }
};

TEST_F(SshSharedTest, a_step_that_takes_too_long_closes_the_session) {
  begin_step();
  look_for(milliseconds(step_ms / 2));
  EXPECT_FALSE(shared->closed());
  look_for(milliseconds(step_ms));
  ASSERT_TRUE(shared->closed());
  EXPECT_EQ(shared->why_closed().why, "took too long");
}

TEST_F(SshSharedTest, the_time_in_which_this_bench_stood_still_does_not_count) {
  begin_step();
  look_for(milliseconds(step_ms / 4));
  std::this_thread::sleep_for(own_standstill_min + milliseconds(200));
  look_for(milliseconds(step_ms / 4));
  EXPECT_FALSE(shared->closed());
  look_for(milliseconds(step_ms));
  EXPECT_TRUE(shared->closed()) << "but what it takes behind that does";
}

TEST_F(SshSharedTest, a_step_that_began_after_a_standstill_has_its_own_time_and_no_more) {
  shared->look_at_deadline();
  std::this_thread::sleep_for(own_standstill_min + milliseconds(200));
  begin_step();
  look_for(milliseconds(2 * step_ms));
  EXPECT_TRUE(shared->closed());
}

}  // namespace
}  // namespace n2nq::app
