// SPDX-License-Identifier: GPL-3.0-or-later
// How a worker process begins, what it refuses, and how it ends whatever happens to the others.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "broker/net/clock.h"
#include "tests/workers/support/run_ledger.h"
#include "workers/measure/accounts.h"
#include "workers/measure/log_line.h"

namespace n2nq::worker::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

RunShape until_stopped() {
  RunShape shape;
  shape.load["messages"] = nullptr;
  return shape;
}

bool holds(const json& strings, const std::string& words) {
  return std::ranges::any_of(strings, [&](const json& text) { return text.get<std::string>().find(words) != std::string::npos; });
}

/// The bye of a killed group, from the process that is launched in its place.
json salvage(const char* program, json configure, const std::string& staging_file) {
  configure["salvage"] = staging_file;
  Child child(program);
  child.send(configure);
  child.wait_for_type("hello");
  child.send({{"type", "connect"}, {"address", "127.0.0.1"}, {"port", 1}});
  EXPECT_NE(child.wait_for_type("error")["message"].get<std::string>().find("salvages"), std::string::npos)
      << "it has nothing to connect for";
  child.send({{"type", "bye"}});
  json bye = child.wait_for_type("bye");
  EXPECT_EQ(child.wait_for_exit(), 0);
  return bye;
}

TEST(Life, HelpAndVersionAndNothingElse) {
  for (const char* program : {"n2nq-senders", "n2nq-receivers"}) {
    Child help(program, {"--help"});
    EXPECT_NE(help.wait_for_line().find(program), std::string::npos);
    EXPECT_EQ(help.wait_for_exit(), 0);
    Child version(program, {"--version"});
    EXPECT_EQ(version.wait_for_line(), std::string(program) + " " N2NQ_VERSION);
    EXPECT_EQ(version.wait_for_exit(), 0);
    EXPECT_EQ(Child(program, {"--fast"}).wait_for_exit(), 2);
  }
}

TEST(Life, HelloSaysWhoItIs) {
  SmallRun run({});
  Child child("n2nq-receivers");
  child.send(run.configure_receivers());
  const json hello = child.wait_for_type("hello");
  EXPECT_EQ(hello["role"], "receivers");
  EXPECT_EQ(hello["control"], 1);
  EXPECT_EQ(hello["version"], N2NQ_VERSION);
  EXPECT_EQ(hello["pid"], child.pid());
  EXPECT_EQ(hello["host"]["timer_slack_ns"], 1);
  EXPECT_TRUE(fs::exists(hello["staging_file"].get<std::string>()));
  child.send({{"type", "bye"}});
  EXPECT_EQ(child.wait_for_type("bye")["received"], 0);
  EXPECT_EQ(child.wait_for_exit(), 0);
}

TEST(Life, ABadConfigureIsRefusedByKeyAndEndsWith2) {
  SmallRun run({});
  json configure = run.configure_senders();
  configure["load"]["start"] = "whenever";
  Child child("n2nq-senders");
  child.send(configure);
  const json error = child.wait_for_type("error");
  EXPECT_EQ(error["key"], "load.start");
  EXPECT_EQ(error["message"], "load.start is \"whenever\", it has to be one of: spread, in-phase");
  EXPECT_EQ(child.wait_for_exit(), 2);
}

TEST(Life, MoreServicesThanOpenFilesAreRefused) {
  SmallRun run({});
  json configure = run.configure_senders();
  configure["services"] = {{"first", 1}, {"last", 100'000}, {"total", 100'000}};
  Child child("n2nq-senders");
  const rlimit files{10'000, 10'000};
  ASSERT_EQ(prlimit(child.pid(), RLIMIT_NOFILE, &files, nullptr), 0);  // it waits for its settings
  child.send(configure);
  const json error = child.wait_for_type("error");
  EXPECT_EQ(error["key"], "services");
  EXPECT_NE(error["message"].get<std::string>().find("ulimit"), std::string::npos);
  EXPECT_EQ(child.wait_for_exit(), 2);
}

