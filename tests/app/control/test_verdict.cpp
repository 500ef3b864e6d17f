// SPDX-License-Identifier: GPL-3.0-or-later
// From what the processes said last to the verdict and its reasons.
#include "app/control/verdict.h"

#include <QRegularExpression>

#include "tests/app/control/result_kit.h"

namespace n2nq::app {
namespace {

using testing::figures;
using testing::Json;
using testing::samples;

struct VerdictTest : testing::ResultTest {};

TEST_F(VerdictTest, logs_that_were_removed_during_the_run_are_missed) {
  QFile::remove(record.folder->log_path(Role::receivers, 1));
  QFile::remove(record.folder->broker_log());
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded);
  EXPECT_EQ(result.outcome.reasons,
            QStringList({"log incomplete: 1 of 1 logs of the receivers are missing, the first is R001.log: somebody or something removed what "
                         "was written",
                         "log incomplete: broker.log is missing: somebody or something removed what was written"}));
  record.settings.log = LogMode::off;
  QFile::remove(record.folder->log_path(Role::senders, 1));
  EXPECT_EQ(finish().outcome.reasons.size(), 1);  // then there are none but N2NQ's
}

TEST_F(VerdictTest, logs_of_a_group_that_gave_no_account_are_missed_too) {
  receivers = nullptr;
  record.settings.receivers.amount = 2;
  const QString missed =
      "log incomplete: 1 of 2 logs of the receivers are missing, the first is R002.log: no account says what became of them";
  record.processes[index_of(Role::receivers)].told_start = false;
  EXPECT_FALSE(finish().outcome.reasons.contains(missed)) << "it was not at its start, where no log is begun yet";
  record.processes[index_of(Role::receivers)].told_start = true;
  RunResult result = finish();
  EXPECT_TRUE(result.outcome.reasons.contains(missed)) << text(result.outcome);
  record.processes[index_of(Role::receivers)].files_left = "they lie on lab-1";
  result = finish();
  EXPECT_FALSE(result.outcome.reasons.contains(missed)) << "that says why: " << text(result.outcome);
}

TEST_F(VerdictTest, a_folder_that_is_left_on_a_host_is_told_and_taints_nothing) {
  record.processes[index_of(Role::senders)].folder_left = "lab-1: all logs were brought, but the folder runs/x could not be removed there";
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean) << text(result.outcome);
  EXPECT_EQ(result.outcome.reasons, QStringList(record.of(Role::senders).folder_left));
}

TEST_F(VerdictTest, who_did_not_wait_is_told_what_may_be_missing_where_something_is) {
  record.stopped_by_user = record.hurried_by_user = true;
  EXPECT_EQ(finish().outcome.reasons, QStringList("stopped by the user, who did not wait"));
  const QString may_be = "stopped by the user, who did not wait: what was on its way then, or not read yet, may be missing";
  receivers["received"] = 1;
  receivers["services"][0].update({{"received", 1}, {"handed_over", 2}, {"delivered_sets", {{1, 1, "0"}}}});
  const RunResult result = finish();
  EXPECT_TRUE(result.outcome.reasons.contains(may_be)) << text(result.outcome);
}

TEST_F(VerdictTest, senders_that_were_held_back_are_told_and_taint_nothing) {
  broker["held_back_by_memory_ns"] = 3'210'000'000;
  broker["held_back_by_receivers_ns"] = 40'000'000;
  broker["waited_for_places_ns"] = 6'540'000'000;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean);
  EXPECT_EQ(result.outcome.reasons, QStringList({"senders were held back for 3.2 s by the memory budget (256 MiB)",
                                                 "senders of large messages were held back for 6.5 s by the memory budget (256 MiB), half of "
                                                 "which is for those that have not come whole",
                                                 "senders were held back for less than 0.1 s by receivers most of which were behind"}));
  record.broker_restarted = true;
  const RunResult restarted = finish();
  EXPECT_TRUE(restarted.outcome.reasons.contains("senders were held back for 3.2 s by the memory budget (256 MiB), since N2NQ was restarted"))
      << text(restarted.outcome);
}

