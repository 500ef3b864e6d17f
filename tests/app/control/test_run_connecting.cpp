// SPDX-License-Identifier: GPL-3.0-or-later
// For how long a run waits for groups to get to N2NQ.
#include <gtest/gtest.h>

#include "app/control/fault.h"
#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

TEST_F(RunControlTest, without_a_window_it_does_not_wait_for_ever_for_connections) {
  host.behaviour[Role::senders].connects = host.behaviour[Role::receivers].connects = false;
  auto given = options();
  given.unattended = true;
  Settings settings = small();
  settings.limits.connect_deadline_s = 0.1;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("not connected within 0.1 s: Senders, waiting for N2NQ; Receivers, waiting for N2NQ"), std::string::npos)
      << reasons();
}

/// Without a window; messages flow when the receivers are still to connect, and they never do.
class LateReceiversTest : public RunControlTest {
 protected:
  void start_all(double connect_deadline_s) {
    host.behaviour[Role::senders].runs_on = true;
    host.behaviour[Role::receivers].connects = false;
    auto given = options();
    given.unattended = true;
    Settings settings = small();
    settings.start_when = StartWhen::senders_connected;
    settings.limits.connect_deadline_s = connect_deadline_s;
    make(given, settings);
    control->start_all();
  }
};

TEST_F(LateReceiversTest, who_joins_while_messages_flow_has_as_long_to_connect) {
  start_all(0.5);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_TRUE(control->traffic_started());
  EXPECT_NE(reasons().find("not connected within 0.5 s: Receivers, waiting for N2NQ"), std::string::npos) << reasons();
}

TEST_F(LateReceiversTest, who_looks_for_n2nq_again_meanwhile_is_not_late) {
  start_all(2);
  ASSERT_TRUE(wait_running());
  host.process[Role::senders]->say_waiting("N2NQ");
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("not connected within 2 s: Receivers, waiting for N2NQ"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, without_a_window_who_is_started_again_has_it_too_behind_what_is_done_on_purpose) {
  constexpr int limit_ms = 500;
  host.behaviour[Role::senders].runs_on = true;
  auto given = options();
  given.unattended = true;
  Settings settings = small();
  settings.senders.messages.reset();  // behind a planned end the bench would resume N2NQ itself
  settings.limits.connect_deadline_s = limit_ms / 1e3;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
  host.behaviour[Role::receivers].connects = false;
  control->make_fault({FaultKind::pause, Role::broker});
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_until([this] { return host.times_told(Role::receivers, "connect") == 2; }));
  const double until_s = control->figures().t_s + 3 * limit_ms / 1e3;  // it has passed twice by then
  ASSERT_TRUE(wait_until([&] { return control->state() != RunState::running || control->figures().t_s > until_s; }));
  EXPECT_EQ(control->state(), RunState::running) << "N2NQ stands still on purpose: " << reasons();
  control->make_fault({FaultKind::resume, Role::broker});
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("not connected within 0.5 s: Receivers, waiting for N2NQ"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, a_host_that_asks_a_person_or_is_far_away_is_waited_for_without_a_window_too) {
  constexpr int limit_ms = 1'000, lease_ms = 100;
  host.unreachable.insert("lab-1");
  auto given = options();
  given.unattended = true;
  given.deadlines.process.lease = lease_ms;
  Settings settings = small();
  settings.receivers.host = "lab-1";
  settings.limits.connect_deadline_s = limit_ms / 1e3;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->process(Role::senders).waiting_for.startsWith("receivers"); }));
  // No figures are pulled yet, but the senders' lease is kept.
  const int leases_until = host.leases[Role::senders] + 3 * limit_ms / 2 / lease_ms;
  ASSERT_TRUE(wait_until([&] { return control->state() != RunState::preparing || host.leases[Role::senders] >= leases_until; }));
  EXPECT_EQ(control->state(), RunState::preparing) << reasons();
  EXPECT_EQ(control->process(Role::receivers).state, ProcessState::starting);
}

}  // namespace
}  // namespace n2nq::app
