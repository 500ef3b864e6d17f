// SPDX-License-Identifier: GPL-3.0-or-later
// Nothing is without bound, and whoever is over a bound is named while the others do not notice.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
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

/// Who reads must not be cut off: for so long a busy machine does not hold it up.
constexpr int slowest_reader_ms = 4000;

/// The most that the kernel holds for one connection, and need not for another.
size_t bytes_in_kernel_max() {
  size_t out = 0;
  for (const char* side : {"rmem", "wmem"}) {
    size_t least = 0, usual = 0, most = 0;
    std::ifstream(std::string("/proc/sys/net/ipv4/tcp_") + side) >> least >> usual >> most;
    out += most;
  }
  return out;
}

/// Receivers 1 and 2, until each has all `messages`. Both on one thread: where this machine is slow, neither is behind the other but for
/// what the kernel holds.
std::thread two_that_read(uint16_t port, uint64_t messages) {
  return std::thread([messages, receivers = std::array{WireClient::receiver(port, 1), WireClient::receiver(port, 2)}]() mutable {
    std::array<Received, 2> received;
    while (!received[0].totals || !received[1].totals) {
      for (size_t i = 0; i < 2; ++i) {
        if (received[i].totals || (!receivers[i].readable() && !received[1 - i].totals)) continue;
        const auto frame = receivers[i].read();
        ASSERT_TRUE(frame.has_value()) << "receiver " << i + 1 << " was cut off";
        receivers[i].take(*frame, received[i]);
      }
    }
    for (const Received& each : received) {
      EXPECT_EQ(each.totals->handed_over, messages);
      EXPECT_EQ(each.records.size(), messages);
      EXPECT_TRUE(each.in_order);
    }
  });
}

/// Two receivers read, the third does not; the sender publishes until the broker has accepted all.
json run_with_one_that_does_not_read(const json& changes, uint64_t messages) {
  json configuration = {{"expect", {{"senders", 1}, {"receivers", 3}}}};
  configuration.merge_patch(changes);
  BrokerUnderTest broker(configuration);
  WireClient stuck = WireClient::receiver(broker.port(), 3, {.receive_buffer_bytes = 4096});
  std::thread reading = two_that_read(broker.port(), messages);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, 100'000);
  EXPECT_EQ(sender.end(messages), messages);
  broker.hear("state", "ended");
  reading.join();
  return broker.finish();
}

TEST(Limits, AReceiverWithTooMuchPendingIsCutOffAndTheOthersGetEverything) {
  const size_t pending_bytes = 8'000'000 + bytes_in_kernel_max();
  const uint64_t messages = (pending_bytes + bytes_in_kernel_max()) / 100'000 + 100;
  const json bye = run_with_one_that_does_not_read({{"limits", {{"pending_bytes", pending_bytes}}}}, messages);
  const json& stuck = bye["receivers"][2];
  EXPECT_EQ(stuck["cut_off_reason"].get<std::string>().find("pending bytes"), 0u) << stuck["cut_off_reason"];
  EXPECT_EQ(stuck["handed_over"].get<uint64_t>() + stuck["cut_off"].get<uint64_t>(), messages);
  EXPECT_GT(stuck["cut_off"].get<int>(), 0);
  EXPECT_EQ(stuck["cut_off_sets"][0][2], std::to_string(stuck["handed_over"].get<int>()) + '-' + std::to_string(messages - 1));
  EXPECT_EQ(bye["receivers"][0]["cut_off_reason"], "");
}

/// One receiver that hardly takes a byte, 100 messages of 1 MiB: what N2NQ says of it at the end.
json lone_receiver_that_does_not_read(const json& limits) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", limits}});
  WireClient stuck = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 128});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 100, 1024 * 1024);
  EXPECT_EQ(sender.end(100), 100u);
  broker.hear("state", "ended");
  json receiver = broker.finish()["receivers"][0];
  EXPECT_EQ(receiver["handed_over"].get<int>() + receiver["cut_off"].get<int>(), 100);
  return receiver;
}

TEST(Limits, ALoneReceiverThatDoesNotReadIsCutOffForWhatIsPendingToo) {
  const json receiver = lone_receiver_that_does_not_read({{"pending_bytes", 1024 * 1024}});
  EXPECT_EQ(receiver["cut_off_reason"].get<std::string>().find("pending bytes"), 0u) << receiver;
}

