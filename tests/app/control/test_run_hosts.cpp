// SPDX-License-Identifier: GPL-3.0-or-later
// A run whose processes are on other hosts: where each is launched, what it is told, and what becomes of what it wrote there.
#include <gtest/gtest.h>

#include "app/control/fault.h"
#include "app/host/host_launchers.h"
#include "tests/app/support/run_hosts_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

TEST_F(RunHostsTest, each_role_is_launched_on_its_host_and_what_it_wrote_comes_back) {
  make(options(), on_three_hosts());
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
  EXPECT_EQ(host.launched_on[Role::broker], "lab-1");
  EXPECT_EQ(host.launched_on[Role::senders], "lab-2");
  EXPECT_EQ(host.launched_on[Role::receivers], "lab-3");
  EXPECT_EQ(host.brought[Role::broker], control->folder());
  EXPECT_EQ(host.brought[Role::senders], control->folder() + "/senders");
  EXPECT_EQ(host.brought[Role::receivers], control->folder() + "/receivers");
}

TEST_F(RunHostsTest, n2nq_listens_where_the_others_reach_it_and_on_loopback_when_there_are_none) {
  const auto listens_on = [this](const char* broker, const char* receivers) {
    Settings settings = small();
    settings.broker.host = broker;
    settings.receivers.host = receivers;
    host = PretendHost();
    finished = 0;
    make(options(), settings);
    control->start_all();
    EXPECT_TRUE(wait_finished());
    return host.told(Role::broker, "configure")["listen"]["address"].get<std::string>();
  };
  EXPECT_EQ(listens_on("local", "local"), "127.0.0.1");
  EXPECT_EQ(listens_on("local", "lab-1"), "address of local");
  EXPECT_EQ(listens_on("lab-1", "local"), "address of lab-1");
}

TEST_F(RunHostsTest, hosts_that_cannot_be_had_are_told_before_anything_is_made) {
  host.problem = "senders.host is lab-9, which hosts.yaml does not know";
  make(options(), on_three_hosts());
  control->start_all();
  EXPECT_EQ(control->state(), RunState::idle);
  EXPECT_EQ(messages, QStringList{host.problem});
  EXPECT_TRUE(control->folder().isEmpty());
}

TEST_F(RunHostsTest, what_has_changed_unseen_is_looked_at_before_it_is_judged) {
  host.problem = "senders.host is lab-2, which hosts.yaml does not know";
  host.looked_at_again = [this] { host.problem.clear(); };
  make(options(), on_three_hosts());
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::clean);
}

TEST_F(RunHostsTest, one_host_that_fails_takes_down_the_others_even_those_still_being_reached) {
  host.behaviour[Role::senders].fails_to_start = true;
  host.unreachable = {"lab-3"};
  make(options(), on_three_hosts());
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_EQ(reasons(),
            "Senders on lab-2 could not be started: the pretend host has no such program\n"
            "Receivers could not be started: lab-3: no answer yet");
  EXPECT_FALSE(host.brought.contains(Role::receivers)) << "it never ran";
}

TEST_F(RunHostsTest, a_host_has_its_time_from_its_own_start_and_without_what_a_person_took) {
  auto given = options();
  given.unattended = false;
  given.deadlines.other_starts = 2'000;
  for (const bool asked : {false, true}) {
    SCOPED_TRACE(asked);
    host = PretendHost();
    finished = 0;
    host.behaviour[Role::senders].fails_to_start = true;
    host.unreachable = {"lab-3"};
    make(given, on_three_hosts());
    control->start(Role::broker);
    if (asked) control->start(Role::receivers);
    QElapsedTimer since;
    since.start();
    ASSERT_TRUE(wait_until([&] { return since.hasExpired(given.deadlines.other_starts); }));
    if (asked) host.since_answer_ms = 0;
    if (!asked) control->start(Role::receivers);
    control->start(Role::senders);
    since.restart();
    ASSERT_TRUE(wait_until([&] { return since.hasExpired(4 * given.deadlines.other_starts_min); }));
    emit host.process[Role::receivers]->file_put();
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(reasons(), "Senders on lab-2 could not be started: the pretend host has no such program");
  }
}

