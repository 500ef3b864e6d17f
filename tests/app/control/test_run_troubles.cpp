// SPDX-License-Identifier: GPL-3.0-or-later
// What befalls a run: deaths, silence, nonsense, and processes that hang.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <thread>

#include "app/control/fault.h"
#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

TEST_F(RunControlTest, a_death_at_any_moment_breaks_the_run_and_is_named) {
  for (const Moment moment : {Moment::launched, Moment::waiting, Moment::connected, Moment::running, Moment::ending}) {
    for (const Role role : all_roles) {
      if (role == Role::broker && moment == Moment::connected) continue;  // it connects to nobody
      SCOPED_TRACE(static_cast<int>(moment) * 10 + static_cast<int>(role));
      host = PretendHost();
      finished = 0;
      host.behaviour[role].dies = moment;
      make();
      control->start_all();
      ASSERT_TRUE(wait_finished());
      expect_over(Verdict::broken);
      const std::string name = role == Role::broker ? "N2NQ" : role == Role::senders ? "Senders" : "Receivers";
      EXPECT_NE(reasons().find(name + " died: signal 11 (Segmentation fault)"), std::string::npos) << reasons();
      const ProcessStatus status = control->process(role);
      EXPECT_EQ(status.state, ProcessState::died);
      EXPECT_EQ(status.last_lines.size(), 2);
      EXPECT_FALSE(status.error.isEmpty());
      EXPECT_EQ(summary()["processes"][role == Role::broker    ? "broker"
                                       : role == Role::senders ? "senders"
                                                               : "receivers"]["last_lines"]
                    .size(),
                2u);
      for (const Role other : all_roles) {
        if (other == role) continue;
        EXPECT_EQ(control->process(other).state, ProcessState::ended) << "the others end in order";
      }
      control.reset();
    }
  }
}

TEST_F(RunControlTest, an_end_that_nobody_asked_for_breaks_the_run) {
  host.behaviour[Role::receivers].exits = Moment::running;
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Receivers died: exit code 0"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, who_never_answers_is_killed) {
  for (const Role role : all_roles) {
    host = PretendHost();
    finished = 0;
    host.behaviour[role].answers = false;
    auto given = options();
    given.deadlines.process.hello = 50;
    make(given);
    control->start_all();
    ASSERT_TRUE(wait_finished());
    expect_over(Verdict::broken);
    EXPECT_NE(reasons().find("died: no answer within 0.05 s"), std::string::npos) << reasons();
    control.reset();
  }
}

TEST_F(RunControlTest, a_start_that_fails_says_on_which_host) {
  host.behaviour[Role::receivers].says_as_hello = "\n";  // launched, but silent
  auto given = options();
  given.deadlines.process.hello = 100;
  Settings settings = small();
  settings.receivers.host = "lab-1";
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Receivers on lab-1 died: no answer within 0.1 s"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, who_was_told_nothing_yet_is_not_held_to_answer) {
  auto given = options();
  given.deadlines.process.hello = 1'000;
  host.behaviour[Role::senders].keeps_back_ms = given.deadlines.process.hello * 3 / 2;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
}

TEST_F(RunControlTest, who_answers_nonsense_is_killed) {
  for (const QByteArray& nonsense : {QByteArray("{\"type\":\"hello\"}\n"), QByteArray("{\"type\":\"greeting\"}\n"),
                                     QByteArray("{\"no\":\"type\"}\n"), QByteArray("{\"type\":\"hello\",\"control\":\"one\"}\n")}) {
    host = PretendHost();
    finished = 0;
    host.behaviour[Role::broker].says_as_hello = nonsense;
    make();
    control->start_all();
    ASSERT_TRUE(wait_finished());
    expect_over(Verdict::broken);
    EXPECT_NE(reasons().find("N2NQ died: said something that is no control message"), std::string::npos) << reasons();
    control.reset();
  }
}

TEST_F(RunControlTest, nonsense_in_the_middle_breaks_the_run) {
  host.behaviour[Role::receivers].says_when_running = "hello world\n";
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Receivers died: said something that is no control message: \"hello world\""), std::string::npos) << reasons();
}

TEST_F(RunControlTest, another_version_of_protocol_or_program_is_refused_with_both_named) {
  struct Other {
    int control, wire;
    const char *version, *why;
  };
  for (const auto& [control_version, wire_version, version, why] :
       {Other{2, 1, "9", "speaks control protocol 2, this bench speaks 1: build them together"},
        {0, 1, "9", "speaks control protocol 0, this bench speaks 1: build them together"},
        {1, 1, "9", "is of version 9, this bench of version " N2NQ_VERSION ": build them together"},
        {1, 2, N2NQ_VERSION, "speaks N2NQ's wire protocol 2, this bench is of 1: build them together"},
        {1, 0, N2NQ_VERSION, "speaks N2NQ's wire protocol 0, this bench is of 1: build them together"}}) {
    host.behaviour[Role::senders].says_as_hello =
        QString(R"({"type":"hello","control":%1,"wire":%2,"role":"senders","version":"%3","now_ns":1,"host":{}})" "\n")
            .arg(control_version)
            .arg(wire_version)
            .arg(version)
            .toUtf8();
    make();
    control->start_all();
    ASSERT_TRUE(wait_finished());
    EXPECT_NE(reasons().find(std::string("Senders died: ") + why), std::string::npos) << reasons();
  }
}

