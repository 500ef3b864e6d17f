// SPDX-License-Identifier: GPL-3.0-or-later
// What the groups of a run say of their clocks, and what of it counts when one of them is lost, killed or started again.
#include <gtest/gtest.h>

#include "app/control/fault.h"
#include "tests/app/support/run_hosts_fixture.h"
#include "workers/measure/clock_report.h"

namespace n2nq::app {
namespace {

using namespace testing;

struct RunClocksTest : RunHostsTest {
  void say_clock(Role role, const measure::ClockReport& report) {
    nlohmann::json clock = report;
    clock["type"] = "clock";
    host.process[role]->say(clock);
  }
  /// Behind it the process that ran is over.
  bool restart_receivers() {
    control->make_fault({FaultKind::restart, Role::receivers});
    return wait_until([this] { return control->process(Role::receivers).state != ProcessState::running; });
  }
};

/// What is known of a clock is as old as the last question behind which it was said: others may take minutes to be started.
TEST_F(RunClocksTest, a_group_that_waits_is_asked_whenever_it_says_what_it_knows_of_its_clock) {
  host.behaviour[Role::senders].connects = false;
  make(options(), on_three_hosts());
  control->start_all();
  ASSERT_TRUE(wait_until([&] { return host.times_told(Role::senders, "connect") == 1; }));
  ASSERT_TRUE(wait_until([&] {
    say_clock(Role::senders, {});
    return host.times_told(Role::senders, "stats") > 3;
  }));
  host.process[Role::senders]->say_connected();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
}

TEST_F(RunClocksTest, a_late_start_is_told_with_what_its_clock_may_err_and_only_beyond_that) {
  make_endless();
  control->start_all();
  ASSERT_TRUE(wait_running());
  measure::ClockReport known;
  known.bound.estimation_ns = known.worst.estimation_ns = 30'000'000;
  for (const Role role : {Role::senders, Role::receivers}) {
    ASSERT_TRUE(wait_state(role, ProcessState::running));
    say_clock(role, known);
  }
  ASSERT_TRUE(wait_until([this] {
    const ClockBounds& clocks = control->figures().clocks;
    return clocks.senders_offset.total_us() == 30'000 && clocks.receivers_offset.total_us() == 30'000;
  }));
  const auto say_late = [this](Role role, std::int64_t late_ns) {
    host.process[role]->say({{"type", "state"}, {"state", "running"}, {"now_ns", 1}, {"started_late_ns", late_ns}});
  };
  say_late(Role::senders, 79'000'000);
  say_late(Role::receivers, 81'000'000);
  const QString told = QString::fromUtf8("Receivers started 81 ms ± 30 ms behind the common start");
  ASSERT_TRUE(wait_until([&] { return messages.contains(told); })) << messages.join('\n').toStdString();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(control->outcome().reasons.contains(told)) << control->outcome().reasons.join('\n').toStdString();
  for (const QStringList& all : {messages, control->outcome().reasons}) {
    EXPECT_TRUE(all.filter("Senders started").isEmpty()) << all.join('\n').toStdString();
  }
}

TEST_F(RunClocksTest, what_the_first_of_three_processes_saw_of_its_clock_counts) {
  make_endless();
  control->start_all();
  ASSERT_TRUE(wait_running());
  measure::ClockReport jumped;
  jumped.worst.estimation_ns = 3'000'000;
  jumped.jumps = 1;
  jumped.spans.push_back({1, 2, 3});
  for (const measure::ClockReport& seen : {jumped, measure::ClockReport{}, measure::ClockReport{}}) {
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
    say_clock(Role::receivers, seen);
    ASSERT_TRUE(wait_until([this] { return control->figures().clocks.latency.apart; }));
    ASSERT_TRUE(restart_receivers());
  }
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  const nlohmann::json told = summary()["environment"]["offsets"]["receivers_to_broker"];
  EXPECT_EQ(told["jumps"], 1) << told.dump();
  EXPECT_EQ(told["wrong_spans"].size(), 1u);
  EXPECT_EQ(told["estimation_us"], 3000);
}

TEST_F(RunClocksTest, jumps_that_were_told_before_the_plan_are_none_within_it_behind_a_restart) {
  Settings settings = on_three_hosts();
  settings.senders.messages.reset();
  settings.senders.warmup_messages = 1'000'000;  // behind the end of the test
  host.behaviour[Role::senders].runs_on = true;
  make(options(), settings);
  control->start_all();
  ASSERT_TRUE(wait_running());
  for (int process = 1; process <= 2; ++process) {
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
    measure::ClockReport jumped;
    jumped.jumps = 1;
    jumped.spans = {{1, 2, -10 * settings.warmup_ns()}};  // told later, it would be one of the plan's
    say_clock(Role::receivers, jumped);
    ASSERT_TRUE(wait_until([&] { return control->figures().clocks.jumps == process; }));
    ASSERT_TRUE(restart_receivers());
  }
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(summary()["environment"]["offsets"]["receivers_to_broker"]["wrong_spans"].size(), 2u);
  EXPECT_EQ(reasons().find("jumped by"), std::string::npos) << reasons();
}

TEST_F(RunClocksTest, jumps_of_which_nothing_more_was_said_are_in_the_result) {
  make_endless();
  control->start_all();
  ASSERT_TRUE(wait_running());
  measure::ClockReport jumps;
  jumps.jumps = 2;
  constexpr std::int64_t far_ns = std::int64_t{1} << 58;  // behind any beginning
  jumps.spans = {{far_ns, far_ns, 20'000'000}, {far_ns, far_ns, -30'000'000}};
  say_clock(Role::receivers, jumps);
  ASSERT_TRUE(wait_until([this] { return control->figures().clocks.latency.apart; }));
  control->make_fault({FaultKind::kill, Role::receivers});
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  for (const char* named : {"receivers' host, or N2NQ's, jumped by about 20 ms", "receivers' host, or N2NQ's, jumped by about -30 ms"})
    EXPECT_NE(reasons().find(named), std::string::npos) << reasons();
}

TEST_F(RunClocksTest, how_far_the_clock_of_a_lost_or_killed_group_may_have_gone_is_in_the_result) {
  for (const bool lost : {true, false}) {
    host = PretendHost();
    make_endless();
    control->start_all();
    ASSERT_TRUE(wait_running());
    measure::ClockReport said;
    said.bound = said.worst = {10'000, 1'000};
    said.later = measure::ClockBound{10'000, 1'000'000'000'000};  // some 16 ns each ns
    say_clock(Role::senders, said);
    ASSERT_TRUE(wait_until([this] { return control->figures().clocks.latency.apart; }));
    const double before_us = control->figures().clocks.latency.total_us();
    EXPECT_GT(before_us, 11) << "and what has become of it since that was said";
    lost ? host.process[Role::senders]->lose_link("lab-2 is silent") : control->make_fault({FaultKind::kill, Role::senders});
    ASSERT_TRUE(wait_until([&] { return control->figures().clocks.latency.total_us() > before_us; }));
    control->stop_all();
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(control->process(Role::senders).lost, lost);
    const nlohmann::json told = summary()["environment"]["offsets"];
    EXPECT_EQ(told["senders_to_broker"]["asymmetry_us"], 10);
    EXPECT_GT(told["senders_to_broker"]["estimation_us"], 100) << "it grew while nothing was heard, by this bench's clock";
    EXPECT_EQ(told["senders_to_receivers"]["bound_us"], told["senders_to_broker"]["bound_us"]);
    EXPECT_EQ(summary()["latency_us"]["bound_us"], told["senders_to_broker"]["bound_us"]);
  }
}

}  // namespace
}  // namespace n2nq::app
