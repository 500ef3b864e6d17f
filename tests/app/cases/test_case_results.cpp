// SPDX-License-Identifier: GPL-3.0-or-later
// What is made of finished runs: which of them are marked and why, and which keep up.
#include "app/cases/case_results.h"

#include <QTemporaryDir>
#include <cmath>

#include "app/cases/case_folder.h"
#include "tests/app/cases/small_case.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

TEST(case_results, each_host_has_its_machine_by_the_name_in_the_settings) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", until_tight);
  const QString path = folder.filePath("run");
  make_run(path, {});
  change_summary(path, [](nlohmann::json& summary) {
    const auto host = [](int cores) { return nlohmann::json{{"cores", cores}, {"cpu", "Fast"}, {"kernel", "6.1"}, {"load_1min", 0}}; };
    summary["settings"]["broker"]["host"] = "n2nq-vm";
    summary["settings"]["senders"]["host"] = "senders-vm";
    summary["settings"]["receivers"]["host"] = "receivers-vm";
    summary["environment"]["hosts"] = {{"broker", host(2)}, {"senders", host(8)}, {"receivers", "unknown"}};
  });
  QString problem;
  const auto run = read_case_run(path, plan, problem);
  ASSERT_TRUE(run) << problem.toStdString();
  EXPECT_EQ(run->machine, "2 cores, Fast, kernel 6.1");
  const std::map<QString, QString> machines = {
      {"n2nq-vm", "2 cores, Fast, kernel 6.1"}, {"senders-vm", "8 cores, Fast, kernel 6.1"}, {"receivers-vm", ""}};
  EXPECT_EQ(run->machines, machines);
}

TEST(case_results, what_is_no_text_where_a_summary_has_some_is_left_out) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", until_tight);
  const QString path = folder.filePath("run");
  make_run(path, {});
  change_summary(path, [](nlohmann::json& summary) {
    summary["started"] = 5;
    summary["environment"]["hosts"] = {{"broker", {{"cores", 2}, {"cpu", 5}, {"kernel", nlohmann::json::array()}}}};
  });
  QString problem;
  const auto run = read_case_run(path, plan, problem);
  ASSERT_TRUE(run) << problem.toStdString();
  EXPECT_EQ(run->machine, "2 cores, , kernel ");
  change_summary(path, [](nlohmann::json& summary) { summary["events"] = {{{"at_s", 1}, {"what", 5}}}; });
  EXPECT_FALSE(read_case_run(path, plan, problem));
  EXPECT_TRUE(problem.endsWith("\"events[0].what\" has to be text")) << problem.toStdString();
}

