// SPDX-License-Identifier: GPL-3.0-or-later
// A run's life with the real processes: what a person at the window does, without the window. Takes the programs' folder as argument.
#include <gtest/gtest.h>
#include <signal.h>

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/control/planned_step.h"
#include "app/control/role.h"
#include "app/control/run_control.h"
#include "app/host/local_launcher.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/soundness.h"

namespace n2nq::app {
namespace {

QString programs_folder;

struct RealRun : testing::WithEventLoop {
  QTemporaryDir runs;
  std::unique_ptr<RunControl> control;
  QStringList messages;

  /// 0.1 s of traffic; what happens to it while it flows has four.
  static Settings small() {
    Settings settings;
    settings.senders.amount = 4;
    settings.senders.messages = 5;
    settings.senders.delay_ms = 20;
    settings.receivers.amount = 3;
    return settings;
  }
  void make(const Settings& settings = small(), int drain_margin = RunDeadlines().drain_margin, bool unattended = false) {
    RunControl::Options options;
    options.unattended = unattended;
    options.deadlines.drain_margin = drain_margin;
    options.runs_folder = runs.path();
    control = std::make_unique<RunControl>(options, std::make_unique<LocalLauncherFactory>(programs_folder));
    control->set_settings(settings);
    QObject::connect(control.get(), &RunControl::message, [this](const QString& text) { messages += text; });
  }
  /// With responses, until it is stopped; returns when messages flow.
  void start_endless() {
    Settings settings = small();
    settings.senders.messages.reset();
    settings.queue.responses = true;
    make(settings);
    control->start_all();
    ASSERT_TRUE(wait_until([this] { return control->figures().received > 20; })) << reasons();
  }
  bool wait_finished() {
    return wait_until([this] { return control->state() == RunState::finished; });
  }
  bool wait_waiting_for(Role role, const QString& start) {
    return wait_until([=, this] {
      const ProcessStatus status = control->process(role);
      return status.state == ProcessState::waiting && status.waiting_for.startsWith(start);
    });
  }
  std::string reasons() const { return (control->outcome().reasons + messages).join("\n").toStdString(); }
};

TEST_F(RealRun, any_of_the_six_orders_is_clean) {
  std::vector<Role> order(all_roles.begin(), all_roles.end());
  do {
    make();
    for (const Role role : order) {
      control->start(role);
      const bool waits = role == order.back() || wait_waiting_for(role, "");
      ASSERT_TRUE(waits) << reasons();
    }
    ASSERT_TRUE(wait_finished());
    EXPECT_TRUE(testing::is_sound(control->outcome())) << reasons();
    EXPECT_EQ(control->figures().received, 60);
    EXPECT_TRUE(messages.isEmpty()) << reasons();
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(RealRun, a_group_can_be_stopped_and_started_again_before_traffic) {
  for (const Role again : {Role::senders, Role::receivers}) {
    const Role other = again == Role::senders ? Role::receivers : Role::senders;
    make();
    control->start(Role::broker);
    control->start(again);
    ASSERT_TRUE(wait_waiting_for(again, role_name(other).toLower())) << reasons();
    control->stop(again);
    ASSERT_TRUE(wait_until([=, this] { return control->process(again).state == ProcessState::ended; })) << reasons();
    EXPECT_EQ(control->state(), RunState::preparing);
    control->start(again);
    control->start(other);
    ASSERT_TRUE(wait_finished());
    EXPECT_TRUE(testing::is_sound(control->outcome())) << reasons();
    EXPECT_EQ(control->figures().received, 60);
  }
}

TEST_F(RealRun, senders_may_be_away_before_traffic_for_longer_than_they_may_be_in_it) {
  Settings settings = small();
  settings.limits.reconnect_deadline_s = 0.5;
  make(settings);
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_waiting_for(Role::senders, "receivers")) << reasons();
  control->stop(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->process(Role::senders).state == ProcessState::ended; })) << reasons();
  QElapsedTimer away;
  away.start();
  ASSERT_TRUE(wait_until([&] { return away.elapsed() > 3000; }));
  EXPECT_TRUE(control->can_stop(Role::broker)) << "it waits";
  control->start(Role::senders);
  control->start(Role::receivers);
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(testing::is_sound(control->outcome())) << reasons();
  EXPECT_EQ(control->figures().received, 60);
}

TEST_F(RealRun, receivers_that_were_stopped_before_traffic_may_join_late_with_what_they_were_asked_for_meanwhile) {
  Settings settings = small();
  settings.queue.retention_s = 60;
  settings.start_when = StartWhen::senders_connected;
  settings.senders.messages.reset();
  settings.queue.requests.emplace();
  make(settings);
  control->start(Role::broker);
  control->start(Role::receivers);
  ASSERT_TRUE(wait_waiting_for(Role::receivers, "")) << reasons();
  control->stop(Role::receivers);
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::ended; })) << reasons();
  control->start(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->figures().attempted > 4; })) << reasons();
  RequestRules nothing;
  nothing.rules.clear();
  control->request({{2, 3}}, nothing);
  ASSERT_TRUE(control->can_start(Role::receivers));
  settings.limits.connect_deadline_s = 9;  // something else is changed, too
  control->set_settings(settings);
  control->start(Role::receivers);
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 12; })) << reasons();
  EXPECT_FALSE(control->can_start(Role::receivers));
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(testing::was_stopped(control->outcome())) << reasons();
  const auto summary = nlohmann::json::parse(control->outcome().summary);
  EXPECT_GT(summary["ledger"]["receivers"][0]["delivered"], 0);
  EXPECT_EQ(summary["ledger"]["receivers"][1]["delivered"], 0) << "it was asked to take nothing before it came";
}

