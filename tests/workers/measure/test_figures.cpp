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