/// 2,000 messages, one each millisecond, and ever fewer lines of what came.
TEST(case_results, lines_that_the_logs_dropped_are_no_copies_in_flight) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("10, 40", R"(knee: { axis: services, from: 10, to: 40, p99_max_us: 100000 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  constexpr std::int64_t ms = 1'000'000;
  constexpr int messages = 2000;
  std::vector<measure::SentLine> sent;
  std::vector<measure::ReceivedLine> received;
  for (int i = 0; i < messages; ++i) {
    const std::int64_t due_ns = 1'000'000 * ms + i * ms;
    sent.push_back({.index = i, .size = 50, .intended_ns = due_ns, .sent_ns = due_ns, .lag_ns = 0, .delay_ns = {}});
    if (i * 7919 % messages < i * 3 / 4) continue;
    received.push_back({.index = i, .sender = 1, .intended_ns = due_ns, .sent_ns = due_ns, .received_ns = due_ns + ms, .latency_ns = ms});
  }
  const auto came = static_cast<int>(received.size());
  const QString path = folder.filePath("run");
  make_run(path, {});
  make_log(path + "/senders/S001.log", measure::sent_columns, sent);
  make_log(path + "/receivers/R001.log", measure::received_columns, received);
  const auto judged = [&](const char* mode, int dropped, int received_in_all) {
    change_summary(path, [&](nlohmann::json& summary) {
      summary["settings"]["senders"]["delay_ms"] = 1;
      summary["plan"] = {{"kept", true}, {"attempted_messages", messages}};
      summary["rates"]["over_s"] = 2;
      summary["latency_from_plan_us"]["p99"] = 1000;
      summary["logs"] = {{"mode", mode}, {"senders", {{"dropped", 0}}}, {"receivers", {{"dropped", dropped}}}};
      summary["services"] = {{"senders", {{{"number", 1}, {"attempted", messages}}}},
                             {"receivers", {{{"number", 1}, {"received", received_in_all}}}}};
    });
    QString problem;
    const auto run = read_case_run(path, plan, problem);
    EXPECT_TRUE(run) << problem.toStdString();
    return *run;
  };
  const CaseRunResult lost = judged("all", 0, came);
  EXPECT_EQ(lost.keeps_up, false) << "what is missing did not come";
  EXPECT_EQ(lost.load_why, "copies in flight rise");
  const CaseRunResult dropped = judged("all", messages - came, messages);
  EXPECT_EQ(dropped.keeps_up, true) << dropped.load_why.toStdString();
  const CaseRunResult elsewhere = judged("all", 0, messages);
  EXPECT_EQ(elsewhere.keeps_up, true) << "lines are missing for another reason: " << elsewhere.load_why.toStdString();
  const CaseRunResult sampled = judged("sampled", 0, 2 * messages);
  EXPECT_EQ(sampled.load_why, "copies in flight rise") << "of the same messages at both ends";
  const CaseRunResult without = judged("off", 0, messages);
  EXPECT_EQ(without.keeps_up, true) << without.load_why.toStdString();
  EXPECT_TRUE(without.load_remark.startsWith("told by its summary alone: ")) << without.load_remark.toStdString();
}

TEST(case_results, a_floor_that_moved_marks_the_run) {
  CaseResults results;
  for (int i = 0; i < 7; ++i) {
    CaseRunResult run;
    run.sha256 = std::to_string(i);
    run.echoes_ns["local"] = i == 5 ? 25'000 : 10'000 + i * 100;
    run.counts = true;
    results.add(run);
  }
  EXPECT_EQ(results.why(*results.find("1")), "");
  EXPECT_TRUE(results.why(*results.find("5")).startsWith("floor moved: an echo over loopback took 25.0 µs before this run, 10.3 µs"))
      << results.why(*results.find("5")).toStdString();
  EXPECT_EQ(results.marked(), 1);
}

TEST(case_results, a_floor_is_held_against_that_of_the_same_host) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", until_tight);
  CaseResults results;
  const auto add = [&](int number, const char* senders_host, double senders_us, double receivers_us) {
    const QString path = folder.filePath(QString::number(number));
    make_run(path, {});
    change_summary(path, [&](nlohmann::json& summary) {
      summary["settings"]["senders"]["host"] = senders_host;
      summary["settings"]["receivers"]["host"] = "receivers-vm";
      summary["environment"]["floor"] = {{"senders", {{"loopback_echo_p50_ns", senders_us * 1000}}},
                                         {"receivers", {{"loopback_echo_p50_ns", receivers_us * 1000}}}};
    });
    QString problem;
    auto run = read_case_run(path, plan, problem);
    ASSERT_TRUE(run) << problem.toStdString();
    run->sha256 = std::to_string(number);
    run->counts = true;
    results.add(*run);
  };
  // More than half of the runs have senders on the faster machine.
  for (int i = 0; i < 5; ++i) add(i, "fast-vm", 20, 30);
  for (int i = 5; i < 8; ++i) add(i, "slow-vm", 45, 30);
  EXPECT_EQ(results.marked(), 0);
  add(2, "fast-vm", 20, 75);
  EXPECT_EQ(results.marked(), 1);
  EXPECT_EQ(results.why(*results.find("2")),
            QString::fromUtf8("floor moved: an echo over loopback of receivers-vm took 75.0 µs before this run, 30.0 µs before the others"));
  add(2, "fast-vm", 20, 30);
  EXPECT_EQ(results.marked(), 0) << "made again";
  add(8, "new-vm", 20, 30), add(9, "new-vm", 60, 30);
  EXPECT_EQ(results.marked(), 0) << "two runs have no usual one";
}