TEST_F(VerdictTest, latencies_that_cannot_be_degrade_the_run) {
  receivers["totals"]["latency"] = samples({100'000, std::int64_t{1} << 50}).to_json();
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded);
  EXPECT_EQ(result.outcome.reasons, QStringList("latencies beyond 2.4 hours, of up to 312.7 h: a clock or a stamp is wrong"));
  receivers["totals"]["latency"] = samples({100'000, std::int64_t{3} * 3600 * 1'000'000'000}).to_json();
  EXPECT_EQ(finish().outcome.reasons, QStringList("latencies beyond 2.4 hours, of up to 3.0 h: a clock or a stamp is wrong")) << "of a run of 3 s";
  // What waited for receivers that came three hours later is no wrong stamp.
  record.ended = record.started.addSecs(4 * 3600);
  EXPECT_EQ(finish().outcome.reasons,
            QStringList("latencies beyond 2.4 hours, of up to 3.0 h: more than the histograms hold, so percentiles above that are not known"));
}

TEST_F(VerdictTest, who_had_to_wait_for_a_core_is_told_and_taints_nothing) {
  broker["core_times"] = {{"ran_ns", 100'000'000}, {"waited_ns", 300'000'000}};
  senders["core_times"] = {{"ran_ns", 300'000'000}, {"waited_ns", 150'000'000}};  // as where three share two cores
  receivers["core_times"] = {{"ran_ns", 1'000'000}, {"waited_ns", 10'000'000}};   // too little to say
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean);
  EXPECT_TRUE(result.outcome.reasons.isEmpty());
  const QString told = "N2NQ had to wait for a core for 75 % of the time in which it had something to do";
  EXPECT_EQ(result.outcome.disturbances, QStringList(told));
  EXPECT_EQ(summary()["environment"]["disturbed"], Json::array({told.toStdString()}));
  EXPECT_EQ(summary()["environment"]["core_times"]["senders"]["waited_ns"], 150'000'000);
  // What the last process of several says of itself is not of the run.
  record.processes[index_of(Role::broker)].gone_on = true;
  EXPECT_EQ(finish().outcome.disturbances, QStringList());
  EXPECT_EQ(summary()["environment"]["core_times"]["broker"], "unknown");
}

TEST_F(VerdictTest, those_that_had_to_wait_for_a_core_are_told_in_one_sentence) {
  for (auto* bye : {&broker, &senders, &receivers}) (*bye)["core_times"] = {{"ran_ns", 100'000'000}, {"waited_ns", 300'000'000}};
  receivers["core_times"]["waited_ns"] = 900'000'000;
  EXPECT_EQ(finish().outcome.disturbances,
            QStringList("N2NQ, senders and receivers had to wait for a core for 75 %, 75 % and 90 % of the time in which they had something to do"));
}

TEST_F(VerdictTest, everything_arrived_is_clean) {
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean) << text(result.outcome);
  EXPECT_TRUE(result.outcome.reasons.isEmpty());
  EXPECT_EQ(summary()["verdict"], "clean");
}

TEST_F(VerdictTest, many_reasons_of_a_kind_are_told_as_a_few_and_a_count) {
  for (int number = 1; number <= 200; ++number) {
    broker["faults"].push_back("R" + std::to_string(number) + " cut off: pending bytes: " + std::to_string(number * 1000) + " wait");
  }
  broker["faults"].push_back("S001 was gone");
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded);
  ASSERT_EQ(result.outcome.reasons.size(), 5) << text(result.outcome);
  EXPECT_TRUE(result.outcome.reasons[0].startsWith("R1 cut off"));
  EXPECT_EQ(result.outcome.reasons[3], "… and 197 more of that kind");
  EXPECT_EQ(result.outcome.reasons[4], "S001 was gone");
  EXPECT_EQ(summary()["reasons"].size(), 5u);
}

/// N2NQ's clock goes back by more than the run has lasted, and then a little ahead.
TEST_F(VerdictTest, jumps_behind_the_runs_beginning_are_named_and_those_before_it_are_not) {
  constexpr std::int64_t s = 1'000'000'000;
  record.start_at_broker_ns = 100 * s;
  measure::ClockReport jumped;
  jumped.jumps = 4;
  jumped.spans = {{.from_broker_ns = 79 * s, .to_broker_ns = 80 * s, .jump_ns = -60 * s},
                  {.from_broker_ns = 89 * s, .to_broker_ns = 90 * s, .jump_ns = -5 * s},
                  {.from_broker_ns = 52 * s, .to_broker_ns = 53 * s, .jump_ns = -50 * s},
                  {.from_broker_ns = 61 * s, .to_broker_ns = 62 * s, .jump_ns = 7 * s}};
  senders["clock"] = jumped;
  record.processes[index_of(Role::senders)].spans_before = 1;  // the second one was told of behind the beginning
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded) << text(result.outcome);
  for (const char* before : {"-60000 ms", "-5000 ms"}) EXPECT_EQ(text(result.outcome).find(before), std::string::npos) << text(result.outcome);
  for (const char* named : {"by about -50000 ms: latencies of what was under way from 2.00 s to 3.00 s are wrong",
                            "by about 7000 ms: latencies of what was under way from 4.00 s to 5.00 s are wrong"})
    EXPECT_NE(text(result.outcome).find(named), std::string::npos) << text(result.outcome);
}

