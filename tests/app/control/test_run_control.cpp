// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/run_control.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>

#include "app/results/folder_lock.h"
#include "app/settings/settings_file.h"
#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

// ---- A run that goes well

TEST_F(RunControlTest, start_all_leads_to_a_clean_end) {
  make();
  EXPECT_EQ(control->state(), RunState::idle);
  control->start_all();
  EXPECT_EQ(control->state(), RunState::preparing);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
  EXPECT_TRUE(control->outcome().reasons.isEmpty());
  for (const Role role : all_roles) {
    EXPECT_EQ(control->process(role).state, ProcessState::ended);
    EXPECT_EQ(host.times_told(role, "configure"), 1u);
    EXPECT_EQ(host.times_told(role, "bye"), 1u);
    EXPECT_EQ(host.killed[role] + host.terminated[role], 0);
  }
  EXPECT_EQ(control->figures().attempted, 12);
  EXPECT_EQ(control->figures().received, 24);
  EXPECT_EQ(control->figures().latency.count, 24u);
  EXPECT_EQ(control->figures().senders.size(), 3u);
  EXPECT_EQ(control->figures().receivers.size(), 2u);
  EXPECT_EQ(control->progress(), 1);
}

TEST_F(RunControlTest, who_has_begun_to_start_is_told_as_one_that_can_be_stopped) {
  make();
  std::map<Role, std::pair<bool, bool>> told;  // whether it can be started and stopped, when something of it was told last
  QObject::connect(control.get(), &RunControl::process_changed,
                   [&](Role role) { told[role] = {control->can_start(role), control->can_stop(role)}; });
  control->start_all();
  for (const Role role : all_roles) EXPECT_EQ(told[role], std::pair(false, true)) << static_cast<int>(role);
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunControlTest, any_of_the_six_orders_leads_to_a_clean_end) {
  std::vector<Role> order(all_roles.begin(), all_roles.end());
  do {
    host = PretendHost();
    finished = 0;
    make();
    for (const Role role : order) {
      control->start(role);
      if (role != order.back()) {
        ASSERT_TRUE(wait_state(role, ProcessState::waiting));
        EXPECT_FALSE(control->process(role).waiting_for.isEmpty()) << "a waiting process says what it waits for";
        EXPECT_EQ(control->state(), RunState::preparing);
      }
    }
    ASSERT_TRUE(wait_finished());
    expect_over(Verdict::clean);
    control.reset();
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(RunControlTest, a_waiting_worker_names_whom_it_waits_for) {
  make();
  control->start(Role::senders);
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::waiting));
  EXPECT_EQ(control->process(Role::senders).waiting_for, "N2NQ");
  control->start(Role::broker);
  ASSERT_TRUE(wait_until([this] { return control->process(Role::senders).waiting_for == "receivers to be started"; }));
}

TEST_F(RunControlTest, warm_up_has_its_time_before_the_common_start) {
  Settings settings = small();
  settings.senders.warmup_messages = 30;
  auto given = options();
  given.deadlines.start_lead = 200;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  const auto lead_ns = settings.warmup_ns();
  EXPECT_EQ(lead_ns, 30 * settings.interval().num_ns);
  for (const Role role : {Role::senders, Role::receivers}) {
    const auto start = host.told(role, "start");
    EXPECT_EQ(start["lead_ns"], lead_ns);
    EXPECT_GE(start["at_broker_ns"].get<std::int64_t>(), 5'200'000'000 + lead_ns);
  }
  EXPECT_EQ(host.told(Role::senders, "configure")["load"]["warmup_messages"], 30);
  EXPECT_EQ(host.told(Role::receivers, "configure")["warmup_messages"], 30);
}

TEST_F(RunControlTest, both_groups_are_told_the_same_instant_ahead_of_the_brokers_clock) {
  auto given = options();
  given.deadlines.start_lead = 200;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  const auto at = host.told(Role::senders, "start")["at_broker_ns"].get<std::int64_t>();
  EXPECT_EQ(host.told(Role::receivers, "start")["at_broker_ns"], at);
  EXPECT_GE(at, 5'200'000'000);
}

TEST_F(RunControlTest, a_group_whose_word_is_read_late_makes_no_start_in_the_past) {
  host.behaviour[Role::receivers].connects = false;
  make();
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).waiting_for == "N2NQ"; }));
  QElapsedTimer since;
  since.start();
  ASSERT_TRUE(wait_until([&] { return since.hasExpired(300); }));
  host.process[Role::receivers]->say_connected();  // what it says of N2NQ's clock is that of the beginning
  ASSERT_TRUE(wait_finished());
  EXPECT_GE(host.told(Role::senders, "start")["at_broker_ns"].get<std::int64_t>(), 5'300'000'000);
}

