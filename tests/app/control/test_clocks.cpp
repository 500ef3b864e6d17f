// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/clocks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/control/role.h"

namespace n2nq::app {
namespace {

HelloMessage on_clock(const char* time_namespace) {
  HelloMessage hello;
  hello.host = {{"boot_id", "a"}, {"time_namespace", time_namespace}};
  return hello;
}

measure::ClockReport report(std::int64_t offset_ns, std::int64_t asymmetry_ns, std::int64_t estimation_ns) {
  measure::ClockReport out;
  out.line.offset_ns = offset_ns;
  out.bound = {asymmetry_ns, estimation_ns};
  out.worst = {asymmetry_ns, 2 * estimation_ns};
  return out;
}

struct ClocksTest : ::testing::Test {
  ProcessRecord& of(Role role) { return record.processes[index_of(role)]; }
  void place(const char* broker, const char* senders, const char* receivers) {
    of(Role::broker).hello = on_clock(broker);
    of(Role::senders).hello = on_clock(senders);
    of(Role::receivers).hello = on_clock(receivers);
  }
  void renew(Role role) {
    const auto hello = of(role).hello;
    of(role) = ProcessRecord();
    of(role).hello = hello;
  }
  RunRecord record;
};

TEST_F(ClocksTest, on_one_host_all_is_exact_and_nobody_has_to_be_told) {
  place("1", "1", "1");
  const ClockBounds bounds = clock_bounds(record);
  EXPECT_FALSE(bounds.latency.apart || bounds.to_broker.apart || bounds.to_receiver.apart);
  EXPECT_EQ(bounds.senders_offset_us, 0);
  EXPECT_TRUE(senders_clock_message(record).is_null());
}

TEST_F(ClocksTest, the_bound_of_a_pair_is_the_sum_of_both_ways) {
  place("1", "2", "3");
  EXPECT_TRUE(std::isnan(clock_bounds(record).latency.total_us())) << "nothing is known yet";
  EXPECT_TRUE(senders_clock_message(record).is_null());
  of(Role::senders).clock = report(-250'000'000, 10'000, 1'000);
  of(Role::receivers).clock = report(250'000'000, 20'000, 2'000);
  const ClockBounds bounds = clock_bounds(record);
  EXPECT_DOUBLE_EQ(bounds.latency.asymmetry_us, 30);
  EXPECT_DOUBLE_EQ(bounds.latency.estimation_us, 6);
  EXPECT_DOUBLE_EQ(bounds.to_broker.total_us(), 12);
  EXPECT_DOUBLE_EQ(bounds.senders_offset_us, -250'000);
  EXPECT_EQ(senders_clock_message(record)["senders"]["offset_ns"], -250'000'000);
  EXPECT_EQ(senders_clock_message(record)["senders"]["bound"], nlohmann::json(of(Role::senders).clock->bound));
  of(Role::senders).clock->past = {.span_ns = 300'000'000, .bound_ns = 12'000, .pace_ppt = 8'000'000};
  EXPECT_EQ(senders_clock_message(record)["senders"]["past"], nlohmann::json(of(Role::senders).clock->past));
  EXPECT_EQ(offsets_json(record, 0)["senders_to_receivers"]["offset_us"], -500'000);
}

/// A line is as good as new for seconds, but what it says of an offset changes with each of them.
TEST_F(ClocksTest, offsets_are_those_of_now_and_two_of_them_are_compared_at_one_instant) {
  place("1", "2", "3");
  auto drifting = report(250'000'000, 10'000, 1'000), steady = report(100'000'000, 10'000, 1'000);
  drifting.line.at_ns = drifting.at_ns = steady.line.at_ns = 10'000'000'000;
  drifting.line.drift_ppt = 50'000'000;  // 50 ppm
  steady.at_ns = 14'150'000'000;         // by N2NQ's clock 4 s behind the other one
  of(Role::senders).clock = drifting;
  of(Role::receivers).clock = steady;
  EXPECT_DOUBLE_EQ(clock_bounds(record).senders_offset_us, 250'000);
  EXPECT_NEAR(offsets_json(record, 0)["senders_to_receivers"]["offset_us"].get<double>(), 150'200, 0.1);
  of(Role::senders).clock_age_ns = of(Role::receivers).clock_age_ns = 2'000'000'000;
  EXPECT_NEAR(clock_bounds(record).senders_offset_us, 250'100, 0.001);
  EXPECT_DOUBLE_EQ(clock_bounds(record).receivers_offset_us, 100'000);
}

/// Most of what a figure of the run so far is made of may be of its first seconds, in which little was known.
TEST_F(ClocksTest, beside_a_figure_stands_the_worst_moment_so_far_and_beside_an_offset_what_is_known_now) {
  place("1", "2", "3");
  of(Role::senders).clock = report(0, 10'000, 1'000);
  of(Role::receivers).clock = report(0, 20'000, 2'000);
  of(Role::senders).clock->worst = {10'000, 5'000'000};
  ClockBounds bounds = clock_bounds(record);
  EXPECT_DOUBLE_EQ(bounds.to_broker.total_us(), 5'010);
  EXPECT_DOUBLE_EQ(bounds.latency.total_us(), 5'010 + 24);
  EXPECT_DOUBLE_EQ(bounds.senders_offset.total_us(), 11);
  EXPECT_DOUBLE_EQ(bounds.receivers_offset.total_us(), 22);
  of(Role::receivers).clock->bound = {20'000, 9'000};  // of a line that is new, and worse than those before
  of(Role::receivers).clock_age_ns = 1;
  EXPECT_DOUBLE_EQ(clock_bounds(record).to_receiver.total_us(), 29);
}

/// Until the next report nothing else is known, and a process says what it found of its clock every few seconds.
TEST_F(ClocksTest, a_bound_is_no_less_than_what_it_can_have_become_since_it_was_said) {
  place("1", "2", "1");
  measure::ClockReport said = report(0, 10'000, 1'000);
  said.worst = {10'000, 3'000};
  said.later = measure::ClockBound{10'000, 61'000};
  of(Role::senders).clock = said;
  of(Role::senders).clock_age_ns = 1'000'000'000;
  ClockBounds bounds = clock_bounds(record);
  EXPECT_DOUBLE_EQ(bounds.latency.total_us(), 13) << "less than what it has seen itself";
  EXPECT_NEAR(bounds.senders_offset.total_us(), 12, 0.01);
  of(Role::senders).clock_age_ns *= 5;
  bounds = clock_bounds(record);
  EXPECT_NEAR(bounds.latency.total_us(), 16, 0.01);
  EXPECT_GE(bounds.latency.total_us(), 16);
  EXPECT_DOUBLE_EQ(bounds.senders_offset.total_us(), bounds.latency.total_us());
  EXPECT_EQ(senders_clock_message(record)["senders"]["bound"], nlohmann::json(said.bound)) << "of the line when it was told";
  measure::ClockReport at_the_end = report(0, 10'000, 1'000);
  of(Role::senders).bye = std::make_shared<nlohmann::json>(nlohmann::json{{"clock", at_the_end}});
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 12) << "it gave its account";
}

TEST_F(ClocksTest, groups_on_one_host_apart_from_N2NQ_have_exact_latencies) {
  place("1", "2", "2");
  of(Role::senders).clock = report(-250'000'000, 10'000, 1'000);
  of(Role::receivers).clock = report(-250'000'100, 10'000, 1'000);
  const ClockBounds bounds = clock_bounds(record);
  EXPECT_FALSE(bounds.latency.apart);
  EXPECT_TRUE(bounds.to_broker.apart && bounds.to_receiver.apart);
  EXPECT_EQ(senders_clock_message(record)["senders"], "same");
}

/// Of machines that were cloned while they ran the hellos are alike, and the groups find out that their clocks are not N2NQ's.
TEST_F(ClocksTest, hellos_that_proved_to_say_nothing_do_not_make_the_groups_clocks_one_either) {
  place("1", "1", "1");
  of(Role::senders).clock = report(-250'000'000, 10'000, 1'000);
  of(Role::receivers).clock = report(250'000'000, 20'000, 2'000);
  const ClockBounds bounds = clock_bounds(record);
  EXPECT_TRUE(bounds.latency.apart);
  EXPECT_DOUBLE_EQ(bounds.latency.total_us(), 36);
  EXPECT_EQ(senders_clock_message(record)["senders"]["offset_ns"], -250'000'000);
  EXPECT_EQ(offsets_json(record, 0)["senders_to_receivers"]["clock"], "probed");
  of(Role::receivers).clock.reset();
  EXPECT_TRUE(clock_bounds(record).latency.apart) << "N2NQ and receivers on one, senders on another";
  EXPECT_EQ(senders_clock_message(record)["senders"]["offset_ns"], -250'000'000);
}

/// Their groups' machines are clones, and N2NQ is on a third one.
TEST_F(ClocksTest, what_the_groups_one_clock_drifted_in_the_longest_latency_is_in_the_bound_of_the_way_to_n2nq) {
  place("1", "2", "2");
  measure::ClockReport said = report(-250'000'000, 10'000, 1'000);
  said.line.drift_ppt = -100'000'000;  // 100 millionths
  of(Role::senders).clock = of(Role::receivers).clock = said;
  EXPECT_DOUBLE_EQ(clock_bounds(record).to_broker.total_us(), 12);
  of(Role::receivers).bye = std::make_shared<nlohmann::json>(nlohmann::json{{"figures", {{"latency", {{"max_ns", 4'000'000'000}}}}}});
  EXPECT_DOUBLE_EQ(clock_bounds(record).to_broker.total_us(), 12 + 400);
  of(Role::senders).clock->past.pace_ppt = 10'000'000;
  EXPECT_DOUBLE_EQ(clock_bounds(record).to_broker.total_us(), 12 + 440) << "and what is not known of their pace";
  EXPECT_FALSE(clock_bounds(record).latency.apart) << "exact all the same";
}

TEST_F(ClocksTest, groups_whose_clocks_contradict_each_other_do_not_share_one) {
  place("1", "2", "2");
  EXPECT_TRUE(senders_clock_message(record).is_null()) << "nothing has been compared yet";
  const auto say = [this](Role role, const measure::ClockReport& said) {
    of(role).clock = of(role).clock_first = said;
    record.contradiction.look(of(Role::senders), of(Role::receivers));
  };
  say(Role::senders, report(-250'000'000, 10'000, 1'000));
  EXPECT_TRUE(senders_clock_message(record).is_null());
  say(Role::receivers, report(250'000'000, 20'000, 2'000));
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 36);
  EXPECT_EQ(senders_clock_message(record)["senders"]["offset_ns"], -250'000'000);
  EXPECT_EQ(offsets_json(record, 0)["senders_to_receivers"]["clock"], "probed");
  of(Role::receivers).clock_before_restart = std::exchange(of(Role::receivers).clock, std::nullopt);
  of(Role::receivers).clock_first.reset();
  EXPECT_EQ(senders_clock_message(record)["senders"]["offset_ns"], -250'000'000) << "nor those of one that is started again";

  record = RunRecord();
  place("1", "2", "2");
  say(Role::senders, report(-250'000'000, 10'000, 1'000));
  measure::ClockReport later = report(-249'999'000, 20'000, 2'000);
  later.line.at_ns = 1'000'000'000;
  say(Role::receivers, later);
  EXPECT_FALSE(clock_bounds(record).latency.apart) << "within what both say";
  later.line.offset_ns += 1'000'000'000;
  later.jumps = 1;
  say(Role::receivers, later);
  EXPECT_FALSE(clock_bounds(record).latency.apart) << "a jump that the senders have not noticed yet";
}

/// The receivers are killed and start again on the senders' machine, and N2NQ's clock jumps before they ask: the senders have not yet.
TEST_F(ClocksTest, groups_that_a_jump_told_apart_are_one_again_when_both_have_seen_it) {
  place("1", "2", "2");
  const auto say = [this](Role role, std::int64_t offset_ns, std::int64_t at_ns, std::uint64_t jumps) {
    measure::ClockReport said = report(offset_ns, 10'000, 1'000);
    said.line.at_ns = at_ns;
    said.jumps = jumps;
    of(role).clock = said;
    if (!of(role).clock_first) of(role).clock_first = said;
    record.contradiction.look(of(Role::senders), of(Role::receivers));
  };
  constexpr std::int64_t s = 1'000'000'000;
  say(Role::senders, 0, 0, 0);
  say(Role::receivers, s, s, 0);
  EXPECT_FALSE(groups_share_a_clock(record));
  EXPECT_EQ(senders_clock_message(record)["senders"]["offset_ns"], 0);
  for (std::int64_t i = 2; i < 7; ++i) say(Role::senders, s, i * s, 1);
  EXPECT_FALSE(groups_share_a_clock(record)) << "a few times that may be";
  say(Role::senders, s + 500'000'000, 7 * s, 1);
  for (std::int64_t i = 8; i < 13; ++i) say(Role::senders, s, i * s, 1);
  EXPECT_FALSE(groups_share_a_clock(record)) << "in succession";
  say(Role::receivers, s, 13 * s, 0);
  EXPECT_TRUE(groups_share_a_clock(record));
  EXPECT_EQ(senders_clock_message(record)["senders"], "same");
  EXPECT_TRUE(clock_bounds(record).latency.apart) << "some of the figures are of before";
  say(Role::receivers, s, 14 * s, 0);
  EXPECT_TRUE(groups_share_a_clock(record)) << "not a second time by the same";
}

TEST_F(ClocksTest, clocks_that_drift_past_each_other_remain_two) {
  place("1", "2", "2");
  for (std::int64_t i = 0; i < 100; ++i) {
    for (const Role role : {Role::senders, Role::receivers}) {
      of(role).clock = report(role == Role::senders ? 0 : 100'000 - 1'000 * i, 10'000, 1'000);
      of(role).clock->line.at_ns = i * 5'000'000'000;
      if (!of(role).clock_first) of(role).clock_first = of(role).clock;
      record.contradiction.look(of(Role::senders), of(Role::receivers));
    }
    EXPECT_FALSE(groups_share_a_clock(record)) << i;
  }
}

TEST_F(ClocksTest, receivers_elsewhere_are_told_that_the_senders_have_N2NQs_clock) {
  place("1", "1", "2");
  nlohmann::json none = measure::ClockLine{};
  none["bound"] = measure::ClockBound{};
  none["past"] = measure::ClockPast{};
  EXPECT_EQ(senders_clock_message(record)["senders"], none);
  of(Role::receivers).clock = report(5'000, 20'000, 2'000);
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 24);
  EXPECT_FALSE(clock_bounds(record).to_broker.apart);
}

TEST_F(ClocksTest, the_senders_clock_that_came_late_is_in_the_result) {
  place("1", "2", "3");
  of(Role::senders).clock = report(0, 10'000, 1'000);
  of(Role::receivers).clock = report(0, 20'000, 2'000);
  const auto say = [this](const nlohmann::json& late) {
    of(Role::receivers).bye = std::make_shared<nlohmann::json>(nlohmann::json{{"senders_clock_late", late}});
  };
  say({{"asymmetry_ns", 10'000}, {"estimation_ns", 1'000}});
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 36) << "less than what the senders say themselves";
  say({{"asymmetry_ns", 10'000}, {"estimation_ns", 350'000}});
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 24 + 360);
  EXPECT_DOUBLE_EQ(clock_bounds(record).to_broker.total_us(), 360);
  EXPECT_DOUBLE_EQ(clock_bounds(record).to_receiver.total_us(), 24);
  EXPECT_EQ(offsets_json(record, 0)["senders_to_broker"]["estimation_us"], 350);
  say("soon");
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 36) << "no account, and no end either";
  place("1", "2", "2");
  say({{"asymmetry_ns", 10'000}, {"estimation_ns", 350'000}});
  EXPECT_FALSE(clock_bounds(record).latency.apart);
}

TEST_F(ClocksTest, what_a_killed_process_saw_of_its_clock_counts) {
  place("1", "2", "1");
  measure::ClockReport before = report(0, 10'000, 50'000);
  before.jumps = 1;
  before.spans.push_back({1, 2, 3});
  of(Role::senders).clock_before_restart = before;
  EXPECT_EQ(clock_bounds(record).jumps, 1) << "also while the next one has said nothing";
  of(Role::senders).clock = report(0, 10'000, 1'000);
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.estimation_us, 100);
  EXPECT_EQ(clock_bounds(record).jumps, 1);
  EXPECT_EQ(offsets_json(record, 0)["senders_to_broker"]["wrong_spans"].size(), 1u);
}

TEST_F(ClocksTest, the_bound_of_who_died_grew_until_its_end) {
  place("1", "2", "1");
  constexpr std::int64_t s = 1'000'000'000;
  measure::ClockReport said = report(0, 10'000, 1'000);
  said.worst = {10'000, 3'000};
  said.later = measure::ClockBound{10'000, 61'000};
  of(Role::senders).clock = said;
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 13) << "it lives";
  of(Role::senders).unheard_ns = 1 * s;
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 13) << "less than what it has seen itself";
  EXPECT_NEAR(clock_bounds(record).senders_offset.total_us(), 12, 0.01);
  of(Role::senders).unheard_ns = 5 * s;
  const ClockBounds bounds = clock_bounds(record);
  EXPECT_NEAR(bounds.latency.total_us(), 16, 0.01);
  EXPECT_DOUBLE_EQ(bounds.latency.asymmetry_us, 10);
  EXPECT_GE(bounds.latency.total_us(), 16) << "a bound is rounded up";
  EXPECT_DOUBLE_EQ(offsets_json(record, 0)["senders_to_broker"]["bound_us"], std::round(bounds.to_broker.total_us() * 1e3) / 1e3);
  const ClockRelation before = relation(of(Role::senders), of(Role::broker));

  renew(Role::senders);
  of(Role::senders).clock_before_restart = before.report;
  EXPECT_NEAR(clock_bounds(record).latency.total_us(), 16, 0.01) << "of the one that goes on for it, too";
  of(Role::senders).clock = report(0, 10'000, 1'000);
  EXPECT_NEAR(clock_bounds(record).latency.total_us(), 16, 0.01);

  measure::ClockReport at_the_end = report(0, 10'000, 1'000);
  renew(Role::senders);
  of(Role::senders).clock = said;
  of(Role::senders).unheard_ns = 5 * s;
  of(Role::senders).bye = std::make_shared<nlohmann::json>(nlohmann::json{{"clock", at_the_end}});
  EXPECT_DOUBLE_EQ(clock_bounds(record).latency.total_us(), 12) << "it gave its account";
}

}  // namespace
}  // namespace n2nq::app
