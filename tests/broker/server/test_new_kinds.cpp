// SPDX-License-Identifier: GPL-3.0-or-later
// A message of a kind that is new is compared with every list of rules in force. Who sends very many such at once takes no time from others.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "broker/server/sender_desk.h"
#include "tests/broker/support/seed_frames.h"
#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::SteppedServer;
using support::WireClient;

constexpr uint32_t any = UINT32_MAX;
constexpr uint32_t receivers = 60, kinds = 600;
constexpr uint32_t known_size = 10'000;

/// A thousand rules of few borders, none of which matches what is sent, and one for each of some new kinds.
std::vector<wire::Rule> long_list(uint32_t receiver) {
  constexpr uint32_t beyond = 2'000'000, borders = 45;
  std::vector<wire::Rule> rules;
  for (uint32_t from = 0; from < borders; ++from) {
    for (uint32_t to = from + 1; to < borders; ++to)
      rules.push_back({1, any, beyond + receiver * 100 + from, beyond + receiver * 100 + to - 1});
  }
  for (uint32_t kind = receiver * 10; kind < receiver * 10 + 10; ++kind) rules.push_back({1, any, kind, kind});
  return rules;
}

wire::Bytes one_of_each_kind(uint32_t sender, uint64_t from, uint32_t to_kind = kinds) {
  wire::Bytes frame;
  const size_t begun_at = wire::begin_frame(frame, wire::FrameType::publish);
  for (uint32_t kind = 0; kind < to_kind; ++kind) {
    const wire::Bytes record = support::make_record(sender, from + kind, kind);
    frame.insert(frame.end(), record.begin(), record.end());
  }
  wire::end_frame(frame, begun_at);
  return frame;
}

class NewKinds : public ::testing::TestWithParam<wire::QueueMode> {
 protected:
  static Options options() {
    Options options;
    options.queue.mode = GetParam();
    options.queue.requests = true;
    options.queue.senders = 3;
    options.queue.receivers = receivers + 1;
    return options;
  }
  NewKinds() : server_(options()), reader_(server_.connect(wire::Role::receiver, receivers + 1)) {
    reader_.send(wire::Rules{1, {{1, any, known_size, known_size}}});
    reader_.send(wire::Credit{1000});
    for (uint32_t number = 1; number <= receivers; ++number) {
      others_.push_back(server_.connect(wire::Role::receiver, number));
      others_.back().send(wire::Rules{1, long_list(number)});
      for (int i = 0; i < 20; ++i) server_.wake_up();
    }
    for (uint32_t number = 1; number <= 3; ++number) senders_.push_back(server_.connect(wire::Role::sender, number));
    senders_[2].publish(3, 0, 1, known_size);
    EXPECT_EQ(wakes_until([this] { return reader_.readable(); }), 1);
    EXPECT_EQ(reader_.receive(1).records.size(), 1u);
  }