TEST(case_results, of_groups_on_one_host_the_longer_echo_counts) {
  const QTemporaryDir folder;
  make_run(folder.path(), {});
  change_summary(folder.path(), [](nlohmann::json& summary) {
    for (const char* group : {"senders", "receivers"}) summary["settings"][group]["host"] = "lab-1";
    summary["environment"]["floor"]["senders"]["loopback_echo_p50_ns"] = 30'000;
  });
  QString problem;
  const auto run = read_case_run(folder.path(), small_plan("1, 2", until_tight), problem);
  ASSERT_TRUE(run) << problem.toStdString();
  EXPECT_EQ(run->echoes_ns, (std::map<QString, double>{{"lab-1", 30'000}}));
}

TEST(case_results, senders_that_died_without_an_account_did_not_keep_up) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("10, 40", R"(knee: { axis: services, from: 10, to: 40, p99_max_us: 100000 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  make_run(folder.path(), {.verdict = "broken"});
  const auto judged = [&](const nlohmann::json& kept, const nlohmann::json& over_s) {
    change_summary(folder.path(), [&](nlohmann::json& summary) {
      summary["settings"]["senders"]["delay_ms"] = 1;
      summary["reasons"] = {"Senders died: signal 9 (Killed)", "plan not kept: 3000 of 10000 messages sent"};
      summary["plan"] = {{"kept", kept}, {"attempted_messages", 3000}, {"offered_messages", 10000}};
      summary["rates"]["over_s"] = over_s;
      summary["latency_from_plan_us"]["p99"] = 1000;
    });
    QString problem;
    const auto run = read_case_run(folder.path(), plan, problem);
    EXPECT_TRUE(run) << problem.toStdString();
    return run ? *run : CaseRunResult();
  };
  const CaseRunResult died = judged(nullptr, nullptr);
  EXPECT_EQ(died.keeps_up, false);
  EXPECT_EQ(died.load_why, "the plan was not kept");
  EXPECT_EQ(judged(false, nullptr).keeps_up, false);
  EXPECT_EQ(judged(true, 10).keeps_up, true) << "what broke the run was another thing";
  EXPECT_EQ(judged(nullptr, 10).keeps_up, true) << "with their account: somebody stopped them, and the other signs have to do";
}

TEST(case_results, of_more_than_9999_runs_the_later_ones_count_too) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", until_tight);
  for (const auto& [name, p50_us] : {std::pair{"2000-1-r1", 100.0}, {"9999-1-r1", 150.0}, {"10012-1-r1", 200.0}}) {
    const QString path = folder.filePath(QString("runs/") + name);
    make_run(path, {.p50_us = p50_us});
    change_summary(path, [](nlohmann::json& summary) { summary["plan"]["attempted_messages"] = 4; });
  }
  const CaseResults results = CaseFolder::read_results(folder.path(), plan);
  ASSERT_EQ(results.count(), 1);
  EXPECT_EQ(results.all().front()->values.at("latency_us.p50"), 200);
}

TEST(case_results, others_that_disturb_a_run_mark_it) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", until_tight);
  QString problem;
  for (const auto& [verdict, why] : {std::pair{"clean", "disturbed: N2NQ waited"}, {"broken", "broken"}}) {
    const QString path = folder.filePath(verdict);
    make_run(path, {.verdict = verdict, .disturbed = "N2NQ waited"});
    const auto run = read_case_run(path, plan, problem);
    ASSERT_TRUE(run) << problem.toStdString();
    EXPECT_EQ(run->marked, why);
  }
}

TEST(case_results, a_busy_host_marks_the_run) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", until_tight);
  for (const auto& [load, why] : {std::pair{1.5, ""}, {9.0, "host busy before the run: a load above 2 for each core"}}) {
    const QString path = folder.filePath(QString::number(load));
    make_run(path, {});
    change_summary(path, [&of_host = load](nlohmann::json& summary) {
      summary["environment"]["hosts"]["broker"] = {{"cores", 2}, {"load_1min", of_host}};
    });
    QString problem;
    const auto run = read_case_run(path, plan, problem);
    ASSERT_TRUE(run) << problem.toStdString();
    EXPECT_EQ(run->marked, why) << load;
  }
}

}  // namespace
}  // namespace n2nq::app
