// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "workers/measure/histogram.h"

namespace n2nq::measure {
namespace {

TEST(IntervalCutter, CutsWithoutLosingWhileTheWriterWrites) {
  FineHistogram live;
  IntervalCutter cutter(live);
  Histogram added;
  std::atomic<bool> done = false;
  std::thread writer([&] {
    std::mt19937_64 random(5);
    std::lognormal_distribution<double> latency_ns(std::log(80'000.0), 1.0);
    for (int i = 0; i < 300'000; ++i) live.record(std::llround(latency_ns(random)) - 20'000);
    done = true;
  });
  int cuts = 0;
  while (!done) {
    added.merge(cutter.cut());
    ++cuts;
  }
  writer.join();
  added.merge(cutter.cut());
  EXPECT_GT(cuts, 0);
  EXPECT_EQ(added, live.snapshot());
  EXPECT_TRUE(cutter.cut().empty());
}

TEST(IntervalCutter, AnIntervalKnowsItsOwnRange) {
  FineHistogram live;
  IntervalCutter cutter(live);
  live.record(1'000'000'000);
  live.record(100);
  const Histogram first = cutter.cut();
  EXPECT_EQ(first.min_ns(), 100);
  EXPECT_EQ(first.max_ns(), 1'000'000'000);
  live.record(5'000);
  const Histogram second = cutter.cut();
  EXPECT_EQ(second.count(), 1u);
  EXPECT_EQ(second.sum_ns(), 5'000);
  EXPECT_NEAR(static_cast<double>(second.max_ns()), 5'000, 5);
}

}  // namespace
}  // namespace n2nq::measure
