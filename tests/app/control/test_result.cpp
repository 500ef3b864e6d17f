// SPDX-License-Identifier: GPL-3.0-or-later
// From what the processes said last to verdict and summary.
#include "app/control/result.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

#include "app/control/summary.h"
#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {
namespace {

using Json = nlohmann::json;

measure::Histogram samples(std::initializer_list<std::int64_t> values_ns) {
  measure::Histogram out;
  for (const auto value : values_ns) out.add(value);
  return out;
}

Json figures(const measure::Histogram& histogram) {
  return measure::figures_of(histogram);
}

/// One sender, one receiver, two messages that took 100 µs and 300 µs.
struct ResultTest : testing::Test {
  QTemporaryDir folder;
  RunRecord record;
  Json senders, receivers, broker;
  std::atomic<bool> cancelled{false};

  ResultTest() {
    record.settings.senders.amount = 1;
    record.settings.senders.messages = 2;
    record.settings.receivers.amount = 1;
    record.traffic_started = true;
    record.started = QDateTime(QDate(2026, 11, 20), QTime(14, 2, 11), Qt::UTC);
    record.ended = record.started.addSecs(3);
    QString error;
    record.folder = RunFolder::make(folder.filePath("runs"), "", record.settings, record.started, error);
    for (const Role role : all_roles) {
      QDir().mkpath(record.folder->part(role));
      EXPECT_EQ(write_whole(record.folder->log_path(role, 1), "# as the processes wrote it\n"), "");
    }
    const auto lag = samples({1'000, 3'000}), delay = samples({500'000'000});
    senders = {{"type", "bye"},
               {"attempted", 2},
               {"accepted", 2},
               {"bytes", 100},
               {"started_ns", 1'000'000'000},
               {"ended_ns", 3'000'000'000},
               {"last_lag_ns", 3000},
               {"totals", {{"delay", delay.to_json()}, {"lag", lag.to_json()}}},
               {"figures", {{"delay", figures(delay)}, {"lag", figures(lag)}}},
               {"log", {{"lines", 2}, {"dropped", 0}, {"error", ""}}},
               {"faults", Json::array()},
               {"services",
                {{{"number", 1},
                  {"port", 5},
                  {"attempted", 2},
                  {"accepted", 2},
                  {"refused", 0},
                  {"lost_before_queue", 0},
                  {"bytes", 100},
                  {"accepted_set", "0-1"},
                  {"figures", {{"delay", figures(delay)}, {"lag", figures(lag)}}}}}}};
    Json all, all_figures;
    const std::pair<const char*, measure::Histogram> kinds[] = {{"latency", samples({100'000, 300'000})},
                                                                {"latency_from_plan", samples({101'000, 303'000})},
                                                                {"lag", lag},
                                                                {"to_broker", samples({40'000, 140'000})},
                                                                {"in_queue", samples({20'000, 20'000})},
                                                                {"to_receiver", samples({40'000, 140'000})}};
    for (const auto& [name, histogram] : kinds) all[name] = histogram.to_json(), all_figures[name] = figures(histogram);
    receivers = {{"type", "bye"},
                 {"received", 2},
                 {"bytes", 100},
                 {"totals", all},
                 {"figures", all_figures},
                 {"faults", Json::array()},
                 {"log", {{"lines", 2}, {"dropped", 0}, {"error", ""}}},
                 {"services",
                  {{{"number", 1},
                    {"received", 2},
                    {"duplicated", 0},
                    {"redelivered", 0},
                    {"out_of_order", 0},
                    {"unexpected", 0},
                    {"negative", 0},
                    {"bad_checksum", 0},
                    {"bytes", 100},
                    {"delivered_sets", {{1, 1, "0-1"}}},
                    {"handed_over", 2},
                    {"figures", all_figures}}}}};
    broker = {{"type", "bye"},
              {"senders", {{{"number", 1}, {"accepted", 2}}}},
              {"receivers", {{{"number", 1}, {"handed_over", 2}}}},
              {"faults", Json::array()}};
  }

  /// Nobody knows of these messages but the senders.
  void send_every_half_second(const std::vector<int>& messages_of_each) {
    record.settings.senders.amount = static_cast<int>(messages_of_each.size());
    const Json one = senders["services"][0];
    senders["services"] = Json::array();
    measure::Histogram all;
    int attempted = 0;
    for (const int messages : messages_of_each) {
      measure::Histogram own;
      for (int gap = 1; gap < messages; ++gap) own.add(500'000'000), all.add(500'000'000);
      Json& service = senders["services"].emplace_back(one);
      service.update({{"number", senders["services"].size()}, {"attempted", messages}, {"accepted", 0}, {"accepted_set", ""}});
      service["figures"]["delay"] = figures(own);
      attempted += messages;
    }
    senders.update({{"attempted", attempted}, {"accepted", 0}});
    senders["figures"]["delay"] = figures(all);
  }

  void take() {
    const std::pair<Role, Json*> byes[] = {{Role::senders, &senders}, {Role::receivers, &receivers}, {Role::broker, &broker}};
    for (const auto& [role, bye] : byes) {
      record.processes[index_of(role)].bye = bye->is_null() ? nullptr : std::make_shared<const Json>(*bye);
    }
  }
  RunResult finish() {
    take();
    return finish_run(record, cancelled);
  }
  Json summary() const {
    QFile file(record.folder->file("summary.json"));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return Json::parse(file.readAll().toStdString());
  }
  static std::string text(const RunOutcome& outcome) { return outcome.reasons.join("\n").toStdString(); }
};

TEST_F(ResultTest, logs_that_were_removed_during_the_run_are_missed) {
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

TEST_F(ResultTest, logs_of_a_group_that_gave_no_account_are_missed_too) {
  receivers = nullptr;
  record.settings.receivers.amount = 2;
  const QString missed =
      "log incomplete: 1 of 2 logs of the receivers are missing, the first is R002.log: no account says what became of them";
  EXPECT_FALSE(finish().outcome.reasons.contains(missed)) << "it never began, as far as is known";
  record.processes[index_of(Role::receivers)].hello.emplace();
  RunResult result = finish();
  EXPECT_TRUE(result.outcome.reasons.contains(missed)) << text(result.outcome);
  record.processes[index_of(Role::receivers)].files_left = "they lie on lab-1";
  result = finish();
  EXPECT_FALSE(result.outcome.reasons.contains(missed)) << "that says why: " << text(result.outcome);
}

TEST_F(ResultTest, a_folder_that_is_left_on_a_host_is_told_and_taints_nothing) {
  record.processes[index_of(Role::senders)].folder_left = "lab-1: all logs were brought, but the folder runs/x could not be removed there";
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean) << text(result.outcome);
  EXPECT_EQ(result.outcome.reasons, QStringList(record.of(Role::senders).folder_left));
}

TEST_F(ResultTest, who_did_not_wait_is_told_what_may_be_missing_where_something_is) {
  record.stopped_by_user = record.hurried_by_user = true;
  EXPECT_EQ(finish().outcome.reasons, QStringList("stopped by the user, who did not wait"));
  const QString may_be = "stopped by the user, who did not wait: what was on its way then, or not read yet, may be missing";
  receivers["received"] = 1;
  receivers["services"][0].update({{"received", 1}, {"handed_over", 2}, {"delivered_sets", {{1, 1, "0"}}}});
  const RunResult result = finish();
  EXPECT_TRUE(result.outcome.reasons.contains(may_be)) << text(result.outcome);
}

TEST_F(ResultTest, senders_that_were_held_back_are_told_and_taint_nothing) {
  broker["held_back_by_memory_ns"] = 3'210'000'000;
  broker["held_back_by_receivers_ns"] = 40'000'000;
  broker["waited_for_places_ns"] = 6'540'000'000;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean);
  EXPECT_EQ(result.outcome.reasons, QStringList({"senders were held back for 3.2 s by the memory budget (256 MiB)",
                                                 "senders of large messages were held back for 6.5 s by the memory budget (256 MiB), half of "
                                                 "which is for those that have not come whole",
                                                 "senders were held back for less than 0.1 s by receivers most of which were behind"}));
}

TEST_F(ResultTest, latencies_that_cannot_be_degrade_the_run) {
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

TEST_F(ResultTest, who_had_to_wait_for_a_core_is_told_and_taints_nothing) {
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

TEST_F(ResultTest, those_that_had_to_wait_for_a_core_are_told_in_one_sentence) {
  for (auto* bye : {&broker, &senders, &receivers}) (*bye)["core_times"] = {{"ran_ns", 100'000'000}, {"waited_ns", 300'000'000}};
  receivers["core_times"]["waited_ns"] = 900'000'000;
  EXPECT_EQ(finish().outcome.disturbances,
            QStringList("N2NQ, senders and receivers had to wait for a core for 75 %, 75 % and 90 % of the time in which they had something to do"));
}

TEST_F(ResultTest, everything_arrived_is_clean) {
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::clean) << text(result.outcome);
  EXPECT_TRUE(result.outcome.reasons.isEmpty());
  EXPECT_EQ(summary()["verdict"], "clean");
}

TEST_F(ResultTest, figures_carry_their_units) {
  finish();
  const Json out = summary();
  EXPECT_EQ(out["format"], 1);
  EXPECT_EQ(out["latency_us"]["count"], 2);
  EXPECT_EQ(out["latency_us"]["mean"], 200.0);
  EXPECT_EQ(out["latency_us"]["max"], 300.0);
  EXPECT_EQ(out["latency_us"]["min"], 100.0);
  EXPECT_NEAR(out["latency_us"]["p50"].get<double>(), 100, 0.1);
  EXPECT_EQ(out["latency_from_plan_us"]["max"], 303.0);
  EXPECT_EQ(out["delay_ms"]["mean"], 500.0);
  EXPECT_EQ(out["lag_us"]["mean"], 2.0);
  for (const char* key : {"count", "mean", "mean_lowest_95", "left_out", "p50", "p90", "p95", "p99", "p99_9", "max"})
    EXPECT_TRUE(out["latency_us"].contains(key)) << key;
  EXPECT_EQ(out["started"], "2026-11-20T14:02:11.000Z");
}

TEST_F(ResultTest, the_means_of_the_stages_add_up) {
  finish();
  const Json out = summary();
  double sum = 0;
  for (const char* stage : {"lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"}) sum += out["stages"][stage]["mean"].get<double>();
  EXPECT_NEAR(sum, out["latency_from_plan_us"]["mean"].get<double>(), 1e-9);
}

TEST_F(ResultTest, many_reasons_of_a_kind_are_told_as_a_few_and_a_count) {
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

TEST_F(ResultTest, services_have_the_same_figures) {
  finish();
  const Json out = summary();
  ASSERT_EQ(out["services"]["senders"].size(), 1u);
  EXPECT_EQ(out["services"]["senders"][0]["number"], 1);
  EXPECT_EQ(out["services"]["senders"][0]["delay_ms"]["mean"], 500.0);
  EXPECT_EQ(out["services"]["receivers"][0]["latency_us"]["max"], 300.0);
  EXPECT_EQ(out["services"]["receivers"][0]["stages"]["in_queue_us"]["mean"], 20.0);
  EXPECT_EQ(out["ledger"]["total"]["delivered"], 2);
  EXPECT_EQ(out["ledger"]["expected"], 2);
}

TEST_F(ResultTest, rates_and_plan) {
  finish();
  const Json out = summary();
  // Two messages half a second apart are two a second, not two in half a second.
  EXPECT_EQ(out["rates"]["over_s"], 1.0);
  EXPECT_EQ(out["rates"]["sent_per_s"], 2.0);
  EXPECT_EQ(out["rates"]["received_bytes_per_s"], 100.0);
  EXPECT_EQ(out["plan"]["offered_messages"], 2);
  EXPECT_EQ(out["plan"]["offered_per_s"], 2.0);
  EXPECT_EQ(out["plan"]["kept"], true);
  // Beside what a killed process had not noted there is a gap that no figure has.
  senders["services"][0].update({{"unnoted", 1}, {"sent_over_ns", 9'500'000'000}});
  finish();
  EXPECT_EQ(summary()["rates"]["over_s"], 10.0);
}

/// A killed sender, of which another process tells what was found: 7 messages, half a second apart. N2NQ has three more.
TEST_F(ResultTest, what_a_killed_sender_had_not_noted_counts_in_all_figures_as_attempted) {
  record.settings.senders.messages = 10;
  measure::Histogram delay;
  for (int gap = 1; gap < 7; ++gap) delay.add(500'000'000);
  senders.update({{"attempted", 7}, {"accepted", 7}});
  senders["figures"]["delay"] = figures(delay);
  senders["services"][0].update({{"attempted", 7}, {"accepted", 7}, {"accepted_set", "0-6"}, {"unheard", true}});
  senders["services"][0]["figures"]["delay"] = figures(delay);
  broker = {{"type", "bye"},
            {"senders", {{{"number", 1}, {"accepted", 10}}}},
            {"receivers", {{{"number", 1}, {"handed_over", 10}}}},
            {"faults", Json::array()}};
  receivers["received"] = 10;
  receivers["services"][0].update({{"received", 10}, {"handed_over", 10}, {"delivered_sets", {{1, 1, "0-9"}}}});
  const RunResult result = finish();
  const Json out = summary();
  EXPECT_EQ(result.figures.attempted, 10);
  EXPECT_EQ(result.figures.accepted, 10);
  ASSERT_EQ(result.figures.senders.size(), 1u);
  EXPECT_EQ(result.figures.senders[0].attempted, 10);
  EXPECT_EQ(out["ledger"]["total"]["attempted"], 10);
  EXPECT_EQ(out["rates"]["over_s"], 5.0) << "ten messages, half a second each";
  EXPECT_EQ(out["rates"]["sent_per_s"], 2.0);
  EXPECT_EQ(out["plan"]["achieved_per_s"], 2.0);
  EXPECT_EQ(result.figures.sent_per_s, 2.0);
  EXPECT_EQ(result.figures.senders[0].rate_per_s, 2.0);
}

TEST_F(ResultTest, senders_that_were_stopped_between_two_sends_sent_at_the_rate_of_all_of_them) {
  // Four senders, half a second between two messages, spread starts. A stop after 1.2 s finds three of them at two messages, one at three.
  send_every_half_second({3, 2, 2, 2});
  finish();
  EXPECT_EQ(summary()["rates"]["over_s"], 1.125);
  EXPECT_EQ(summary()["rates"]["sent_per_s"], 8.0);
  EXPECT_EQ(summary()["plan"]["achieved_per_s"], 8.0);
  // One that sent a single message has no gap, but was there as long as the others.
  send_every_half_second({2, 2, 1, 1});
  finish();
  EXPECT_EQ(summary()["rates"]["over_s"], 0.75);
  EXPECT_EQ(summary()["rates"]["sent_per_s"], 8.0);
  // One that ended long before the stop sent nothing in the time of the others, and is no reason to call that time shorter.
  send_every_half_second({9, 9, 8, 2});
  finish();
  EXPECT_EQ(summary()["rates"]["over_s"], 4.333333);
  EXPECT_EQ(summary()["rates"]["sent_per_s"], 6.462);
}

TEST_F(ResultTest, the_sending_took_as_long_as_the_sender_that_sent_longest) {
  record.settings.senders.amount = 2;
  record.settings.senders.messages = 3;
  const Json longest = figures(samples({500'000'000, 500'000'000}));
  senders["attempted"] = 4;
  senders["figures"]["delay"] = longest;
  senders["services"].push_back(senders["services"][0]);
  senders["services"][0].update({{"attempted", 3}, {"accepted", 3}, {"accepted_set", "0-2"}});
  senders["services"][0]["figures"]["delay"] = longest;
  senders["services"][1].update({{"number", 2}, {"attempted", 1}, {"accepted", 1}, {"accepted_set", "0"}});
  senders["services"][1]["figures"]["delay"] = figures(samples({}));
  finish();
  const Json out = summary();
  EXPECT_EQ(out["rates"]["over_s"], 1.5);
  EXPECT_EQ(out["rates"]["sent_per_s"], 2.667);
  EXPECT_EQ(out["plan"]["achieved_per_s"], 2.667);
  EXPECT_EQ(out["plan"]["kept"], false);
}

TEST_F(ResultTest, a_duration_is_a_plan_as_well) {
  record.settings.senders.messages.reset();
  record.settings.senders.duration_s = 2;
  finish();
  EXPECT_EQ(summary()["plan"]["offered_messages"], 4);
  EXPECT_EQ(summary()["plan"]["kept"], false);
  record.stopped_by_user = true;
  finish();
  EXPECT_TRUE(summary()["plan"]["kept"].is_null());
  record.stopped_by_user = false;
  record.settings.senders.duration_s = 1;
  finish();
  EXPECT_EQ(summary()["plan"]["kept"], true);
  record.traffic_started = false;
  finish();
  EXPECT_TRUE(summary()["plan"]["kept"].is_null()) << "nothing was to be sent yet";
}

TEST_F(ResultTest, what_is_not_known_is_null_or_says_unknown) {
  senders = Json(), receivers = Json(), broker = Json();
  record.traffic_started = false;
  record.stopped_by_user = true;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::stopped);
  const Json out = summary();
  EXPECT_EQ(out["latency_us"]["count"], 0);
  EXPECT_TRUE(out["latency_us"]["p99"].is_null());
  EXPECT_TRUE(out["rates"]["sent_per_s"].is_null());
  EXPECT_TRUE(out["plan"]["kept"].is_null());
  EXPECT_EQ(out["environment"]["hosts"]["broker"], "unknown");
  EXPECT_EQ(out["environment"]["offsets"]["senders_to_receivers"]["bound_us"], "unknown");
}

TEST_F(ResultTest, clocks_are_shared_with_the_same_boot_and_time_namespace_only) {
  HelloMessage hello;
  hello.host = {{"boot_id", "a"}, {"time_namespace", "1"}};
  for (auto& process : record.processes) process.hello = hello;
  finish();
  EXPECT_EQ(summary()["environment"]["offsets"]["senders_to_receivers"], Json({{"clock", "shared"}, {"offset_us", 0}, {"bound_us", 0}, {"asymmetry_us", 0}, {"estimation_us", 0}}));
  record.processes[index_of(Role::receivers)].hello->host["time_namespace"] = "2";
  finish();
  EXPECT_EQ(summary()["environment"]["offsets"]["senders_to_receivers"]["clock"], "unknown");
  EXPECT_EQ(summary()["environment"]["offsets"]["senders_to_broker"]["clock"], "shared");
}

TEST_F(ResultTest, every_latency_between_two_clocks_has_its_bound_that_of_a_service_too) {
  measure::ClockReport probed;
  probed.probes = 100;
  probed.worst.asymmetry_ns = 40'000;
  probed.worst.estimation_ns = 2'500;
  HelloMessage hello;
  hello.host = {{"boot_id", "a"}, {"time_namespace", "1"}};
  for (auto& process : record.processes) process.hello = hello;
  finish();
  const Json of_one_clock = summary();
  EXPECT_FALSE(of_one_clock["services"]["receivers"][0]["latency_us"].contains("bound_us"));
  record.processes[index_of(Role::receivers)].hello->host["time_namespace"] = "2";
  receivers["clock"] = probed;
  finish();
  const Json out = summary();
  for (const Json* of : {&out, &out["services"]["receivers"][0]}) {
    EXPECT_EQ((*of)["latency_us"]["bound_us"], 42.5);
    EXPECT_EQ((*of)["latency_from_plan_us"]["bound_us"], 42.5);
    EXPECT_EQ((*of)["stages"]["to_receiver_us"]["bound_us"], 42.5);
    EXPECT_FALSE((*of)["stages"]["to_broker_us"].contains("bound_us")) << "senders have N2NQ's clock";
  }
}

/// N2NQ's clock goes back by more than the run has lasted, and then a little ahead.
TEST_F(ResultTest, jumps_behind_the_runs_beginning_are_named_and_those_before_it_are_not) {
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

TEST_F(ResultTest, of_very_many_jumps_the_reasons_say_where_those_stand_that_they_do_not_name) {
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

TEST_F(ResultTest, a_bound_that_is_larger_than_a_stage_is_told) {
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

TEST_F(ResultTest, lost_copies_break_the_run) {
  receivers["services"][0]["delivered_sets"] = {{1, 1, "0"}};
  receivers["services"][0]["received"] = 1;
  receivers["figures"]["latency"]["count"] = 1;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::broken);
  EXPECT_NE(text(result.outcome).find("1 copy lost"), std::string::npos) << text(result.outcome);
  EXPECT_EQ(summary()["ledger"]["total"]["lost"], 1);
}

TEST_F(ResultTest, an_unkept_plan_degrades) {
  record.settings.senders.messages = 3;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::degraded);
  EXPECT_EQ(summary()["plan"]["kept"], false);
  EXPECT_EQ(summary()["ledger"]["expected"], 3);
}

TEST_F(ResultTest, of_senders_without_account_a_plan_is_not_kept_where_n2nq_has_fewer_messages) {
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

TEST_F(ResultTest, how_long_a_warm_up_without_a_plan_took_stands_in_the_summary) {
  finish();
  EXPECT_FALSE(summary().contains("warmed_up_s")) << "there was none";
  record.settings.senders.warmup_messages = 10;
  record.warmed_up_s = 1.2504;
  finish();
  EXPECT_FALSE(summary().contains("warmed_up_s")) << "by the plan";
  record.settings.senders.delay_ms = 0;
  finish();
  EXPECT_EQ(summary()["warmed_up_s"], 1.25);
  record.warmed_up_s.reset();
  finish();
  EXPECT_TRUE(summary()["warmed_up_s"].is_null());
}

TEST_F(ResultTest, a_stopped_run_owes_nothing_to_the_plan) {
  record.settings.senders.messages = 3;
  record.stopped_by_user = true;
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::stopped) << text(result.outcome);
  EXPECT_TRUE(summary()["plan"]["kept"].is_null());
}

TEST_F(ResultTest, incomplete_logs_degrade_and_are_told) {
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

TEST_F(ResultTest, a_death_breaks_a_run_whose_ledger_balances) {
  record.troubles += "N2NQ died: signal 9 (Killed)";
  EXPECT_EQ(finish().outcome.verdict, Verdict::broken);
}

TEST_F(ResultTest, a_group_without_account_is_named) {
  receivers = Json();
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::broken);
  EXPECT_NE(text(result.outcome).find("Receivers gave no final account"), std::string::npos);
  EXPECT_TRUE(result.figures.lacks_receivers());
  EXPECT_FALSE(result.figures.lacks_senders());
}

TEST_F(ResultTest, a_bye_that_is_no_bye_is_told_and_leaves_a_summary) {
  senders["services"][0]["accepted_set"] = "many";
  receivers["services"] = "none";
  const RunResult result = finish();
  EXPECT_EQ(result.outcome.verdict, Verdict::broken);
  EXPECT_NE(text(result.outcome).find("cannot be read"), std::string::npos) << text(result.outcome);
  EXPECT_EQ(summary()["verdict"], "broken");
}

TEST_F(ResultTest, the_final_figures_for_the_window_are_those_of_the_summary) {
  const LiveFigures figures = finish().figures;
  EXPECT_EQ(figures.attempted, 2);
  EXPECT_EQ(figures.received, 2);
  EXPECT_EQ(figures.latency.mean_us, 200);
  EXPECT_EQ(figures.stages.to_broker_us, 90);
  ASSERT_EQ(figures.receivers.size(), 1u);
  EXPECT_EQ(figures.receivers[0].latency_mean_us, 200);
  EXPECT_EQ(figures.senders[0].delay_mean_ms, 500);
}

}  // namespace
}  // namespace n2nq::app
