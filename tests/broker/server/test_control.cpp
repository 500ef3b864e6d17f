// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-broker as a process: configure, state, stop, bye, signals, its log and its exit codes.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "broker/net/file_limit.h"
#include "tests/broker/queue/queue_kit.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::ChildProcess;
using support::Received;
using support::text_of;
using support::WireClient;

std::string read_all(ChildProcess& process) {
  std::string text;
  for (std::string line = process.read_line(); !line.empty(); line = process.read_line()) text += line + "\n";
  return text;
}

TEST(Control, HelloSaysWhoAndWhere) {
  BrokerUnderTest broker;
  const json& hello = broker.hello();
  EXPECT_EQ(hello["control"], 1);
  EXPECT_EQ(hello["wire"], 1);
  EXPECT_EQ(hello["role"], "broker");
  EXPECT_EQ(hello["version"], N2NQ_VERSION);
  EXPECT_EQ(hello["pid"], broker.process().pid());
  EXPECT_EQ(hello["address"], "127.0.0.1");
  EXPECT_GT(hello["port"], 0);
  for (const char* fact :
       {"name", "boot_id", "time_namespace", "kernel", "cpu", "cores", "governor", "load_1min", "timer_slack_ns", "clocksource"}) {
    EXPECT_TRUE(hello["host"].contains(fact)) << fact;
  }
}

TEST(Control, AWrongSettingIsNamedWithWhatWouldBeRight) {
  struct Case {
    json changes;
    std::string key;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{{"control", 2}}, "control", "version 1"},
      {{{"role", "senders"}}, "role", "broker"},
      {{{"tokne", ""}}, "tokne", "not known"},
      {{{"token", "abc"}}, "token", "64"},
      {{{"token", std::string(64, '0')}}, "token", "stands for none"},
      {{{"listen", {{"address", "localhost"}}}}, "listen.address", "numeric"},
      {{{"listen", {{"port", 70000}}}}, "listen.port", "65535"},
      {{{"listen", {{"address", "203.0.113.7"}}}, {"token", std::string(64, '7')}}, "listen", "203.0.113.7"},
      {{{"listen", {{"address", "0.0.0.0"}}}}, "token", "other hosts"},
      {{{"listen", {{"address", "::"}}}}, "token", "other hosts"},
      {{{"queue", {{"mode", "fanout"}}}}, "queue.mode", "load-balancer"},
      {{{"queue", {{"remove", 7}}}}, "queue.remove", "text"},
      {{{"queue", {{"dispatch", "fair"}}}}, "queue.dispatch", "round-robin"},
      {{{"queue", {{"responses", "yes"}}}}, "queue.responses", "true or false"},
      {{{"queue", {{"responses_window", 0}}}}, "queue.responses_window", "from 1"},
      {{{"queue", {{"responses_deadline_ms", -1}}}}, "queue.responses_deadline_ms", "from 1"},
      {{{"queue", {{"responses_attempts_max", 70000}}}}, "queue.responses_attempts_max", "to 65535"},
      {{{"queue", {{"requests", "no"}}}}, "queue.requests", "true or false"},
      {{{"queue", {{"retention_ms", 0}}}}, "queue.retention_ms", "1 to"},
      {{{"queue", {{"retention_ms", 1.5}}}}, "queue.retention_ms", "whole number"},
      {{{"expect", {{"senders", 0}}}}, "expect.senders", "1 to"},
      {{{"expect", {{"receivers", nullptr}}}}, "expect.receivers", "missing"},
      {{{"limits", {{"memory_bytes", 1000}}}}, "limits.memory_bytes", "at least"},
      {{{"limits", {{"drain_ms", -1}}}}, "limits.drain_ms", "0 to"},
      {{{"limits", {{"message_bytes_max", 18446744073709551615ull}}}}, "limits.message_bytes_max", "whole number"},
  };
  for (const Case& one : cases) {
    ChildProcess process({BrokerUnderTest::program()});
    process.write(BrokerUnderTest::configuration(one.changes).dump() + "\n");
    const json error = json::parse(process.read_line());
    EXPECT_EQ(error["type"], "error") << one.key;
    EXPECT_EQ(error["key"], one.key) << error;
    EXPECT_NE(error["message"].get<std::string>().find(one.says), std::string::npos) << error;
    EXPECT_EQ(process.wait(), 2) << one.key;
  }
}

TEST(Control, WhatIsWrongIsAnsweredThoughStdinHasEndedBehindIt) {
  for (int i = 0; i < 20; ++i) {
    ChildProcess process({BrokerUnderTest::program()});
    process.write(BrokerUnderTest::configuration({{"queue", {{"mode", "anycast"}}}}).dump() + "\n");
    process.close_stdin();
    EXPECT_EQ(json::parse(process.read_line())["type"], "error");
    EXPECT_EQ(process.wait(), 2);
  }
}