TEST_F(VerdictTest, of_very_many_jumps_the_reasons_say_where_those_stand_that_they_do_not_name) {
  constexpr std::int64_t s = 1'000'000'000;
  record.start_at_broker_ns = 100 * s;
  measure::ClockReport jumped;
  jumped.jumps = 50;
  for (std::int64_t i = 0; i < std::int64_t{measure::ClockReport::spans_max}; ++i)
    jumped.spans.push_back({.from_broker_ns = (101 + i) * s, .to_broker_ns = (102 + i) * s, .jump_ns = 20'000'000});
  senders["clock"] = jumped;
  const RunResult result = finish();
  const char* const told = "jumped 50 times; what was measured meanwhile is wrong, and the first 20 stand in wrong_spans\n";
  EXPECT_NE(text(result.outcome).find(told), std::string::npos) << text(result.outcome);
  EXPECT_NE(text(result.outcome).find("… and 17 more of that kind"), std::string::npos) << text(result.outcome);
  EXPECT_EQ(summary()["environment"]["offsets"]["senders_to_broker"]["wrong_spans"].size(), 20u) << summary()["environment"]["offsets"];
}

TEST_F(VerdictTest, a_bound_that_is_larger_than_a_stage_is_told) {
  HelloMessage hello;
  hello.host = {{"boot_id", "a"}, {"time_namespace", "1"}};
  for (auto& process : record.processes) process.hello = hello;
  record.processes[index_of(Role::broker)].hello->host["time_namespace"] = "2";
  measure::ClockReport probed;
  probed.probes = 100;
  probed.worst.asymmetry_ns = 4'000'000;
  senders["clock"] = receivers["clock"] = probed;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean) << text(result.outcome);
  EXPECT_FALSE(summary()["latency_us"].contains("bound_us")) << "the groups have one clock";
  ASSERT_EQ(result.outcome.reasons.size(), 1) << text(result.outcome);
  const QRegularExpression told(QString::fromUtf8(
      "^the clocks of the hosts are known less well than what messages take to N2NQ \\(.* ± 4000 µs\\) and to receiver \\(.* ± 4000 µs\\)"));
  EXPECT_TRUE(told.match(result.outcome.reasons.front()).hasMatch()) << text(result.outcome);
}

TEST_F(VerdictTest, lost_copies_break_the_run) {
  receivers["services"][0]["delivered_sets"] = {{1, 1, "0"}};
  receivers["services"][0]["received"] = 1;
  receivers["figures"]["latency"]["count"] = 1;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::broken);
  EXPECT_NE(text(result.outcome).find("1 copy lost"), std::string::npos) << text(result.outcome);
  EXPECT_EQ(summary()["ledger"]["total"]["lost"], 1);
}

TEST_F(VerdictTest, an_unkept_plan_degrades) {
  record.settings.senders.messages = 3;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded);
  EXPECT_EQ(summary()["plan"]["kept"], false);
  EXPECT_EQ(summary()["ledger"]["expected"], 3);
}

TEST_F(VerdictTest, of_senders_without_account_a_plan_is_not_kept_where_n2nq_has_fewer_messages) {
  senders = Json();
  record.settings.senders.messages = 3;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::broken);
  EXPECT_NE(text(result.outcome).find("plan not kept: 2 of 3 messages sent"), std::string::npos) << text(result.outcome);
  EXPECT_EQ(summary()["plan"]["kept"], false);
  EXPECT_TRUE(summary()["rates"]["over_s"].is_null());
  record.settings.senders.messages = 2;
  finish();
  EXPECT_TRUE(summary()["plan"]["kept"].is_null()) << "nobody knows whether they were late";
}

TEST_F(VerdictTest, a_stopped_run_owes_nothing_to_the_plan) {
  record.settings.senders.messages = 3;
  record.stopped_by_user = true;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::stopped) << text(result.outcome);
  EXPECT_TRUE(summary()["plan"]["kept"].is_null());
}

TEST_F(VerdictTest, incomplete_logs_degrade_and_are_told) {
  receivers["log"] = {{"lines", 1}, {"dropped", 1}, {"error", "R001.log: No space left on device"}};
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded);
  EXPECT_EQ(text(result.outcome), "log incomplete: 1 lines of the receivers' logs were not written (R001.log: No space left on device. Make room there, choose "
            "another folder, or let fewer lines be written (log: sampled or off))");
  record.settings.receivers.host = "h3";
  EXPECT_NE(text(finish().outcome).find("not written (h3: R001.log: No space left on device. Make room there"), std::string::npos);
  record.settings.receivers.host = "local";
  receivers["services"][0]["continued"] = true;
  EXPECT_NE(text(finish().outcome).find("(log: sampled or off)); those of before the kill"), std::string::npos);
}

TEST_F(VerdictTest, a_death_breaks_a_run_whose_ledger_balances) {
  record.troubles += "N2NQ died: signal 9 (Killed)";
  EXPECT_EQ(finish().outcome.verdict, Verdict::broken);
}

TEST_F(VerdictTest, a_group_without_account_is_named) {
  receivers = Json();
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::broken);
  EXPECT_NE(text(result.outcome).find("Receivers gave no final account"), std::string::npos);
  EXPECT_TRUE(result.figures.lacks_receivers());
  EXPECT_FALSE(result.figures.lacks_senders());
}

}  // namespace
}  // namespace n2nq::app