TEST_F(RunControlTest, n2nq_has_as_long_to_end_as_the_groups_before_it) {
  for (const Role role : all_roles) host.behaviour[role].bye_ms = 1200;
  auto given = options();
  given.deadlines.bye = 2000;
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
  for (const Role role : all_roles) EXPECT_EQ(host.terminated[role], 0);
}

TEST_F(RunControlTest, processes_are_told_what_they_need) {
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  const auto broker = host.told(Role::broker, "configure"), senders = host.told(Role::senders, "configure"),
             receivers = host.told(Role::receivers, "configure");
  EXPECT_EQ(broker["token"].get<std::string>().size(), 64u);
  EXPECT_EQ(senders["token"], broker["token"]);
  EXPECT_EQ(receivers["token"], broker["token"]);
  EXPECT_EQ(broker["listen"]["address"], "127.0.0.1");
  EXPECT_EQ(broker["expect"], nlohmann::json({{"senders", 3}, {"receivers", 2}}));
  EXPECT_EQ(broker["queue"]["retention_ms"], 5000);
  EXPECT_EQ(broker["limits"]["memory_bytes"], 268435456);
  EXPECT_EQ(senders["load"]["interval_ns"], nlohmann::json({{"num", 1000000}, {"den", 1}}));
  EXPECT_TRUE(senders["load"]["duration_ms"].is_null());
  EXPECT_EQ(senders["log"]["folder"], (control->folder() + "/senders").toStdString());
  EXPECT_EQ(senders["log"]["header"]["queue.mode"], "broadcaster");
  EXPECT_EQ(senders["log"]["header"]["broker.io"], "epoll");
  EXPECT_EQ(senders["log"]["header"]["broker.spin_us"], "0");
  EXPECT_EQ(senders["log"]["header"]["broker.keep_core"], "true");
  EXPECT_EQ(senders["log"]["header"]["transport"], "tcp");
  EXPECT_EQ(receivers["senders_total"], 3);
  EXPECT_EQ(host.told(Role::senders, "connect"),
            nlohmann::json({{"type", "connect"}, {"address", "127.0.0.1"}, {"port", 40001}, {"transport", "tcp"}, {"clock", "shared"}, {"clocks_first", false}}));
}

TEST_F(RunControlTest, live_figures_add_up_what_the_workers_say) {
  host.behaviour[Role::senders].runs_on = true;
  make();
  control->set_visible_rows(Role::senders, 1, 2);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return host.times_told(Role::senders, "stats") >= 3 && control->figures().delay.count >= 4; }));
  EXPECT_EQ(host.told(Role::senders, "stats")["services"], nlohmann::json::parse("[[1,2]]"));
  EXPECT_EQ(host.told(Role::receivers, "stats")["services"], nlohmann::json::array());
  EXPECT_EQ(host.times_told(Role::broker, "stats"), 0u) << "the broker is never asked while traffic runs";
  EXPECT_EQ(control->figures().senders.size(), 1u);
  EXPECT_NEAR(control->figures().latency.p50_us, 100, 0.1);
  EXPECT_FALSE(control->figures().senders_silent || control->figures().receivers_silent);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->figures().senders.size(), 3u) << "at the end there are all rows";
}

TEST_F(RunControlTest, a_second_run_follows_the_first) {
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  const QString first = control->folder();
  host = PretendHost();
  finished = 0;
  Settings other = small();
  other.queue.mode = QueueMode::broadcaster;
  other.receivers.amount = 1;
  control->set_settings(other);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
  EXPECT_NE(control->folder(), first);
  EXPECT_EQ(control->figures().receivers.size(), 1u);
}