TEST_F(RunHostsTest, in_a_window_what_may_keep_a_group_from_n2nq_is_told_and_the_run_goes_on_waiting) {
  host.behaviour[Role::senders].connects = false;
  auto given = options();
  given.deadlines.connect_advice = 50;
  make(given, on_three_hosts());
  QStringList advised;  // one after the other
  QObject::connect(control.get(), &RunControl::process_changed, [&](Role role) {
    const QString advice = control->process(role).advice;
    if (role != Role::senders) {
      EXPECT_TRUE(advice.isEmpty()) << "nothing is in their way";
    }
    if (role == Role::senders && (advised.isEmpty() || advised.last() != advice)) advised += advice;
  });
  control->start_all();
  ASSERT_TRUE(wait_until([&] { return advised.size() == 2; }));
  EXPECT_EQ(control->process(Role::senders).state, ProcessState::waiting);
  EXPECT_EQ(control->state(), RunState::preparing);
  host.process[Role::senders]->say_waiting("N2NQ at 127.0.0.1:7 (1 of 3 connected)");
  ASSERT_TRUE(wait_until([&] { return advised.size() == 4; })) << "they get on, and then no more";
  EXPECT_EQ(control->process(Role::senders).waiting_for, "N2NQ at 127.0.0.1:7 (1 of 3 connected)");
  host.process[Role::senders]->say_connected();
  ASSERT_TRUE(wait_finished());
  const QString advice =
      "Is 127.0.0.1 (data address of lab-1) where they reach it, and does a firewall let them through (broker.port makes its port a fixed "
      "one)?";
  EXPECT_EQ(advised, (QStringList{"", advice, "", advice, ""})) << advised.join('|').toStdString();
  expect_over(Verdict::clean);
}

TEST_F(RunHostsTest, in_a_window_it_is_told_also_while_messages_flow) {
  host.behaviour[Role::receivers].connects = false;
  auto given = options();
  given.deadlines.connect_advice = 50;
  auto endless = on_three_hosts();
  endless.start_when = StartWhen::senders_connected;
  endless.senders.messages.reset();
  host.behaviour[Role::senders].runs_on = true;
  make(given, endless);
  control->start_all();
  ASSERT_TRUE(wait_until([&] { return control->state() == RunState::running && !control->process(Role::receivers).advice.isEmpty(); }));
  host.process[Role::receivers]->say_connected();
  ASSERT_TRUE(wait_until([&] { return control->process(Role::receivers).advice.isEmpty(); }));
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, how_much_of_a_program_is_there_is_said_while_it_is_copied) {
  host.unreachable = {"lab-3"};
  make(options(), on_three_hosts());
  control->start_all();
  EXPECT_EQ(control->process(Role::receivers).copied_percent, -1);
  emit host.process[Role::receivers]->putting(1 << 20, 3 << 20);
  EXPECT_EQ(control->process(Role::receivers).copied_percent, 33);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->process(Role::receivers).copied_percent, -1);
}

TEST_F(RunHostsTest, a_start_that_has_failed_asks_for_nothing_on_any_host_at_once) {
  host.behaviour[Role::senders].fails_to_start = true;
  host.unreachable = {"lab-1", "lab-3"};
  make(options(), on_three_hosts());
  control->start_all();
  ASSERT_TRUE(wait_until([&] { return control->state() == RunState::ending; }));
  EXPECT_EQ(host.asks_nothing, (std::set<std::string>{"lab-1", "lab-3"})) << "also N2NQ's, which ends last where it runs";
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, a_process_that_is_still_being_placed_can_be_stopped_at_once) {
  host.unreachable = {"lab-1", "lab-2", "lab-3"};
  make(options(), on_three_hosts());
  control->start_all();
  EXPECT_EQ(control->process(Role::broker).state, ProcessState::starting);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::stopped);
}

