// SPDX-License-Identifier: GPL-3.0-or-later
// Probes between two pretend clocks: what is true is known to the nanosecond, so the estimate and its bound can be held against it.
#include "workers/measure/clock_fit.h"

#include "workers/measure/clock_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

namespace n2nq::measure {
namespace {

constexpr std::int64_t us = 1'000, ms = 1'000'000, s = 1'000'000'000;

/// Two hosts and a path. The world's time is that of this host; the other clock is ahead by offset + drift * time (+ what it stepped). Its
/// pace may swing around the drift.
struct World {
  explicit World(unsigned seed) : random(seed) {}

  std::int64_t truth_at(std::int64_t at_ns) const {
    const bool stepped = at_ns >= step_at_ns && !step_is_of_own_clock;
    const double turns = static_cast<double>(at_ns) / swing_period_ns + swing_begins;
    const double swung_ns = swing_ppm * 1e-6 * swing_period_ns / (2 * std::numbers::pi) * std::sin(2 * std::numbers::pi * turns);
    return offset_ns + static_cast<std::int64_t>(static_cast<double>(at_ns) * drift_ppm * 1e-6 + swung_ns) + (stepped ? step_ns : 0);
  }
  double exponential(double mean) { return std::exponential_distribution<double>(1 / mean)(random); }
  std::int64_t delay(std::int64_t least_ns) {
    const double jitter = exponential(static_cast<double>(jitter_ns));
    return least_ns + static_cast<std::int64_t>(jitter);
  }
  ClockProbe probe() {
    const bool held_up = std::uniform_real_distribution<>(0, 1)(random) < held_up_part;
    const std::int64_t held_ns = held_up ? std::uniform_int_distribution<std::int64_t>(0, held_up_max_ns)(random) : 0;
    const bool on_the_way_there = random() % 2 == 0;
    ClockProbe probe;
    probe.t1_ns = now_ns;
    const std::int64_t there_ns = now_ns + delay(there_least_ns) + (on_the_way_there ? held_ns : 0);
    const std::int64_t back_from_ns = there_ns + 5 * us;
    probe.t2_ns = there_ns + truth_at(there_ns);
    probe.t3_ns = back_from_ns + truth_at(back_from_ns);
    probe.t4_ns = back_from_ns + delay(back_least_ns) + (on_the_way_there ? 0 : held_ns);
    now_ns = probe.t4_ns;
    if (step_is_of_own_clock) {
      for (std::int64_t* stamp_ns : {&probe.t1_ns, &probe.t4_ns}) *stamp_ns += *stamp_ns >= step_at_ns ? step_ns : 0;
    }
    return probe;
  }
  /// A burst, then ten a second, as the workers probe. Calls `each` behind every probe.
  template <typename Each>
  void run(ClockFit& fit, double seconds, Each&& each) {
    const std::int64_t until_ns = now_ns + static_cast<std::int64_t>(seconds * 1e9);
    for (int i = 0; now_ns < until_ns; ++i) {
      const auto step = fit.add(probe());
      each(step);
      now_ns += i < 30 ? 10 * ms : 100 * ms;
    }
  }
  void run(ClockFit& fit, double seconds) {
    run(fit, seconds, [](const auto&) {});
  }