TEST(Life, NonsenseIsAnsweredAndSurvived) {
  SmallRun run({});
  Child child("n2nq-senders");
  child.send(run.configure_senders());
  child.wait_for_type("hello");
  for (const char* line :
       {"what?", "[1,2]", R"({"no":"type"})", R"({"type":"dance"})", R"({"type":"connect","address":"localhost","port":1})",
        R"({"type":"connect","address":"127.0.0.1","port":0})", R"({"type":"start"})", R"({"type":"stop","now":true})",
        R"({"type":"stats","id":"x"})", R"({"type":"stats","services":[[1]]})", R"({"type":"configure"})"}) {
    child.send_text(line);
    const json error = child.wait_for_type("error"), order = json::parse(line, nullptr, false);
    EXPECT_FALSE(error["message"].get<std::string>().empty()) << line;
    EXPECT_EQ(error.value("order", ""), order.is_object() ? order.value("type", "") : "") << "so that the bench knows what is not done";
  }
  child.send({{"type", "bye"}});
  child.wait_for_type("bye");
  EXPECT_EQ(child.wait_for_exit(), 0);
}

TEST(Life, EndOfStdinEndsTheProcessWith3AndItsLogsWhole) {
  SmallRun run(until_stopped());
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 50; });
  run.receivers->close_stdin();
  EXPECT_EQ(run.receivers->wait_for_exit(), 3);
  std::ifstream log(run.log_path("receivers", "R001"));
  std::string line, last;
  while (std::getline(log, line)) last = line;
  EXPECT_EQ(last, "# complete: yes");
  run.senders->close_stdin();
  EXPECT_EQ(run.senders->wait_for_exit(), 3);
  EXPECT_TRUE(fs::is_empty(run.folder() + "/staging"));
}

/// A pipe that nobody reads takes 64 KiB of lines, and then none.
TEST(Life, EndOfStdinEndsTheProcessThoughTheDiskTakesNoMoreLines) {
  RunShape shape = until_stopped();
  shape.load["interval_ns"] = {{"num", 200'000}, {"den", 1}};
  SmallRun run(shape);
  fs::create_directories(run.folder() + "/receivers");
  ASSERT_EQ(mkfifo(run.log_path("receivers", "R001").c_str(), 0600), 0);
  const net::Fd kept_open(open(run.log_path("receivers", "R001").c_str(), O_RDWR | O_CLOEXEC));
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 20'000; });
  run.receivers->close_stdin();
  EXPECT_EQ(run.receivers->wait_for_exit(), -SIGALRM);
  run.senders->close_stdin();
  EXPECT_EQ(run.senders->wait_for_exit(), 3);
}

TEST(Life, ASilentBenchEndsTheProcessWith3) {
  SmallRun run({});
  Child child("n2nq-senders");
  child.send(run.configure_senders());
  child.wait_for_type("hello");
  child.fall_silent();
  EXPECT_EQ(child.wait_for_exit(), 3);  // when the lease is over
}

TEST(Life, SigtermIsAStopAndABye) {
  SmallRun run(until_stopped());
  run.launch();
  run.start();
  stats_until(*run.senders, [](const json& stats) { return stats["attempted"] > 50; });
  run.senders->kill(SIGTERM);
  EXPECT_GT(run.senders->wait_for_type("bye")["attempted"], 50);
  EXPECT_EQ(run.senders->wait_for_exit(), 0);
}

TEST(Life, SigintIsIgnored) {
  SmallRun run({});
  run.launch();
  run.senders->kill(SIGINT);
  run.start();
  run.finish();
  EXPECT_EQ(run.receivers_bye["received"], 500);
}

TEST(Life, StopBeforeTheStartEndsInOrder) {
  SmallRun run({});
  run.launch();
  run.senders->send({{"type", "stop"}});
  run.receivers->send({{"type", "stop"}});
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], 0);
  EXPECT_EQ(run.senders_bye["faults"], json::array());
  EXPECT_EQ(run.receivers_bye["faults"], json::array());
}

