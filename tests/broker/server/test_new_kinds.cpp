// SPDX-License-Identifier: GPL-3.0-or-later
// A message of a kind that is new is compared with every list of rules in force. Who sends very many such at once takes no time from others.
#include <gtest/gtest.h>

#include <vector>

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

wire::Bytes one_of_each_kind(uint32_t sender, uint64_t from) {
  wire::Bytes frame;
  const size_t begun_at = wire::begin_frame(frame, wire::FrameType::publish);
  for (uint32_t kind = 0; kind < kinds; ++kind) {
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

}  // namespace
}  // namespace n2nq