TEST(Control, AllThatCameBeforeTheEndOfStdinIsAnswered) {
  for (int i = 0; i < 20; ++i) {
    ChildProcess process({BrokerUnderTest::program()});
    process.write("{\"type\":\"frob\"}\n{\"type\":\"frob\"}\nno JSON\n");
    process.close_stdin();
    for (int answers = 0; answers < 3; ++answers) EXPECT_EQ(json::parse(process.read_line())["type"], "error");
    EXPECT_EQ(process.wait(), 3);
  }
}

TEST(Control, AnErrorKeepsItsExitCodeThoughStdinEndsAtOnce) {
  for (int i = 0; i < 20; ++i) {
    ChildProcess process({BrokerUnderTest::program()});
    process.write(BrokerUnderTest::configuration({{"queue", {{"mode", "anycast"}}}}).dump() + "\n");
    EXPECT_EQ(json::parse(process.read_line())["type"], "error");
    process.close_stdin();
    EXPECT_EQ(process.wait(), 2);
  }
}

TEST(Control, WhatLiesBehindTheWordThatEndsItChangesNothing) {
  const std::string bye = R"({"type":"bye"})", stop = R"({"type":"stop"})", good = BrokerUnderTest::configuration(json::object()).dump();
  const std::string wrong = BrokerUnderTest::configuration({{"queue", {{"mode", "anycast"}}}}).dump();
  for (int i = 0; i < 10; ++i) {
    for (const std::string& behind : {bye, stop + '\n' + bye, good}) {
      for (const std::string& first : {wrong, bye}) {
        ChildProcess process({BrokerUnderTest::program()});
        process.write(first + '\n' + behind + '\n');
        const json said = json::parse(process.read_line());
        EXPECT_EQ(said["type"], first == bye ? "bye" : "error");
        EXPECT_EQ(read_all(process), "") << behind << " behind " << first;
        EXPECT_EQ(process.wait(), first == bye ? 0 : 2) << behind << " behind " << first;
      }
    }
  }
}

TEST(Control, LastWordsThatNobodyReadsAreNotSaidToBeDone) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 2000}, {"receivers", 2000}}}});  // more than a pipe holds
  broker.process().signal(SIGTERM);
  siginfo_t how{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(broker.process().pid()), &how, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(how.si_code, CLD_EXITED);
  EXPECT_EQ(how.si_status, 3);
}

/// A broker that a shell starts behind this.
std::vector<std::string> broker_behind(const std::string& command) {
  return {"/bin/sh", "-c", command + "; exec \"$0\"", BrokerUnderTest::program()};
}

/// A broker that may have so many files open at most, and what it answers to `configure`.
json answer_with_files(int files, const json& changes) {
  ChildProcess process(broker_behind("ulimit -n " + std::to_string(files)));
  process.write(BrokerUnderTest::configuration(changes).dump() + "\n");
  const json answer = json::parse(process.read_line());
  if (answer["type"] == "error") {
    EXPECT_EQ(process.wait(), 2);
  }
  return answer;
}

TEST(Control, MoreSessionsThanTheSystemAllowsOpenFilesAreRefusedAtOnce) {
  const json few{{"expect", {{"senders", 100}, {"receivers", 100}}}, {"limits", {{"sessions_max", 412}}}};
  EXPECT_EQ(answer_with_files(700, few)["type"], "hello") << "exactly enough";
  json one_more = few;
  one_more["limits"]["sessions_max"] = 413;
  const json error = answer_with_files(700, one_more);
  EXPECT_EQ(error["key"], "limits.sessions_max");
  EXPECT_EQ(error["message"],
            "limits.sessions_max is 413, which needs 701 open files; this system allows 700: set limits.sessions_max to at most 412, or raise the "
            "hard limit for open files (ulimit -Hn, nofile in /etc/security/limits.conf)");
  const json hopeless = answer_with_files(400, few);
  EXPECT_EQ(hopeless["message"].get<std::string>().find("to at most"), std::string::npos) << "the run's own services do not fit: " << hopeless;
}

TEST(Control, AsManySessionsAreTakenAsTheSettingsSayThoughTheProcessWasStartedWithFewFiles) {
  // The soft limit of most systems; the hard one is what counts.
  constexpr uint32_t sessions = 1500;
  ASSERT_EQ(net::raise_file_limit(sessions + 100), "");
  ChildProcess process(broker_behind("ulimit -Sn 300"));
  process.write(BrokerUnderTest::configuration({{"expect", {{"senders", 2}, {"receivers", 2}}}, {"limits", {{"sessions_max", sessions}}}}).dump() + "\n");
  const json hello = json::parse(process.read_line());
  ASSERT_EQ(hello["type"], "hello") << hello;
  std::vector<WireClient> clients;
  for (uint32_t i = 0; i < sessions - 4; ++i) clients.push_back(WireClient::probe(hello["port"]));
  for (uint32_t number = 1; number <= 2; ++number) {
    clients.push_back(WireClient::sender(hello["port"], number));
    clients.push_back(WireClient::receiver(hello["port"], number));
  }
  WireClient one_more(hello["port"].get<uint16_t>());
  EXPECT_EQ(one_more.read_error().value().code, wire::ErrorCode::too_many) << "and the next one is told so";
}