  std::mt19937_64 random;
  std::int64_t now_ns = 1'000 * s;
  std::int64_t offset_ns = 0;
  double drift_ppm = 0;
  double swing_ppm = 0, swing_period_ns = 30e9, swing_begins = 0;  // either way; that in turns
  std::int64_t there_least_ns = 100 * us, back_least_ns = 100 * us;
  std::int64_t jitter_ns = 10 * us;
  double held_up_part = 0;
  std::int64_t held_up_max_ns = 20 * ms;
  std::int64_t step_at_ns = INT64_MAX, step_ns = 0;
  bool step_is_of_own_clock = false;
};

std::int64_t error_of(const ClockLine& line, const World& world, std::int64_t at_ns) {
  return std::abs(line.offset_at(at_ns) - world.truth_at(at_ns));
}

TEST(ClockLine, GoesThereAndBack) {
  const ClockLine line{.at_ns = 5 * s, .offset_ns = -3 * 86'400 * s, .drift_ppt = 50'000'000};
  EXPECT_EQ(line.offset_at(5 * s), line.offset_ns);
  EXPECT_LE(std::abs(line.offset_at(6 * s) - line.offset_ns - 50 * us), 1) << "50 ppm are 50 us in a second";
  EXPECT_LE(std::abs(line.offset_at(4 * s) - line.offset_ns + 50 * us), 1);
  for (const std::int64_t ns : {5 * s, 900 * s, -7 * s}) EXPECT_LE(std::abs(line.when(ns + line.offset_at(ns)) - ns), 2) << ns;
  EXPECT_EQ(nlohmann::json(line).get<ClockLine>(), line);
  EXPECT_ANY_THROW(nlohmann::json::parse(R"({"at_ns":1,"offset_ns":2.5,"drift_ppt":0})").get<ClockLine>());
  EXPECT_NO_THROW(nlohmann::json::parse(R"({"at_ns":1,"offset_ns":2,"drift_ppt":10000000000})").get<ClockLine>());
  EXPECT_ANY_THROW(nlohmann::json::parse(R"({"at_ns":1,"offset_ns":2,"drift_ppt":10000000001})").get<ClockLine>()) << "as receivers would";
}

TEST(ClockFit, OneProbeIsAnEstimateWithHalfItsRoundTripAsBound) {
  ClockFit fit;
  EXPECT_FALSE(fit.add({.t1_ns = 0, .t2_ns = 1'000'200, .t3_ns = 1'000'300, .t4_ns = 500}));
  EXPECT_EQ(fit.line().offset_ns, 1'000'000);
  const ClockBound bound = fit.bound(fit.line(), 500);
  EXPECT_EQ(bound.asymmetry_ns, 200);
  EXPECT_NEAR(static_cast<double>(bound.total_ns()), 200, 110) << "and what cores may differ by";
  EXPECT_GE(fit.bound(fit.line(), s).estimation_ns, 500 * us) << "a second later, with nothing known about the pace";
}

TEST(ClockFit, FollowsDriftOf50MillionthsBothWays) {
  for (const double drift_ppm : {50.0, -50.0}) {
    World world(7);
    world.drift_ppm = drift_ppm;
    world.offset_ns = 250 * ms;
    ClockFit fit;
    world.run(fit, 40);
    EXPECT_NEAR(static_cast<double>(fit.line().drift_ppt) / 1e6, drift_ppm, 1) << "in millionths";
    std::int64_t worst_ns = 0;
    world.run(fit, 600, [&](const auto& step) {
      EXPECT_FALSE(step);
      worst_ns = std::max(worst_ns, error_of(fit.line(), world, world.now_ns + s));
    });
    EXPECT_LT(worst_ns, 20 * us) << "even a second ahead";
  }
}

double uniform(std::mt19937_64& random, double from, double to) {
  return std::uniform_real_distribution<>(from, to)(random);
}

/// A tenth of them by up to 20 ms, over paths whose ways there and back each take 20 to 100 us more in the mean: against what the same
/// clocks show where none is held up, the offset moves by less than 50 us, and its bound holds what it is off.
TEST(ClockFit, ProbesThatAreHeldUpMoveNothing) {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    std::mt19937_64 random(seed * 7919);
    World quiet(seed), held_up(seed);
    quiet.drift_ppm = held_up.drift_ppm = uniform(random, -50, 50);
    quiet.jitter_ns = held_up.jitter_ns = static_cast<std::int64_t>(uniform(random, 20, 100) * us);
    held_up.held_up_part = 0.1;
    ClockFit quiet_fit, held_up_fit;
    quiet.run(quiet_fit, 10);
    held_up.run(held_up_fit, 10);
    const ClockLine line = held_up_fit.line();
    const std::int64_t off_ns = line.offset_at(held_up.now_ns) - held_up.truth_at(held_up.now_ns);
    EXPECT_LT(std::abs(off_ns - (quiet_fit.line().offset_at(quiet.now_ns) - quiet.truth_at(quiet.now_ns))), 50 * us) << "seed " << seed;
    EXPECT_LT(std::abs(off_ns), 50 * us) << "seed " << seed;
    EXPECT_LE(std::abs(off_ns), held_up_fit.bound(line, held_up.now_ns).total_ns()) << "seed " << seed;
  }
}

double log_uniform(std::mt19937_64& random, double from, double to) {
  return std::exp(uniform(random, std::log(from), std::log(to)));
}

/// A kind of clock and path, chosen by chance.
World any_world(unsigned seed, std::mt19937_64& random) {
  World world(seed);
  world.offset_ns = static_cast<std::int64_t>(uniform(random, -1e15, 1e15));
  world.drift_ppm = uniform(random, -200, 200);
  world.there_least_ns = static_cast<std::int64_t>(log_uniform(random, 5e3, 2e7));
  world.back_least_ns = static_cast<std::int64_t>(log_uniform(random, 5e3, 2e7));
  world.jitter_ns = static_cast<std::int64_t>(log_uniform(random, 1e3, 5e6));
  world.held_up_part = uniform(random, 0, 0.5);
  return world;
}

/// What the bound says has to hold at every moment, for the line that is in force.
TEST(ClockFit, TheTrueErrorIsWithinTheBoundInAThousandOfAThousandTrials) {
  int outside = 0;
  double worst_share = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    std::mt19937_64 random(seed * 7919);
    World world = any_world(seed, random);
    ClockFit fit;
    std::optional<ClockLine> in_force;
    int probes = 0;
    const auto holds = [&](std::int64_t at_ns) {
      const ClockBound bound = fit.bound(*in_force, at_ns);
      const std::int64_t error_ns = error_of(*in_force, world, at_ns);
      worst_share = std::max(worst_share, static_cast<double>(error_ns) / static_cast<double>(bound.total_ns()));
      return error_ns <= bound.total_ns();
    };
    bool all_hold = true;
    world.run(fit, log_uniform(random, 0.05, 40), [&](const auto& step) {
      EXPECT_FALSE(step) << "seed " << seed;
      if (in_force) all_hold = all_hold && holds(world.now_ns) && holds(world.now_ns + s);
      if (probes++ % 10 == 0) in_force = fit.line();
    });
    if (!all_hold || !holds(world.now_ns)) ++outside;
  }
  EXPECT_EQ(outside, 0);
  EXPECT_GT(worst_share, 0.5) << "a bound that is never reached by half tells little";
}

/// A pace that is half a millionth off its mean either way is all that is relied on. The round trips are so short, and so much alike, that
/// within them there is no room for it: what a probe proves has to get weaker as it grows old.
TEST(ClockFit, TheTrueErrorIsWithinTheBoundWhereThePaceSwingsByHalfAMillionth) {
  int outside = 0;
  double worst_share = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed * 7927);
    World world(seed);
    world.offset_ns = static_cast<std::int64_t>(uniform(random, -1e15, 1e15));
    world.drift_ppm = uniform(random, -50, 50);
    world.swing_ppm = 0.5;
    world.swing_period_ns = log_uniform(random, 10e9, 100e9);
    world.swing_begins = uniform(random, 0, 1);
    world.there_least_ns = world.back_least_ns = 1 * us;
    world.jitter_ns = 10;
    ClockFit fit;
    world.run(fit, 60, [&](const auto& step) {
      EXPECT_FALSE(step) << "seed " << seed;
      const ClockLine line = fit.line();
      for (const std::int64_t at_ns : {world.now_ns, world.now_ns + s}) {
        const std::int64_t error_ns = error_of(line, world, at_ns), bound_ns = fit.bound(line, at_ns).total_ns();
        outside += error_ns > bound_ns;
        worst_share = std::max(worst_share, static_cast<double>(error_ns) / static_cast<double>(bound_ns));
      }
    });
  }
  EXPECT_EQ(outside, 0);
  EXPECT_GT(worst_share, 0.5) << "a bound that is never reached by half tells little";
}