TEST_F(RunControlTest, login_noise_is_skipped) {
  for (const Role role : all_roles) host.behaviour[role].says_first = "Last login: today\n\n{not json\n[1,2]\n";
  make();
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
}

TEST_F(RunControlTest, the_lease_is_kept) {
  host.behaviour[Role::senders].runs_on = true;
  auto given = options();
  given.deadlines.process.lease = 10;
  make(given);
  control->start_all();
  EXPECT_TRUE(
      wait_until([this] { return std::all_of(all_roles.begin(), all_roles.end(), [this](Role role) { return host.leases[role] >= 3; }); }));
}

// ---- Stopping

TEST_F(RunControlTest, stop_all_ends_in_order_and_keeps_what_was_measured) {
  host.behaviour[Role::senders].runs_on = true;
  make();
  control->start_all();
  ASSERT_TRUE(wait_running());
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
  EXPECT_EQ(host.times_told(Role::senders, "stop"), 1u);
  EXPECT_EQ(host.times_told(Role::receivers, "stop"), 0u) << "the broker ends the receivers";
  EXPECT_EQ(host.killed[Role::senders] + host.killed[Role::receivers] + host.killed[Role::broker], 0);
  EXPECT_GT(summary()["ledger"]["total"]["delivered"], 0);
}

TEST_F(RunControlTest, stopping_any_one_process_during_traffic_stops_the_run) {
  for (const Role role : all_roles) {
    host = PretendHost();
    finished = 0;
    host.behaviour[Role::senders].runs_on = true;
    make();
    control->start_all();
    ASSERT_TRUE(wait_running());
    ASSERT_TRUE(control->can_stop(role));
    control->stop(role);
    ASSERT_TRUE(wait_finished());
    expect_over(Verdict::stopped);
    control.reset();
  }
}

TEST_F(RunControlTest, before_traffic_one_process_is_stopped_alone_and_started_again) {
  make();
  control->start(Role::senders);
  control->start(Role::broker);
  ASSERT_TRUE(wait_until([this] { return control->process(Role::senders).waiting_for.startsWith("receivers"); }));
  control->stop(Role::senders);
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::ended));
  EXPECT_EQ(control->state(), RunState::preparing);
  EXPECT_EQ(host.alive, 1);
  control->start(Role::senders);
  control->start(Role::receivers);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
}

TEST_F(RunControlTest, who_was_told_to_end_is_not_sent_to_an_n2nq_that_comes_behind_it) {
  host.behaviour[Role::senders].refuses_to_end = true;
  make();
  control->start(Role::senders);
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::waiting));
  control->stop(Role::senders);
  control->start(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::waiting));
  EXPECT_EQ(host.times_told(Role::senders, "bye"), 1u);
  EXPECT_EQ(host.times_told(Role::senders, "connect"), 0u);
  control->stop(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::ended));
  EXPECT_EQ(control->state(), RunState::preparing) << "nobody hangs on it";
  host.behaviour[Role::senders].refuses_to_end = false;
  host.process[Role::senders]->terminate();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
}

TEST_F(RunControlTest, with_the_broker_those_end_that_are_connected_to_it) {
  make();
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_until([this] { return host.times_told(Role::senders, "connect") == 1; }));
  control->stop(Role::broker);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
}

TEST_F(RunControlTest, the_last_process_that_is_stopped_ends_the_run) {
  make();
  control->start(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::waiting));
  control->stop(Role::broker);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
}

TEST_F(RunControlTest, stopping_before_traffic_is_no_fault) {
  make();
  control->start(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::waiting));
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
  EXPECT_EQ(reasons(), "stopped by the user before traffic started");
}

TEST_F(RunControlTest, stopping_right_behind_the_start_leaves_nothing) {
  make();
  control->start_all();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
}

