// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace n2nq::measure {
namespace {

using Samples = std::vector<std::int64_t>;

constexpr std::size_t many = 10'000'000;

Samples log_normal() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency_ns(std::log(80'000.0), 0.8);
  Samples samples(many);
  for (auto& sample : samples) sample = std::llround(latency_ns(random));
  return samples;
}

Samples bimodal() {
  std::mt19937_64 random(2);
  std::normal_distribution<double> near_ns(25'000, 3'000), far_ns(4'000'000, 250'000);
  std::bernoulli_distribution is_far(0.07);
  Samples samples(many);
  for (auto& sample : samples) sample = std::llround(is_far(random) ? far_ns(random) : near_ns(random));
  return samples;
}

/// Steady traffic in which everything stands still for a second now and then, and clocks that are a little apart.
Samples stalled() {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> rest_ns(1.0 / 30'000);
  Samples samples(many);
  for (std::size_t i = 0; i < many; ++i) {
    const std::size_t in_period = i % 1'000'000;
    const std::int64_t stall_ns = in_period < 33'000 ? 1'000'000'000 - static_cast<std::int64_t>(in_period) * 30'303 : 0;
    samples[i] = std::llround(rest_ns(random)) + stall_ns - 5'000;
  }
  return samples;
}

/// Every percentile against the sorted samples, by the rank definition, within 0.1 %; min, max, sum and count exactly.
void expect_as_sorted(const Histogram& histogram, Samples samples) {
  std::sort(samples.begin(), samples.end());
  ASSERT_EQ(histogram.count(), samples.size());
  EXPECT_EQ(histogram.min_ns(), samples.front());
  EXPECT_EQ(histogram.max_ns(), samples.back());
  std::int64_t sum = 0;
  for (const auto sample : samples) sum += sample;
  EXPECT_EQ(histogram.sum_ns(), sum);

  double worst = 0;
  for (std::uint64_t per_100_000 = 1; per_100_000 <= 100'000; per_100_000 += per_100_000 < 99'000 ? 97 : 1) {
    const auto rank = static_cast<std::uint64_t>((samples.size() * per_100_000 + 99'999) / 100'000);
    const auto exact = samples[rank - 1];
    const auto reported = histogram.percentile(per_100_000, 100'000);
    const double error = std::abs(static_cast<double>(reported - exact));
    worst = std::max(worst, error / std::max(1.0, std::abs(static_cast<double>(exact))));
    ASSERT_LE(error, std::abs(static_cast<double>(exact)) * 0.001) << "at " << per_100_000 << " of 100,000: exact " << exact;
  }
  testing::Test::RecordProperty("worst_relative_error", std::to_string(worst));

  const std::size_t kept = samples.size() - samples.size() / 20;
  double lowest = 0;
  for (std::size_t i = 0; i < kept; ++i) lowest += static_cast<double>(samples[i]);
  lowest /= static_cast<double>(kept);
  EXPECT_EQ(histogram.left_out_of_lowest_95(), samples.size() / 20);
  EXPECT_NEAR(histogram.mean_lowest_95_ns(), lowest, std::abs(lowest) * 0.001);
}

void expect_true_and_mergeable(const Samples& samples) {
  FineHistogram one;
  std::vector<FineHistogram> parts(8);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    one.record(samples[i]);
    parts[i % parts.size()].record(samples[i]);
  }
  expect_as_sorted(one.snapshot(), samples);
  Histogram merged;
  for (const auto& part : parts) merged.merge(part.snapshot());
  EXPECT_EQ(merged, one.snapshot());
  EXPECT_EQ(merged.to_json().dump(), one.snapshot().to_json().dump());
}

TEST(Histogram, AgreesWithASortOfTenMillionLogNormalSamples) {
  expect_true_and_mergeable(log_normal());
}
TEST(Histogram, AgreesWithASortOfTenMillionBimodalSamples) {
  expect_true_and_mergeable(bimodal());
}
TEST(Histogram, AgreesWithASortOfTenMillionSamplesWithStalls) {
  expect_true_and_mergeable(stalled());
}

TEST(HistogramLayout, BucketsAreContiguousAndHoldTheirOwnMiddle) {
  for (const HistogramLayout layout : {fine_layout, coarse_layout}) {
    std::int64_t next = 0;
    for (int bucket = 0; bucket <= layout.bucket_max(); ++bucket) {
      ASSERT_EQ(layout.low_of(bucket), next) << bucket;
      for (const std::int64_t value : {layout.low_of(bucket), layout.middle_of(bucket), layout.high_of(bucket)}) {
        ASSERT_EQ(layout.bucket_of(value), bucket) << value;
        ASSERT_EQ(layout.bucket_of(-value), -bucket) << value;
      }
      ASSERT_EQ(layout.middle_of(-bucket), -layout.middle_of(bucket));
      next = layout.high_of(bucket) + 1;
    }
    EXPECT_EQ(next, std::int64_t{1} << 43);
  }
}

TEST(HistogramLayout, FollowsTheDefinitionWrittenDown) {
  EXPECT_EQ(fine_layout.bucket_of(0), 0);
  EXPECT_EQ(fine_layout.bucket_of(2047), 2047);
  EXPECT_EQ(fine_layout.bucket_of(2048), 2048);
  EXPECT_EQ(fine_layout.bucket_of(2049), 2048);
  EXPECT_EQ(fine_layout.bucket_of(4096), 3072);
  EXPECT_EQ(fine_layout.bucket_of(1'000'000'000), 19 * 1024 + (1'000'000'000 >> 19));
  EXPECT_EQ(fine_layout.bucket_of(-1'000'000'000), -(19 * 1024 + (1'000'000'000 >> 19)));
  EXPECT_EQ(coarse_layout.bucket_of(1'000'000), 13 * 64 + (1'000'000 >> 13));
}

TEST(Histogram, CoarseCountersOfBothSignsFitIn32KiB) {
  EXPECT_LE((2 * static_cast<std::size_t>(coarse_layout.bucket_max()) + 1) * sizeof(std::uint32_t), 32u * 1024);
}

TEST(Histogram, CoarseIsWithinOnePercent) {
  CoarseHistogram live;
  Samples samples;
  std::mt19937_64 random(4);
  std::lognormal_distribution<double> latency_ns(std::log(300'000.0), 2.0);
  for (int i = 0; i < 100'000; ++i) samples.push_back(std::llround(latency_ns(random)));
  for (const auto sample : samples) live.record(sample);
  std::sort(samples.begin(), samples.end());
  const Histogram histogram = live.snapshot();
  for (std::uint64_t per_1000 = 1; per_1000 <= 1000; ++per_1000) {
    const auto exact = static_cast<double>(samples[(samples.size() * per_1000 + 999) / 1000 - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.percentile(per_1000, 1000)), exact, exact * 0.01);
  }
}

TEST(Histogram, ASampleManyTimesIsManySamples) {
  CoarseHistogram at_once, one_by_one;
  for (const std::int64_t value : {0, 300, -70'000, 1'000'000'000}) {
    at_once.record(value, 1000);
    for (int i = 0; i < 1000; ++i) one_by_one.record(value);
  }
  EXPECT_EQ(at_once.snapshot(), one_by_one.snapshot());
}

TEST(Histogram, AFullCounterStaysFullAlsoForManyAtOnce) {
  CoarseHistogram live;
  live.record(5, UINT32_MAX - 1);
  live.record(5, 10);
  live.record(5);
  EXPECT_EQ(live.snapshot().count(), UINT32_MAX);
}

TEST(Histogram, WhatAFullCounterDoesNotCountIsInNoMean) {
  CoarseHistogram live;
  for (int i = 0; i < 3; ++i) live.record(5, 2'000'000'000);
  live.record(5);
  EXPECT_EQ(live.mean_ns(), 5);
  EXPECT_EQ(live.snapshot().mean_ns(), 5);
  live.record(100);
  EXPECT_EQ(live.snapshot().sum_ns(), 5 * std::int64_t{UINT32_MAX} + 100);
  EXPECT_EQ(live.max_ns(), 100);
}

TEST(Histogram, CountsWhatIsBeyondItsRangeAndKeepsItExactInTheSum) {
  FineHistogram live;
  const std::int64_t hours = 20'000'000'000'000;
  live.record(hours);
  live.record(-hours);
  live.record(5);
  const Histogram histogram = live.snapshot();
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.clamped(), 2u);
  EXPECT_EQ(histogram.sum_ns(), 5);
  EXPECT_EQ(histogram.min_ns(), -hours);
  EXPECT_EQ(histogram.max_ns(), hours);
}

TEST(Histogram, PercentileIsTheSmallestValueThatEnoughSamplesAreNotAbove) {
  Histogram histogram;
  for (const int value : {10, 20, 30, 40}) histogram.add(value);
  EXPECT_EQ(histogram.percentile(1, 4), 10);
  EXPECT_EQ(histogram.percentile(251, 1000), 20);
  EXPECT_EQ(histogram.percentile(50, 100), 20);
  EXPECT_EQ(histogram.percentile(75, 100), 30);
  EXPECT_EQ(histogram.percentile(100, 100), 40);
  EXPECT_EQ(histogram.percentile(0, 100), 10);
}

TEST(Histogram, MeanOfTheLowest95LeavesNothingOutBelow20Samples) {
  Histogram histogram;
  for (int i = 1; i <= 19; ++i) histogram.add(i * 100'000);
  EXPECT_EQ(histogram.left_out_of_lowest_95(), 0u);
  EXPECT_DOUBLE_EQ(histogram.mean_lowest_95_ns(), 1'000'000);
  histogram.add(1'000'000'000);
  EXPECT_EQ(histogram.left_out_of_lowest_95(), 1u);
  EXPECT_NEAR(histogram.mean_lowest_95_ns(), 1'000'000, 1'000);
}

TEST(Histogram, MeanOfTheLowest95IsNotAboveTheMean) {
  Histogram histogram(coarse_layout);  // all in the lower half of one bucket
  const int bucket = coarse_layout.bucket_of(500'000'000);
  for (int i = 0; i < 100; ++i) histogram.add(coarse_layout.low_of(bucket) + i);
  histogram.add(coarse_layout.middle_of(bucket));
  EXPECT_LE(histogram.mean_lowest_95_ns(), histogram.mean_ns());
}

/// Minutes of a run that is far behind its plan: more than 63 bits of nanoseconds, in all.
TEST(Histogram, MeansAreRightWhereTheSumIsBeyond64Bits) {
  FineHistogram fine;
  CoarseHistogram coarse;
  Histogram twice;
  double sum = 0, count = 0;
  for (std::int64_t late_s = 1; late_s <= 300; ++late_s) {
    for (const std::int64_t sign : {1, 1, -1, 1, 1}) {
      const std::int64_t late_ns = sign * (late_s * 1'000'000'000 + 123'456'789);
      fine.record(late_ns, 1'000'000);
      coarse.record(late_ns, 1'000'000);
      sum += static_cast<double>(late_ns) * 1e6;
      count += 1e6;
    }
  }
  ASSERT_GT(sum, 0x1p66);
  EXPECT_NEAR(fine.mean_ns(), sum / count, 0.001);
  EXPECT_NEAR(coarse.mean_ns(), sum / count, 0.001);
  EXPECT_NEAR(fine.snapshot().mean_ns(), sum / count, 0.001);
  twice.merge(fine.snapshot());
  twice.merge(Histogram::from_json(fine.snapshot().to_json()));
  EXPECT_NEAR(twice.mean_ns(), sum / count, 0.001);
  EXPECT_NEAR(twice.without(fine.snapshot()).mean_ns(), sum / count, 0.001);
  EXPECT_LT(twice.mean_lowest_95_ns(), twice.mean_ns());
  EXPECT_GT(twice.mean_lowest_95_ns(), 0.8 * twice.mean_ns());
}

TEST(Histogram, AnEmptyOneSurvivesTheControlLine) {
  const Histogram empty;
  EXPECT_EQ(empty.to_json()["min_ns"], nullptr);
  EXPECT_EQ(Histogram::from_json(empty.to_json()), empty);
}

TEST(Histogram, TravelsAsSparseJson) {
  Histogram histogram;
  for (const std::int64_t value : Samples{-77, 0, 5, 5, 123'456'789, 20'000'000'000'000}) histogram.add(value);
  const auto json = histogram.to_json();
  EXPECT_EQ(json["buckets"].size(), 5u);
  EXPECT_EQ(json["clamped"], 1);
  EXPECT_EQ(Histogram::from_json(nlohmann::json::parse(json.dump())), histogram);
}

TEST(Histogram, RefusesJsonThatDoesNotAddUp) {
  auto json = Histogram().to_json();
  json["count"] = 3;
  EXPECT_THROW(Histogram::from_json(json), std::invalid_argument);
  json = {{"count", 1}, {"sum_ns", 1}, {"min_ns", 1}, {"max_ns", 1}, {"buckets", {{99'999'999, 1}}}};
  EXPECT_THROW(Histogram::from_json(json), std::invalid_argument);
  EXPECT_THROW(Histogram::from_json(nlohmann::json::array()), std::invalid_argument);
}

TEST(Histogram, TakesWhateverSomebodyBringsAlong) {
  Histogram much;
  for (int i = 0; i < 100; ++i) much.add(std::int64_t{1} << 62);
  much.merge(Histogram(much));
  EXPECT_EQ(much.count(), 200u);
  FineHistogram live;
  IntervalCutter cutter(live);
  for (const std::int64_t value : {INT64_MIN, INT64_MAX, std::int64_t{1} << 62}) {
    live.record(value, 100);
    EXPECT_EQ(cutter.cut().clamped(), 100u);
  }
  EXPECT_EQ(live.snapshot().without(much).count(), 100u) << "the outermost bucket above has two hundred of both";
}

TEST(Histogram, RefusesToMergeAnotherLayout) {
  Histogram fine;
  EXPECT_THROW(fine.merge(Histogram(coarse_layout)), std::invalid_argument);
}

TEST(Histogram, WithoutUndoesAMerge) {
  Histogram before;
  Histogram after;
  for (std::int64_t i = 1; i <= 1000; ++i) before.add(i * 1000);
  for (std::int64_t i = 1; i <= 10; ++i) after.add(i * 1'000'000);
  Histogram all = before;
  all.merge(after);
  const Histogram rest = all.without(before);
  EXPECT_EQ(rest.count(), after.count());
  EXPECT_EQ(rest.sum_ns(), after.sum_ns());
  EXPECT_EQ(rest.max_ns(), after.max_ns());
  EXPECT_EQ(rest.percentile(1, 2), after.percentile(1, 2));
  EXPECT_NEAR(static_cast<double>(rest.min_ns()), 1e6, 1e3);
  EXPECT_TRUE(all.without(all).empty());
}

}  // namespace
}  // namespace n2nq::measure
