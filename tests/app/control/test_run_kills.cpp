// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that do not end: killed, and not waited for where that does not help either.
#include <gtest/gtest.h>

#include "app/control/fault.h"
#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

struct RunKillsTest : RunControlTest {
  /// They do not answer, as where a dead disk is waited for.
  void let_receivers_outlive_their_killing() {
    host.behaviour[Role::senders].runs_on = true;
    host.behaviour[Role::receivers].silent_in_traffic = true;
    host.behaviour[Role::receivers].outlives_kill = true;
    auto given = options_with_short_ends();
    given.deadlines.process.answer = 300;
    given.deadlines.process.killed = 50;
    make(given);
  }
};

TEST_F(RunKillsTest, who_does_not_answer_during_traffic_is_killed) {
  host.behaviour[Role::senders].runs_on = true;
  host.behaviour[Role::receivers].silent_in_traffic = true;
  auto given = options();
  given.deadlines.process.answer = 300;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Receivers died: no answer for 0.3 s"), std::string::npos) << reasons();
}

TEST_F(RunKillsTest, what_a_host_does_not_kill_runs_on_and_is_not_told_as_killed) {
  host.behaviour[Role::senders].runs_on = true;
  host.behaviour[Role::receivers].host_refuses = "h3 runs no command";
  make();
  control->start_all();
  ASSERT_TRUE(wait_running());
  // The first that says so makes the run one that is running.
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; }));
  control->make_fault({FaultKind::restart, Role::receivers});
  EXPECT_EQ(control->events().back().what, "Receivers to be killed and started again: not done, h3 runs no command");
  EXPECT_FALSE(control->events().back().done);
  EXPECT_EQ(control->process(Role::receivers).state, ProcessState::running);
  control->make_fault({FaultKind::kill, Role::receivers});
  EXPECT_TRUE(messages.contains("Receivers to be killed: not done, h3 runs no command")) << messages.join('\n').toStdString();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::degraded);
  EXPECT_NE(reasons().find("tried at "), std::string::npos) << reasons();
  EXPECT_EQ(reasons().find("done on purpose"), std::string::npos) << reasons();
}

TEST_F(RunKillsTest, what_a_host_does_not_end_hears_nothing_any_more_and_is_not_waited_for) {
  for (const bool hears : {true, false}) {
    host = PretendHost();
    finished = 0;
    host.behaviour[Role::senders].runs_on = true;
    host.behaviour[Role::receivers].refuses_to_end = true;
    host.behaviour[Role::receivers].host_refuses = "h3 runs no command";
    host.behaviour[Role::receivers].hears_the_end = hears;
    Settings settings = small();
    settings.limits.drain_s = 0;
    make(options_with_short_ends(), settings);
    control->start_all();
    ASSERT_TRUE(wait_running());
    control->stop_all();
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(control->outcome().verdict, Verdict::broken);
    const char* told = hears ? "Receivers could not be told to end (its input was closed instead): h3 runs no command"
                             : "Receivers could not be ended and may run on: h3 runs no command";
    EXPECT_NE(reasons().find(told), std::string::npos) << reasons();
    control.reset();
  }
}

/// As an account that is megabytes is, over a slow link.
TEST_F(RunKillsTest, who_has_ended_is_not_signalled_and_what_it_said_last_is_waited_for_until_a_second_stop) {
  for (const bool again : {false, true}) {
    host = PretendHost();
    finished = 0;
    host.behaviour[Role::senders].runs_on = true;
    host.behaviour[Role::receivers].bye_is_late = true;
    Settings settings = small();
    settings.limits.drain_s = 0;
    auto given = options_with_short_ends();
    given.deadlines.senders_stop = given.deadlines.stop_margin = 3'000;  // they end before that, however busy this machine is
    given.deadlines.hurry = 50;
    make(given, settings);
    control->start_all();
    ASSERT_TRUE(wait_running());
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
    control->stop_all();
    ASSERT_TRUE(wait_until([this] { return host.terminated[Role::broker] > 0; })) << "which waits for the receivers' end";
    if (again) {
      control->stop_all();
    } else {
      QElapsedTimer since;
      since.start();
      ASSERT_TRUE(wait_until([&] { return since.elapsed() > 10 * given.deadlines.process.term_to_kill; }));
      host.process[Role::receivers]->bring_bye();
    }
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(host.terminated[Role::receivers], 0);
    EXPECT_EQ(host.killed[Role::receivers] > 0, again);
    EXPECT_EQ(reasons().find("may run on"), std::string::npos) << reasons();
    if (!again) expect_over(Verdict::stopped);
    control.reset();
  }
}

TEST_F(RunKillsTest, who_has_ended_is_not_lost_when_its_link_is_cut_behind_that) {
  host.behaviour[Role::senders].runs_on = true;
  host.behaviour[Role::receivers].bye_is_late = true;
  Settings settings = small();
  settings.limits.drain_s = 0;
  auto given = options_with_short_ends();
  given.deadlines.senders_stop = given.deadlines.stop_margin = 3'000;  // they end before that, however busy this machine is
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
  control->stop_all();
  ASSERT_TRUE(wait_until([this] { return host.terminated[Role::broker] > 0; })) << "which waits for the receivers' end";
  emit host.process[Role::receivers]->gone({4, 0, {}, "lab-3 has not answered for 10 s", std::chrono::steady_clock::now()});
  ASSERT_TRUE(wait_finished());
  EXPECT_NE(reasons().find("Receivers died: exit code 4"), std::string::npos) << reasons();
  EXPECT_EQ(reasons().find("Receivers lost"), std::string::npos) << reasons();
  EXPECT_FALSE(control->process(Role::receivers).lost);
  EXPECT_FALSE(summary()["processes"]["receivers"].contains("last_heard_at_s"));
}

TEST_F(RunKillsTest, what_does_not_even_end_when_it_is_killed_is_not_waited_for) {
  let_receivers_outlive_their_killing();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::broken);
  EXPECT_NE(reasons().find("Receivers could not be ended and may run on: no answer for 0.3 s; it has not ended within 0.05 s of being killed"),
            std::string::npos)
      << reasons();
  EXPECT_EQ(reasons().find("was killed"), std::string::npos) << reasons();
}

TEST_F(RunKillsTest, what_outlives_its_killing_on_purpose_is_not_started_again) {
  let_receivers_outlive_their_killing();
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::broken);
  EXPECT_NE(reasons().find("Receivers could not be ended and may run on: "), std::string::npos) << reasons();
  EXPECT_EQ(host.times_told(Role::receivers, "start"), 1u);
}

}  // namespace
}  // namespace n2nq::app