TEST(Life, ReceiversCanLeaveInTheMiddle) {
  SmallRun run(until_stopped());
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 50; });
  run.receivers->send({{"type", "stop"}});
  stats_until(*run.receivers, [](const json& stats) { return stats["ended"] == 5; });
  run.senders->send({{"type", "stop"}});
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], run.senders_bye["accepted"]);
}

TEST(Life, WithoutTheBrokerTheyGiveUpWithAFaultAndStillSayTheirFigures) {
  RunShape shape = until_stopped();
  shape.reconnect_deadline_ms = 11'000;
  SmallRun run(shape);
  run.launch();
  run.start();
  const json stats = stats_until(*run.receivers, [](const json& now) { return now["received"] > 50; });
  run.broker->kill(SIGKILL);
  for (Child* child : {run.senders.get(), run.receivers.get()}) {
    const json failed = child->wait_for_state("failed");
    EXPECT_NE(failed["message"].get<std::string>().find("not back within 11000 ms"), std::string::npos) << failed;
    const json fault = child->wait_for_type("fault");
    EXPECT_NE(fault["message"].get<std::string>().find("connection lost"), std::string::npos) << "not only in the bye: " << fault;
    child->send({{"type", "bye"}});
  }
  const json receivers_bye = run.receivers->wait_for_type("bye");
  EXPECT_GE(receivers_bye["received"], stats["received"]);
  EXPECT_EQ(receivers_bye["totals"]["latency"]["count"], receivers_bye["received"]);
  EXPECT_TRUE(holds(receivers_bye["faults"], "R001: connection lost"));
  const json senders_bye = run.senders->wait_for_type("bye");
  EXPECT_TRUE(holds(senders_bye["faults"], "S001: connection lost"));
  EXPECT_EQ(
      senders_bye["attempted"].get<int>(), senders_bye["accepted"].get<int>() + [&] {
        int lost = 0;
        for (const json& service : senders_bye["services"]) lost += service["lost_before_queue"].get<int>();
        return lost;
      }());
}

TEST(Life, ARestartedBrokerIsFoundAgainAndTheRunGoesOn) {
  RunShape shape = until_stopped();
  SmallRun run(shape);
  run.launch();
  run.start();
  stats_until(*run.receivers, [](const json& stats) { return stats["received"] > 50; });
  run.broker->kill(SIGKILL);
  run.broker->wait_for_exit();
  run.launch_broker(run.port);
  const json after =
      stats_until(*run.senders, [](const json& stats) { return stats["attempted"] == stats["accepted"] && stats["attempted"] > 200; });
  EXPECT_GT(after["accepted"], 200);
  run.senders->send({{"type", "stop"}});
  run.finish();
  EXPECT_EQ(run.senders_bye["attempted"], run.senders_bye["accepted"]) << "what had not been accepted was offered again";
  EXPECT_TRUE(holds(run.senders_bye["faults"], "N2NQ was restarted"));
  EXPECT_EQ(run.receivers_bye["out_of_order"], 0);
  std::uint64_t logged = 0;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> sent_ns;
  for (const char* name : {"S001", "S002", "S003", "S004", "S005"}) {
    std::ifstream log(run.log_path("senders", name));
    for (std::string line; std::getline(log, line);) {
      const auto sent = measure::parse_sent_line(line);
      if (!sent) continue;
      ++logged;
      sent_ns[{static_cast<std::uint32_t>(name[3] - '0'), sent->index}] = sent->sent_ns;
    }
  }
  EXPECT_EQ(logged, run.senders_bye["attempted"]) << "a line per message, however often it was offered";
  // Duplicates there may be: what the first broker had delivered but not yet called accepted. They carry the stamp of their first offer.
  std::ifstream log(run.log_path("receivers", "R001"));
  for (std::string line; std::getline(log, line);) {
    const auto received = measure::parse_received_line(line);
    if (received) {
      EXPECT_EQ(received->sent_ns, (sent_ns[{received->sender, received->index}])) << line;
    }
  }
}