TEST(Limits, AReceiverThatMissesItsWriteDeadlineIsCutOffAndTheOthersGetEverything) {
  const json bye = run_with_one_that_does_not_read({{"limits", {{"write_deadline_ms", slowest_reader_ms}}}}, 200);
  const json& stuck = bye["receivers"][2];
  EXPECT_EQ(stuck["cut_off_reason"].get<std::string>().find("write deadline"), 0u) << stuck["cut_off_reason"];
  EXPECT_EQ(stuck["handed_over"].get<int>() + stuck["cut_off"].get<int>(), 200);
}

TEST(Limits, AShortWriteDeadlineCutsOffHoweverMuchMayBePending) {
  const json receiver = lone_receiver_that_does_not_read({{"write_deadline_ms", 10}, {"pending_bytes", 1 << 30}});
  EXPECT_EQ(receiver["cut_off_reason"].get<std::string>().find("write deadline"), 0u) << receiver;
}

TEST(Limits, AReceiverIsNotCutOffForATimeInWhichTheBrokerItselfStoodStill) {
  constexpr size_t size = 50'000;  // more than the sockets hold, and no more than one read
  constexpr int send_buffer_bytes = 8192;
  Options options = support::options_with_wanted_io();
  options.queue.receivers = 2;
  options.limits.write_deadline_ms = 100;
  SteppedServer server(options);
  WireClient reads = server.connect(wire::Role::receiver, 1, send_buffer_bytes);
  WireClient does_not = server.connect(wire::Role::receiver, 2, send_buffer_bytes);
  WireClient sender = server.connect(wire::Role::sender, 1);
  sender.publish(1, 0, 1, size);
  while (!reads.readable() || !does_not.readable()) server.wake_up();  // in the last of them the message began to wait for room
  support::Reading reading(server, reads);
  const auto is_message = [](const wire::Frame& frame) { return frame.type == wire::FrameType::deliver; };
  ASSERT_FALSE(reading.take(is_message)) << "only a part of it is there";
  // However long this takes, N2NQ stands still meanwhile.
  std::this_thread::sleep_for(std::chrono::milliseconds(options.limits.write_deadline_ms + 1));
  EXPECT_TRUE(reading.until(is_message));
  const json receivers = server.server().summary()["receivers"];
  EXPECT_EQ(receivers[0]["cut_off_reason"], "");
  EXPECT_EQ(receivers[0]["handed_over"], 1);
  EXPECT_EQ(receivers[1]["cut_off_reason"], "write deadline: a batch was not taken within 100 ms");
}

