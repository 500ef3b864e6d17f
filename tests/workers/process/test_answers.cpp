// SPDX-License-Identifier: GPL-3.0-or-later
// Receivers that answer and ask, services that misbehave, and groups that are killed and started again: real processes, real N2NQ.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "tests/workers/support/run_ledger.h"
#include "workers/measure/log_line.h"

namespace n2nq::worker::testing {
namespace {

using nlohmann::json;

constexpr int patient_ms = 60'000;  // a busy machine holds answers up, and what is not answered in time comes twice

struct Answers : ::testing::TestWithParam<const char*> {
  RunShape shape(json queue) {
    RunShape shape;
    shape.mode = GetParam();
    shape.queue = std::move(queue);
    return shape;
  }
  std::uint64_t copies(const RunShape& shape) const {
    return std::string(GetParam()) == "broadcaster" ? static_cast<std::uint64_t>(shape.receivers) : 1;
  }
};

TEST_P(Answers, every_delivery_is_confirmed_once) {
  SmallRun run(shape({{"responses", true}, {"responses_deadline_ms", patient_ms}}));
  run.launch();
  run.start();
  run.finish();
  const auto ledger = ledger_of(run);
  expect_sound(ledger);
  EXPECT_EQ(ledger.total.delivered, 100 * copies(run.shape));
  EXPECT_EQ(run.receivers_bye["confirmed"], ledger.total.delivered);
  EXPECT_EQ(run.receivers_bye["redelivered"], 0);
}

TEST_P(Answers, one_after_the_other_with_a_window_of_one) {
  SmallRun run(shape({{"responses", true}, {"responses_window", 1}, {"responses_deadline_ms", patient_ms}}));
  run.launch();
  run.start();
  run.finish();
  const auto ledger = ledger_of(run);
  expect_sound(ledger);
  EXPECT_EQ(ledger.total.delivered, 100 * copies(run.shape));
}

TEST_P(Answers, negative_answers_are_delivered_again_and_parked_in_the_end) {
  SmallRun run(shape({{"responses", true}, {"responses_attempts_max", 3}}));
  run.launch();
  for (int number = 1; number <= run.shape.receivers; ++number) {
    run.receivers->send({{"type", "fault"}, {"service", number}, {"kind", "answer-negatively"}});
  }
  // Orders are obeyed one after the other: when the last one is refused, the others are in force.
  run.receivers->send({{"type", "fault"}, {"service", 1}, {"kind", "sulk"}});
  run.receivers->wait_for_type("error");
  run.start();
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  EXPECT_EQ(ledger.total.lost, 0u) << reasons(ledger);
  EXPECT_EQ(ledger.total.delivered, 100 * copies(run.shape)) << "it was received, whatever was answered";
  EXPECT_EQ(run.receivers_bye["received"], 3 * ledger.total.delivered) << "three attempts each";
  EXPECT_EQ(run.receivers_bye["redelivered"], 2 * ledger.total.delivered);
  EXPECT_EQ(run.receivers_bye["answered_negatively"], run.receivers_bye["received"]);
  // The live counts are those of the ledger: a copy that arrived is delivered and in no other place.
  EXPECT_EQ(ledger.total.parked_delivered, ledger.total.delivered);
  EXPECT_EQ(run.receivers_bye["parked_delivered"], ledger.total.delivered);
  EXPECT_EQ(run.receivers_bye["skipped"]["parked"], 0);
  EXPECT_EQ(ledger.total.skipped.parked, 0u);
  for (const auto& receiver : ledger.receivers) EXPECT_EQ(receiver.copies.skipped, measure::SkippedCounts()) << receiver.number;
  EXPECT_NE(reasons(ledger).find("N2NQ gave up on " + std::to_string(ledger.total.delivered) + " copies"), std::string::npos)
      << reasons(ledger);
}

void kill_receivers_and_go_on(SmallRun& run) {
  const std::string staging = run.receivers->staging_file();
  run.receivers->kill(SIGKILL);
  run.receivers->wait_for_exit();
  run.go_on_with_receivers(staging);
  run.receivers->send({{"type", "start"}, {"at_broker_ns", 5}, {"late_ns", 7}});
}

TEST_P(Answers, what_was_parked_counts_as_delivered_also_behind_a_kill) {
  RunShape wanted = shape({{"responses", true}, {"responses_attempts_max", 2}, {"responses_deadline_ms", patient_ms}});
  wanted.load["messages"] = 400;
  SmallRun run(wanted);
  run.launch();
  for (int number = 1; number <= run.shape.receivers; ++number)
    run.receivers->send({{"type", "fault"}, {"service", number}, {"kind", "answer-negatively"}});
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["parked_delivered"] > 100; });
  kill_receivers_and_go_on(run);
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  EXPECT_EQ(ledger.total.delivered, 2000 * copies(run.shape)) << reasons(ledger);
  // What they were told and had not read when they were killed N2NQ alone knows.
  EXPECT_GT(run.receivers_bye["parked_delivered"], 100);
  EXPECT_LE(run.receivers_bye["parked_delivered"], ledger.total.parked_delivered);
  EXPECT_EQ(run.receivers_bye["skipped"]["parked"], 0) << "in the load balancer another one had them first";
}