TEST_F(RealRun, who_is_being_started_is_not_killed_and_it_is_told) {
  Settings settings = small();
  settings.senders.messages = 100;
  settings.queue.responses = true;
  make(settings);
  control->plan({{Fault{FaultKind::kill, Role::receivers}, 0.5},
                 {Fault{FaultKind::restart, Role::receivers}, 1.5},
                 {Fault{FaultKind::kill, Role::receivers}, 1.5}});
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::degraded) << reasons();
  EXPECT_NE(reasons().find("not done: Receivers killed (Receivers are being started)"), std::string::npos) << reasons();
  EXPECT_EQ(control->events().size(), 2u);
}

TEST_F(RealRun, stopping_the_broker_before_traffic_ends_all_without_a_fault) {
  make();
  control->start(Role::senders);
  control->start(Role::broker);
  ASSERT_TRUE(wait_waiting_for(Role::senders, "receivers")) << reasons();
  control->stop(Role::broker);
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::stopped) << reasons();
}

TEST_F(RealRun, receivers_that_were_never_started_have_no_account_to_give) {
  Settings settings = small();
  settings.start_when = StartWhen::senders_connected;
  settings.senders.messages.reset();
  make(settings);
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->figures().in_flight > 4; })) << reasons();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_NE(control->outcome().verdict, Verdict::broken) << reasons();
  EXPECT_TRUE(control->outcome().reasons.contains("Receivers were not started in this run")) << reasons();
}

TEST_F(RealRun, receivers_that_join_late_get_what_the_queue_still_holds) {
  Settings settings = small();
  settings.queue.retention_s = 60;
  settings.start_when = StartWhen::senders_connected;
  settings.senders.messages.reset();
  make(settings);
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->figures().attempted > 4; })) << reasons();
  control->start(Role::receivers);
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 12; })) << reasons();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(testing::was_stopped(control->outcome())) << reasons();
}