/// As over a link that is slower than the load: what waits for it comes to long batches, and a socket of MiB says seldom that it has room.
/// False where this machine held the receiver up for longer than it was to wait, which shows nothing.
bool takes_a_long_batch_slowly() {
  constexpr uint64_t messages = 240;
  constexpr size_t size = 50'000, all_bytes = messages * size;
  constexpr size_t step_bytes = 70'000;
  constexpr std::chrono::milliseconds step(700);
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"write_deadline_ms", 3 * step.count()}}}});
  WireClient slow = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 64 << 10});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, size);
  std::vector<uint8_t> taken(step_bytes);
  size_t bytes = 0;
  int64_t last_ns = net::now_ns(), longest_ns = 0;
  const auto take = [&](size_t most) {
    for (const size_t until = bytes + most; bytes < until;) {
      pollfd waits{slow.fd(), POLLIN, 0};
      if (poll(&waits, 1, 60'000) != 1) return false;
      const ssize_t got = recv(slow.fd(), taken.data(), std::min(taken.size(), until - bytes), 0);
      if (got <= 0) return false;
      bytes += static_cast<size_t>(got);
      longest_ns = std::max(longest_ns, net::now_ns() - last_ns);
      last_ns = net::now_ns();
    }
    return true;
  };
  for (int steps = 0; steps < 10 && take(step_bytes); ++steps) std::this_thread::sleep_for(step);
  while (bytes < all_bytes && take(std::min(step_bytes, all_bytes - bytes))) {
  }
  if (longest_ns > 2 * net::ns_per_ms * step.count()) {
    sender.end(messages);
    return false;
  }
  EXPECT_EQ(bytes, all_bytes);
  EXPECT_EQ(sender.end(messages), messages);
  { const WireClient gone = std::move(slow); }
  broker.hear("state", "ended");
  EXPECT_EQ(broker.finish()["receivers"][0]["cut_off_reason"], "");
  return true;
}

TEST(Limits, AReceiverThatTakesALongBatchSlowlyIsNotCutOff) {
  int attempts = 5;
  while (!takes_a_long_batch_slowly()) ASSERT_GT(--attempts, 0) << "this machine holds everything up";
}

/// It said END and reads nothing for a while: what comes in meanwhile is no backlog of its own, and the other one gets it.
TEST(Limits, WhoLeavesInTheMiddleOfABatchIsNotCutOffForWhatComesBehindIt) {
  constexpr uint64_t before = 4, messages = 100;
  constexpr size_t size = 50'000;
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    SCOPED_TRACE(static_cast<int>(mode));
    Options options = support::options_with_wanted_io();
    options.queue.mode = mode;
    options.queue.dispatch = DispatchRule::round_robin;
    options.queue.receivers = 2;
    options.limits.pending_bytes = options.queue.pending_bytes_max = 20 * size;
    SteppedServer server(options);
    WireClient stays = server.connect(wire::Role::receiver, 1);
    WireClient leaves = server.connect(wire::Role::receiver, 2, 8192);
    WireClient sender = server.connect(wire::Role::sender, 1);
    support::Reading reading(server, stays);
    Received received;
    const auto take = [&](const wire::Frame& frame) {
      stays.take({frame.type, {frame.body.begin(), frame.body.end()}}, received);
      return received.totals.has_value();
    };
    for (uint64_t index = 0; index < messages; ++index) {
      sender.publish(1, index, index + 1, size);
      for (int i = 0; i < 3; ++i) server.wake_up();
      reading.take(take);
      if (index + 1 == before) leaves.send(wire::End{0});
    }
    const Received left = support::Reading(server, leaves).receive_all();
    ASSERT_TRUE(left.totals.has_value()) << (left.error ? left.error->text : "");
    EXPECT_EQ(left.totals->handed_over, left.records.size());
    EXPECT_GT(left.records.size(), 0u);
    EXPECT_LE(left.records.size(), before);
    sender.send(wire::End{messages});
    ASSERT_TRUE(reading.until(take));
    EXPECT_EQ(received.records.size(), mode == wire::QueueMode::broadcaster ? messages : messages - left.records.size());
  }
}

/// A load balancer with two receivers. One reads all the time; the other one says HELLO anew while its connection before is open.
class WithOneReplaced {
 public:
  static constexpr uint64_t pending_messages = 20;
  WithOneReplaced()
      : server_(options()), other_(server_.connect(wire::Role::receiver, 2)), reads_(server_, other_),
        sender_(server_.connect(wire::Role::sender, 1)) {
    say_hello();
  }

  void say_hello() {
    connections_.push_back(server_.open(8192));
    connections_.back().send(support::hello_of(wire::Role::receiver, 1));
    server_.wake_up();
    reading_ = std::make_unique<support::Reading>(server_, connections_.back());
  }
  /// So many messages for it, and as many for the other one.
  void send(uint64_t messages, bool is_read = false) {
    for (const uint64_t until = next_index_ + 2 * messages; next_index_ < until; ++next_index_) {
      sender_.publish(1, next_index_, next_index_ + 1, size);
      for (int i = 0; i < 3; ++i) {
        server_.wake_up();
        take(reads_);
        if (is_read) take(*reading_);
      }
    }
  }
  std::string cut_off_reason() { return server_.server().summary()["receivers"][0]["cut_off_reason"]; }

 private:
  static constexpr size_t size = 50'000;
  static Options options() {
    Options options = support::options_with_wanted_io();
    options.queue.mode = wire::QueueMode::load_balancer;
    options.queue.dispatch = DispatchRule::round_robin;
    options.queue.receivers = 2;
    options.limits.pending_bytes = options.queue.pending_bytes_max = pending_messages * size;
    options.limits.write_deadline_ms = 3'600'000;
    return options;
  }
  static void take(support::Reading& reading) {
    reading.take([](const wire::Frame&) { return false; });
  }

  SteppedServer server_;
  WireClient other_;
  support::Reading reads_;
  WireClient sender_;
  std::deque<WireClient> connections_;  // each of them stays open
  std::unique_ptr<support::Reading> reading_;  // of the last one
  uint64_t next_index_ = 0;
};

