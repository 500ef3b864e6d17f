// SPDX-License-Identifier: GPL-3.0-or-later
// What befalls a run: deaths, silence, nonsense, and that nothing moves any more.
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

TEST_F(RunControlTest, nor_is_who_has_ended) {
  auto given = options();
  given.deadlines.process.hello = 2'000;
  host.behaviour[Role::senders].answers = false;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return !host.heard[Role::senders].empty(); }));
  emit host.process[Role::senders]->exited();
  emit host.process[Role::senders]->keeps_back(false);
  QElapsedTimer since;
  since.start();
  ASSERT_TRUE(wait_until([&] { return since.elapsed() > given.deadlines.process.hello * 3 / 2; }));
  EXPECT_EQ(host.killed[Role::senders], 0);
  host.process[Role::senders]->lose_link("lab-2 has not answered for 10 s");
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(reasons().find("no answer"), std::string::npos) << reasons();
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
