// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs of the real programs. What is asserted are counts; times are printed.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "broker/net/clock.h"
#include "tests/workers/support/run_ledger.h"
#include "workers/measure/clock_report.h"
#include "workers/measure/log_line.h"

namespace n2nq::worker::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

RunShape fifty(const std::string& mode) {
  RunShape shape;
  shape.senders = shape.receivers = 50;
  shape.mode = mode;
  return shape;
}

TEST(Runs, FiftyByFiftyBroadcast) {
  SmallRun run(fifty("broadcaster"));
  run.launch();
  run.start();
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], 1000);
  EXPECT_EQ(run.senders_bye["accepted"], 1000);
  EXPECT_EQ(run.receivers_bye["received"], 50'000);
  EXPECT_EQ(run.receivers_bye["totals"]["latency"]["count"], 50'000);
  EXPECT_EQ(run.receivers_bye["figures"]["in_queue"]["count"], 50'000);
  EXPECT_EQ(run.senders_bye["totals"]["lag"]["count"], 1000);
  EXPECT_EQ(run.senders_bye["totals"]["delay"]["count"], 950);
  EXPECT_EQ(run.receivers_bye["services"][17]["delivered_sets"], json::parse(R"([[1,50,"0-19"]])"));
  expect_sound(ledger_of(run));
  EXPECT_EQ(lines_of(run.log_path("senders", "S050")).size(), 20u);
  const auto lines = lines_of(run.log_path("receivers", "R017"));
  ASSERT_EQ(lines.size(), 1000u);
  for (const std::string& line : lines) ASSERT_TRUE(measure::parse_received_line(line)) << line;
  EXPECT_EQ(run.senders->wait_for_exit(), 0);
  EXPECT_EQ(run.receivers->wait_for_exit(), 0);
  EXPECT_TRUE(fs::is_empty(run.folder() + "/staging"));
}

TEST(Runs, FiftyByFiftyBalanced) {
  SmallRun run(fifty("load-balancer"));
  run.launch();
  run.start();
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], 1000);
  EXPECT_EQ(run.receivers_bye["received"], 1000);
  EXPECT_EQ(run.receivers_bye["delivered_sets"], json::parse(R"([[1,50,"0-19"]])"));
  expect_sound(ledger_of(run));
}

TEST(Runs, TheStagesAddUpToTheLatencyFromPlan) {
  SmallRun run({});
  run.launch();
  run.start();
  run.finish();
  const auto sum = [&](const char* name) { return run.receivers_bye["totals"][name]["sum_ns"].get<std::int64_t>(); };
  EXPECT_EQ(sum("lag") + sum("to_broker") + sum("in_queue") + sum("to_receiver"), sum("latency_from_plan"));
  EXPECT_EQ(sum("latency"), sum("latency_from_plan") - sum("lag"));
}

