// SPDX-License-Identifier: GPL-3.0-or-later
// From what the processes said last to the figures of the summary.
#include "app/control/summary.h"
#include "tests/app/control/result_kit.h"

namespace n2nq::app {
namespace {

using testing::figures;
using testing::Json;
using testing::ResultTest;
using testing::samples;

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

TEST_F(ResultTest, the_receiving_lasts_until_the_last_delivery) {
  receivers.update({{"started_ns", 1'000'000'000}, {"last_measured_ns", 6'000'000'000}, {"ended_ns", 20'000'000'000}});
  finish();
  EXPECT_EQ(summary()["rates"]["received_over_s"], 5.0) << "whatever a receiver had to wait for after that";
  EXPECT_EQ(summary()["rates"]["received_per_s"], 0.4);
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
  // A sender that stands still until it is stopped has sent nothing in that time; one that is late has gaps that tell of it.
  senders["services"][0]["stood_still_ns"] = 9'500'000'000;
  finish();
  EXPECT_EQ(summary()["rates"]["over_s"], 10.0);
  senders["services"][0]["stood_still_ns"] = 20'000'000;
  senders["last_lag_ns"] = 9'000'000'000;
  finish();
  EXPECT_EQ(summary()["rates"]["over_s"], 1.0);
  senders["services"][0].erase("stood_still_ns");
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