TEST_F(RealRun, each_process_can_be_killed_and_started_again_and_nothing_is_lost) {
  for (const Role role : {Role::senders, Role::receivers}) {
    for (const QueueMode mode : {QueueMode::broadcaster, QueueMode::load_balancer}) {
      Settings settings = small();
      settings.queue.mode = mode;
      settings.queue.retention_s = 60;
      settings.queue.responses = true;
      settings.senders.messages = 200;
      make(settings);
      control->start_all();
      ASSERT_TRUE(wait_until([this] { return control->figures().received > 20; })) << reasons();
      control->make_fault({FaultKind::kill, role});
      ASSERT_TRUE(wait_until([this, role] { return control->process(role).state == ProcessState::died; }));
      EXPECT_TRUE(control->can_start(role)) << "the start button starts it again";
      EXPECT_EQ(control->state(), RunState::running) << "the run goes on without it";
      EXPECT_FALSE(control->lock_reason(role == Role::senders ? "senders.messages" : "receivers.host").isEmpty()) << "it goes on with it";
      mode == QueueMode::broadcaster ? control->start(role) : control->start_all();
      ASSERT_TRUE(wait_finished());
      EXPECT_EQ(control->outcome().verdict, Verdict::degraded) << reasons();
      EXPECT_EQ(control->figures().attempted, 800);
      EXPECT_EQ(control->figures().lost, 0) << reasons();
      const auto summary = nlohmann::json::parse(control->outcome().summary);
      EXPECT_EQ(summary["ledger"]["total"]["delivered"], 800 * settings.copies()) << reasons();
      ASSERT_EQ(summary["events"].size(), 2u);
      EXPECT_NE(summary["events"][1]["what"].get<std::string>().find("started again"), std::string::npos);
    }
  }
}

/// A run whose receivers are dead when the last message is sent; the bench would soon have given up if it went by limits.drain_s.
struct DrainingRun : RealRun {
  void drain(Settings settings = small()) {
    settings.queue.responses = true;
    settings.queue.retention_s = 60;
    settings.limits.drain_s = 0;
    settings.senders.messages = 200;
    make(settings, 0);
    control->start_all();
    ASSERT_TRUE(wait_until([this] { return control->figures().received > 3; })) << reasons();
    control->make_fault({FaultKind::kill, Role::receivers});
    ASSERT_TRUE(wait_until([this] { return control->draining(); })) << reasons();
    const double since_s = control->figures().t_s;
    ASSERT_TRUE(wait_until([=, this] { return control->figures().t_s > since_s + 0.5; }));
    ASSERT_TRUE(control->draining());
    EXPECT_GT(control->seconds_left(), 50);
    EXPECT_GT(control->figures().in_flight, 0);
    EXPECT_FALSE(control->can_stop(Role::senders)) << "they have ended";
  }
};

TEST_F(DrainingRun, a_person_starts_the_receivers_again_and_they_get_what_is_queued) {
  drain();
  EXPECT_TRUE(control->process(Role::receivers).may_be_back);
  ASSERT_TRUE(control->can_start(Role::receivers));
  control->start(Role::receivers);
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::degraded) << reasons();
  EXPECT_EQ(control->figures().settled->delivered, 2400) << reasons();
  EXPECT_EQ(reasons().find("given up"), std::string::npos) << reasons();
}

TEST_F(DrainingRun, nothing_suggests_going_on_when_it_was_stopped) {
  drain();
  control->stop_all();
  EXPECT_FALSE(control->can_start(Role::receivers));
  EXPECT_FALSE(control->process(Role::receivers).may_be_back);
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->process(Role::receivers).error, "Receivers were killed on purpose");
  EXPECT_GT(control->figures().settled->still_queued, 0);
}

TEST_F(DrainingRun, n2nq_that_is_killed_and_started_again_then_has_nothing_left_and_ends) {
  drain();
  control->make_fault({FaultKind::restart, Role::broker});
  control->start(Role::receivers);
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::broken) << "what it held is lost: " << reasons();
  EXPECT_EQ(reasons().find("given up"), std::string::npos) << reasons();
  EXPECT_LT(control->figures().t_s, 50);
}

TEST_F(DrainingRun, a_paused_group_is_resumed_and_one_that_is_told_to_is_normal_again) {
  Settings settings = small();
  settings.queue.responses = true;
  settings.queue.retention_s = 60;
  settings.limits.drain_s = 0;
  settings.responses.deadline_s = 60;
  settings.senders.messages = 50;
  make(settings, 0);
  PlannedStep bad{Fault{FaultKind::confirm_nothing, Role::receivers, 2}, 0}, good{Fault{FaultKind::normal, Role::receivers, 2}, 5};
  PlannedStep pause{Fault{FaultKind::pause, Role::receivers}, 0.05}, resume{Fault{FaultKind::resume, Role::receivers}, 3};
  control->plan({bad, pause, resume, good});
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->events().size() == 4; })) << reasons();
  EXPECT_EQ(control->events()[3].what, "R002 is back to normal");
  ASSERT_TRUE(control->draining()) << reasons();
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->figures().settled->delivered, 600) << reasons();
  EXPECT_EQ(control->figures().settled->still_queued, 0) << reasons();
}

