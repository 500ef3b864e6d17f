// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/knee.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace n2nq::app {
namespace {

/// A queue that serves `knee` units of load: below it a latency with noise, above it a backlog that grows with what is too much.
class PretendSystem {
 public:
  explicit PretendSystem(double knee, std::uint64_t seed) : knee_(knee), random_(seed) {}

  LoadSigns run(double load) {
    LoadSigns signs;
    std::lognormal_distribution<double> noise(0, 0.15);
    double backlog = 0;
    for (int tenth = 0; tenth < 10; ++tenth) {
      backlog += std::max(0.0, load - knee_) * 100;
      signs.in_flight.push_back((load / 10 + backlog) * noise(random_));
      signs.from_plan_us.push_back((200 + backlog / knee_ * 1e6) * noise(random_));
    }
    signs.from_plan_p99_us = signs.from_plan_us.back() * 2;
    return signs;
  }

 private:
  double knee_;
  std::mt19937_64 random_;
};

KneeSearch::State search(const KneeSearch& knee, PretendSystem& system, int& runs) {
  std::map<double, LoadTrials> tried;
  for (runs = 0; runs < 100; ++runs) {
    const auto state = knee.state(tried);
    if (!state.next) return state;
    (judge_load(system.run(*state.next), 200'000).keeps_up ? tried[*state.next].good : tried[*state.next].bad)++;
  }
  ADD_FAILURE() << "does not end";
  return {};
}

TEST(knee, of_a_pretend_system_is_found_within_three_percent) {
  for (const double known : {37.5, 64.5, 180.5, 333.5, 1111.5}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      PretendSystem system(known, seed);
      int runs = 0;
      const KneeSearch knee(10, 2000, 3);
      const auto state = search(knee, system, runs);
      EXPECT_LE(runs, 30);
      EXPECT_NEAR(state.low, known, std::max(1.0, known * 0.03)) << "seed " << seed;
      EXPECT_NEAR(state.high, known, std::max(1.0, known * 0.03)) << "seed " << seed;
      EXPECT_LE(state.high - state.low, std::max(1.0, state.low * 0.03));
    }
  }
}

TEST(knee, goes_on_from_what_was_tried) {
  const KneeSearch knee(10, 1000, 3);
  EXPECT_EQ(knee.state({}).next, 10);
  EXPECT_EQ(knee.state({{10, {1, 0}}}).next, 20);
  EXPECT_EQ(knee.state({{10, {1, 0}}, {20, {0, 1}}}).next, 20) << "one bad run may be an accident";
  EXPECT_EQ(knee.state({{10, {1, 0}}, {20, {1, 1}}}).next, 40);
  EXPECT_EQ(knee.state({{10, {1, 0}}, {20, {0, 2}}}).next, 15);
}

TEST(knee, may_lie_outside) {
  const KneeSearch knee(10, 40, 3);
  const auto below = knee.state({{10, {0, 2}}});
  EXPECT_FALSE(below.next);
  EXPECT_EQ(below.words("services"), "knee below 10 services");
  const auto above = knee.state({{10, {1, 0}}, {20, {1, 0}}, {40, {1, 0}}});
  EXPECT_FALSE(above.next);
  EXPECT_EQ(above.words(""), "no knee up to 40");
}

TEST(knee, of_a_million_and_more_is_told_with_all_its_digits) {
  EXPECT_EQ((KneeSearch::State{.next = {}, .low = 1'234'567, .high = 1'250'001}).words("per second"),
            "knee between 1234567 and 1250001 per second");
  EXPECT_EQ((KneeSearch::State{.next = {}, .low = 1'234'567}).words(""), "no knee up to 1234567");
  EXPECT_EQ((KneeSearch::State{.next = {}, .high = 1'234'567}).words(""), "knee below 1234567");
  EXPECT_EQ((KneeSearch::State{.next = {}, .low = 1'234'567, .limit = "why"}).words(""),
            "keeps up to 1234567, the highest tried that settings allow (why)");
  EXPECT_EQ(judge_load({.from_plan_p99_us = 2e7}, 12'345'678).why, QString::fromUtf8("p99 of the latency from plan above 12345678 µs"));
}

TEST(knee, needs_more_than_noise_to_see_a_rise) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> noise(5, 0.5);
  int seen = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values(10);
    for (double& value : values) value = noise(random);
    seen += rises(values, 0);
  }
  EXPECT_LE(seen, 15) << "of a thousand that do not rise";
  const std::vector<double> rising = {100, 220, 270, 420, 480, 610, 690, 820, 900, 1000};
  EXPECT_TRUE(rises(rising, 20));
  EXPECT_FALSE(rises(rising, 5000)) << "too little to matter";
  EXPECT_FALSE(rises(std::vector<double>{1, 2, 3}, 0)) << "too few values";
}

TEST(knee, bad_signs_are_named) {
  EXPECT_EQ(judge_load({}, 100).why, "");
  EXPECT_EQ(judge_load({.from_plan_p99_us = std::nan("")}, 100).why, "nothing was delivered that had a plan");
  EXPECT_EQ(judge_load({.from_plan_p99_us = 101}, 100).why, "p99 of the latency from plan above 100 µs");
  EXPECT_EQ(judge_load({.plan_kept = false}, 100).why, "the plan was not kept");
}

}  // namespace
}  // namespace n2nq::app