TEST(Life, SendersThatGoOnAndAreStoppedBeforeTheyAreConnectedOfferAgainWhatTheKilledOnesOwe) {
  SmallRun run(until_stopped());
  run.launch();
  run.start();
  stats_until(*run.senders, [](const json& stats) { return stats["attempted"] > 100; });
  run.broker->kill(SIGKILL);
  run.broker->wait_for_exit();
  const std::string staging_file = run.senders->staging_file();
  run.senders->kill(SIGKILL);
  run.senders->wait_for_exit();
  run.launch_broker(run.port);
  run.broker->kill(SIGSTOP);  // it lets them wait
  run.senders = std::make_unique<Child>("n2nq-senders");
  json configure = run.configure_senders();
  configure["continue"] = staging_file;
  run.senders->send(configure);
  run.senders->wait_for_type("hello");
  for (const json& message : {run.connect_message(), json{{"type", "stop"}}, SmallRun::stats_message(1)}) run.senders->send(message);
  run.senders->wait_for_type("stats");
  run.broker->kill(SIGCONT);
  run.finish();
  EXPECT_GT(run.senders_bye["attempted"], 100);
  EXPECT_EQ(run.senders_bye["attempted"], run.senders_bye["accepted"]);
  const measure::Ledger ledger = ledger_of(run);
  EXPECT_EQ(ledger.lost_before_queue, 0u) << reasons(ledger);
}

TEST(Life, AWrongTokenIsRefusedForGood) {
  SmallRun run({});
  run.launch_broker();
  json configure = run.configure_senders();
  configure["token"] = std::string(64, 'b');
  Child child("n2nq-senders");
  child.send(configure);
  child.wait_for_type("hello");
  child.send(run.connect_message());
  const json failed = child.wait_for_state("failed");
  EXPECT_NE(failed["message"].get<std::string>().find("N2NQ says: token"), std::string::npos) << failed;
  child.send({{"type", "bye"}});
  EXPECT_TRUE(holds(child.wait_for_type("bye")["faults"], "S001: N2NQ says: token"));
}

TEST(Life, WhoeverComesWhenTheRunIsStoppedTakesPartInNothing) {
  SmallRun run({});
  run.launch_broker();
  run.broker->send({{"type", "stop"}});
  run.broker->wait_for_state("ended");
  run.launch_senders();
  run.launch_receivers();
  for (Child* child : {run.senders.get(), run.receivers.get()}) {
    child->wait_for_state("ended");
    child->send({{"type", "bye"}});
    EXPECT_EQ(child->wait_for_type("bye")["faults"], json::array());
  }
}

TEST(Life, MessagesThatCannotFitAreRefusedBeforeTheStart) {
  RunShape shape;
  shape.load["size_bytes"] = {50, 50'000'000};
  SmallRun run(shape);
  run.launch_broker();
  run.launch_senders();
  const json failed = run.senders->wait_for_state("failed");
  EXPECT_NE(failed["message"].get<std::string>().find("messages of up to 50000000 letters do not fit"), std::string::npos) << failed;
}

