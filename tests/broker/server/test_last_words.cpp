// SPDX-License-Identifier: GPL-3.0-or-later
// What a receiver that leaves is told at last takes no memory before it reads it, and reaches it whole.
#include <gtest/gtest.h>

#include <vector>

#include "tests/broker/support/count_allocations.h"
#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::Received;
using support::SteppedServer;
using support::WireClient;

/// What a client gets, read as it comes: a frame may be longer than what the socket holds at a time.
class Reading {
 public:
  Reading(SteppedServer& server, WireClient& client) : server_(server), client_(client) {}
  /// Until on_frame(frame) says true. False: that never came.
  template <typename OnFrame>
  bool until(OnFrame on_frame) {
    const int64_t patience_ns = net::now_ns() + 60 * net::ns_per_s;
    while (net::now_ns() < patience_ns) {
      server_.wake_up();
      const std::span<uint8_t> room = reader_.room();
      const ssize_t bytes = recv(client_.fd(), room.data(), room.size(), MSG_DONTWAIT);
      if (bytes > 0) reader_.commit(static_cast<size_t>(bytes));
      while (const auto frame = reader_.next()) {
        if (on_frame(*frame)) return true;
      }
    }
    return false;
  }

 private:
  SteppedServer& server_;
  WireClient& client_;
  wire::FrameReader reader_{1 << 20};
};

TEST(LastWords, OfReceiversThatLeaveWithoutReadingTakeNoMemory) {
  // Every other one is not asked for: a run of 24 bytes for each of them.
  constexpr uint64_t messages = 120'000, at_once = 1000;
  constexpr uint32_t leaving = 5;
  Options options;
  options.queue.mode = wire::QueueMode::broadcaster;
  options.queue.requests = true;
  options.queue.senders = 1;
  options.queue.receivers = leaving + 1;  // one of them never comes: the messages stay
  SteppedServer server(options);
  std::vector<WireClient> receivers;
  for (uint32_t number = 1; number <= leaving; ++number) {
    receivers.push_back(server.connect(wire::Role::receiver, number));
    receivers.back().send(wire::Rules{1, {wire::Rule{1, 1, 1, 1}}});
  }
  server.wake_up();
  WireClient sender = server.connect(wire::Role::sender, 1);
  Reading answers(server, sender);
  for (uint64_t index = 0; index < messages; index += at_once) {
    wire::Bytes frames;
    for (uint64_t each = index; each < index + at_once; ++each) {
      const wire::Bytes frame = support::publish_frames(1, each, each + 1, each % 2, 1 << 16);
      frames.insert(frames.end(), frame.begin(), frame.end());
    }
    sender.send(wire::ByteView(frames));
    ASSERT_TRUE(answers.until([&](const wire::Frame& frame) {
      return frame.type == wire::FrameType::accepted && wire::Accepted::decode(frame.body)->next_index == index + at_once;
    }));
  }
  const size_t before_bytes = support::allocated_bytes();
  for (WireClient& receiver : receivers) {
    receiver.send(wire::End{0});
    for (int i = 0; i < 10; ++i) server.wake_up();
  }
  EXPECT_LT(support::allocated_bytes(), before_bytes + leaving * messages / 2 * wire::SkippedRange::entry_bytes / 4);
  for (WireClient& receiver : receivers) {
    Received received;
    ASSERT_TRUE(Reading(server, receiver).until([&received, &receiver](const wire::Frame& frame) {
      receiver.take({frame.type, {frame.body.begin(), frame.body.end()}}, received);
      return received.totals.has_value();
    }));
    EXPECT_EQ(received.skipped_set().count(), messages / 2);
    EXPECT_EQ(received.totals->unrequested, messages / 2);
  }
}

}  // namespace
}  // namespace n2nq
