// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/step_timer.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <thread>

#include "tests/app/support/event_loop.h"

namespace n2nq::app {
namespace {

struct StepTimerTest : testing::WithEventLoop {
  static constexpr int limit_ms = 500;
  StepTimer timer;
  int times_over = 0;

  StepTimerTest() {
    QObject::connect(&timer, &QTimer::timeout, [this] { ++times_over; });
  }
};

TEST_F(StepTimerTest, says_once_that_the_time_of_a_step_is_over) {
  timer.start(limit_ms);
  EXPECT_EQ(timer.limit_ms(), limit_ms);
  const auto over_ms = wait_ms([this] { return times_over > 0; });
  ASSERT_TRUE(over_ms);
  EXPECT_LT(*over_ms, 2 * limit_ms);
  EXPECT_GE(timer.taken_ms(), limit_ms);
  EXPECT_FALSE(timer.isActive());
}

TEST_F(StepTimerTest, the_time_in_which_this_bench_stood_still_does_not_count) {
  timer.start(limit_ms);
  std::this_thread::sleep_for(own_standstill_min + std::chrono::milliseconds(limit_ms));
  EXPECT_LT(timer.taken_ms(), limit_ms);
  QCoreApplication::processEvents();
  EXPECT_EQ(times_over, 0) << "what came meanwhile is heard first";
  EXPECT_TRUE(wait_until([this] { return times_over > 0; }));
}

TEST_F(StepTimerTest, one_that_is_stopped_says_nothing) {
  timer.start(1);
  timer.stop();
  timer.start(limit_ms);
  timer.stop();
  QElapsedTimer since;
  since.start();
  EXPECT_TRUE(wait_until([&] { return since.hasExpired(2 * limit_ms); }));
  EXPECT_EQ(times_over, 0);
}

}  // namespace
}  // namespace n2nq::app