TEST(Control, LinesThatAreNoMessagesAreAnsweredAndTheProcessGoesOn) {
  BrokerUnderTest broker;
  for (const char* line : {"nonsense", "[1,2]", "{\"type\":7}", "{}", "{\"type\":\"dance\"}", "{\"type\":\"stats\",\"id\":1}"}) {
    broker.process().write(std::string(line) + "\n");
    EXPECT_EQ(broker.hear("error")["type"], "error") << line;
  }
  broker.process().write(std::string(200, '[') + std::string(200, ']') + "\n");
  EXPECT_EQ(broker.hear("error")["code"], "line");
  broker.say(BrokerUnderTest::configuration(json::object()));
  EXPECT_EQ(broker.hear("error")["code"], "configured");
  EXPECT_EQ(broker.finish()["type"], "bye");
}

TEST(Control, StatesFollowTheRun) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  std::string waiting_for;
  do {
    waiting_for = broker.hear("state", "waiting")["for"];
    EXPECT_TRUE(waiting_for == "1 sender and 1 receiver" || waiting_for == "1 sender") << waiting_for;
  } while (waiting_for != "1 sender");
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 3);
  EXPECT_GT(broker.hear("state", "running")["broker_now_ns"].get<int64_t>(), 0);
  receiver.receive(3);
  sender.end(3);
  receiver.receive_all();
  broker.hear("state", "ending");
  broker.hear("state", "ended");
  EXPECT_EQ(broker.finish()["deliveries"], 3);
}

TEST(Control, StopDrainsAndRefusesWhatComesThen) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 3}}}, {"limits", {{"drain_ms", 60'000}}}});
  WireClient first = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 100);
  sender.wait_accepted(100);
  broker.say({{"type", "stop"}});
  broker.hear("state", "ending");
  sender.publish(1, 100, 103);
  EXPECT_EQ(sender.wait_accepted(103), (std::vector<wire::RefusedRange>{{100, 102, wire::RefuseReason::ending}}));
  WireClient second = WireClient::receiver(broker.port(), 2);
  // It is too late for a sender to come, and not for a receiver; receiver 3 does not: its messages are still queued.
  WireClient late(broker.port());
  wire::Hello hello;
  hello.role = wire::Role::sender;
  hello.number = 1;
  hello.session = 1;
  late.send(hello);
  EXPECT_EQ(late.read_error().value().code, wire::ErrorCode::ending);
  for (WireClient* receiver : {&first, &second}) {
    const Received received = receiver->receive_all();
    EXPECT_EQ(text_of(received.set()), "1:0-99");
    EXPECT_TRUE(received.totals.has_value());
  }
  broker.say({{"type", "bye"}});
  broker.say({{"type", "bye"}});  // asked again: does not wait for the drain any more
  EXPECT_EQ(sender.read_error().value().code, wire::ErrorCode::ending);
  const json bye = broker.hear("bye");
  EXPECT_EQ(broker.process().wait(), 0);
  EXPECT_EQ(bye["messages_accepted"], 100);
  EXPECT_EQ(bye["messages_refused"], 3);
  EXPECT_EQ(bye["receivers"][1]["ended"], true);
  EXPECT_EQ(bye["receivers"][2]["still_queued"], 100);
  EXPECT_EQ(bye["receivers"][2]["still_queued_sets"], json::parse(R"([[1,1,"0-99"]])"));
  EXPECT_EQ(bye["receivers"][2]["ended"], false);
  EXPECT_EQ(bye["senders"][0]["ended"], false);
}

TEST(Control, TheDrainHasADeadlineAndTheTotalsSayWhatWasLeft) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 2}}}, {"limits", {{"drain_ms", 100}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  sender.wait_accepted(10);
  broker.say({{"type", "stop"}});
  broker.hear("state", "ended");
  broker.say({{"type", "bye"}});
  EXPECT_EQ(broker.hear("bye")["receivers"][0]["still_queued"], 10);
}

TEST(Control, ByeWithoutStopEndsEveryStreamAtOnce) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  receiver.receive(10);
  broker.say({{"type", "bye"}});
  EXPECT_EQ(receiver.receive_all().totals.value().handed_over, 10u);
  EXPECT_EQ(broker.hear("bye")["deliveries"], 10);
  EXPECT_EQ(broker.process().wait(), 0);
}