TEST(ClockFit, TheBoundIsHalfTheRoundTripAndLittleMore) {
  World world(3);
  world.drift_ppm = -30;
  ClockFit fit;
  world.run(fit, 30);
  const ClockBound bound = fit.bound(fit.line(), world.now_ns);
  EXPECT_EQ(bound.asymmetry_ns, fit.round_trip_min_ns() / 2);
  EXPECT_NEAR(static_cast<double>(bound.asymmetry_ns), 100e3, 10e3);
  EXPECT_LT(bound.estimation_ns, 15 * us);
}

TEST(ClockFit, OneDirectionThatIsSlowerIsCoveredByTheBound) {
  for (const bool there : {true, false}) {
    World world(11);
    (there ? world.there_least_ns : world.back_least_ns) += 500 * us;
    ClockFit fit;
    world.run(fit, 20);
    const std::int64_t error_ns = error_of(fit.line(), world, world.now_ns);
    EXPECT_NEAR(static_cast<double>(error_ns), 250e3, 20e3) << "nobody can tell";
    EXPECT_GE(fit.bound(fit.line(), world.now_ns).total_ns(), 250 * us);
    EXPECT_GE(fit.bound(fit.line(), world.now_ns).total_ns(), error_ns);
  }
}

TEST(ClockFit, AStepIsNoticedByTheNextProbe) {
  for (const auto& [step_ns, of_own_clock] :
       {std::pair{s, false}, {-s, false}, {10 * ms, false}, {-10 * ms, false}, {s, true}, {-s, true}}) {
    World world(5);
    world.step_is_of_own_clock = of_own_clock;
    world.drift_ppm = 40;
    world.step_at_ns = world.now_ns + 20 * s;
    world.step_ns = step_ns;
    ClockFit fit;
    std::optional<ClockStep> found;
    std::int64_t found_at_ns = 0;
    std::int64_t worst_after_ns = 0;
    world.run(fit, 60, [&](const auto& step) {
      if (step) {
        EXPECT_FALSE(found) << "once";
        found = step;
        found_at_ns = world.now_ns;
      } else if (found) {
        const std::int64_t at_ns = world.now_ns + 100 * ms;
        const std::int64_t own_ns = at_ns + (of_own_clock ? step_ns : 0);
        const std::int64_t truth_ns = at_ns + world.truth_at(at_ns) - own_ns;
        worst_after_ns = std::max<std::int64_t>(worst_after_ns, std::abs(fit.line().offset_at(own_ns) - truth_ns));
      }
    });
    ASSERT_TRUE(found) << step_ns;
    EXPECT_LT(found_at_ns - world.step_at_ns, 200 * ms);
    EXPECT_LE(found->after_ns, world.step_at_ns);
    EXPECT_GE(found->before_ns, world.step_at_ns + (of_own_clock ? step_ns : 0));
    EXPECT_NEAR(static_cast<double>(found->jump_ns), static_cast<double>(of_own_clock ? -step_ns : step_ns), 200e3);
    EXPECT_LT(worst_after_ns, 100 * us) << "and what comes behind it is right again";
  }
}