TEST_F(RunHostsTest, a_group_whose_host_is_still_being_reached_can_be_stopped_alone) {
  host.unreachable = {"lab-3"};
  auto given = options();
  given.unattended = false;
  make(given, on_three_hosts());
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::waiting));
  control->start(Role::receivers);
  ASSERT_EQ(control->process(Role::receivers).state, ProcessState::starting);
  control->stop(Role::receivers);
  EXPECT_EQ(control->process(Role::receivers).state, ProcessState::not_started);
  EXPECT_EQ(control->state(), RunState::preparing);
  EXPECT_EQ(control->process(Role::senders).state, ProcessState::waiting);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::stopped) << reasons();
}

TEST_F(RunHostsTest, n2nq_that_was_started_for_this_machine_alone_has_nobody_elsewhere) {
  make();
  control->start(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::waiting));
  Settings elsewhere = small();
  elsewhere.receivers.host = "lab-3";
  control->set_settings(elsewhere);
  control->start(Role::receivers);
  EXPECT_EQ(control->process(Role::receivers).state, ProcessState::not_started);
  EXPECT_TRUE(messages.join('\n').contains("N2NQ was started for this machine alone")) << messages.join('\n').toStdString();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, what_could_not_be_brought_back_makes_the_log_incomplete) {
  host.bring_error[Role::receivers] = "lab-3: the link was lost";
  make(options(), on_three_hosts());
  control->start_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::degraded);
  EXPECT_EQ(reasons(), "log incomplete: lab-3: the link was lost");
  EXPECT_TRUE(messages.contains("lab-3: the link was lost"));
}

TEST_F(RunHostsTest, bringing_back_tells_how_far_it_is_and_can_be_left) {
  host.brings_when_told = true;
  make(options(), on_three_hosts());
  std::vector<double> told;
  QObject::connect(control.get(), &RunControl::bringing_back_changed, [&] { told.push_back(control->brought_back()); });
  control->start_all();
  ASSERT_TRUE(wait_bringing_back());
  EXPECT_EQ(control->state(), RunState::ending);
  EXPECT_FALSE(host.heard[Role::receivers].rbegin()[1].contains("services")) << "the last rows are those of all, whoever looks at which";
  emit host.process[Role::senders]->bringing_back(100, 100);
  emit host.process[Role::broker]->brought_back({}, true);
  emit host.process[Role::receivers]->bringing_back(20, 100);
  emit host.process[Role::receivers]->bringing_back(10, 100);  // begun anew behind a cut
  EXPECT_EQ(told, (std::vector<double>{0, 0.6, 0.6})) << "nothing is said before it is known of all";
  emit host.process[Role::senders]->brought_back({}, true);
  EXPECT_EQ(control->state(), RunState::ending) << "the receivers' logs are still to come";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(reasons(), "log incomplete: the files of Receivers were not all brought back: stopped");
  EXPECT_LT(control->brought_back(), 0);
}

TEST_F(RunHostsTest, that_bringing_back_waits_is_said_and_taken_back) {
  host.brings_when_told = true;
  make(options(), on_three_hosts());
  std::vector<std::pair<Role, QString>> told;
  QObject::connect(control.get(), &RunControl::fetching_waits, [&](Role role, const QString& why) { told.emplace_back(role, why); });
  control->start_all();
  ASSERT_TRUE(wait_bringing_back());
  const QString why = "Fetching logs waits: lab-3 is away. It goes on where it was when there is a way again";
  emit host.process[Role::receivers]->bring_back_waits("lab-3 is away");
  EXPECT_EQ(told, (std::vector<std::pair<Role, QString>>{{Role::receivers, why}}));
  emit host.process[Role::receivers]->bringing_back(20, 100);
  emit host.process[Role::receivers]->bringing_back(30, 100);
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(told.back(), std::pair(Role::receivers, QString()));
  emit host.process[Role::senders]->bring_back_waits("lab-2 is away");
  for (const Role role : {Role::broker, Role::senders, Role::receivers}) emit host.process[role]->brought_back({}, true);
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(told.size(), 4u);
  EXPECT_EQ(told.back(), std::pair(Role::senders, QString()));
  expect_over(Verdict::clean);
  EXPECT_FALSE(messages.contains(why)) << "it was so for a while only";
}