TEST(Control, SigtermLosesNothingThatWasAccepted) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 5000, 1000);
  broker.hear("state", "running");
  broker.process().signal(SIGTERM);
  const Received received = receiver.receive_all();
  EXPECT_TRUE(received.totals.has_value());
  const json bye = broker.hear("bye");
  EXPECT_EQ(broker.process().wait(), 0);
  EXPECT_EQ(bye["messages_accepted"], received.records.size());
  EXPECT_EQ(bye["receivers"][0]["handed_over"], received.records.size());
}

TEST(Control, SigintIsIgnored) {
  BrokerUnderTest broker;
  broker.process().signal(SIGINT);
  WireClient::sender(broker.port(), 1);
  EXPECT_EQ(broker.finish()["type"], "bye");
}

TEST(Control, TheEndOfStdinEndsTheProcessWithItsOwnCode) {
  const std::string log = testing::TempDir() + "n2nq_lease_" + std::to_string(getpid()) + ".log";
  BrokerUnderTest broker(json{{"log_file", log}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 3);
  broker.process().close_stdin();
  EXPECT_EQ(broker.process().wait(), 3);
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  EXPECT_NE(text.str().find("end of stdin"), std::string::npos) << text.str();
  std::remove(log.c_str());
}

TEST(Control, TheLogFileTellsTheStory) {
  const std::string log = testing::TempDir() + "n2nq_log_" + std::to_string(getpid()) + ".log";
  {
    BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"log_file", log}});
    WireClient receiver = WireClient::receiver(broker.port(), 1);
    WireClient sender = WireClient::sender(broker.port(), 1);
    WireClient junk(broker.port());
    junk.send(wire::ByteView(wire::Bytes(8, 'x')));
    junk.read_error();
    sender.publish(1, 0, 3);
    sender.end(3);
    receiver.receive_all();
    broker.finish();
  }
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  for (const char* part :
       {"listening on 127.0.0.1:", "S001 (127.0.0.1:", "R001 (127.0.0.1:", "connected", "refused: not n2nq", "first message",
        "ended, 3 messages accepted", "stream ended, 3 messages handed over", "totals: 3 messages accepted"}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part << " is not in\n" << text.str();
  }
  std::remove(log.c_str());
}

TEST(Control, AFullDiskIsAFaultAndTheRunGoesOn) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"log_file", "/dev/full"}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 3);
  sender.end(3);
  EXPECT_EQ(receiver.receive_all().records.size(), 3u);
  const json bye = broker.finish();
  ASSERT_EQ(bye["faults"].size(), 1u);
  EXPECT_NE(bye["faults"][0].get<std::string>().find("/dev/full"), std::string::npos);
  EXPECT_NE(bye["faults"][0].get<std::string>().find("No space left"), std::string::npos);
}

TEST(Control, ALogThatMayGrowNoLargerIsAFullDiskToo) {
  const std::string log = testing::TempDir() + "n2nq_log_limit_" + std::to_string(getpid()) + ".log";
  BrokerUnderTest broker(json{{"log_file", log}});
  ChildProcess& process = broker.process();
  // Not before its hello: ThreadSanitizer maps a file of its own when a program starts, and a limit cuts that too.
  const rlimit tight{.rlim_cur = 1024, .rlim_max = 1024};
  ASSERT_EQ(prlimit(process.pid(), RLIMIT_FSIZE, &tight, nullptr), 0);
  for (int i = 0; i < 50; ++i) {
    WireClient junk(broker.port());
    junk.send(wire::ByteView(wire::Bytes(8, 'x')));
    junk.read_error();
  }
  process.write("{\"type\":\"stop\"}\n{\"type\":\"bye\"}\n");
  std::string faults;
  for (std::string line = process.read_line(); !line.empty(); line = process.read_line()) {
    if (const json said = json::parse(line); said["type"] == "bye") faults = said["faults"].dump();
  }
  EXPECT_EQ(process.wait(), 0);
  EXPECT_NE(faults.find("File too large"), std::string::npos) << faults;
  std::remove(log.c_str());
}

TEST(Control, ByHandItExplainsItself) {
  ChildProcess help({BrokerUnderTest::program(), "--help"});
  EXPECT_NE(read_all(help).find("many-to-many queue"), std::string::npos);
  EXPECT_EQ(help.wait(), 0);
  ChildProcess version({BrokerUnderTest::program(), "--version"});
  EXPECT_EQ(version.read_line(), "n2nq-broker " N2NQ_VERSION);
  EXPECT_EQ(version.wait(), 0);
  ChildProcess wrong({BrokerUnderTest::program(), "--port"});
  EXPECT_EQ(wrong.wait(), 2);
}

}  // namespace
}  // namespace n2nq