TEST_P(Answers, a_killed_and_restarted_receivers_group_misses_nothing) {
  RunShape wanted = shape({{"responses", true}});
  wanted.load["messages"] = 200;
  SmallRun run(wanted);
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 50; });
  kill_receivers_and_go_on(run);
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  EXPECT_EQ(ledger.total.delivered, 1000 * copies(run.shape)) << reasons(ledger);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.total.tags.duplicated_unflagged, 0u);
  EXPECT_EQ(ledger.total.tags.out_of_order, 0u);
  EXPECT_EQ(run.receivers_bye["log"]["lines"], run.receivers_bye["received"]) << "the logs go on";
  EXPECT_EQ(run.receivers_bye["started_ns"], 12) << "as late as the first process";
}

TEST_P(Answers, a_killed_and_restarted_senders_group_goes_on_with_its_plan) {
  RunShape wanted = shape({{"responses", true}});
  wanted.load["messages"] = 200;
  SmallRun run(wanted);
  run.launch();
  run.start();
  stats_until(*run.senders, [](const json& stats) { return stats["attempted"] > 50; });
  const std::string staging = run.senders->staging_file();
  run.senders->kill(SIGKILL);
  run.senders->wait_for_exit();
  run.go_on_with_senders(staging);
  run.senders->send({{"type", "start"}, {"at_broker_ns", 0}, {"late_ns", 0}});
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  EXPECT_EQ(ledger.attempted, 1000u);
  EXPECT_EQ(ledger.total.delivered, 1000 * copies(run.shape)) << reasons(ledger);
  EXPECT_EQ(ledger.total.lost, 0u);
  std::optional<std::int64_t> start_ns;
  std::ifstream log(run.log_path("senders", "S001"));
  for (std::string line; std::getline(log, line);) {
    const auto sent = measure::parse_sent_line(line);
    if (!sent) continue;
    const std::int64_t by_this_line_ns = sent->intended_ns - sent->index * 5'000'000;
    EXPECT_EQ(by_this_line_ns, start_ns.value_or(by_this_line_ns)) << "it had started late, and nothing is due at once for that: " << line;
    start_ns = by_this_line_ns;
  }
  EXPECT_TRUE(start_ns);
}

TEST_P(Answers, a_disconnected_receiver_comes_back_under_its_number) {
  RunShape wanted = shape({{"responses", true}});
  wanted.load["messages"] = 800;  // 4 s, so that a busy machine does not obey only when all is over
  SmallRun run(wanted);
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 20; });
  run.receivers->send({{"type", "fault"}, {"service", 2}, {"kind", "disconnect"}});
  run.senders->send({{"type", "fault"}, {"service", 3}, {"kind", "disconnect"}});
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  EXPECT_EQ(ledger.total.delivered, 4000 * copies(run.shape)) << reasons(ledger);
  EXPECT_NE(run.receivers_bye["faults"].dump().find("R002: connection lost"), std::string::npos);
  EXPECT_NE(run.senders_bye["faults"].dump().find("S003: connection lost"), std::string::npos);
}

TEST_P(Answers, only_what_was_asked_for_comes) {
  RunShape wanted = shape({{"requests", true}});
  wanted.load["size_bytes"] = {20, 60};
  wanted.load["messages"] = 40;
  // R001 to R004: what S001 and S002 send, 20 to 40 letters; R005: anything.
  wanted.requests = json::array({{{"receivers", {{1, 4}}}, {"rules", {{{"senders", {1, 2}}, {"sizes", {20, 40}}}}}, {"prefetch", 2}}});
  SmallRun run(wanted);
  run.launch();
  run.start();
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  EXPECT_EQ(ledger.total.lost, 0u) << reasons(ledger);
  if (std::string(GetParam()) == "broadcaster") {
    EXPECT_EQ(ledger.receivers[4].copies.delivered, 200u);
    EXPECT_GT(ledger.receivers[0].copies.delivered, 0u);
    EXPECT_EQ(ledger.receivers[0].copies.delivered + ledger.receivers[0].copies.skipped.unrequested, 200u);
    EXPECT_EQ(ledger.receivers[0].copies.delivered, ledger.receivers[3].copies.delivered);
  } else {
    EXPECT_EQ(ledger.total.delivered, 200u);
  }
}

