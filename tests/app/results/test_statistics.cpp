// SPDX-License-Identifier: GPL-3.0-or-later
// What the bootstrap says of data whose truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "app/results/statistics.h"

namespace n2nq::app {
namespace {

/// Figures of repeats as they come from a machine that is used: a skewed spread, one run in twenty disturbed by another program.
class Runs {
 public:
  Runs(std::uint64_t seed, double spread) : random_(seed), spread_(spread) {}
  std::vector<double> repeats(int count, double median) {
    std::normal_distribution<double> spread(0, spread_);
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<double> out;
    for (int i = 0; i < count; ++i) out.push_back(median * std::exp(spread(random_)) * (chance(random_) < 0.05 ? 1.3 : 1));
    return out;
  }

 private:
  std::mt19937_64 random_;
  double spread_;
};

int called_different(int repeats, double factor, std::uint64_t seed, double spread) {
  Runs runs(seed, spread);
  int count = 0;
  for (int pair = 0; pair < 100; ++pair) {
    const auto from = runs.repeats(repeats, 120), to = runs.repeats(repeats, 120 * factor);
    count += difference_of(from, to).kind == Difference::Kind::shown;
  }
  return count;
}

TEST(Statistics, OfAHundredEqualPairsAtMostTenAreCalledDifferent) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const int repeats : {5, 10, 20}) {
      const int called = called_different(repeats, 1, seed, 0.05);
      RecordProperty("equal_" + std::to_string(repeats) + "_" + std::to_string(seed), called);
      EXPECT_LE(called, 10) << repeats << " repeats, seed " << seed;
    }
  }
}

TEST(Statistics, APlantedTenthIsFoundInNinetyOfAHundredPairs) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const auto& [repeats, spread] : {std::pair{10, 0.03}, std::pair{20, 0.05}}) {
      const int called = called_different(repeats, 1.1, seed, spread);
      RecordProperty("tenth_" + std::to_string(repeats) + "_" + std::to_string(seed), called);
      EXPECT_GE(called, 90) << repeats << " repeats, spread " << spread << ", seed " << seed;
    }
  }
}

TEST(Statistics, IntervalsHoldTheTruthAboutAsOftenAsTheySay) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> spread(100, 10);
  for (const int repeats : {3, 4, 5, 10, 30}) {
    int held = 0;
    for (int i = 0; i < 400; ++i) {
      std::vector<double> samples;
      for (int n = 0; n < repeats; ++n) samples.push_back(spread(random));
      const Spread interval = interval_95(samples);
      held += interval.low <= 100 && interval.high >= 100;
    }
    EXPECT_GE(held, 360) << repeats;
    EXPECT_LE(held, 398) << repeats;
  }
}

TEST(Statistics, KnownDataGiveKnownNumbers) {
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 2, 3, 4, 1000}), 3);
  EXPECT_DOUBLE_EQ(trimmed_mean({4}), 4);
  EXPECT_TRUE(std::isnan(trimmed_mean({})));
  const Spread same = interval_95(std::vector<double>(8, 3.5));
  EXPECT_DOUBLE_EQ(same.low, 3.5);
  EXPECT_DOUBLE_EQ(same.high, 3.5);
  const Difference difference = difference_of(std::vector<double>(6, 100), std::vector<double>(6, 112));
  EXPECT_EQ(difference.kind, Difference::Kind::shown);
  EXPECT_NEAR(difference.percent, 12, 1e-9);
  EXPECT_EQ(difference.words(true).toStdString(), "slower by 12 % ± 0.0 %");
}

TEST(Statistics, SaysInWordsWhatItIs) {
  const std::vector<double> some = {100, 104, 97, 101, 103, 99}, more = {111, 116, 108, 113, 114, 110};
  EXPECT_TRUE(difference_of(some, more).words(true).startsWith("slower by 11 % ± ")) << difference_of(some, more).words(true).toStdString();
  EXPECT_TRUE(difference_of(more, some).words(true).startsWith("faster by 10 % ± ")) << difference_of(more, some).words(true).toStdString();
  EXPECT_TRUE(difference_of(some, more).words(false).startsWith("higher by "));
  EXPECT_TRUE(difference_of(some, {101, 99, 100, 103, 98, 102}).words(true).startsWith("no difference shown ("));
  Difference few = difference_of(some, {120, 121, 122, 123});
  EXPECT_EQ(few.words(true), "under 5 repeats: no statement");
  few.limit_by_clocks(few.difference + 1);
  EXPECT_EQ(few.words(true), QString::fromUtf8("under 5 repeats: no statement, less than its ±"));
  EXPECT_EQ(difference_of(some, {std::nan("")}).words(true), "no value to compare");
  EXPECT_EQ(difference_of(std::vector<double>(5, 0), some).words(true), "was 0: no percentage");
}

TEST(Statistics, OfARunThatLostSomethingNobodySaysThatAllAre0) {
  const std::vector<double> none(5, 0), one = {0, 0, 1'000'000, 0, 0}, other = {-3, 0, 0, 0, 0};
  EXPECT_EQ(difference_of(none, none).words(false), "both 0");
  EXPECT_EQ(difference_of(none, one).words(false), "0 in most, up to 1000000 (was 0)");
  EXPECT_EQ(difference_of(one, none).words(false), "0 (was 0 in most, up to 1000000)");
  EXPECT_EQ(difference_of(one, other).words(false), "0 in most, up to -3 (was 0 in most, up to 1000000)");
}

TEST(Statistics, TheMiddleOneIsOneOfThoseThatHaveAValue) {
  const double none = std::nan("");
  EXPECT_EQ(place_of_middle(std::vector<double>{30, none, 10}), 2u) << "of two the lower";
  EXPECT_EQ(place_of_middle(std::vector<double>{30, none, 10, 20}), 3u);
  EXPECT_FALSE(place_of_middle(std::vector<double>{none, none}));
  EXPECT_FALSE(place_of_middle({}));
}

TEST(Statistics, WhatClocksCouldHaveMadeIsNotShown) {
  const std::vector<double> some(6, 100), more(6, 112);
  Difference difference = difference_of(some, more);
  difference.limit_by_clocks(11);
  EXPECT_EQ(difference.words(true).toStdString(), "slower by 12 % ± 0.0 %");
  difference.limit_by_clocks(12);
  EXPECT_EQ(difference.kind, Difference::Kind::within_clocks);
  EXPECT_EQ(difference.words(true).toStdString(), "within what the clocks may err (slower by 12 % ± 0.0 % if both err alike)");
  Difference none = difference_of(some, some);
  none.limit_by_clocks(1000);
  EXPECT_EQ(none.kind, Difference::Kind::not_shown);
  EXPECT_EQ(none.words(true).toStdString(), "no difference shown (0.0 % ± 0.0 % if the clocks of both err alike)");
}

TEST(Statistics, TheSameSamplesGiveTheSameAnswer) {
  Runs runs(5, 0.05);
  const auto from = runs.repeats(10, 50), to = runs.repeats(10, 52);
  EXPECT_EQ(difference_of(from, to).percent_interval.low, difference_of(from, to).percent_interval.low);
}

}  // namespace
}  // namespace n2nq::app
