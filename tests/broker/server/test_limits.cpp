// SPDX-License-Identifier: GPL-3.0-or-later
// Nothing is without bound, and whoever is over a bound is named while the others do not notice.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <fstream>
#include <memory>
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