TEST(Limits, WhoIsReplacedByItselfHasNoMorePendingThanBefore) {
  for (const bool is_read : {false, true}) {
    WithOneReplaced run;
    run.send(WithOneReplaced::pending_messages * 3 / 4);
    run.say_hello();
    run.send(WithOneReplaced::pending_messages * 2 / 5, is_read);
    const std::string reason = run.cut_off_reason();
    EXPECT_EQ(reason.substr(0, 13), is_read ? "" : "pending bytes") << reason;
  }
}

TEST(Limits, WhoWasCutOffStaysSo) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"write_deadline_ms", 50}}}});
  WireClient stuck = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 4096});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 100, 200'000);
  sender.end(100);
  broker.hear("state", "ended");
  WireClient again(broker.port());
  wire::Hello hello;
  hello.role = wire::Role::receiver;
  hello.number = 1;
  hello.session = 1;
  again.send(hello);
  const auto error = again.read_error();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, wire::ErrorCode::too_slow);
  EXPECT_NE(error->text.find("write deadline"), std::string::npos);
}

TEST(Limits, InTheLoadBalancerTheOthersGetWhatACutOffReceiverDidNot) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 2}}},
                              {"queue", {{"mode", "load-balancer"}, {"dispatch", "round-robin"}}},
                              {"limits", {{"write_deadline_ms", slowest_reader_ms}}}});
  WireClient stuck = WireClient::receiver(broker.port(), 2, {.receive_buffer_bytes = 4096});
  Received received;
  std::thread reading([&, receiver = WireClient::receiver(broker.port(), 1)]() mutable { received = receiver.receive_all(); });
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 200, 100'000);
  sender.end(200);
  broker.hear("state", "ended");
  reading.join();
  const json bye = broker.finish();
  const int stuck_has = bye["receivers"][1]["handed_over"];
  const int cut_off = bye["total"]["cut_off"];
  EXPECT_LE(cut_off, 1) << "only the message that was cut in two";
  EXPECT_EQ(static_cast<int>(received.records.size()) + stuck_has + cut_off, 200);
  EXPECT_TRUE(received.in_order);
  EXPECT_NE(bye["receivers"][1]["cut_off_reason"], "");
}

TEST(Limits, InTheLoadBalancerWhoReadsIsNotCutOffForWhatManyOthersDidNotTake) {
  // Who reads may have no turn for longer than those that do not are waited for.
  constexpr int messages = 2400;
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 4}}},
                              {"queue", {{"mode", "load-balancer"}, {"dispatch", "round-robin"}}},
                              {"limits", {{"pending_bytes", 24'000'000}, {"write_deadline_ms", slowest_reader_ms}}}});
  std::vector<WireClient> stuck;
  for (uint32_t number = 2; number <= 4; ++number) {
    stuck.push_back(WireClient::receiver(broker.port(), number, {.receive_buffer_bytes = 4096}));
  }
  Received received;
  std::thread reading([&, receiver = WireClient::receiver(broker.port(), 1)]() mutable { received = receiver.receive_all(); });
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, 100'000);
  sender.end(messages);
  broker.hear("state", "ended");
  reading.join();
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["cut_off_reason"], "");
  int stuck_have = 0;
  for (int number = 2; number <= 4; ++number) {
    EXPECT_NE(bye["receivers"][number - 1]["cut_off_reason"], "") << number;
    stuck_have += bye["receivers"][number - 1]["handed_over"].get<int>();
  }
  EXPECT_LE(bye["total"]["cut_off"].get<int>(), 3) << "only the messages that were cut in two";
  EXPECT_EQ(static_cast<int>(received.records.size()) + stuck_have + bye["total"]["cut_off"].get<int>(), messages);
  EXPECT_TRUE(received.in_order);
}

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

TEST(Limits, AHealthyReceiverIsNeverMisjudgedHoweverFastTheSender) {
  const size_t pending_bytes = 8'000'000 + bytes_in_kernel_max();
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 2}}}, {"limits", {{"pending_bytes", pending_bytes}}}});
  std::thread reading = two_that_read(broker.port(), 150);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 150, 1024 * 1024);
  EXPECT_EQ(sender.end(150), 150u);
  reading.join();
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["cut_off_reason"], "");
  EXPECT_EQ(bye["receivers"][1]["cut_off_reason"], "");
}

}  // namespace
}  // namespace n2nq
