// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace n2nq::measure {
namespace {

TEST(Figures, SumUpAHistogram) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.add(i);
  const Figures figures = figures_of(histogram);
  EXPECT_EQ(figures.count, 1000u);
  EXPECT_DOUBLE_EQ(figures.mean_ns, 500.5);
  EXPECT_DOUBLE_EQ(figures.mean_lowest_95_ns, 475.5);
  EXPECT_EQ(figures.left_out, 50u);
  EXPECT_EQ(figures.min_ns, 1);
  EXPECT_EQ(figures.p50_ns, 500);
  EXPECT_EQ(figures.p90_ns, 900);
  EXPECT_EQ(figures.p95_ns, 950);
  EXPECT_EQ(figures.p99_ns, 990);
  EXPECT_EQ(figures.p99_9_ns, 999);
  EXPECT_EQ(figures.max_ns, 1000);
}

TEST(Figures, AStallHidesInWhatTheTrimmedMeanLeavesOut) {
  // 60 s at 1,000 a second, 100 to 120 µs each; with a stall of 1 s in it those that fall into it wait for its end.
  Histogram quiet, stalled;
  for (int i = 0; i < 60'000; ++i) {
    const std::int64_t latency_ns = 100'000 + i * 7919 % 20'000;
    quiet.add(latency_ns);
    stalled.add(latency_ns + (i >= 30'000 && i < 31'000 ? (31'000 - i) * 1'000'000LL : 0));
  }
  const Figures before = figures_of(quiet), after = figures_of(stalled);
  EXPECT_NEAR(after.mean_lowest_95_ns, before.mean_lowest_95_ns, 0.02 * before.mean_lowest_95_ns);
  EXPECT_GT(after.p99_ns, 100 * before.p99_ns);
  EXPECT_EQ(after.left_out, 3000u) << "and this is how many it hides";
}

TEST(Figures, TravelAsJson) {
  Histogram histogram;
  for (int i = 0; i < 77; ++i) histogram.add(i * i * 1000 - 500);
  const nlohmann::json json = figures_of(histogram);
  EXPECT_EQ(nlohmann::json::parse(json.dump()).get<Figures>(), figures_of(histogram));
}

TEST(Figures, OfNothingAreNull) {
  const nlohmann::json json = figures_of(Histogram());
  EXPECT_EQ(json["count"], 0);
  EXPECT_EQ(json["mean_ns"], nullptr);
  EXPECT_EQ(json["p99_9_ns"], nullptr);
  EXPECT_EQ(json.get<Figures>(), Figures{});
}

}  // namespace
}  // namespace n2nq::measure