TEST_F(RealRun, nobody_waits_for_the_retention_where_n2nq_is_dead_for_good) {
  Settings settings = small();
  settings.queue.responses = true;
  settings.queue.retention_s = 3600;
  settings.limits.drain_s = 0;
  settings.senders.messages = 50;  // 200 for R002, which has room for them
  make(settings, RunDeadlines().drain_margin, true);
  control->plan({{Fault{FaultKind::confirm_nothing, Role::receivers, 2}, 0}});
  control->start_all();
  // What N2NQ has accepted and not yet sent on dies with it.
  ASSERT_TRUE(wait_until([this] { return control->draining() && control->figures().received == 600; })) << reasons();
  EXPECT_FALSE(control->figures().in_flight_at_most);
  control->make_fault({FaultKind::kill, Role::broker});
  ASSERT_TRUE(wait_until([this] { return control->figures().in_flight_at_most; })) << "what it held is gone";
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::degraded) << reasons();
  EXPECT_NE(reasons().find("N2NQ was dead, and nothing planned started it again: given up after 0 s"), std::string::npos) << reasons();
  EXPECT_EQ(control->figures().settled->delivered, control->figures().settled->accepted) << reasons();
}

TEST_F(RealRun, a_restart_that_a_stop_forestalls_is_told_as_a_kill) {
  ASSERT_NO_FATAL_FAILURE(start_endless());
  control->make_fault({FaultKind::restart, Role::receivers});
  control->stop_all();  // before anybody has heard that they are gone
  ASSERT_TRUE(wait_finished());
  ASSERT_EQ(control->events().size(), 1u);
  EXPECT_EQ(control->events()[0].what, "Receivers killed; the run was over before they were started again");
  EXPECT_NE(control->outcome().verdict, Verdict::broken) << reasons();
}

TEST_F(RealRun, who_is_being_killed_is_not_killed_again_and_a_restart_is_told_as_it_was) {
  ASSERT_NO_FATAL_FAILURE(start_endless());
  control->make_fault({FaultKind::restart, Role::receivers});
  for (const FaultKind kind : {FaultKind::kill, FaultKind::restart, FaultKind::pause}) {
    EXPECT_EQ(control->fault_problem({kind, Role::receivers}), "Receivers are being killed");
  }
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::starting; })) << reasons();
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; })) << reasons();
  control->make_fault({FaultKind::kill, Role::senders});
  EXPECT_EQ(control->fault_problem({FaultKind::restart, Role::senders}), "") << "it may come back";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  ASSERT_EQ(control->events().size(), 2u);
  EXPECT_EQ(control->events()[0].what, "Receivers killed and started again");
}

TEST_F(RealRun, who_is_on_its_way_back_to_n2nq_when_the_run_is_stopped_has_not_failed) {
  Settings settings = small();
  settings.senders.messages.reset();
  make(settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 20; })) << reasons();
  control->make_fault({FaultKind::kill, Role::broker});
  ASSERT_TRUE(wait_until([this] { return control->process(Role::broker).state == ProcessState::died; }));
  control->make_fault({FaultKind::restart, Role::broker});
  control->make_fault({FaultKind::kill, Role::senders});
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(reasons().find("Receivers failed"), std::string::npos) << reasons();
}