/// Receivers that know of the senders' clock only what was found an hour after the messages left.
TEST(Runs, HowWrongALineIsForWhatWasSentBeforeItIsInTheReceiversBye) {
  SmallRun run(RunShape{});
  run.launch();
  constexpr std::int64_t hour_ns = 3'600 * net::ns_per_s;
  const measure::ClockLine line{.at_ns = net::now_ns() + hour_ns};
  const measure::ClockPast past{.span_ns = 300 * net::ns_per_ms, .bound_ns = 5'000, .pace_ppt = 100'000'000};
  nlohmann::json order = {{"type", "clock"}, {"senders", line}};
  order["senders"]["bound"] = measure::ClockBound{.asymmetry_ns = 4'000, .estimation_ns = 10};
  order["senders"]["past"] = past;
  run.receivers->send(order);
  run.start();
  run.finish();
  const auto late = run.receivers_bye.at("senders_clock_late").get<measure::ClockBound>();
  EXPECT_EQ(late.asymmetry_ns, 4'000);
  EXPECT_GT(late.estimation_ns, 300 * net::ns_per_ms) << "100 millionths of nearly an hour";
  EXPECT_LT(late.estimation_ns, 361 * net::ns_per_ms);
}

TEST(Runs, AsFastAsTheSocketTakes) {
  for (const char* mode : {"broadcaster", "load-balancer"}) {
    RunShape shape;
    shape.mode = mode;
    shape.load["messages"] = 5'000;
    shape.load["size_bytes"] = {1, 2000};
    shape.load["interval_ns"] = {{"num", 0}, {"den", 1}};
    SmallRun run(shape);
    run.launch();
    run.start();
    run.finish();
    EXPECT_EQ(run.senders_bye["attempted"], 25'000);
    EXPECT_EQ(run.receivers_bye["received"], mode == std::string("broadcaster") ? 125'000 : 25'000);
    EXPECT_EQ(run.senders_bye["totals"]["lag"]["count"], 0) << "there is no plan to lag behind";
    EXPECT_EQ(run.receivers_bye["totals"]["latency_from_plan"]["count"], 0);
    EXPECT_EQ(run.senders_bye["last_lag_ns"], nullptr);
    EXPECT_EQ(run.senders_bye["lag_growth_ns"], nullptr);
    expect_sound(ledger_of(run));
  }
}

TEST(Runs, MessagesLargerThanABatch) {
  RunShape shape;
  shape.load["messages"] = 10;
  shape.load["size_bytes"] = {100'000, 1'000'000};
  SmallRun run(shape);
  run.launch();
  run.start();
  run.finish();
  EXPECT_EQ(run.receivers_bye["received"], 250);
  EXPECT_EQ(run.senders_bye["lag_growth_ns"], nullptr) << "two messages in the last part may be late by chance";
  expect_sound(ledger_of(run));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep for themselves what is given back
std::size_t memory_of(const Child& child) {
  std::ifstream statm("/proc/" + std::to_string(child.pid()) + "/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

/// A run of messages of 1 MiB to or from 100 services, one each `interval_s`: so many rounds of them are with the receivers, and then the
/// services of that group come to have no more than `kept_mib_max` of them.
void expect_memory_given_back(int senders, int receivers, const std::string& mode, std::unique_ptr<Child> SmallRun::*group, int interval_s, int rounds,
                              std::size_t kept_mib_max) {
  RunShape shape;
  shape.senders = senders;
  shape.receivers = receivers;
  shape.mode = mode;
  shape.log = "off";
  shape.load["messages"] = 1000;
  shape.load["size_bytes"] = {1 << 20, 1 << 20};
  shape.load["interval_ns"] = {{"num", std::int64_t{interval_s} * 1'000'000'000}, {"den", 1}};
  shape.load["start"] = "in-phase";
  SmallRun run(shape);
  run.launch();
  const std::size_t most_bytes = memory_of(*(run.*group)) + (kept_mib_max << 20);
  run.start();
  stats_until(*run.receivers, [&](const json& stats) { return stats["received"] >= rounds * 100; });
  const std::int64_t deadline_ns = net::now_ns() + Child::deadline_ns;
  std::size_t least_bytes = memory_of(*(run.*group));
  while (least_bytes > most_bytes && net::now_ns() < deadline_ns) {
    stats_until(*(run.*group), [](const json&) { return true; });
    least_bytes = std::min(least_bytes, memory_of(*(run.*group)));
  }
  EXPECT_LT(least_bytes, most_bytes) << mode;
}

TEST(Runs, WhatALongMessageTookIsGivenBack) {
  expect_memory_given_back(1, 100, "broadcaster", &SmallRun::receivers, 60, 1, 16);
  expect_memory_given_back(100, 1, "load-balancer", &SmallRun::senders, 60, 1, 16);
}

TEST(Runs, WhileLongMessagesComeAllServicesShareWhatIsKeptForThem) {
  expect_memory_given_back(1, 100, "broadcaster", &SmallRun::receivers, 1, 3, 64 + 16);
}

TEST(Runs, FewServicesKeepTheMemoryOfLongMessagesFromOneToTheNext) {
  RunShape shape;
  shape.senders = shape.receivers = 1;
  shape.log = "off";
  shape.load["messages"] = 1000;
  shape.load["size_bytes"] = {1 << 20, 1 << 20};
  shape.load["interval_ns"] = {{"num", 1'000'000'000}, {"den", 1}};
  SmallRun run(shape);
  run.launch();
  const std::size_t before_bytes = memory_of(*run.receivers);
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] >= 2; });
  std::size_t least_bytes = SIZE_MAX;
  stats_until(*run.receivers, [&](const json& stats) {
    least_bytes = std::min(least_bytes, memory_of(*run.receivers));
    return stats["received"] >= 4;
  });
  EXPECT_GE(least_bytes, before_bytes + (1u << 20));
}
#endif

TEST(Runs, AsLongAsADurationSays) {
  RunShape shape;
  shape.senders = 3;
  shape.load["messages"] = nullptr;
  shape.load["duration_ms"] = 700;
  shape.load["interval_ns"] = {{"num", 1'000'000'000}, {"den", 3000}};
  SmallRun run(shape);
  run.launch();
  run.start();
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], 3 * 2100);
  EXPECT_TRUE(run.senders_bye["lag_growth_ns"].is_number_integer());
  expect_sound(ledger_of(run));
  const auto lines = lines_of(run.log_path("senders", "S001"));
  const auto first = measure::parse_sent_line(lines.front());
  for (const std::size_t index : {1u, 2u, 3u, 2099u}) {
    EXPECT_EQ(measure::parse_sent_line(lines[index])->intended_ns - first->intended_ns,
              static_cast<std::int64_t>(index) * 1'000'000'000 / 3000);
  }
}

TEST(Runs, UntilStopped) {
  RunShape shape;
  shape.load["messages"] = nullptr;
  SmallRun run(shape);
  run.launch();
  run.start();
  int id = 0;
  do {
    run.receivers->send(SmallRun::stats_message(++id));
  } while (run.receivers->wait_for_type("stats")["received"] < 100);
  run.senders->send({{"type", "stop"}});
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], run.senders_bye["accepted"]);
  EXPECT_GE(run.senders_bye["attempted"], 20);
  expect_sound(ledger_of(run));
}

TEST(Runs, WhoStandsStillUntilItIsStoppedSaysForHowLong) {
  RunShape shape;
  shape.senders = 1;
  shape.load["messages"] = 100'000;
  shape.load["size_bytes"] = {50'000, 50'000};
  shape.load["interval_ns"] = {{"num", 1'000'000}, {"den", 1}};
  SmallRun run(shape);
  run.launch();
  run.broker->kill(SIGSTOP);  // what the kernel takes meanwhile is sent
  run.start();
  std::int64_t attempted = 0, sent_last_ns = net::now_ns();
  stats_until(*run.senders, [&](const json& stats) {
    if (stats["attempted"] > attempted) attempted = stats["attempted"], sent_last_ns = net::now_ns();
    return attempted > 0 && net::now_ns() - sent_last_ns > 300 * net::ns_per_ms;
  });
  run.senders->send({{"type", "stop"}});
  stats_until(*run.senders, [](const json& stats) { return stats["services"][0]["state"] == "ending"; });
  run.broker->kill(SIGCONT);
  run.finish();
  const json& sender = run.senders_bye["services"][0];
  EXPECT_GE(sender["stood_still_ns"], 250 * net::ns_per_ms) << sender;
  EXPECT_GE(run.senders_bye["last_lag_ns"], 250 * net::ns_per_ms);
  expect_sound(ledger_of(run));
}

TEST(Runs, AnyOrderOfLaunchSaysWhatItWaitsFor) {
  SmallRun run({});
  run.launch_broker();  // to learn a free port
  const int port = run.port;
  run.broker->kill(SIGKILL);
  EXPECT_EQ(run.broker->wait_for_exit(), -SIGKILL);

  run.launch_receivers();
  const json waiting = run.receivers->wait_for_state("waiting");
  EXPECT_EQ(waiting["for"], "N2NQ at 127.0.0.1:" + std::to_string(port) + " (0 of 5 connected)");
  const json tried = run.receivers->wait_for([](const json& line) { return line.contains("last"); });
  EXPECT_EQ(tried["for"], waiting["for"]);
  EXPECT_NE(tried["last"].get<std::string>().find("Connection refused"), std::string::npos) << tried;
  run.launch_senders();
  run.senders->wait_for_state("waiting");
  run.launch_broker(port);
  EXPECT_TRUE(run.senders->wait_for_state("connected")["floor"].contains("timer_wake_p99_ns"));
  run.receivers->wait_for_state("connected");
  run.start();
  run.finish();
  EXPECT_EQ(run.receivers_bye["received"], 500);
  expect_sound(ledger_of(run));
}

TEST(Runs, StatsAddUpToTheBye) {
  SmallRun run({});
  run.launch();
  run.start();
  measure::Histogram added;
  std::uint64_t received = 0;
  for (int id = 1; received < 500; ++id) {
    run.receivers->send(SmallRun::stats_message(id));
    const json stats = run.receivers->wait_for_type("stats");
    EXPECT_EQ(stats["id"], id);
    EXPECT_EQ(stats["services"].size(), 5u);
    added.merge(measure::Histogram::from_json(stats["interval"]["latency"]));
    received = stats["received"];
  }
  run.receivers->send(SmallRun::stats_message(0));
  added.merge(measure::Histogram::from_json(run.receivers->wait_for_type("stats")["interval"]["latency"]));
  run.finish();
  EXPECT_EQ(added, measure::Histogram::from_json(run.receivers_bye["totals"]["latency"])) << "no interval was lost or counted twice";
}

TEST(Runs, StatsOfAThousandServices) {
  RunShape shape;
  shape.senders = shape.receivers = 1000;
  shape.mode = "load-balancer";
  shape.log = "off";
  shape.load["messages"] = nullptr;
  shape.load["interval_ns"] = {{"num", 1'000'000'000}, {"den", 1}};
  SmallRun run(shape);
  run.launch();
  run.start();
  int id = 0;
  do {
    run.receivers->send({{"type", "stats"}, {"id", ++id}, {"services", json::array()}});
  } while (run.receivers->wait_for_type("stats")["received"] < 1000);
  for (Child* child : {run.senders.get(), run.receivers.get()}) {
    std::vector<double> times_ms;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t asked_ns = net::now_ns();
      child->send(SmallRun::stats_message(++id));
      std::string line = child->wait_for_line();
      while (line.find("\"stats\"") == std::string::npos) line = child->wait_for_line();
      times_ms.push_back(static_cast<double>(net::now_ns() - asked_ns) / 1e6);
      const json stats = json::parse(line);
      ASSERT_EQ(stats["services"].size(), 1000u);
      EXPECT_EQ(stats["services"][999]["number"], 1000);
    }
    std::ranges::sort(times_ms);
    std::printf("stats of 1,000 services, all rows: median %.2f ms, longest of 20 %.2f ms\n", times_ms[10], times_ms.back());
  }
  run.senders->send({{"type", "stop"}});
  run.finish();
  expect_sound(ledger_of(run));
}

}  // namespace
}  // namespace n2nq::worker::testing
