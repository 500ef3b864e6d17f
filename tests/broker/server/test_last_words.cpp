// SPDX-License-Identifier: GPL-3.0-or-later
// What a receiver that leaves is told at last takes no memory before it reads it, and reaches it whole, if need be on its next connection.
// A sender learns what became of its messages before it is told that N2NQ ends.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/broker/support/count_allocations.h"
#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::Reading;
using support::Received;
using support::SteppedServer;
using support::WireClient;

/// Messages `from` to below `to`, every other one a byte longer.
wire::Bytes of_two_sizes(uint32_t sender, uint64_t from, uint64_t to, size_t size_min) {
  wire::Bytes frames;
  for (; from < to; ++from) {
    const wire::Bytes frame = support::publish_frames(sender, from, from + 1, size_min + from % 2, 1 << 16);
    frames.insert(frames.end(), frame.begin(), frame.end());
  }
  return frames;
}

/// The first sender's, of 0 and 1 byte.
bool are_accepted(WireClient& sender, Reading& answers, uint64_t from, uint64_t to) {
  sender.send(wire::ByteView(of_two_sizes(1, from, to, 0)));
  return answers.until(
      [&](const wire::Frame& frame) { return frame.type == wire::FrameType::accepted && wire::Accepted::decode(frame.body)->next_index == to; });
}

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
    ASSERT_TRUE(are_accepted(sender, answers, index, index + at_once));
  }
  const size_t before_bytes = support::allocated_bytes();
  for (WireClient& receiver : receivers) {
    receiver.send(wire::End{0});
    for (int i = 0; i < 10; ++i) server.wake_up();
  }
  EXPECT_LT(support::allocated_bytes(), before_bytes + leaving * messages / 2 * wire::SkippedRange::entry_bytes / 4);
  for (WireClient& receiver : receivers) {
    const Received received = Reading(server, receiver).receive_all();
    ASSERT_TRUE(received.totals.has_value());
    EXPECT_EQ(received.skipped_set().count(), messages / 2);
    EXPECT_EQ(received.totals->unrequested, messages / 2);
  }
}

/// Its connection breaks before the next one, behind it, or never.
class NextConnection : public ::testing::TestWithParam<std::string> {};

TEST_P(NextConnection, IsToldTheRestOfTheLastWordsOfTheOneBefore) {
  constexpr uint64_t messages = 16'000, at_once = 1000;
  constexpr uint64_t runs_per_frame = (64 << 10) / wire::SkippedRange::entry_bytes;
  Options options;
  options.queue.mode = wire::QueueMode::broadcaster;
  options.queue.requests = true;
  options.queue.receivers = 2;  // one of them takes everything: what the other one does not ask for leaves
  SteppedServer server(options);
  WireClient taker = server.connect(wire::Role::receiver, 2);
  taker.send(wire::Credit{messages});
  Reading taking(server, taker);
  Received taken;
  WireClient receiver = server.connect(wire::Role::receiver, 1, 4096);
  receiver.send(wire::Rules{1, {wire::Rule{1, 1, 1, 1}}});
  WireClient sender = server.connect(wire::Role::sender, 1);
  Reading answers(server, sender);
  for (uint64_t index = 0; index < messages; index += at_once) {
    ASSERT_TRUE(are_accepted(sender, answers, index, index + at_once));
    ASSERT_TRUE(taking.until([&](const wire::Frame& frame) {
      taker.take({frame.type, {frame.body.begin(), frame.body.end()}}, taken);
      return taken.records.size() == index + at_once;
    }));
  }
  receiver.send(wire::End{0});
  Received first;
  ASSERT_TRUE(Reading(server, receiver).until([&](const wire::Frame& frame) {
    receiver.take({frame.type, {frame.body.begin(), frame.body.end()}}, first);
    return frame.type == wire::FrameType::skipped;
  }));
  ASSERT_FALSE(first.totals);
  if (GetParam() == "before") receiver.close();
  for (int i = 0; i < 10; ++i) server.wake_up();
  WireClient again = server.open();
  again.send(support::hello_of(wire::Role::receiver, 1));
  again.send(wire::End{0});
  server.wake_up();
  if (GetParam() == "behind") receiver.close();
  Received rest;
  ASSERT_TRUE(Reading(server, again).until([&](const wire::Frame& frame) {
    if (frame.type != wire::FrameType::welcome) again.take({frame.type, {frame.body.begin(), frame.body.end()}}, rest);
    return rest.totals.has_value();
  }));
  EXPECT_EQ(rest.totals->unrequested, messages / 2);
  const SenderSets told = first.skipped_set(), told_then = rest.skipped_set();
  SenderSets both = told;
  both += told_then;
  EXPECT_EQ(both.count(), told.count() + told_then.count()) << "nothing twice";
  // What was written to the connection that broke is told, read or not.
  EXPECT_GE(both.count() + 2 * runs_per_frame, messages / 2);
  ASSERT_FALSE(rest.skipped.empty());
  EXPECT_EQ(told_then.count(), (messages - rest.skipped.front().from + 1) / 2) << "all from there on";
}

INSTANTIATE_TEST_SUITE_P(ItBreaks, NextConnection, ::testing::Values("before", "behind", "never"),
                         [](const auto& when_it_breaks) { return when_it_breaks.param; });

TEST(LastWords, OfASenderThatReadsSlowlyAreWhatBecameOfItsMessages) {
  constexpr uint64_t messages = 1200, more = 10;
  Options options;
  options.limits.message_bytes_max = 100;
  SteppedServer server(options);
  WireClient sender = server.connect(wire::Role::sender, 1, 4096);
  for (uint64_t index = 0; index < messages; index += 200) {
    sender.send(wire::ByteView(of_two_sizes(1, index, index + 200, 100)));  // every other one is too large
    server.wake_up();
  }
  while (!sender.readable()) server.wake_up();
  sender.send(wire::ByteView(of_two_sizes(1, messages, messages + more, 100)));
  for (int i = 0; i < 10; ++i) server.wake_up();
  server.server().finish();
  uint64_t next_index = 0;
  SenderSets refused;
  std::optional<wire::Error> error;
  ASSERT_TRUE(Reading(server, sender).until([&](const wire::Frame& frame) {
    if (frame.type == wire::FrameType::accepted) {
      const auto accepted = wire::Accepted::decode(frame.body);
      next_index = accepted->next_index;
      for (const wire::RefusedRange& range : accepted->refused) refused.add_range(1, range.from, range.to);
    }
    if (frame.type == wire::FrameType::error) error = wire::Error::decode(frame.body);
    return error.has_value();
  }));
  EXPECT_EQ(error->code, wire::ErrorCode::ending);
  EXPECT_EQ(next_index, messages + more);
  EXPECT_EQ(refused.count(), (messages + more) / 2);
}

}  // namespace
}  // namespace n2nq