TEST_F(RunControlTest, an_error_it_says_is_told) {
  host.behaviour[Role::broker].says_as_hello = R"({"type":"error","code":"value","key":"listen.port","message":"port 80 cannot be bound"})"
                                               "\n";
  host.behaviour[Role::broker].answers = true;
  auto given = options();
  given.deadlines.process.hello = 100;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(messages.contains("N2NQ: listen.port: port 80 cannot be bound")) << messages.join("\n").toStdString();
}

TEST_F(RunControlTest, an_order_that_is_refused_ends_the_run_and_is_told_once) {
  const QByteArray refusal =
      R"({"type":"error","code":"settings","key":"senders.at_ns","message":"senders.at_ns is missing","order":"clock"})"
      "\n";
  host.behaviour[Role::receivers].says_when_running = refusal + refusal;
  host.behaviour[Role::senders].runs_on = true;
  Settings settings = small();
  settings.senders.messages.reset();
  settings.receivers.host = "lab-1";
  make(options(), settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  const QString told = "Receivers on lab-1 refused what they were told of the senders' clock: senders.at_ns is missing";
  EXPECT_EQ(reasons(), told.toStdString());
  EXPECT_EQ(messages.count(told), 1) << messages.join("\n").toStdString();
  EXPECT_FALSE(summary()["processes"]["receivers"].contains("trouble")) << "they gave their account";
}

TEST_F(RunControlTest, an_order_that_is_refused_before_traffic_fails_the_start) {
  host.behaviour[Role::senders].says_first =
      R"({"type":"error","code":"settings","key":"port","message":"port is missing","order":"connect"})"
      "\n";
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Senders refused the order \"connect\": port is missing"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, an_n2nq_that_cannot_listen_at_a_port_of_root_says_so_wherever_it_is) {
  for (const char* place : {"local", "h1"}) {
    host = PretendHost();
    host.behaviour[Role::broker].says_as_hello =
        R"({"type":"error","code":"listen","key":"listen","message":"cannot listen on 10.0.0.1:80: Permission denied"})"
        "\n";
    auto given = options();
    given.deadlines.process.hello = 100;
    Settings settings = small();
    settings.broker.host = place;
    settings.broker.port = 80;
    make(given, settings);
    control->start_all();
    ASSERT_TRUE(wait_finished());
    EXPECT_NE(reasons().find(". Ports below 1024 are root's: choose another one for N2NQ (broker.port)"), std::string::npos) << reasons();
    control.reset();
  }
}

TEST_F(RunControlTest, a_program_that_cannot_be_started_breaks_the_run) {
  host.behaviour[Role::senders].fails_to_start = true;
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Senders could not be started: the pretend host has no such program"), std::string::npos);
}

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

TEST_F(RunControlTest, that_this_bench_stood_still_is_told_and_is_no_defect_of_the_run) {
  host.behaviour[Role::senders].runs_on = true;
  auto given = options();
  given.deadlines.own_standstill = 300;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_until([this] { return control->figures().t_s > 0.05; }));
  const double before_s = control->figures().t_s;
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  // A busy machine may have held this bench up before, and may again.
  const auto is_this_one = [before_s](const RunEvent& event) {
    return event.kind == RunEvent::Kind::standstill && std::abs(event.at_s - before_s) < 0.7;
  };
  ASSERT_TRUE(wait_until([&] { return std::ranges::any_of(control->events(), is_this_one); }));
  const RunEvent told = *std::ranges::find_if(control->events(), is_this_one);
  EXPECT_TRUE(messages.contains("This " + told.what + ", or the machine that it runs on did")) << told.what.toStdString();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
  EXPECT_TRUE(std::regex_search(reasons(), std::regex("this bench stood still for [0-9.]+ s"))) << reasons();
  const auto result = summary();
  EXPECT_GE(result["events"].size(), 1u);
  for (const auto& event : result["events"]) {
    EXPECT_EQ(event["kind"], "standstill");
    EXPECT_FALSE(event.contains("recovered_after_s"));
  }
}

