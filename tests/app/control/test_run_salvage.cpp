// SPDX-License-Identifier: GPL-3.0-or-later
// What a killed group has left behind: read back, kept until then, or told as lost.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/control/fault.h"
#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

TEST_F(RunControlTest, what_a_killed_worker_has_left_is_read_back) {
  for (const Role role : {Role::senders, Role::receivers}) {
    host = PretendHost();
    finished = 0;
    host.staging_file = "/dev/shm/left";
    host.behaviour[role].dies = Moment::running;
    make();
    control->start_all();
    ASSERT_TRUE(wait_finished());
    expect_over(Verdict::broken);
    EXPECT_EQ(host.times_told(role, "configure"), 2u);
    EXPECT_EQ(host.heard[role].back()["type"], "bye");
    const auto salvage =
        std::find_if(host.heard[role].begin(), host.heard[role].end(), [](const auto& object) { return object.contains("salvage"); });
    ASSERT_NE(salvage, host.heard[role].end());
    EXPECT_EQ((*salvage)["salvage"], "/dev/shm/left");
    EXPECT_EQ(reasons().find("no final account"), std::string::npos) << reasons();
    EXPECT_EQ(summary()["ledger"]["total"]["lost"], 0);
    EXPECT_EQ(control->process(role).state, ProcessState::died);
    control.reset();
  }
}

TEST_F(RunControlTest, what_killed_workers_had_told_of_faults_is_in_the_result) {
  for (const bool salvage_fails : {false, true}) {
    host = PretendHost();
    host.staging_file = "/dev/shm/left";
    host.salvage_fails = salvage_fails;
    host.behaviour[Role::senders].runs_on = true;
    make();
    control->start_all();
    ASSERT_TRUE(wait_running());
    const auto tell = [this](Role role, const char* fault) { host.process[role]->say({{"type", "fault"}, {"message", fault}}); };
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
    tell(Role::receivers, "R001: the first process");
    control->make_fault({FaultKind::restart, Role::receivers});
    ASSERT_TRUE(wait_until([this] { return host.times_told(Role::receivers, "start") == 2; }));
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
    tell(Role::receivers, "R002: the second process");
    control->make_fault({FaultKind::kill, Role::receivers});
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::died));
    tell(Role::senders, "S001: told at once");
    control->stop_all();
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(reasons().find("no final account") != std::string::npos, salvage_fails) << reasons();
    EXPECT_NE(reasons().find("R001: the first process\nR002: the second process"), std::string::npos) << reasons();
    EXPECT_EQ(reasons().find("S001: told at once"), std::string::npos) << "who gives an account says it there: " << reasons();
    control.reset();
  }
}

TEST_F(RunControlTest, what_a_killed_worker_has_left_is_touched_until_it_is_started_again) {
  host.staging_file = "/dev/shm/left";
  host.behaviour[Role::senders].runs_on = true;
  RunControl::Options given = options();
  given.deadlines.touch = 1;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; }));
  EXPECT_TRUE(host.touched.isEmpty());
  control->make_fault({FaultKind::kill, Role::receivers});
  ASSERT_TRUE(wait_until([this] { return host.touched.size() > 2; }));
  EXPECT_TRUE(host.touched[0].endsWith("/receivers")) << host.touched.join(' ').toStdString();
  EXPECT_EQ(host.touched.count("/dev/shm/left"), host.touched.size() / 2);
  EXPECT_EQ(host.touched.count(host.touched[0]), host.touched.size() / 2) << "and its logs";
  control->start(Role::receivers);
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; }));
  const qsizetype before = host.touched.size();
  int turns = 0;
  QTimer turn;
  QObject::connect(&turn, &QTimer::timeout, [&] { ++turns; });
  turn.start(2);  // each later than the next touch would be
  ASSERT_TRUE(wait_until([&] { return turns > 5; }));
  EXPECT_LE(host.touched.size(), before + 2) << "it is another one's now";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunControlTest, a_salvage_that_fails_is_told) {
  host.staging_file = "/dev/shm/left";
  host.salvage_fails = true;
  host.behaviour[Role::receivers].dies = Moment::running;
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("could not be read back: Receivers died: exit code 2: no such staging file"), std::string::npos) << reasons();
  EXPECT_NE(reasons().find("Receivers gave no final account: what only they knew is unexplained"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, what_reads_back_and_then_stands_still_is_ended) {
  host.behaviour[Role::receivers].dies = Moment::running;
  host.staging_file = "/dev/shm/left";
  host.salvage_stands_still = true;
  auto given = options_with_short_ends();
  given.deadlines.salvage = 500;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("what the dead process had noted was read back into its logs, but not told: Receivers died: it did not end within 0.5 s "
                           "of reading back"),
            std::string::npos)
      << reasons();
}

}  // namespace
}  // namespace n2nq::app
