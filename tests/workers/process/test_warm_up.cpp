// SPDX-License-Identifier: GPL-3.0-or-later
// Warm-up in runs that are disturbed: groups that are killed in the middle of it, and started again or only read back.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "tests/workers/support/run_ledger.h"

namespace n2nq::worker::testing {
namespace {

using nlohmann::json;

constexpr std::uint64_t warm_up = 100, messages = 50;

struct WarmUp : ::testing::TestWithParam<const char*> {
  RunShape shape() {
    RunShape shape;
    shape.mode = GetParam();
    shape.queue = {{"responses", true}};
    shape.load["messages"] = messages;
    shape.load["warmup_messages"] = warm_up;
    return shape;
  }

  static void start(SmallRun& run) {
    // All of the warm-up lies ahead: its 100 messages are 5 ms apart.
    for (Child* child : {run.receivers.get(), run.senders.get()}) start(*child);
  }
  static void start(Child& child) { child.send({{"type", "start"}, {"at_broker_ns", 0}, {"lead_ns", std::int64_t{warm_up} * 5'000'000}}); }

  static json again(json configure, const std::string& staging) {
    configure["continue"] = staging;
    return configure;
  }
  static void relaunch(SmallRun& run, std::unique_ptr<Child>& child, const char* program, json configure) {
    child = std::make_unique<Child>(program);
    child->send(configure);
    child->wait_for_type("hello");
    child->send(run.connect_message());
    child->wait_for_state("connected");
    start(*child);
  }
  static void expect_complete(const SmallRun& run) {
    const measure::Ledger ledger = ledger_of(run);
    const std::uint64_t copies = run.shape.mode == std::string("broadcaster") ? static_cast<std::uint64_t>(run.shape.receivers) : 1;
    const std::uint64_t senders = static_cast<std::uint64_t>(run.shape.senders);
    EXPECT_TRUE(ledger.balanced) << reasons(ledger);
    ASSERT_TRUE(ledger.warm_up);
    EXPECT_EQ(ledger.attempted, senders * messages);
    EXPECT_EQ(ledger.total.delivered, senders * messages * copies) << reasons(ledger);
    EXPECT_EQ(ledger.warm_up->attempted, senders * warm_up);
    EXPECT_EQ(ledger.warm_up->total.delivered, senders * warm_up * copies) << reasons(ledger);
    EXPECT_EQ(ledger.total.lost + ledger.warm_up->total.lost, 0u);
    EXPECT_EQ(ledger.total.tags.out_of_order + ledger.warm_up->total.tags.out_of_order, 0u);
    const json& delay = run.senders_bye["figures"]["delay"];
    EXPECT_EQ(delay["count"], senders * (messages - 1)) << "gaps between messages that count";
  }
};

TEST_P(WarmUp, senders_killed_in_it_go_on_with_the_rest_of_it) {
  SmallRun run(shape());
  run.launch();
  start(run);
  stats_until(*run.senders, [](const json& stats) { return stats["warmup"]["attempted"] > 50; });
  const std::string staging = run.senders->staging_file();
  run.senders->kill(SIGKILL);
  run.senders->wait_for_exit();
  relaunch(run, run.senders, "n2nq-senders", again(run.configure_senders(), staging));
  run.finish();
  expect_complete(run);
}

TEST_P(WarmUp, receivers_killed_in_it_know_what_they_had_of_it) {
  SmallRun run(shape());
  run.launch();
  start(run);
  stats_until(*run.receivers, [](const json& stats) { return stats["warmup"]["received"] > 50; });
  const std::string staging = run.receivers->staging_file();
  run.receivers->kill(SIGKILL);
  run.receivers->wait_for_exit();
  relaunch(run, run.receivers, "n2nq-receivers", again(run.configure_receivers(), staging));
  run.finish();
  expect_complete(run);
}

TEST_P(WarmUp, is_told_apart_when_a_killed_group_is_read_back) {
  SmallRun run(shape());
  run.launch();
  start(run);
  const json seen = stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 0; });
  const std::string staging = run.receivers->staging_file();
  run.receivers->kill(SIGKILL);
  run.receivers->wait_for_exit();
  Child salvager("n2nq-receivers");
  json configure = run.configure_receivers();
  configure["salvage"] = staging;
  salvager.send(configure);
  salvager.wait_for_type("hello");
  salvager.send({{"type", "bye"}});
  const json bye = salvager.wait_for_type("bye");
  EXPECT_GE(bye["warmup"]["received"], seen["warmup"]["received"]);
  EXPECT_GE(bye["received"], seen["received"]);
  EXPECT_EQ(bye["figures"]["latency"]["count"], bye["received"]);
  EXPECT_EQ(bye["log"]["lines"], bye["received"].get<int>() + bye["warmup"]["received"].get<int>());
}

INSTANTIATE_TEST_SUITE_P(BothModes, WarmUp, ::testing::Values("broadcaster", "load-balancer"),
                         [](const auto& mode) { return std::string(mode.param) == "broadcaster" ? "Broadcaster" : "LoadBalancer"; });

}  // namespace
}  // namespace n2nq::worker::testing
