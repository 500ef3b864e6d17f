// SPDX-License-Identifier: GPL-3.0-or-later
// Memory is bounded: of what waits, of what has expired, and of the books and the account of what receivers did not get.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/broker/queue/queue_kit.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/stepped_server.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::Received;
using support::SteppedServer;
using support::text_of;
using support::WireClient;

/// Who answers must not be taken for silent: for so long a busy machine does not hold it up.
constexpr int slowest_reader_ms = 4000;

TEST(Limits, AtTheMemoryBudgetSendersAreHeldBackAndNothingIsLost) {
  for (const char* mode : {"broadcaster", "load-balancer"}) {
    const size_t budget_bytes = 3'000'000;
    const std::string log = testing::TempDir() + "n2nq_budget_" + mode + '_' + std::to_string(getpid()) + ".log";
    BrokerUnderTest broker(json{{"expect", {{"senders", 2}, {"receivers", 1}}},
                                {"log_file", log},
                                {"queue", {{"mode", mode}}},
                                {"limits", {{"memory_bytes", budget_bytes}, {"message_bytes_max", 100'000}}}});
    std::vector<std::thread> threads;
    for (uint32_t number = 1; number <= 2; ++number) {
      threads.emplace_back([number, port = broker.port()] {
        WireClient sender = WireClient::sender(port, number);
        sender.publish(number, 0, 3000, 10'000);
        EXPECT_EQ(sender.end(3000), 3000u);
      });
    }
    const auto is_used_up = [&log] {
      std::stringstream text;
      text << std::ifstream(log).rdbuf();
      return text.str().find("the memory budget is used up") != std::string::npos;
    };
    WireClient probe = WireClient::probe(broker.port());
    const int64_t deadline_ns = net::now_ns() + support::patience_ns;
    while (!is_used_up() && net::now_ns() < deadline_ns) probe.wait_for_broker_clock(net::now_ns() + net::ns_per_s / 50);
    EXPECT_TRUE(is_used_up());
    // 60 MB do not fit into the budget and the sockets: only now can the senders go on.
    std::remove(log.c_str());
    const Received received = WireClient::receiver(broker.port(), 1).receive_all();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(text_of(received.set()), "1:0-2999 2:0-2999");
    EXPECT_TRUE(received.in_order);
    const json bye = broker.finish();
    EXPECT_GT(bye["held_back_by_memory_ns"].get<int64_t>(), 0);
    EXPECT_EQ(bye["held_back_ns"].get<int64_t>(),
              bye["held_back_by_memory_ns"].get<int64_t>() + bye["held_back_by_receivers_ns"].get<int64_t>());
    EXPECT_LE(bye["memory_bytes_max"].get<size_t>(), budget_bytes + 2 * 256 * 1024 + 64 * 1024) << "one frame of each sender may be over";
  }
}

TEST(Limits, WhoAsksAndThenFallsSilentIsCutOffWhereOthersNeedTheMemory) {
  constexpr uint64_t messages = 4000;
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 3}}},
                              {"queue", {{"mode", "broadcaster"}, {"requests", true}, {"retention_ms", 600'000}}},
                              {"limits", {{"memory_bytes", 3'000'000}, {"message_bytes_max", 100'000}, {"write_deadline_ms", slowest_reader_ms}}}});
  WireClient silent = WireClient::receiver(broker.port(), 3, {.receive_buffer_bytes = 4096});
  silent.send(wire::Credit{10});
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number <= 2; ++number) {
    threads.emplace_back([messages, receiver = WireClient::receiver(broker.port(), number)]() mutable {
      receiver.send(wire::Credit{2 * messages});
      EXPECT_EQ(receiver.receive_all().records.size(), messages);
    });
  }
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, 10'000);
  EXPECT_EQ(sender.end(messages), messages);
  broker.hear("state", "ended");
  for (std::thread& thread : threads) thread.join();
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][2]["cut_off_reason"],
            "write deadline: it answered and asked for nothing within 4000 ms, and others need the memory");
  EXPECT_EQ(bye["receivers"][0]["cut_off_reason"], "");
  EXPECT_EQ(bye["receivers"][1]["cut_off_reason"], "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what is freed
int64_t resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

/// Told at once to who is connected and asked for nothing of it. One attempt of several has to be on a machine that is not held up.
TEST(Limits, WhatExpiresDoesSoWithinATenthOfItsRetention) {
  constexpr int64_t retention_ns = 500 * net::ns_per_ms;
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}},
                              {"queue", {{"mode", "broadcaster"}, {"requests", true}, {"retention_ms", retention_ns / net::ns_per_ms}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  receiver.send(wire::Rules{1, {wire::Rule{1, 1, 0, UINT32_MAX}}});  // and no credit
  WireClient sender = WireClient::sender(broker.port(), 1);
  int64_t least_ns = INT64_MAX;
  for (uint64_t index = 0; index < 20 && least_ns > retention_ns + retention_ns / 10; ++index) {
    const int64_t sent_ns = net::now_ns();
    sender.publish(1, index, index + 1);
    Received told;
    while (told.skipped.empty()) receiver.take(receiver.read().value(), told);
    EXPECT_EQ(told.skipped[0].reason, wire::SkipReason::expired);
    const int64_t took_ns = net::now_ns() - sent_ns;
    EXPECT_GE(took_ns, retention_ns) << "not before its time";
    least_ns = std::min(least_ns, took_ns);
  }
  EXPECT_LE(least_ns, retention_ns + retention_ns / 10);
}

TEST(Limits, MemoryOfWhatHasExpiredGoesBackToTheHost) {
  constexpr uint64_t messages = 120'000;
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}},
                              {"queue", {{"mode", "broadcaster"}, {"remove", "after-time"}, {"retention_ms", 4000}}},
                              {"limits", {{"heartbeat_ms", 2000}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, 1000);
  sender.wait_accepted(messages);
  const int64_t deadline_ns = net::now_ns() + support::patience_ns;
  const auto lies_idle = [&broker] { return resident_kib(broker.process().pid()) > 40 << 10; };  // 16 MiB are kept to be used again
  wire::Bytes heartbeat;
  wire::encode_heartbeat(heartbeat);
  while (lies_idle() && net::now_ns() < deadline_ns) {  // the broker's heartbeats are the clock
    ASSERT_TRUE(sender.read(true).has_value());
    sender.send(wire::ByteView(heartbeat));
  }
  EXPECT_FALSE(lies_idle()) << resident_kib(broker.process().pid()) << " KiB";
  sender.end(messages);
  // On a busy machine the first have expired before the last are there.
  EXPECT_GT(broker.finish()["memory_bytes_max"].get<size_t>(), size_t{64} << 20) << "much more than is kept";
}
#endif

TEST(Limits, WhoAsksForNothingAgainAndAgainIsSilent) {
  constexpr uint64_t messages = 1000;
  for (const bool responses : {false, true}) {
    BrokerUnderTest broker(
        json{{"expect", {{"senders", 1}, {"receivers", 2}}},
             {"queue",
              {{"mode", "broadcaster"}, {"requests", !responses}, {"responses", responses}, {"responses_window", 1}, {"retention_ms", 600'000}}},
             {"limits", {{"memory_bytes", 3'000'000}, {"message_bytes_max", 100'000}, {"write_deadline_ms", slowest_reader_ms}}}});
    WireClient receiver = WireClient::receiver(broker.port(), 1);
    if (!responses) receiver.send(wire::Credit{1});
    std::thread sends([messages, port = broker.port()] {
      WireClient sender = WireClient::sender(port, 1);
      sender.publish(1, 0, messages, 10'000);
      EXPECT_EQ(sender.end(messages), messages);
    });
    std::thread reads([messages, responses, other = WireClient::receiver(broker.port(), 2)]() mutable {
      if (!responses) other.send(wire::Credit{messages});
      for (uint64_t i = 0; responses && i < messages; ++i) {
        other.receive(1);
        other.send(wire::Confirm{{{i, 1, false}}});
      }
      other.receive_all();
    });
    receiver.receive(1);
    std::optional<wire::Error> error;
    WireClient probe = WireClient::probe(broker.port());
    while (!error) {
      if (responses) receiver.send(wire::Confirm{{{0, 0, false}}});
      else receiver.send(wire::Credit{0});
      probe.ask_clock();  // the broker has had a turn
      while (!error && receiver.readable()) {
        const auto frame = receiver.read(true);
        ASSERT_TRUE(frame.has_value());
        if (frame->type == wire::FrameType::error) error = wire::Error::decode(frame->body);
      }
    }
    EXPECT_EQ(error->code, wire::ErrorCode::too_slow);
    sends.join();
    reads.join();
    broker.finish();
  }
}

TEST(Limits, WhoHadNothingToAnswerWasNotSilentWhereOthersNeedTheMemory) {
  constexpr int64_t deadline_ms = 4000;
  // Nobody asks for what the first sender sends: it uses up the budget until its retention.
  for (const bool responses : {false, true}) {
    BrokerUnderTest broker(
        json{{"expect", {{"senders", 2}, {"receivers", 1}}},
             {"queue", {{"mode", "broadcaster"}, {"requests", true}, {"responses", responses}, {"retention_ms", 600'000}}},
             {"limits", {{"memory_bytes", 3'000'000}, {"message_bytes_max", 100'000}, {"write_deadline_ms", deadline_ms}}}});
    WireClient rare = WireClient::receiver(broker.port(), 1);
    rare.send(wire::Rules{1, {wire::Rule{2, 2, 0, UINT32_MAX}}});
    rare.send(wire::Credit{1});
    WireClient much = WireClient::sender(broker.port(), 1);
    much.publish(1, 0, 240, 10'000);  // between three quarters and all of it
    much.wait_accepted(240);
    WireClient probe = WireClient::probe(broker.port());
    probe.wait_for_broker_clock(net::now_ns() + deadline_ms * net::ns_per_ms);
    WireClient seldom = WireClient::sender(broker.port(), 2);
    seldom.publish(2, 0, 3, 100);  // more than it has asked for
    for (uint64_t delivery = 0; delivery < 3; ++delivery) {
      EXPECT_EQ(rare.receive(1).records.size(), 1u);
      probe.wait_for_broker_clock(net::now_ns() + deadline_ms / 20 * net::ns_per_ms);
      if (responses) {
        rare.send(wire::Confirm{{{delivery, 1, false}}});
      } else {
        rare.send(wire::Credit{1});
      }
    }
    EXPECT_EQ(broker.finish()["receivers"][0]["cut_off_reason"], "") << "responses: " << responses;
  }
}

TEST(Limits, TheRunEndsInOrderWhereTheBooksAreFull) {
  constexpr uint64_t messages = 2000, size_wanted = 100, size_unwanted = 10;
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}},
                              {"queue", {{"mode", "broadcaster"}, {"requests", true}, {"retention_ms", 4000}}},
                              {"limits", {{"books_bytes", 500}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  receiver.send(wire::Rules{1, {wire::Rule{1, 1, size_wanted, size_wanted}}});
  receiver.send(wire::Credit{messages});
  wire::Bytes frames;  // made before they are sent: all have to be there before the first ones leave
  for (uint64_t index = 0; index < messages; ++index) {
    const wire::Bytes frame = support::publish_frames(1, index, index + 1, index % 2 == 0 ? size_wanted : size_unwanted, 1 << 16);
    frames.insert(frames.end(), frame.begin(), frame.end());
  }
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.send(wire::ByteView(frames));
  const json ending = broker.hear("state", "ending");
  EXPECT_NE(ending.value("message", "").find("(limits.books_mib)"), std::string::npos) << ending;
  EXPECT_EQ(receiver.receive_all().records.size(), messages / 2) << "what there was is sent on";
  EXPECT_EQ(sender.end(messages), messages);
  const json bye = broker.finish();
  EXPECT_GT(bye["books_bytes_max"].get<size_t>(), 500u);
  EXPECT_EQ(bye["faults"], json::array({ending["message"]}));
  EXPECT_EQ(bye["receivers"][0]["unrequested"], messages / 2);
}

TEST(Limits, OfAnAccountThatNoLineHoldsNoMoreIsBuiltThanOneHolds) {
  constexpr size_t receivers = 3, letters_each = 11;  // [1,1,"0-9"]
  Options options;
  options.queue.senders = 1;
  options.queue.receivers = receivers;  // none of them comes
  SteppedServer server(options);
  WireClient sender = server.connect(wire::Role::sender, 1);
  sender.publish(1, 0, 10);
  server.wake_up();
  SetLetters letters{.most = 2 * letters_each};
  const json told = server.server().summary(letters)["receivers"];
  EXPECT_FALSE(letters.fit());
  EXPECT_EQ(letters.count, receivers * letters_each) << "how long it would be";
  EXPECT_EQ(told[1]["still_queued_sets"], json::parse(R"([[1,1,"0-9"]])"));
  EXPECT_EQ(told[2]["still_queued_sets"], json::array());
  EXPECT_EQ(told[2]["still_queued"], 10);
  SetLetters enough{.most = letters.count};
  EXPECT_EQ(server.server().summary(enough)["receivers"][2]["still_queued_sets"].size(), 1u);
  EXPECT_TRUE(enough.fit());
}

}  // namespace
}  // namespace n2nq