TEST_F(RunHostsTest, a_log_that_is_open_is_followed) {
  make_endless();
  control->follow_log(Role::receivers, 2, true);
  control->start_all();
  ASSERT_TRUE(wait_running());
  EXPECT_TRUE(host.followed.isEmpty()) << "there was no run yet";
  control->follow_log(Role::receivers, 2, true);
  EXPECT_EQ(host.followed, QStringList{control->folder() + "/receivers/R002.log"});
  control->follow_log(Role::receivers, 2, false);
  EXPECT_TRUE(host.followed.isEmpty());
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, a_log_that_was_opened_before_its_process_is_followed_whenever_that_starts) {
  make_endless();
  control->start(Role::broker);
  control->follow_log(Role::receivers, 2, true);
  EXPECT_TRUE(host.followed.isEmpty());
  control->start(Role::receivers);
  const QStringList log(control->folder() + "/receivers/R002.log");
  EXPECT_EQ(host.followed, log);
  control->start(Role::senders);
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; }));
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::starting; }));
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; }));
  EXPECT_EQ(host.followed, log);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  host.followed.clear();
  control->start_all();
  EXPECT_TRUE(host.followed.isEmpty()) << "another run, with other files";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, what_becomes_of_a_host_meanwhile_is_the_next_runs_business) {
  QTemporaryDir folder;
  HostBook book(folder.filePath("hosts.yaml"));
  Host lab;
  for (const char* name : {"lab-1", "lab-2", "lab-3"}) {
    lab.name = name;
    lab.folder = "before";
    book.put(lab);
  }
  host.staging_file = "/dev/shm/left";
  QStringList folders;  // of the senders' launchers
  const auto launched = [&](const Host& there) {
    if (there.name == "lab-2") folders += QString::fromStdString(there.folder);
    return std::make_unique<PretendLauncher>(host, there.name);
  };
  make_endless(std::make_unique<HostLaunchers>(book, launched));
  control->start_all();
  ASSERT_TRUE(wait_running());
  lab.name = "lab-2";
  lab.folder = "after";
  book.put(lab, "lab-2");
  control->make_fault({FaultKind::restart, Role::senders});
  ASSERT_TRUE(wait_state(Role::senders, ProcessState::starting));
  ASSERT_TRUE(wait_running());
  book.remove("lab-2");
  host.process[Role::senders]->lose_link("lab-2 has not answered for 10 s");
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(folders, QStringList({"before", "before", "before"})) << "started, started again, and read back: " << reasons();
  EXPECT_EQ(reasons().find("could not be read back"), std::string::npos) << reasons();
  EXPECT_TRUE(host.brought.contains(Role::senders));
  book.put(lab);
  control->start_all();
  ASSERT_TRUE(wait_running());
  EXPECT_EQ(folders.back(), "after");
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, a_host_that_is_removed_is_asked_about_by_those_alone_that_are_still_to_start) {
  QTemporaryDir folder;
  HostBook book(folder.filePath("hosts.yaml"));
  for (const char* name : {"lab-1", "lab-2", "lab-3"}) {
    Host lab;
    lab.name = name;
    book.put(lab);
  }
  make_endless(std::make_unique<HostLaunchers>(
      book, [this](const Host& there) { return std::make_unique<PretendLauncher>(host, there.name); }));
  control->start(Role::broker);
  ASSERT_TRUE(wait_state(Role::broker, ProcessState::waiting));
  book.remove("lab-1");
  control->start(Role::receivers);
  EXPECT_TRUE(wait_state(Role::receivers, ProcessState::waiting)) << messages.join('\n').toStdString();
  book.remove("lab-2");
  control->start(Role::senders);
  EXPECT_EQ(control->process(Role::senders).state, ProcessState::not_started);
  EXPECT_TRUE(!messages.isEmpty() && messages.last().startsWith("senders.host is lab-2, which is no host of "))
      << messages.join('\n').toStdString();
  control->stop(Role::receivers);
  ASSERT_TRUE(wait_until([this] { return control->can_start(Role::receivers); }));
  book.remove("lab-3");
  Host back;
  back.name = "lab-2";
  book.put(back);
  control->start(Role::receivers);
  EXPECT_TRUE(wait_state(Role::receivers, ProcessState::waiting)) << "what they left lies there: " << messages.join('\n').toStdString();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
}

