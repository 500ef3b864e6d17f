// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that are paused on purpose and that nobody resumes.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/control/planned_step.h"
#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

struct PausesTest : RunControlTest {
  /// A plan of four messages of each sender; the senders go on until they are stopped.
  void begin(double delay_ms = 150, int standstill_ms = 60'000, std::vector<PlannedStep> steps = {}, bool endless = false) {
    host.behaviour[Role::senders].runs_on = true;
    Settings settings = small();
    settings.senders.delay_ms = delay_ms;
    settings.queue.retention_s = settings.limits.drain_s = 0.1;
    if (endless) settings.senders.messages.reset();
    auto given = options();
    given.deadlines.standstill = standstill_ms;
    given.deadlines.drain_margin = 0;
    make(given, settings);
    control->plan(std::move(steps));
    control->start_all();
    ASSERT_TRUE(wait_running());
  }
  bool is_paused(Role role) const { return host.paused.count(role) > 0; }
  std::string last_event() const { return control->events().empty() ? "" : control->events().back().what.toStdString(); }
  void stop() {
    control->stop_all();
    ASSERT_TRUE(wait_finished());
  }
};

TEST_F(PausesTest, what_nobody_resumes_is_resumed_at_the_planned_end) {
  for (const Role role : all_roles) {
    host = PretendHost();
    finished = 0;
    begin(1000);  // so that it is paused before its end
    control->make_fault({FaultKind::pause, role});
    ASSERT_TRUE(is_paused(role));
    ASSERT_TRUE(wait_until([&] { return !is_paused(role); }));
    EXPECT_GE(control->events().back().at_s, control->run_settings().planned_duration_s().value());
    EXPECT_EQ(control->state(), RunState::running);
    EXPECT_FALSE(control->process(role).paused);
    EXPECT_EQ(last_event(), role == Role::broker    ? "N2NQ resumed at the end, because nobody had resumed it"
                            : role == Role::senders ? "Senders resumed at the end, because nobody had resumed them"
                                                    : "Receivers resumed at the end, because nobody had resumed them");
    stop();
    EXPECT_EQ(summary()["events"].size(), 2u);
    expect_over(Verdict::degraded);
    control.reset();
  }
}

TEST_F(PausesTest, what_is_resumed_later_by_plan_stays_paused_until_then) {
  PlannedStep pause, resume;
  ASSERT_FALSE(parse_planned_fault("pause:receivers@0", pause));
  ASSERT_FALSE(parse_planned_fault("resume:receivers@0.8", resume));
  begin(150, 60'000, {pause, resume});
  ASSERT_TRUE(wait_until([&] { return control->events().size() == 2; }));
  EXPECT_EQ(last_event(), "Receivers resumed");
  EXPECT_FALSE(is_paused(Role::receivers));
  stop();
  expect_over(Verdict::degraded);
}

TEST_F(PausesTest, a_warm_up_as_fast_as_it_goes_that_stands_still_is_resumed_when_nothing_moves_any_more) {
  host.behaviour[Role::senders].runs_on = true;
  Settings settings = small();
  settings.senders.delay_ms = 0;
  settings.senders.messages.reset();
  settings.senders.duration_s = 600;
  settings.senders.warmup_messages = 1000;
  auto given = options();
  given.deadlines.standstill = 500;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_running());
  control->make_fault({FaultKind::pause, Role::senders});
  ASSERT_TRUE(is_paused(Role::senders));
  EXPECT_TRUE(wait_until([&] { return !is_paused(Role::senders); })) << "its end does not come by itself";
  stop();
}

TEST_F(PausesTest, what_is_paused_behind_the_plan_is_resumed_when_nothing_moves_any_more) {
  begin(1, 2000);
  ASSERT_TRUE(wait_until([&] { return control->figures().t_s > 0.01; }));
  control->make_fault({FaultKind::pause, Role::senders});
  ASSERT_TRUE(is_paused(Role::senders));
  ASSERT_TRUE(wait_until([&] { return !is_paused(Role::senders); }));
  EXPECT_EQ(control->state(), RunState::running);
  ASSERT_TRUE(wait_finished()) << "and if then nothing moves either, that is told as before";
  EXPECT_NE(reasons().find("nothing was sent or received for 2 s"), std::string::npos) << reasons();
}

TEST_F(PausesTest, a_run_without_end_stays_paused_until_it_is_stopped) {
  constexpr int standstill_ms = 2000;
  begin(150, standstill_ms, {}, true);
  control->make_fault({FaultKind::pause, Role::receivers});
  ASSERT_TRUE(wait_until([&] { return control->figures().t_s * 1000 > 3 * standstill_ms; }));
  EXPECT_EQ(control->state(), RunState::running);
  ASSERT_TRUE(is_paused(Role::receivers));
  stop();
  EXPECT_FALSE(is_paused(Role::receivers));
  EXPECT_EQ(last_event(), "Receivers resumed at the end, because nobody had resumed them");
  expect_over(Verdict::degraded);
}

}  // namespace
}  // namespace n2nq::app