TEST(Life, AKilledProcessLeavesWhatItHadReceived) {
  SmallRun run(until_stopped());
  run.launch_broker();
  Child receivers("n2nq-receivers");
  receivers.send(run.configure_receivers());
  const std::string staging_file = receivers.wait_for_type("hello")["staging_file"];
  receivers.send(run.connect_message());
  run.launch_senders();
  run.senders->wait_for_state("connected");
  receivers.wait_for_state("connected");
  run.senders->send({{"type", "start"}, {"at_broker_ns", 0}});
  const json stats = stats_until(receivers, [](const json& now) { return now["received"] > 100; });
  receivers.kill(SIGKILL);
  EXPECT_EQ(receivers.wait_for_exit(), -SIGKILL);
  const std::int64_t killed_by_ns = net::now_ns();

  const json bye = salvage("n2nq-receivers", run.configure_receivers(), staging_file);
  EXPECT_GE(bye["received"], stats["received"]);
  EXPECT_EQ(bye["totals"]["latency"]["count"], bye["received"]);
  EXPECT_EQ(bye["totals"]["in_queue"]["count"], bye["received"]);
  EXPECT_EQ(bye["log"]["lines"], bye["received"]);
  EXPECT_EQ(bye["duplicated"], 0) << "no record was taken twice";
  EXPECT_EQ(bye["out_of_order"], 0);
  EXPECT_TRUE(holds(bye["faults"], "the receivers ended before their time"));
  std::uint64_t delivered = 0, logged = 0;
  std::int64_t first_ns = INT64_MAX, last_ns = 0;
  for (int number = 1; number <= 5; ++number) {
    std::ifstream log(run.log_path("receivers", "R00" + std::to_string(number)));
    std::string last;
    for (std::string line; std::getline(log, line); last = line) {
      const auto received = measure::parse_received_line(line);
      if (!received) continue;
      ++logged;
      first_ns = std::min(first_ns, received->received_ns);
      last_ns = std::max(last_ns, received->received_ns);
    }
    EXPECT_NE(last.find("ended before its time"), std::string::npos);
  }
  for (const json& service : bye["services"]) {
    for (const auto& part : measure::sender_sets_from(service["delivered_sets"]))
      delivered += part.set.count() * (part.last - part.first + 1);
  }
  EXPECT_EQ(delivered, bye["received"].get<std::uint64_t>());
  EXPECT_EQ(logged, delivered);
  EXPECT_EQ(bye["started_ns"], first_ns);
  EXPECT_EQ(bye["ended_ns"], last_ns) << "not when it was read back";
  EXPECT_LE(last_ns, killed_by_ns);
  EXPECT_FALSE(fs::exists(staging_file));
}

TEST(Life, AKilledGroupOfSendersIsSalvagedToo) {
  SmallRun run(until_stopped());
  run.launch_broker();
  Child senders("n2nq-senders");
  senders.send(run.configure_senders());
  const std::string staging_file = senders.wait_for_type("hello")["staging_file"];
  senders.send(run.connect_message());
  senders.wait_for_state("connected");
  senders.send({{"type", "start"}, {"at_broker_ns", 0}});
  const json stats = stats_until(senders, [](const json& now) { return now["attempted"] > 100; });
  senders.kill(SIGKILL);
  senders.wait_for_exit();

  const json bye = salvage("n2nq-senders", run.configure_senders(), staging_file);
  EXPECT_GE(bye["attempted"], stats["attempted"]);
  EXPECT_EQ(bye["totals"]["lag"]["count"], bye["attempted"]);
  EXPECT_EQ(bye["log"]["lines"], bye["attempted"]);
}

TEST(Life, SalvageOfWhatIsNoStagingFileIsRefused) {
  SmallRun run({});
  json configure = run.configure_senders();
  configure["salvage"] = run.folder() + "/nothing";
  Child child("n2nq-senders");
  child.send(configure);
  EXPECT_NE(child.wait_for_type("error")["message"].get<std::string>().find(run.folder() + "/nothing"), std::string::npos);
  EXPECT_EQ(child.wait_for_exit(), 2);
}

TEST(Life, AFullDiskIsSaidAndTheRunGoesOn) {
  SmallRun run({});
  const std::string small = run.folder() + "/receivers";
  fs::create_directory(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=16k") != 0) GTEST_SKIP() << "cannot mount a small tmpfs: " << std::strerror(errno);
  run.launch();
  run.start();
  run.finish();
  umount(small.c_str());
  EXPECT_EQ(run.receivers_bye["received"], 500) << "the messages do not care";
  const json& log = run.receivers_bye["log"];
  EXPECT_NE(log["error"].get<std::string>().find("No space left on device"), std::string::npos) << log;
  EXPECT_NE(log["error"].get<std::string>().find(small), std::string::npos) << log;
  EXPECT_EQ(log["lines"].get<int>() + log["dropped"].get<int>(), 500);
}

}  // namespace
}  // namespace n2nq::worker::testing