TEST_F(RealRun, a_service_that_misbehaves_has_not_recovered_when_its_process_goes_on) {
  Settings settings = small();
  settings.queue.responses = true;
  settings.queue.mode = QueueMode::load_balancer;
  settings.queue.dispatch = Dispatch::round_robin;
  settings.senders.messages.reset();
  settings.responses.deadline_s = 60;
  settings.responses.window = 65536;
  make(settings);
  const auto recovered = [this](std::size_t event) { return control->events()[event].recovered_after_s.has_value(); };
  const auto wait_rounds = [this](std::uint64_t count) {
    return wait_until([this, until = control->figures().round + count] { return control->figures().round >= until; });
  };
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 20; })) << reasons();
  ASSERT_TRUE(wait_rounds(10));  // a range of one round is chance, and nothing may ever be as good again on a busy machine
  control->make_fault({FaultKind::confirm_nothing, Role::receivers, 1});
  control->make_fault({FaultKind::pause, Role::receivers});
  control->make_fault({FaultKind::resume, Role::receivers});
  ASSERT_TRUE(wait_until([&] { return recovered(1); })) << reasons();
  ASSERT_TRUE(wait_rounds(5));
  EXPECT_FALSE(recovered(0)) << "it still confirms nothing";
  control->make_fault({FaultKind::normal, Role::receivers, 1});
  ASSERT_TRUE(wait_until([&] { return recovered(0); })) << reasons();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RealRun, what_was_parked_though_it_arrived_is_told_alike_live_and_at_the_end) {
  for (const QueueMode mode : {QueueMode::broadcaster, QueueMode::load_balancer}) {
    Settings settings = small();
    settings.receivers.amount = mode == QueueMode::broadcaster ? 2 : 1;
    settings.queue.mode = mode;
    settings.queue.responses = true;
    settings.senders.messages = 200;
    settings.responses.attempts_max = 3;
    make(settings);
    control->set_visible_rows(Role::receivers, 1, settings.receivers.amount);
    LiveFigures last;  // before the end
    std::int64_t attempted_most = 0, accepted_most = 0, parked_most = 0, row_skipped_most = 0;
    QObject::connect(control.get(), &RunControl::figures_changed, [&] {
      const LiveFigures& now = control->figures();
      if (!now.settled) last = now;
      attempted_most = std::max(attempted_most, now.attempted);
      accepted_most = std::max(accepted_most, now.accepted);
      parked_most = std::max(parked_most, now.parked);
      for (const ReceiverRow& row : now.receivers) row_skipped_most = std::max(row_skipped_most, row.skipped);
    });
    control->start_all();
    ASSERT_TRUE(wait_until([this] { return control->figures().received > 0; })) << reasons();
    control->make_fault({FaultKind::answer_negatively, Role::receivers, 1});
    ASSERT_TRUE(wait_finished());
    const LiveFigures& end = control->figures();
    ASSERT_TRUE(end.settled) << reasons();
    EXPECT_GT(end.parked_delivered, 0) << reasons();
    EXPECT_EQ(last.parked_delivered, end.parked_delivered);
    EXPECT_EQ(attempted_most, 800);
    EXPECT_EQ(accepted_most, 800);
    EXPECT_EQ(parked_most, 0);
    EXPECT_EQ(row_skipped_most, 0);
    EXPECT_EQ(end.settled->delivered, 800 * settings.copies());
    const std::string reason = "N2NQ gave up on " + std::to_string(end.parked_delivered) + " copies after 3 attempts each: parked";
    EXPECT_NE(reasons().find(reason), std::string::npos) << reasons();
    const auto summary = nlohmann::json::parse(control->outcome().summary);
    EXPECT_EQ(summary["ledger"]["total"]["parked_delivered"], end.parked_delivered);
    EXPECT_EQ(summary["ledger"]["receivers"][0]["parked_delivered"], end.parked_delivered);
    EXPECT_EQ(summary["ledger"]["total"]["parked"], 0);
    control.reset();  // before what listens to it
  }
}

TEST_F(RealRun, a_broker_that_is_started_again_binds_the_same_port_and_the_run_says_so) {
  Settings settings = small();
  settings.senders.messages = 200;
  make(settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 20; })) << reasons();
  control->make_fault({FaultKind::restart, Role::broker});
  ASSERT_TRUE(wait_finished());
  EXPECT_NE(reasons().find("N2NQ was restarted"), std::string::npos);
  const auto summary = nlohmann::json::parse(control->outcome().summary);
  EXPECT_EQ(summary["ledger"]["total"]["unexplained"], 0) << reasons();
  EXPECT_EQ(summary["ledger"]["total"]["attempted"], 800);
  EXPECT_EQ(control->outcome().verdict, summary["ledger"]["total"]["lost"] == 0 ? Verdict::degraded : Verdict::broken) << reasons();
}