TEST_F(RunControlTest, a_second_stop_asks_once_more_and_a_third_kills_at_once) {
  host.behaviour[Role::senders].runs_on = true;
  for (const Role role : all_roles) host.behaviour[role].refuses_to_end = true;
  make();
  control->start_all();
  ASSERT_TRUE(wait_running());
  control->stop_all();
  EXPECT_EQ(control->state(), RunState::ending);
  EXPECT_EQ(host.alive, 3);
  control->stop_all();
  EXPECT_EQ(host.alive, 3);
  control->stop_all();
  EXPECT_EQ(host.alive, 0);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("killed by the user"), std::string::npos);
}

TEST_F(RunControlTest, whoever_does_not_answer_behind_a_second_stop_is_killed) {
  host.behaviour[Role::senders].runs_on = true;
  host.behaviour[Role::receivers].refuses_to_end = true;
  make();
  control->start_all();
  ASSERT_TRUE(wait_running());
  control->stop_all();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("killed by the user"), std::string::npos);
}

TEST_F(RunControlTest, who_refuses_to_stop_is_terminated_and_then_killed) {
  for (const Role role : all_roles) {
    host = PretendHost();
    finished = 0;
    host.behaviour[Role::senders].runs_on = true;
    host.behaviour[role].refuses_to_end = true;
    Settings settings = small();
    settings.limits.drain_s = 0;
    make(options_with_short_ends(), settings);
    control->start_all();
    ASSERT_TRUE(wait_running());
    control->stop_all();
    ASSERT_TRUE(wait_finished());
    expect_over(Verdict::broken);
    EXPECT_EQ(host.terminated[role], 1);
    EXPECT_EQ(host.killed[role], 1);
    const std::string name = role == Role::broker ? "N2NQ" : role == Role::senders ? "Senders" : "Receivers";
    EXPECT_NE(reasons().find(name + " did not end in time and was killed"), std::string::npos) << reasons();
    control.reset();
  }
}

TEST_F(RunControlTest, who_does_not_end_by_itself_after_the_traffic_is_ended) {
  host.behaviour[Role::receivers].refuses_to_end = true;
  auto given = options();
  given.deadlines.drain_margin = 20;
  given.deadlines.bye = 20;
  given.deadlines.process.term_to_kill = 20;
  Settings settings = small();
  settings.limits.drain_s = 0;
  make(given, settings);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
}

TEST_F(RunControlTest, destroying_it_leaves_no_process) {
  host.behaviour[Role::senders].runs_on = true;
  make();
  control->start_all();
  ASSERT_TRUE(wait_running());
  control.reset();
  EXPECT_EQ(host.alive, 0);
}

// ---- Settings and folder

TEST_F(RunControlTest, what_a_process_was_started_with_stays) {
  make();
  control->start(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::waiting));
  EXPECT_EQ(control->lock_reason("queue.mode"), "N2NQ runs with it");
  EXPECT_EQ(control->lock_reason("senders.amount"), "N2NQ runs with it");
  EXPECT_EQ(control->lock_reason("transport"), "N2NQ runs with it");
  EXPECT_EQ(control->lock_reason("senders.delay_ms"), "");
  Settings changed = small();
  changed.senders.amount = 5;
  changed.senders.delay_ms = 2;
  control->set_settings(changed);
  control->start(Role::senders);
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::waiting));
  EXPECT_EQ(host.told(Role::senders, "configure")["services"]["total"], 3);
  EXPECT_EQ(host.told(Role::senders, "configure")["load"]["interval_ns"]["num"], 2'000'000);
  EXPECT_TRUE(messages.contains("senders.amount stays 3 in this run: N2NQ runs with it")) << messages.join("\n").toStdString();
  const auto read = read_settings_file((control->folder() + "/settings.yaml").toStdString());
  ASSERT_TRUE(read.settings);
  EXPECT_EQ(read.settings->senders.amount, 3);
  EXPECT_EQ(read.settings->senders.delay_ms, 2);
}

TEST_F(RunControlTest, settings_that_cannot_be_run_start_nothing) {
  Settings bad = small();
  bad.senders.amount = 0;
  make(options(), bad);
  control->start_all();
  EXPECT_EQ(control->state(), RunState::idle);
  EXPECT_FALSE(messages.isEmpty());
  EXPECT_TRUE(QDir(runs.path()).isEmpty());
}