TEST_P(Answers, rules_change_while_messages_flow) {
  RunShape wanted = shape({{"requests", true}, {"responses", true}});
  wanted.load["messages"] = 400;  // for two seconds
  wanted.requests = json::array({{{"receivers", {{1, 5}}}, {"rules", json::array()}, {"prefetch", 1}}});  // nothing
  SmallRun run(wanted);
  run.launch();
  run.start();
  stats_until(*run.senders, [](const json& stats) { return stats["accepted"] > 50; });
  const json none = stats_until(*run.receivers, [](const json&) { return true; });
  EXPECT_EQ(none["received"], 0) << "an empty list gets nothing";
  run.receivers->send({{"type", "request"}, {"receivers", {{1, 5}}}, {"rules", {json::object()}}, {"prefetch", 3}});
  run.finish();
  const auto ledger = ledger_of(run);
  EXPECT_TRUE(ledger.balanced) << reasons(ledger);
  // Lists come one after the other: what all have that ask for it is removed, and those that come behind do not see it.
  std::uint64_t accounted = 0, most = 0;
  for (const auto& receiver : ledger.receivers) {
    accounted += receiver.copies.delivered + receiver.copies.skipped.unrequested;
    most = std::max(most, receiver.copies.delivered);
  }
  if (std::string(GetParam()) == "broadcaster") {
    EXPECT_EQ(most, 2000u) << "what is queued is seen by a new list" << reasons(ledger);
    EXPECT_EQ(accounted, 10000u) << reasons(ledger);
  } else {
    EXPECT_EQ(ledger.total.delivered, 2000u) << "what is queued is seen by a new list" << reasons(ledger);
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, Answers, ::testing::Values("broadcaster", "load-balancer"),
                         [](const auto& mode) { return std::string(mode.param) == "broadcaster" ? "Broadcaster" : "LoadBalancer"; });

TEST(AnswersRefused, what_cannot_be_done_is_named) {
  SmallRun run({});
  run.launch();
  const auto refused = [&](Child& child, const json& message) {
    child.send(message);
    return child.wait_for_type("error")["message"].get<std::string>();
  };
  EXPECT_NE(refused(*run.receivers, {{"type", "request"}, {"receivers", {{1, 1}}}, {"rules", json::array()}}).find("requests are off"),
            std::string::npos);
  EXPECT_NE(refused(*run.senders, {{"type", "request"}, {"receivers", {{1, 1}}}, {"rules", json::array()}}).find("receivers are who"),
            std::string::npos);
  EXPECT_NE(refused(*run.senders, {{"type", "fault"}, {"service", 1}, {"kind", "stop-reading"}}).find("only \"disconnect\""),
            std::string::npos);
  EXPECT_NE(refused(*run.receivers, {{"type", "fault"}, {"service", 99}, {"kind", "disconnect"}}).find("from 1 to 5"), std::string::npos);
  EXPECT_NE(refused(*run.receivers, {{"type", "fault"}, {"service", 1}, {"kind", "sulk"}}).find("confirm-nothing"), std::string::npos);
  run.start();
  run.finish();
  EXPECT_EQ(run.receivers_bye["received"], 500);
}

/// R001 keeps N2NQ from draining: it leaves unanswered the only delivery that it may have.
TEST(AnswersAway, what_is_asked_for_meanwhile_is_in_force_for_who_comes_back_while_n2nq_drains) {
  RunShape shape;
  shape.senders = 1;
  shape.receivers = 2;
  shape.queue = {{"requests", true}, {"responses", true}, {"responses_deadline_ms", patient_ms}};
  shape.requests = json::array({{{"receivers", {{2, 2}}}, {"rules", json::array()}}});  // nothing
  SmallRun run(shape);
  run.launch_broker();
  const auto launch = [&run](Child& child, json configure, int number) {
    configure["services"] = {{"first", number}, {"last", number}, {"total", 2}};
    child.send(configure);
    child.wait_for_type("hello");
    child.send(run.connect_message());
    child.wait_for_state("connected");
    child.send({{"type", "start"}, {"at_broker_ns", 0}});
  };
  Child holding("n2nq-receivers"), away("n2nq-receivers"), back("n2nq-receivers");
  launch(holding, run.configure_receivers(), 1);
  holding.send({{"type", "fault"}, {"service", 1}, {"kind", "confirm-nothing"}});
  holding.send({{"type", "fault"}, {"service", 1}, {"kind", "sulk"}});
  holding.wait_for_type("error");  // of the latter: the former is in force
  launch(away, run.configure_receivers(), 2);
  away.kill(SIGKILL);
  away.wait_for_exit();
  run.launch_senders();
  run.senders->wait_for_state("connected");
  run.senders->send({{"type", "start"}, {"at_broker_ns", 0}});
  run.senders->wait_for_state("ended");
  json configure = run.configure_receivers();
  configure["requests"] = json::array({{{"receivers", {{2, 2}}}, {"rules", {json::object()}}, {"prefetch", 3}}});
  configure["continue"] = away.staging_file();
  launch(back, configure, 2);
  stats_until(back, [](const json& now) { return now["received"] == 20 || now["ended"] == 1; });
  const json stats = stats_until(back, [](const json&) { return true; });  // one pull has the counts of before, and the end of behind
  EXPECT_EQ(stats["received"], 20) << "N2NQ had nothing left for its list before";
}

}  // namespace
}  // namespace n2nq::worker::testing
