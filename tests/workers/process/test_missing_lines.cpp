// SPDX-License-Identifier: GPL-3.0-or-later
// A killed sender that goes on from a log in which lines are missing: what N2NQ does not have is offered again, not skipped; what it has is
// not offered again.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/workers/support/run_ledger.h"
#include "workers/recorder/staging_ring.h"

namespace n2nq::worker::testing {
namespace {

using nlohmann::json;

TEST(MissingLines, what_n2nq_does_not_have_is_offered_again) {
  RunShape shape;
  shape.senders = shape.receivers = 1;
  shape.load["messages"] = 50;
  SmallRun run(shape);
  run.launch_broker();
  run.launch_receivers();
  run.receivers->wait_for_state("connected");
  std::string path;
  {
    StagingRing ring = StagingRing::create(run.folder(), "killed", WorkerRole::senders, StagingRing::bytes_min);
    for (std::int64_t index = 0; index < 30; ++index) {
      if (index >= 10 && index < 20) continue;  // there was no room for these
      Record record;
      record.service = 1;
      record.index = index;
      record.intended_ns = record.sent_ns = 1'000'000 + index;
      record.other_ns = index == 0 ? Record::none_ns : 1;
      record.size = 50;
      record.attempt = 1;
      ring.push(record);
    }
    path = ring.path();
  }
  run.go_on_with_senders(path);
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
}

TEST(MissingLines, a_sender_of_which_no_line_is_left_goes_on_behind_what_n2nq_has) {
  RunShape shape;
  shape.senders = shape.receivers = 1;
  shape.load["messages"] = 1000;
  SmallRun run(shape);
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 30; });
  run.senders->kill(SIGKILL);
  run.senders->wait_for_exit();
  std::filesystem::remove(run.log_path("senders", "S001"));
  const std::string path = StagingRing::create(run.folder(), "empty", WorkerRole::senders, StagingRing::bytes_min).path();
  run.go_on_with_senders(path);
  run.senders->send({{"type", "start"}, {"at_broker_ns", 0}});
  run.finish();
  const json& sender = run.senders_bye["services"][0];
  EXPECT_EQ(sender["attempted"], 1000) << sender;
  EXPECT_EQ(sender["accepted"], 1000) << sender;
  EXPECT_GT(sender["unnoted"], 30) << sender;
  EXPECT_EQ(run.receivers_bye["received"], 1000) << "none is skipped, none comes twice";
}

}  // namespace
}  // namespace n2nq::worker::testing