TEST_F(RunControlTest, an_exact_folder_must_be_empty) {
  QFile file(runs.filePath("something"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  auto given = options();
  given.exact_folder = runs.path();
  make(given);
  control->start_all();
  EXPECT_EQ(control->state(), RunState::idle);
  ASSERT_EQ(messages.size(), 1);
  EXPECT_TRUE(messages[0].contains("is not empty"));
}

TEST_F(RunControlTest, a_run_that_cannot_make_its_folder_leaves_what_is_known_of_the_last_one) {
  auto given = options();
  given.runs_folder = runs.filePath("all");
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_finished());
  const QString folder = control->folder();
  const Verdict verdict = control->outcome().verdict;
  ASSERT_TRUE(QDir().rename(given.runs_folder, runs.filePath("aside")));
  QFile file(given.runs_folder);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  Settings other = small();
  other.senders.amount = 1;
  control->set_settings(other);
  messages.clear();
  control->start_all();
  ASSERT_EQ(messages.size(), 1);
  EXPECT_TRUE(messages[0].startsWith("Cannot make the folder " + given.runs_folder)) << messages[0].toStdString();
  EXPECT_EQ(control->state(), RunState::finished);
  EXPECT_EQ(control->folder(), folder);
  EXPECT_EQ(control->run_settings(), small());
  EXPECT_EQ(control->outcome().folder, folder);
  EXPECT_EQ(control->outcome().verdict, verdict);
}

TEST_F(RunControlTest, a_folder_can_be_read_at_any_moment) {
  host.behaviour[Role::senders].runs_on = true;
  auto given = options();
  given.exact_folder = runs.filePath("exact");
  make(given);
  control->start_all();
  ASSERT_TRUE(wait_running());
  EXPECT_EQ(control->folder(), runs.filePath("exact"));
  EXPECT_FALSE(QFile::exists(runs.filePath("exact/summary.json"))) << "a run that is on, or that crashed, has none";
  const auto read = read_settings_file(runs.filePath("exact/settings.yaml").toStdString());
  ASSERT_TRUE(read.settings);
  EXPECT_EQ(*read.settings, small());
  EXPECT_EQ(control->log_path(Role::receivers, 17), runs.filePath("exact/receivers/R017.log"));
  EXPECT_EQ(control->log_path(Role::senders, 1234), runs.filePath("exact/senders/S1234.log"));
  EXPECT_EQ(control->broker_log_path(), runs.filePath("exact/broker.log"));
  const QString lock = runs.filePath("exact/run.lock");
  EXPECT_EQ(FolderLock::holder(lock), QCoreApplication::applicationPid()) << "no other bench deletes it";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_FALSE(QFile::exists(lock));
  for (const char* name : {"summary.json", "messages.tsv", "latency.hgrm", "settings.yaml"})
    EXPECT_TRUE(QFile::exists(runs.filePath("exact/") + name)) << name;
}

TEST_F(RunControlTest, who_was_not_started_in_a_run_has_no_log) {
  make();
  control->start(Role::senders);
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::waiting));
  EXPECT_EQ(control->log_path(Role::senders, 1), control->folder() + "/senders/S001.log");
  EXPECT_EQ(control->log_path(Role::receivers, 1), "");
  EXPECT_EQ(control->broker_log_path(), "");
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->log_path(Role::senders, 1), control->folder() + "/senders/S001.log");
  EXPECT_EQ(control->log_path(Role::receivers, 1), "");
  EXPECT_EQ(control->broker_log_path(), "");
  control->start(Role::broker);
  EXPECT_EQ(control->broker_log_path(), control->folder() + "/broker.log");
  EXPECT_EQ(control->log_path(Role::senders, 1), "") << "of the run before";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunControlTest, receivers_may_join_late_when_only_senders_are_waited_for) {
  host.behaviour[Role::senders].runs_on = true;
  Settings settings = small();
  settings.start_when = StartWhen::senders_connected;
  make(options(), settings);
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(control->can_start(Role::receivers));
  control->start(Role::receivers);
  ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running));
  EXPECT_EQ(host.told(Role::receivers, "start"), host.told(Role::senders, "start"));
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::stopped);
}

}  // namespace
}  // namespace n2nq::app