/// The answer of the probe that is under way comes a second late, as if it had been held up: it fits, and the next one does not.
TEST(ClockFit, AStepAheadDuringAProbeIsBehindWhatItSaysTheStepCameAfter) {
  World world(5);
  ClockFit fit;
  world.run(fit, 5);
  world.step_is_of_own_clock = true;
  world.step_at_ns = world.now_ns + 50 * us;
  world.step_ns = s;
  const std::int64_t last_answer_ns = world.now_ns - 100 * ms;
  ASSERT_FALSE(fit.add(world.probe())) << "it contradicts nothing";
  world.now_ns += 100 * ms;
  const auto found = fit.add(world.probe());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->after_ns, last_answer_ns);
  EXPECT_NEAR(static_cast<double>(found->jump_ns), -1e9, 200e3);
}

/// A time daemon that slews is no step: the older probes are dropped, and the estimate bends.
TEST(ClockFit, APaceThatChangesIsNoStep) {
  World world(9);
  ClockFit fit;
  world.run(fit, 30);
  world.offset_ns += static_cast<std::int64_t>(static_cast<double>(world.now_ns) * (world.drift_ppm - 30) * 1e-6);
  world.drift_ppm = 30;
  world.run(fit, 30, [&](const auto& step) {
    EXPECT_FALSE(step);
    EXPECT_LE(error_of(fit.line(), world, world.now_ns), fit.bound(fit.line(), world.now_ns).total_ns());
  });
  EXPECT_NEAR(static_cast<double>(fit.line().drift_ppt) / 1e6, 30, 2);
}

TEST(ClockFit, MinutesOfProbesTakeNoMoreThanHalfAMinuteOfThem) {
  World world(13);
  ClockFit fit;
  std::size_t most = 0;
  world.run(fit, 300, [&](const auto&) { most = std::max(most, fit.probes()); });
  EXPECT_LE(most, 330u);
  EXPECT_GE(fit.probes(), 290u);
}

TEST(ClockFit, WithoutAnswersTheBoundGrows) {
  World world(17);
  ClockFit fit;
  world.run(fit, 30);
  const ClockLine line = fit.line();
  const std::int64_t now_ns = world.now_ns;
  EXPECT_LT(fit.bound(line, now_ns).total_ns(), fit.bound(line, now_ns + 10 * s).total_ns());
  EXPECT_LT(fit.bound(line, now_ns + 10 * s).total_ns(), fit.bound(line, now_ns + 100 * s).total_ns());
}

/// What waits is corrected by a line that is made long after it was sent.
TEST(ClockFit, WhatIsSaidOfThePastHoldsAtEachMomentBefore) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed * 7901);
    World world = any_world(seed, random);
    ClockFit fit;
    world.run(fit, log_uniform(random, 0.05, 60));
    const ClockLine line = fit.line();
    const ClockBound bound = fit.bound(line, line.at_ns);
    const ClockPast past = fit.past(line);
    for (std::int64_t age_ns = 0; age_ns < 900 * s; age_ns += 70 * ms + age_ns / 10) {
      const std::int64_t said_ns = past.bound_before(bound, age_ns).total_ns();
      ASSERT_GE(said_ns, fit.bound(line, line.at_ns - age_ns).total_ns()) << "seed " << seed << ", " << age_ns << " ns before";
      ASSERT_GE(said_ns, error_of(line, world, line.at_ns - age_ns)) << "seed " << seed << ", " << age_ns << " ns before";
    }
  }
}

