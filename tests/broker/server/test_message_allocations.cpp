// SPDX-License-Identifier: GPL-3.0-or-later
// The whole N2NQ allocates nothing per message once it is warm: from the sender's socket to the receivers', their answers included.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <tuple>

#include "broker/net/send_ring.h"
#include "tests/broker/support/count_allocations.h"
#include "tests/broker/support/seed_frames.h"
#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::SteppedServer;
using support::WireClient;

constexpr uint32_t senders = 5, receivers = 5;
constexpr uint64_t messages_at_once = 4;

/// Frames over a socket, without any of the conveniences, which allocate.
class Sending {
 public:
  explicit Sending(WireClient client, uint32_t number) : client_(std::move(client)) {
    for (uint64_t i = 0; i < messages_at_once; ++i) {
      const size_t begun_at = wire::begin_frame(frames_, wire::FrameType::publish);
      index_at_[i] = frames_.size() + 8;
      const wire::Bytes record = support::make_record(number, 0, 50);
      frames_.insert(frames_.end(), record.begin(), record.end());
      wire::end_frame(frames_, begun_at);
    }
  }
  void publish() {
    for (const size_t at : index_at_) wire::store(frames_.data() + at, index_++);
    if (send(client_.fd(), frames_.data(), frames_.size(), 0) != static_cast<ssize_t>(frames_.size())) throw std::runtime_error("send");
  }
  /// ACCEPTED and the like.
  void drop_answers() {
    std::array<uint8_t, 4096> answers;
    while (recv(client_.fd(), answers.data(), answers.size(), MSG_DONTWAIT) > 0) {
    }
  }

 private:
  WireClient client_;
  wire::Bytes frames_;
  std::array<size_t, messages_at_once> index_at_;
  uint64_t index_ = 0;
};

class Receiving {
 public:
  Receiving(WireClient client, const QueueOptions& queue) : client_(std::move(client)), answers_(queue.responses) {
    if (queue.requests) client_.send(wire::Credit{UINT32_MAX});
    wire::Confirm{{{0, 1, false}}}.encode(confirm_);
  }
  /// All that is there; confirms it. Returns the messages.
  uint64_t take() {
    const uint64_t before = messages_;
    while (true) {
      const std::span<uint8_t> room = reader_.room();
      const ssize_t bytes = recv(client_.fd(), room.data(), room.size(), MSG_DONTWAIT);
      if (bytes <= 0) break;
      reader_.commit(static_cast<size_t>(bytes));
      while (const auto frame = reader_.next()) {
        if (frame->type != wire::FrameType::deliver) continue;
        for (size_t at = 8; at < frame->body.size(); at += wire::read_record_header(frame->body.data() + at).record_bytes()) ++messages_;
      }
    }
    if (answers_ && messages_ > before) {
      wire::store(confirm_.data() + wire::frame_header_bytes, before);
      wire::store(confirm_.data() + wire::frame_header_bytes + 8, static_cast<uint32_t>(messages_ - before));
      if (send(client_.fd(), confirm_.data(), confirm_.size(), 0) < 0) throw std::runtime_error("send");
    }
    return messages_ - before;
  }

 private:
  WireClient client_;
  bool answers_;
  wire::FrameReader reader_{1 << 20};
  wire::Bytes confirm_;
  uint64_t messages_ = 0;
};

class MessageAllocations : public ::testing::TestWithParam<std::tuple<wire::QueueMode, bool, bool, Io>> {};

TEST_P(MessageAllocations, NoneInTheSteadyState) {
  Options options;
  std::tie(options.queue.mode, options.queue.responses, options.queue.requests, options.io) = GetParam();
  if (options.io == Io::io_uring && !net::SendRing::problem().empty()) GTEST_SKIP() << net::SendRing::problem();
  options.queue.senders = senders;
  options.queue.receivers = receivers;
  SteppedServer server(options);
  std::vector<Sending> sending;
  std::vector<Receiving> receiving;
  for (uint32_t number = 1; number <= receivers; ++number) {
    receiving.emplace_back(server.connect(wire::Role::receiver, number), options.queue);
  }
  for (uint32_t number = 1; number <= senders; ++number) sending.emplace_back(server.connect(wire::Role::sender, number), number);
  uint64_t delivered = 0, counted = 0;
  const auto run = [&](int rounds) {
    for (; rounds > 0; --rounds) {
      for (Sending& sender : sending) sender.publish();
      const uint64_t before = support::allocations();
      server.wake_up();  // messages in and out
      counted += support::allocations() - before;
      for (Receiving& receiver : receiving) delivered += receiver.take();
      const uint64_t before_answers = support::allocations();
      server.wake_up();
      counted += support::allocations() - before_answers;
      for (Sending& sender : sending) sender.drop_answers();
    }
  };
  run(3000);  // until every list has been as long as chance makes it
  delivered = counted = 0;
  run(500);
  const uint64_t copies = options.queue.mode == wire::QueueMode::broadcaster ? receivers : 1;
  EXPECT_EQ(delivered, 500 * senders * messages_at_once * copies);
  EXPECT_LE(counted, 5u) << "timers, once a second; not one for each of " << delivered << " deliveries";
}

INSTANTIATE_TEST_SUITE_P(All, MessageAllocations,
                         ::testing::Combine(::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                                            ::testing::Bool(), ::testing::Bool(), ::testing::Values(Io::epoll, Io::io_uring)));

}  // namespace
}  // namespace n2nq
