// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/live_accumulator.h"

#include <gtest/gtest.h>

#include <cmath>

namespace n2nq::app {
namespace {

measure::Histogram of(std::initializer_list<std::int64_t> values_us) {
  measure::Histogram out;
  for (const auto value : values_us) out.add(value * 1000);
  return out;
}

TEST(live_accumulator, intervals_add_up_to_the_whole_run) {
  LiveAccumulator accumulator{Settings()};
  ReceiversStats first, second;
  first.latency = of({10, 20, 30});
  second.latency = of({1000});
  accumulator.add(first);
  EXPECT_EQ(accumulator.snapshot(1).latency_now.count, 3u);
  accumulator.add(second);
  const LiveFigures figures = accumulator.snapshot(2);
  EXPECT_EQ(figures.latency.count, 4u);
  EXPECT_EQ(figures.latency_now.count, 1u);
  EXPECT_NEAR(figures.latency.mean_us, 265, 1e-9);
  EXPECT_NEAR(figures.latency.max_us, 1000, 1e-9);
  EXPECT_NEAR(figures.latency.p50_us, 20, 0.02);
  EXPECT_EQ(accumulator.snapshot(3).latency_now.count, 0u);
}

TEST(live_accumulator, what_is_not_known_is_not_zero) {
  LiveAccumulator accumulator{Settings()};
  const LiveFigures figures = accumulator.snapshot(0);
  EXPECT_EQ(figures.planned, 2500);
  for (const double value :
       {figures.latency.p50_us, figures.delay.mean_us, figures.sent_per_s, figures.stages.in_queue_us, figures.sent_copies_per_s}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(live_accumulator, in_flight_is_what_is_accepted_and_neither_received_nor_skipped) {
  Settings settings;
  settings.receivers.amount = 4;
  LiveAccumulator accumulator(settings);
  SendersStats senders;
  senders.attempted = 11, senders.accepted = 10, senders.rate_per_s = 5;
  ReceiversStats receivers;
  receivers.received = 30, receivers.skipped = 3;
  accumulator.add(senders);
  accumulator.add(receivers);
  LiveFigures figures = accumulator.snapshot(1);
  EXPECT_EQ(figures.in_flight, 7);
  EXPECT_EQ(figures.sent_copies_per_s, 20);
  receivers.received = 44;
  accumulator.add(receivers);
  EXPECT_EQ(accumulator.snapshot(2).in_flight, 0) << "accepted is told a little late";

  senders.id = 8, senders.accepted = 20;
  accumulator.add(senders);
  EXPECT_EQ(accumulator.snapshot(3).in_flight, 0) << "the receivers have not answered the same question yet";
  receivers.id = 8, receivers.received = 70;
  accumulator.add(receivers);
  EXPECT_EQ(accumulator.snapshot(4).in_flight, 7);
}

}  // namespace
}  // namespace n2nq::app
