// SPDX-License-Identifier: GPL-3.0-or-later
// What is due for very many at once is done in parts, and others have their turn between these.
#include <gtest/gtest.h>

#include <vector>

#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::Reading;
using support::Received;
using support::SteppedServer;
using support::WireClient;

/// The smallest part; of thousands it is more.
constexpr size_t said_at_once_max = 8;

/// With one receiver that has so many deliveries and has answered none, and another one that answers nothing.
class Answers {
 public:
  static constexpr uint64_t count = 20'000, answers_at_once = 8192;

  Answers() : server_(options()), answering_(server_.connect(wire::Role::receiver, 1)), other_(server_.connect(wire::Role::receiver, 2)),
              sender_(server_.connect(wire::Role::sender, 1)) {
    for (uint64_t index = 0; index < count; index += 1000) {
      sender_.publish(1, index, index + 1000, 1);
      for (size_t records = 0, others = 0; records < 1000 || others < 1000;) {
        server_.wake_up();
        if (answering_.readable()) records += read(answering_);
        if (other_.readable()) others += read(other_);
      }
    }
  }
  /// How many messages come next.
  static size_t read(WireClient& client) { return client.receive(1).records.size(); }
  /// One more message, which the other one gets in this wake-up.
  void publish_one_and_wake_up() {
    sender_.publish(1, published_, published_ + 1, 1);
    ++published_;
    server_.wake_up();
    ASSERT_TRUE(other_.readable());
    EXPECT_EQ(read(other_), 1u);
  }

  /// The first receiver once more: how many deliveries it gets. It answers all of them in `ranges` ranges, as one who comes anew.
  size_t come_back(uint32_t ranges) {
    WireClient again = server_.open();
    again.send(support::hello_of(wire::Role::receiver, 1));
    Reading reading(server_, again);
    Received received;
    const auto take = [&](const wire::Frame& frame) {
      if (frame.type != wire::FrameType::welcome) again.take({frame.type, {frame.body.begin(), frame.body.end()}}, received);
    };
    EXPECT_TRUE(reading.until([&](const wire::Frame& frame) {
      take(frame);
      return !received.records.empty() && received.records.back().index == count - 1;
    }));
    const auto records = static_cast<uint32_t>(received.records.size());
    for (uint32_t i = 0; i < ranges; ++i) again.send(wire::Confirm{{{i * records / ranges, records / ranges, false}}});
    again.send(wire::End{0});
    EXPECT_TRUE(reading.until([&](const wire::Frame& frame) {
      take(frame);
      return received.totals.has_value() || received.error.has_value();
    }));
    EXPECT_FALSE(received.error) << received.error->text;
    return records;
  }

  SteppedServer server_;
  WireClient answering_, other_, sender_;
  uint64_t published_ = count;

 private:
  static Options options() {
    Options options;
    options.queue.mode = wire::QueueMode::broadcaster;
    options.queue.responses = true;
    options.queue.responses_window = 65'536;
    options.queue.receivers = 2;
    return options;
  }
};

TEST(WakeUps, OfManyAnswersAtOnceEachTakesAPartAndOthersGetTheirMessages) {
  Answers run;
  run.answering_.send(wire::Confirm{{{0, 100, false}, {100, Answers::count - 100, false}}});
  run.answering_.send(wire::Confirm{{{Answers::count - 1, 1, false}}});  // once too often: says when the first one is done
  size_t wake_ups = 0;
  const auto is_done = [&run] {
    while (run.answering_.readable()) {
      const auto frame = run.answering_.read();
      if (frame && frame->type == wire::FrameType::error) return true;
    }
    return false;
  };
  for (; wake_ups < 100 && !is_done(); ++wake_ups) run.publish_one_and_wake_up();
  EXPECT_EQ(wake_ups, Answers::count / Answers::answers_at_once + 1);
}

TEST(WakeUps, WhoAnswersALittleTakesTurnsWithWhoAnswersMuch) {
  Answers run;
  run.answering_.send(wire::Confirm{{{0, Answers::count, false}}});
  run.server_.wake_up();
  run.other_.send(wire::Confirm{{{0, 1, false}, {0, 1, false}}});
  run.server_.wake_up();
  EXPECT_FALSE(run.other_.readable()) << "the first one goes on";
  run.server_.wake_up();
  ASSERT_TRUE(run.other_.readable());
  EXPECT_EQ(run.other_.read_error()->code, wire::ErrorCode::confirmation) << "it has answered twice";
}

TEST(WakeUps, WhoIsReplacedInTheMiddleOfItsAnswersHasGivenTheFirstOnes) {
  Answers run;
  run.answering_.send(wire::Confirm{{{0, Answers::count, false}}});
  run.server_.wake_up();
  EXPECT_EQ(run.come_back(2), Answers::count - Answers::answers_at_once);
}

TEST(WakeUps, OfARangeThatWasNotSentInFullNoAnswerCounts) {
  Answers run;
  run.answering_.send(wire::Confirm{{{0, Answers::count + 1, false}}});
  run.server_.wake_up();
  ASSERT_TRUE(run.answering_.readable());
  EXPECT_EQ(run.answering_.read_error()->code, wire::ErrorCode::confirmation);
  EXPECT_EQ(run.come_back(2), Answers::count);
}

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

}  // namespace
}  // namespace n2nq