TEST_F(RunControlTest, a_run_in_which_nothing_moves_is_ended) {
  host.behaviour[Role::senders].runs_on = true;
  auto given = options();
  given.deadlines.standstill = 300;
  given.deadlines.drain_margin = 0;
  Settings settings = small();
  settings.queue.retention_s = settings.limits.drain_s = 0.1;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("nothing was sent or received for 0.3 s"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, a_run_in_which_nothing_moves_goes_on_while_a_full_queue_may_keep_its_messages) {
  host.behaviour[Role::senders].runs_on = true;
  auto given = options();
  given.deadlines.standstill = 50;
  given.deadlines.drain_margin = 100;
  Settings settings = small();
  settings.queue.retention_s = 0.5;
  settings.limits.drain_s = 0.1;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("nothing was sent or received for 0.6 s"), std::string::npos) << reasons();
}

TEST_F(RunControlTest, a_run_in_which_n2nq_accepts_what_was_sent_long_ago_moves) {
  constexpr int standstill_ms = 500;
  host.behaviour[Role::senders].runs_on = host.behaviour[Role::senders].held_back = true;
  auto given = options();
  given.deadlines.standstill = standstill_ms;
  given.deadlines.drain_margin = 0;
  Settings settings = small();
  settings.senders.messages = 1'000'000;
  settings.queue.retention_s = settings.limits.drain_s = 0.1;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_until([&] { return control->state() != RunState::running || control->figures().t_s * 1000 > 3 * standstill_ms; }));
  EXPECT_EQ(control->state(), RunState::running) << reasons();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunControlTest, n2nq_that_does_not_end_is_given_up_when_every_message_has_left_by_its_retention) {
  host.behaviour[Role::broker].ends_by_itself = false;
  auto given = options();
  given.deadlines.drain_margin = 100;
  given.deadlines.standstill = 50;
  Settings settings = small();
  settings.limits.drain_s = 0.1;
  settings.queue.retention_s = 0.5;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->draining(); }));
  EXPECT_EQ(control->state(), RunState::running);
  EXPECT_LT(control->seconds_left(), 5);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::degraded);
  EXPECT_EQ(reasons(), "N2NQ was not drained 0.6 s after the last message: given up; a larger queue.retention_s lets the run wait longer");
}

TEST_F(RunControlTest, n2nq_that_still_waits_for_answers_is_given_up_with_a_word_on_their_deadline) {
  host.behaviour[Role::broker].ends_by_itself = false;
  auto given = options();
  given.deadlines.drain_margin = 100;
  Settings settings = small();
  settings.limits.drain_s = 0.1;
  settings.queue.retention_s = 0.5;
  settings.queue.responses = true;
  settings.responses.deadline_s = 60;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::degraded);
  EXPECT_EQ(reasons(),
            "N2NQ was not drained 0.6 s after the last message: given up; a larger queue.retention_s lets the run wait longer, and a "
            "shorter responses.deadline_s lets N2NQ wait less for answers");
}

TEST_F(RunControlTest, who_does_not_answer_during_traffic_is_killed) {
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

TEST_F(RunControlTest, what_a_host_does_not_kill_runs_on_and_is_not_told_as_killed) {
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

TEST_F(RunControlTest, what_a_host_does_not_end_hears_nothing_any_more_and_is_not_waited_for) {
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

TEST_F(RunControlTest, what_does_not_even_end_when_it_is_killed_is_not_waited_for) {
  host.behaviour[Role::senders].runs_on = true;
  host.behaviour[Role::receivers].silent_in_traffic = true;
  host.behaviour[Role::receivers].outlives_kill = true;
  auto given = options_with_short_ends();
  given.deadlines.process.answer = 300;
  given.deadlines.process.killed = 50;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::broken);
  EXPECT_NE(reasons().find("Receivers could not be ended and may run on: no answer for 0.3 s; it has not ended within 0.05 s of being killed"),
            std::string::npos)
      << reasons();
  EXPECT_EQ(reasons().find("was killed"), std::string::npos) << reasons();
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

TEST_F(RunControlTest, what_outlives_its_killing_on_purpose_is_not_started_again) {
  host.behaviour[Role::senders].runs_on = true;
  host.behaviour[Role::receivers].outlives_kill = true;
  host.behaviour[Role::receivers].silent_in_traffic = true;
  auto given = options_with_short_ends();
  given.deadlines.process.answer = 300;
  given.deadlines.process.killed = 50;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::broken);
  EXPECT_NE(reasons().find("Receivers could not be ended and may run on: "), std::string::npos) << reasons();
  EXPECT_EQ(host.times_told(Role::receivers, "start"), 1u);
}

TEST_F(RunControlTest, of_a_thousand_faults_a_hundred_are_kept) {
  QByteArray faults;
  for (int i = 1; i <= 1000; ++i) faults += "{\"type\":\"fault\",\"message\":\"fault " + QByteArray::number(i) + "\"}\n";
  host.behaviour[Role::receivers].says_when_running = faults;
  host.behaviour[Role::receivers].dies = Moment::running;
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("fault 3\n… and 97 more of that kind\nand 900 more faults"), std::string::npos) << reasons();
}

}  // namespace
}  // namespace n2nq::app