  template <typename Done>
  int wakes_until(Done done) {
    int wakes = 0;
    for (; wakes < 10'000 && !done(); ++wakes) server_.wake_up();
    return wakes;
  }
  bool has_all(WireClient& sender, uint64_t next_index) {
    while (sender.readable()) {
      const auto frame = sender.read();
      if (frame && frame->type == wire::FrameType::accepted) accepted_ = wire::Accepted::decode(frame->body)->next_index;
    }
    return accepted_ == next_index;
  }

  SteppedServer server_;
  WireClient reader_;
  std::vector<WireClient> others_, senders_;
  uint64_t accepted_ = 0;
};

TEST_P(NewKinds, ManyAtOnceAreTakenInInPartsAndMessagesOfKnownKindsDoNotWait) {
  senders_[0].send(wire::ByteView(one_of_each_kind(1, 0)));
  for (uint64_t index = 1; index < 20; ++index) {
    senders_[2].publish(3, index, index + 1, known_size);
    EXPECT_EQ(wakes_until([this] { return reader_.readable(); }), 1);
    EXPECT_EQ(reader_.receive(1).records.size(), 1u);
    EXPECT_FALSE(has_all(senders_[0], kinds)) << "not yet";
  }
  // 60 lists of 1,000 rules for each kind: eight of them, and one, are half a million.
  EXPECT_GT(wakes_until([this] { return has_all(senders_[0], kinds); }), static_cast<int>(kinds / 9) - 20);
  EXPECT_EQ(accepted_, kinds);
}

TEST_P(NewKinds, WhoSendsOneOfThemTakesTurnsWithWhoSendsMany) {
  senders_[0].send(wire::ByteView(one_of_each_kind(1, 0)));
  wire::Bytes other;
  const size_t begun_at = wire::begin_frame(other, wire::FrameType::publish);
  const wire::Bytes record = support::make_record(2, 0, kinds + 1);
  other.insert(other.end(), record.begin(), record.end());
  wire::end_frame(other, begun_at);
  server_.wake_up();
  server_.wake_up();
  senders_[1].send(wire::ByteView(other));
  const auto has_other = [this] {
    while (senders_[1].readable()) {
      const auto frame = senders_[1].read();
      if (frame && frame->type == wire::FrameType::accepted) return true;
    }
    return false;
  };
  server_.wake_up();
  server_.wake_up();
  senders_[1].send(wire::End{1});
  EXPECT_LE(wakes_until(has_other), 2) << "END follows what was taken in";
  EXPECT_FALSE(has_all(senders_[0], kinds));
}

TEST_P(NewKinds, WhoLeavesInTheMiddleHarmsNobody) {
  senders_[0].send(wire::ByteView(one_of_each_kind(1, 0)));
  senders_[1].send(wire::ByteView(one_of_each_kind(2, 0)));
  server_.wake_up();
  senders_[0].reset();
  server_.wake_up();
  WireClient again = server_.connect(wire::Role::sender, 1);
  const uint64_t next_index = again.welcome().next_index;
  EXPECT_LT(next_index, kinds);
  wakes_until([this] { return has_all(senders_[1], kinds); });
  EXPECT_EQ(accepted_, kinds);
  again.send(wire::ByteView(one_of_each_kind(1, 0)));  // what is accepted already is dropped
  wakes_until([this, &again] { return has_all(again, kinds) && !again.readable(); });
  EXPECT_EQ(accepted_, kinds);
}

INSTANTIATE_TEST_SUITE_P(BothModes, NewKinds, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

/// The senders' side alone, with one connection, whose frames are spoilt at their beginning each time that they were looked at.
class SpoilingOwner : public Session::Owner {
 public:
  SpoilingOwner() {
    options_.queue.requests = true;
    options_.queue.receivers = receivers;
    queue_ = Queue::make(options_.queue);
    for (uint32_t number = 1; number <= receivers; ++number) EXPECT_EQ(queue_->set_rules(number, long_list(number), 1), "");
    desk_ = std::make_unique<SenderDesk>(loop_, options_, *queue_, places_, log_);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
    client_ = std::make_unique<WireClient>(net::Fd(ends[0]));
    session_ = std::make_unique<Session>(loop_, net::Fd(ends[1]), 1, 60 * net::ns_per_s, *this);
    client_->send(support::hello_of(wire::Role::sender, 1));
    wake_up();
  }

  void wake_up() {
    loop_.post([this] { loop_.stop(); });
    loop_.run();
  }
  WireClient& client() { return *client_; }
  bool serving() const { return session_->serving(); }
  uint64_t taken_in() const { return desk_->account(1).next_index; }
  int looks() const { return looks_; }

 private:
  void on_hello(Session& session, wire::ByteView body) override {
    desk_->join(session, *wire::Hello::decode(body));
    wire::Welcome welcome;
    welcome.frame_bytes_max = 1 << 20;
    session.welcome(wire::Role::sender, 1, welcome, places_);
  }
  void on_frame(Session& session, const wire::Frame& frame, int64_t) override {
    ++looks_;
    desk_->on_frame(session, frame);
    // It lies in the memory of the connection, which is no constant. So long a record is in no frame.
    wire::store(const_cast<uint8_t*>(frame.body.data()), UINT32_MAX);
  }
  bool wants(Session& session, const wire::BegunFrame& frame) override { return desk_->wants(session, frame); }
  void on_left(Session& session, const std::string&) override { desk_->on_left(session); }
  bool in_frame(const Session&) const override { return false; }
  void on_no_hello(Session&) override {}
  void on_writable(Session&) override {}
  void on_refused(Session&, wire::ErrorCode) override {}
  void on_gone(Session&) override {}

  net::EventLoop loop_;
  EventLog log_{""};
  Options options_;
  std::unique_ptr<Queue> queue_;
  net::FramePlaces places_{16 << 20, [] {}};
  std::unique_ptr<SenderDesk> desk_;
  std::unique_ptr<WireClient> client_;
  std::unique_ptr<Session> session_;
  int looks_ = 0;
};

TEST(NewKindsOfOneFrame, WhatWasTakenInOfItIsNotLookedAtAgainInItsNextTurn) {
  constexpr uint32_t some_kinds = 100;
  SpoilingOwner owner;
  ASSERT_TRUE(owner.serving());
  owner.client().send(wire::ByteView(one_of_each_kind(1, 0, some_kinds)));
  for (int wakes = 0; wakes < 10'000 && owner.serving() && owner.taken_in() < some_kinds; ++wakes) owner.wake_up();
  EXPECT_EQ(owner.taken_in(), some_kinds);
  EXPECT_TRUE(owner.serving());
  EXPECT_GT(owner.looks(), 5) << "60 lists of 1,000 rules for each kind: eight of them, and one, are half a million";
}

}  // namespace
}  // namespace n2nq