TEST_F(RunHostsTest, what_a_killed_process_said_of_its_start_and_of_its_floor_counts_behind_a_restart) {
  make_endless();
  control->start_all();
  ASSERT_TRUE(wait_running());
  const auto is_running = [this] { return control->process(Role::receivers).state == ProcessState::running; };
  ASSERT_TRUE(wait_until(is_running));
  constexpr std::int64_t late_ns = 70'000'000;
  const auto say_floor = [this](std::int64_t echo_ns, const nlohmann::json& late) {
    host.process[Role::receivers]->say({{"type", "state"},
                                        {"state", "running"},
                                        {"now_ns", 1},
                                        {"floor", {{"loopback_echo_p50_ns", echo_ns}}},
                                        {"started_late_ns", late}});
  };
  say_floor(20'000, late_ns);
  ASSERT_TRUE(wait_until([this] { return messages.contains("Receivers started 70 ms behind the common start"); }));
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_until([&] { return !is_running(); }));
  ASSERT_TRUE(wait_until(is_running));
  say_floor(90'000, nullptr);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  const nlohmann::json environment = summary()["environment"];
  EXPECT_EQ(environment["started_late_ns"]["receivers"], late_ns);
  EXPECT_EQ(environment["floor"]["receivers"]["loopback_echo_p50_ns"], 20'000) << "the other one was measured under load";
}

TEST_F(RunHostsTest, a_restart_that_the_end_of_the_run_overtakes_is_no_start_that_failed) {
  Settings endless = on_three_hosts();
  endless.senders.messages.reset();
  endless.limits.drain_s = 0.1;
  host.behaviour[Role::senders].runs_on = true;
  make(options_with_short_ends(), endless);
  control->start_all();
  ASSERT_TRUE(wait_running());
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::running; }));
  host.unreachable = {"lab-3"};
  control->make_fault({FaultKind::restart, Role::receivers});
  ASSERT_TRUE(wait_until([this] { return control->process(Role::receivers).state == ProcessState::starting; }));
  host.process[Role::broker]->lose_link("lab-1 has not answered for 10 s");
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("N2NQ lost"), std::string::npos) << reasons();
  EXPECT_EQ(reasons().find("could not be started"), std::string::npos) << reasons();
  EXPECT_TRUE(host.brought.contains(Role::receivers)) << "what it wrote before is there still";
}

TEST_F(RunHostsTest, a_role_that_ran_on_a_host_stays_there_until_its_files_are_brought) {
  make(options(), on_three_hosts());
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->process(Role::senders).state == ProcessState::waiting; }));
  control->stop(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->can_start(Role::senders); }));
  const QString why = control->lock_reason("senders.host");
  EXPECT_TRUE(why.startsWith("Senders ran there in this run")) << why.toStdString();
  EXPECT_EQ(control->lock_reason("receivers.host"), "");
  EXPECT_EQ(control->lock_reason("senders.messages"), "");
  // Nor does a second start change that, which does not come to a process.
  control->start(Role::senders);
  control->stop(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->can_start(Role::senders); }));
  EXPECT_EQ(control->lock_reason("senders.host"), why);
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_TRUE(host.brought.contains(Role::senders));
  EXPECT_EQ(control->lock_reason("senders.host"), "");
}

TEST_F(RunHostsTest, a_lost_link_is_named_as_such) {
  make_endless();
  control->start_all();
  ASSERT_TRUE(wait_running());
  host.process[Role::receivers]->lose_link("lab-3 has not answered for 10 s");
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("Receivers lost: lab-3 has not answered for 10 s"), std::string::npos) << reasons();
  const nlohmann::json processes = summary()["processes"];
  EXPECT_LE(processes["receivers"]["last_heard_at_s"].get<double>(), processes["receivers"]["gone_at_s"].get<double>());
  EXPECT_FALSE(processes["senders"].contains("last_heard_at_s")) << "it was seen to end";
}

}  // namespace
}  // namespace n2nq::app
