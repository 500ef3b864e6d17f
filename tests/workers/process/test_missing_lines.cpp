// SPDX-License-Identifier: GPL-3.0-or-later
// A killed sender that goes on from a log in which lines are missing: what N2NQ does not have is offered again, not skipped; what it has is
// not offered again.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/workers/support/run_ledger.h"
#include "workers/measure/log_line.h"
#include "workers/recorder/staging_ring.h"

namespace n2nq::worker::testing {
namespace {

using nlohmann::json;

/// What a killed sender has left of 30 messages, for ten of which there was no room.
std::string leave_lines(const SmallRun& run) {
  StagingRing ring = StagingRing::create(run.folder(), "killed", WorkerRole::senders, StagingRing::bytes_min);
  for (std::int64_t index = 0; index < 30; ++index) {
    if (index >= 10 && index < 20) continue;
    Record record;
    record.service = 1;
    record.index = index;
    record.intended_ns = record.sent_ns = 1'000'000 + index;
    record.other_ns = index == 0 ? Record::none_ns : 1;
    record.size = 50;
    record.attempt = 1;
    ring.push(record);
  }
  return ring.path();
}

RunShape one_by_one(int messages) {
  RunShape shape;
  shape.senders = shape.receivers = 1;
  shape.load["messages"] = messages;
  return shape;
}

/// Connected; the senders are to be those that go on for killed ones.
void launch_broker_and_receivers(SmallRun& run) {
  run.launch_broker();
  run.launch_receivers();
  run.receivers->wait_for_state("connected");
}

TEST(MissingLines, what_n2nq_does_not_have_is_offered_again) {
  SmallRun run(one_by_one(50));
  launch_broker_and_receivers(run);
  run.go_on_with_senders(leave_lines(run));
  run.start();
  run.finish();
  const json& sender = run.senders_bye["services"][0];
  EXPECT_EQ(sender["attempted"], 50) << sender;
  EXPECT_EQ(sender["accepted"], 50) << sender;
  EXPECT_EQ(sender["unnoted"], 10) << sender;
  EXPECT_GE(sender["sent_over_ns"], 29) << sender;
  EXPECT_EQ(run.receivers_bye["received"], 50) << "none is skipped, none comes twice";
  EXPECT_NE(run.senders_bye["faults"].dump().find("10 messages were sent of which the log of the killed process has no line"),
            std::string::npos)
      << run.senders_bye["faults"];
  EXPECT_THROW(run.senders->wait_for_type("fault"), std::runtime_error) << "said at once, the next one would say it again";
}

TEST(MissingLines, what_n2nq_does_not_have_is_offered_again_also_when_it_is_stopped_before_it_is_started) {
  SmallRun run(one_by_one(50));
  launch_broker_and_receivers(run);
  run.receivers->send({{"type", "start"}, {"at_broker_ns", 0}});
  run.go_on_with_senders(leave_lines(run));
  run.senders->send({{"type", "stop"}});
  run.finish();
  EXPECT_EQ(run.senders_bye["last_lag_ns"], 0) << "nobody has said when the next one is due";
  EXPECT_EQ(run.senders_bye["attempted"], 30);
  EXPECT_EQ(run.senders_bye["accepted"], 30);
  EXPECT_EQ(run.receivers_bye["received"], 30);
  std::ifstream log(run.log_path("receivers", "R001"));
  for (std::string line; std::getline(log, line);) {
    const auto received = measure::parse_received_line(line);
    if (received) {
      EXPECT_EQ(received->intended_ns, received->sent_ns) << "without a start nothing was due before: " << line;
    }
  }
}

TEST(MissingLines, who_reads_back_for_nobody_says_what_has_no_line) {
  SmallRun run(one_by_one(50));
  Child child("n2nq-senders");
  json configure = run.configure_senders();
  configure["salvage"] = leave_lines(run);
  child.send(configure);
  child.wait_for_type("hello");
  child.send({{"type", "bye"}});
  const json bye = child.wait_for_type("bye");
  EXPECT_NE(bye["faults"].dump().find("10 messages were sent of which the log of the killed process has no line"), std::string::npos)
      << bye["faults"];
}

TEST(MissingLines, a_sender_of_which_no_line_is_left_goes_on_behind_what_n2nq_has) {
  SmallRun run(one_by_one(1000));
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 30; });
  run.senders->kill(SIGKILL);
  run.senders->wait_for_exit();
  std::filesystem::remove(run.log_path("senders", "S001"));
  const std::string path = StagingRing::create(run.folder(), "empty", WorkerRole::senders, StagingRing::bytes_min).path();
  run.go_on_with_senders(path);
  run.senders->send({{"type", "start"}, {"at_broker_ns", 0}, {"late_ns", 0}});
  run.finish();
  const json& sender = run.senders_bye["services"][0];
  EXPECT_EQ(sender["attempted"], 1000) << sender;
  EXPECT_EQ(sender["accepted"], 1000) << sender;
  EXPECT_GT(sender["unnoted"], 30) << sender;
  EXPECT_EQ(run.receivers_bye["received"], 1000) << "none is skipped, none comes twice";
}

}  // namespace
}  // namespace n2nq::worker::testing