TEST(ClockFit, OfTenMinutesAgoHalfAMinuteOfProbesSayMuchAndABurstLittle) {
  World world(21);
  world.drift_ppm = 30;
  ClockFit fit;
  const auto bound_ns_of = [&fit](std::int64_t age_ns) {
    const ClockLine line = fit.line();
    return fit.past(line).bound_before(fit.bound(line, line.at_ns), age_ns).total_ns();
  };
  world.run(fit, 0.3);
  EXPECT_GT(bound_ns_of(600 * s), 100 * ms);
  world.run(fit, 40);
  EXPECT_LT(bound_ns_of(600 * s), 10 * ms);
  EXPECT_LT(bound_ns_of(100 * ms), bound_ns_of(0) + 2 * us) << "what came at once is known as well as before";
}

/// Before a clock was slewed its pace was another one: of that no probe is left.
TEST(ClockFit, WhatWasBeforeAPaceChangedIsKnownAsOfAnyTwoClocks) {
  World world(9);
  ClockFit fit;
  world.run(fit, 30);
  const std::int64_t changed_ns = world.now_ns;
  world.offset_ns += static_cast<std::int64_t>(static_cast<double>(world.now_ns) * -300e-6);
  world.drift_ppm = 300;
  world.run(fit, 60);
  const ClockLine line = fit.line();
  const std::int64_t sent_ns = changed_ns - 20 * s;
  const std::int64_t error_ns = std::abs(line.offset_at(sent_ns) - (world.truth_at(changed_ns)));  // it had no drift then
  EXPECT_GT(error_ns, 5 * ms);
  EXPECT_GE(fit.past(line).bound_before(fit.bound(line, line.at_ns), line.at_ns - sent_ns).total_ns(), error_ns);
}

TEST(ClockSpan, WhereTheOtherClockWentBackItIsToldByWhatThatSaysSince) {
  ClockSpan ahead{.from_broker_ns = 105 * s, .jump_ns = 10 * s};
  ahead.end(116 * s);
  EXPECT_EQ(ahead.from_broker_ns, 105 * s);
  ClockSpan back{.from_broker_ns = 105 * s, .jump_ns = -10 * s};
  back.end(96 * s);
  EXPECT_EQ(back.from_broker_ns, 95 * s);
  EXPECT_EQ(back.to_broker_ns, 96 * s);
}

/// Whoever dies has told how wrong its line was, and how wrong it will be: in between nobody asks it any more.
TEST(ClockReport, WhatItSaysOfLaterHoldsAtEachMomentUntilThen) {
  double widest = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed * 7907);
    World world = any_world(seed, random);
    ClockFit fit;
    world.run(fit, log_uniform(random, 0.05, 60));
    ClockReport report;
    report.line = fit.line();
    report.bound = fit.bound(report.line, world.now_ns);
    report.later = fit.bound(report.line, world.now_ns + ClockReport::later_after_ns);
    for (std::int64_t age_ns = 0; age_ns < 100 * s; age_ns += 170 * ms) {
      const ClockBound said = report.bound_after(age_ns), by_the_fit = fit.bound(report.line, world.now_ns + age_ns);
      ASSERT_GE(said.total_ns(), by_the_fit.total_ns()) << "seed " << seed << ", " << age_ns << " ns later";
      ASSERT_GE(said.total_ns(), error_of(report.line, world, world.now_ns + age_ns)) << "seed " << seed << ", " << age_ns << " ns later";
      if (age_ns <= 20 * s)
        widest = std::max(widest, static_cast<double>(said.total_ns()) / static_cast<double>(by_the_fit.total_ns()));
    }
  }
  EXPECT_LT(widest, 2) << "a chord that is far above tells little";
  ClockReport last;
  last.bound = {.asymmetry_ns = 10, .estimation_ns = 20};
  EXPECT_EQ(last.bound_after(10 * s).total_ns(), 30) << "nothing comes behind it";
  last.later = ClockBound{.asymmetry_ns = INT64_MAX, .estimation_ns = INT64_MAX};
  EXPECT_EQ(last.bound_after(INT64_MAX).estimation_ns, stamp_ns_max) << "whatever was said";
}

}  // namespace
}  // namespace n2nq::measure