TEST_F(RealRun, a_new_request_is_obeyed_while_messages_flow) {
  Settings settings = small();
  settings.senders.messages = 200;
  settings.queue.requests.emplace();
  make(settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 20; })) << reasons();
  RequestRules nothing;
  nothing.rules.clear();
  control->request({{2, 3}}, nothing);
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(testing::is_sound(control->outcome())) << reasons();
  EXPECT_EQ(control->rules_in_force()[2].text(), "nothing");
  const auto summary = nlohmann::json::parse(control->outcome().summary);
  EXPECT_EQ(summary["ledger"]["receivers"][0]["delivered"], 800);
  EXPECT_GT(summary["ledger"]["receivers"][1]["unrequested"], 0);
  EXPECT_EQ(summary["ledger"]["receivers"][1]["delivered"].get<int>() + summary["ledger"]["receivers"][1]["unrequested"].get<int>(), 800);
  EXPECT_EQ(summary["events"][0]["kind"], "setting");
}

TEST_F(RealRun, senders_that_are_killed_for_good_end_the_run_when_n2nq_gives_them_up) {
  Settings settings = small();
  settings.senders.messages = 200;
  settings.limits.reconnect_deadline_s = 0.5;
  make(settings);
  control->plan({{Fault{FaultKind::kill, Role::senders}, 1}});
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::degraded) << reasons();
  const auto summary = nlohmann::json::parse(control->outcome().summary);
  const auto& total = summary["ledger"]["total"];
  EXPECT_GT(total["attempted"], 0);
  EXPECT_LT(total["attempted"], 800);
  EXPECT_EQ(total["delivered"], total["accepted_copies"]) << reasons();
  EXPECT_EQ(total["unexplained"], 0);
}

TEST_F(RealRun, senders_that_are_killed_before_their_first_message_end_the_run_likewise) {
  Settings settings = small();
  settings.senders.messages = 200;
  settings.limits.reconnect_deadline_s = 0.5;
  make(settings);
  control->plan({{Fault{FaultKind::kill, Role::senders}, 0}});
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::degraded) << reasons();
  EXPECT_NE(reasons().find("was gone for 500 ms without END"), std::string::npos) << reasons();
}

TEST_F(RealRun, a_fault_that_comes_too_late_is_told) {
  make();
  control->plan({{Fault{FaultKind::kill, Role::receivers}, 60}});
  control->start_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::degraded);
  EXPECT_NE(reasons().find("planned, but not done: Receivers killed at 60 s"), std::string::npos) << reasons();
}

TEST_F(RealRun, a_killed_workers_last_messages_are_in_the_result) {
  Settings settings = small();
  settings.senders.messages.reset();
  make(settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->figures().attempted > 8; })) << reasons();
  std::int64_t attempted = 0, delivered = 0;
  for (const Role role : {Role::receivers, Role::senders}) {
    attempted = control->figures().attempted;
    delivered = control->figures().received;
    control->make_fault({FaultKind::kill, role});
    ASSERT_TRUE(wait_until([=, this] { return control->process(role).state == ProcessState::died; })) << reasons();
  }
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  QFile file(control->folder() + "/summary.json");
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const auto summary = nlohmann::json::parse(file.readAll().toStdString());
  EXPECT_GE(summary["ledger"]["total"]["attempted"], attempted) << reasons();
  EXPECT_GE(summary["ledger"]["total"]["delivered"], delivered) << reasons();
  EXPECT_EQ(reasons().find("no final account"), std::string::npos) << reasons();
}

}  // namespace
}  // namespace n2nq::app

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fputs("usage: test_real_run FOLDER-OF-THE-PROGRAMS\n", stderr);
    return 2;
  }
  n2nq::app::programs_folder = QString::fromLocal8Bit(argv[1]);
  return RUN_ALL_TESTS();
}
