// SPDX-License-Identifier: GPL-3.0-or-later
// What is due for very many at once is done in parts, and others have their turn between these.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::SteppedServer;
using support::WireClient;

/// The smallest part; of thousands it is more.
constexpr size_t said_at_once_max = 8;

TEST(WakeUps, OfManyThatSayNothingEachSaysSomethingToAFewAndRefusesThemTogether) {
  constexpr size_t probes = 200;
  SteppedServer server(Options(), 1000);
  std::vector<WireClient> clients;
  for (size_t i = 0; i < probes; ++i) clients.push_back(server.connect(wire::Role::probe, 0));
  std::vector<size_t> heartbeats(probes);
  std::vector<bool> is_refused(probes);
  for (size_t refused = 0; refused < probes;) {
    server.wake_up();
    size_t said = 0;
    for (size_t i = 0; i < probes; ++i) {
      while (!is_refused[i] && clients[i].readable()) {
        const auto frame = clients[i].read(true);
        ASSERT_TRUE(frame);
        ++said;
        if (frame->type == wire::FrameType::heartbeat) {
          ++heartbeats[i];
          continue;
        }
        ASSERT_EQ(frame->type, wire::FrameType::error);
        EXPECT_EQ(wire::Error::decode(frame->body)->code, wire::ErrorCode::silent);
        is_refused[i] = true;
        ++refused;
      }
    }
    ASSERT_LE(said, said_at_once_max);
  }
  for (const size_t count : heartbeats) EXPECT_GT(count, 0u) << "until it was refused it was told that this end is there";
}

/// Receivers that have not confirmed what they got, as many deliveries of each as it may leave so.
class Unconfirmed {
 public:
  static constexpr uint32_t receivers = 200, window = 256;
  /// A closing, and as much work again for what comes back: of 64 in one wake-up.
  static constexpr size_t gone_at_once_max = 32;

  Unconfirmed(size_t memory_bytes, int64_t write_deadline_ms)
      : server_(options(memory_bytes, write_deadline_ms)), sender_(server_.connect(wire::Role::sender, 1)) {
    for (uint32_t number = 1; number <= receivers; ++number) clients_.push_back(server_.connect(wire::Role::receiver, number));
    constexpr uint64_t messages = receivers * window, at_once = 100;
    constexpr size_t size = 400;
    for (uint64_t index = 0; index < messages; index += at_once) {
      sender_.publish(1, index, index + at_once, size);
      wake_up();
    }
    for (int i = 0; i < 20; ++i) wake_up();
  }
  void wake_up() {
    server_.wake_up();
    size_t gone = 0;
    for (WireClient& client : clients_) {
      while (client.readable()) {
        const auto frame = client.read(true);
        if (!frame) break;
        gone += frame->type == wire::FrameType::end || frame->type == wire::FrameType::error;
      }
    }
    gone_ += gone;
    most_gone_at_once_ = std::max(most_gone_at_once_, gone);
  }
  void leave() {
    for (WireClient& client : clients_) client.send(wire::End{0});
  }
  /// Receivers that were told that they have left, or have to.
  size_t gone() const { return gone_; }
  /// In one wake-up.
  size_t most_gone_at_once() const { return most_gone_at_once_; }
  nlohmann::json summary() { return server_.server().summary(); }

 private:
  static Options options(size_t memory_bytes, int64_t write_deadline_ms) {
    Options options;
    options.queue.mode = wire::QueueMode::load_balancer;
    options.queue.dispatch = DispatchRule::round_robin;
    options.queue.responses = true;
    options.queue.responses_window = window;
    options.queue.receivers = receivers;
    options.limits.memory_bytes = memory_bytes;
    options.limits.write_deadline_ms = write_deadline_ms;
    return options;
  }

  SteppedServer server_;
  WireClient sender_;
  std::vector<WireClient> clients_;
  size_t gone_ = 0, most_gone_at_once_ = 0;
};

TEST(WakeUps, WhatManyThatGoTogetherHaveNotConfirmedIsTakenBackOfAFewAtATime) {
  Unconfirmed leaving(size_t{1} << 30, 3'600'000);
  leaving.leave();
  while (leaving.gone() < Unconfirmed::receivers) leaving.wake_up();
  EXPECT_LE(leaving.most_gone_at_once(), Unconfirmed::gone_at_once_max);
  const nlohmann::json summary = leaving.summary();
  for (const auto& receiver : summary["receivers"]) ASSERT_EQ(receiver["handed_over"], Unconfirmed::window);
  // The same of those that answer nothing where others need the memory: seven eighths of it are in use. It is freed as they go.
  Unconfirmed silent(summary["memory_bytes_max"].get<size_t>() / 7 * 8, 1000);
  while (silent.gone() < Unconfirmed::receivers / 2) silent.wake_up();
  EXPECT_LE(silent.most_gone_at_once(), Unconfirmed::gone_at_once_max);
}

}  // namespace
}  // namespace n2nq
