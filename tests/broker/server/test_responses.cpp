// SPDX-License-Identifier: GPL-3.0-or-later
// Responses as clients see them: confirmations, what comes again, what is parked. A real n2nq-broker, real TCP.
#include <gtest/gtest.h>

#include <thread>

#include "tests/broker/queue/queue_kit.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::Received;
using support::text_of;
using support::WireClient;
using wire::ErrorCode;

/// One sender and so many receivers, responses on; `queue` says what else.
json with_responses(const char* mode, int receivers, json queue = json::object()) {
  json all{{"mode", mode}, {"responses", true}, {"responses_deadline_ms", 600'000}};
  all.merge_patch(queue);
  return {{"expect", {{"senders", 1}, {"receivers", receivers}}}, {"queue", all}};
}

void confirm(WireClient& client, uint64_t first, uint32_t count, bool negative = false) {
  client.send(wire::Confirm{{{first, count, negative}}});
}

class BothModes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Responses, BothModes, ::testing::Values("broadcaster", "load-balancer"),
                         [](const auto& mode) { return std::string(mode.param).substr(0, 4); });

TEST_P(BothModes, WelcomeSaysSoAndConfirmedMessagesAreCounted) {
  BrokerUnderTest broker(with_responses(GetParam(), 1, {{"responses_window", 100}}));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  EXPECT_EQ(receiver.welcome().features, wire::feature_responses);
  EXPECT_EQ(receiver.welcome().responses_window, 100u);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 250);
  sender.end(250);
  // Never more than the window, and the rest as soon as there is room.
  for (uint32_t begun = 0; begun < 250; begun += 50) {
    const uint32_t count = begun == 0 ? 100 : std::min(50u, 250 - begun - 50);
    if (count > 0) {
      EXPECT_EQ(receiver.receive(count).records.size(), count);
    }
    confirm(receiver, begun, 50);
  }
  const Received rest = receiver.receive_all();
  EXPECT_TRUE(rest.records.empty());
  ASSERT_TRUE(rest.totals.has_value());
  EXPECT_EQ(rest.totals->handed_over, 250u);
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["confirmed"], 250);
  EXPECT_EQ(bye["receivers"][0]["redelivered"], 0);
}

TEST_P(BothModes, TheStreamEndsOnlyWhenNothingIsUnconfirmed) {
  BrokerUnderTest broker(with_responses(GetParam(), 1));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 3);
  sender.end(3);
  receiver.receive(3);
  confirm(receiver, 2, 1);
  confirm(receiver, 0, 1);
  // The last one comes again when its answer is negative, and then the end waits for that.
  confirm(receiver, 1, 1, true);
  const Received again = receiver.receive(1);
  EXPECT_EQ(again.records[0].index, 1u);
  EXPECT_EQ(again.records[0].attempt, 2);
  EXPECT_EQ(again.records[0].flags, wire::flag_redelivered);
  EXPECT_TRUE(again.checksums_right);
  confirm(receiver, 3, 1);
  const Received rest = receiver.receive_all();
  ASSERT_TRUE(rest.totals.has_value());
  EXPECT_EQ(rest.totals->handed_over, 4u);
  EXPECT_EQ(rest.totals->redelivered, 1u);
}

TEST_P(BothModes, WhatIsNotConfirmedInTimeComesAgainAndALateAnswerIsIgnored) {
  BrokerUnderTest broker(with_responses(GetParam(), 1, {{"responses_deadline_ms", 50}, {"responses_attempts_max", 60'000}}));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 1);
  sender.end(1);
  EXPECT_EQ(receiver.receive(1).records[0].attempt, 1);
  EXPECT_EQ(receiver.receive(1).records[0].attempt, 2);
  confirm(receiver, 0, 1);  // too late, and no error
  // From here on each delivery is confirmed at once; on a slow machine that may be too late more than once.
  uint64_t number = 1;
  confirm(receiver, number, 1);
  while (true) {
    const auto frame = receiver.read();
    ASSERT_TRUE(frame.has_value());
    ASSERT_NE(frame->type, wire::FrameType::error);
    if (frame->type == wire::FrameType::end) break;
    if (frame->type == wire::FrameType::deliver) confirm(receiver, ++number, 1);
  }
  EXPECT_EQ(broker.finish()["receivers"][0]["confirmed"], 1);
}

TEST_P(BothModes, APoisonedMessageIsParkedAndStallsNobody) {
  BrokerUnderTest broker(with_responses(GetParam(), 1, {{"responses_attempts_max", 3}, {"responses_window", 10}}));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 1000);
  sender.end(1000);
  uint64_t number = 0;
  uint64_t of_poison = 0;
  Received all;
  SenderSets parked;
  SenderSets good;
  while (good.count() < 999 || parked.empty()) {
    const auto frame = receiver.read();
    ASSERT_TRUE(frame.has_value());
    if (frame->type == wire::FrameType::skipped) {
      const wire::Skipped skipped = wire::Skipped::decode(frame->body).value();
      ASSERT_EQ(skipped.ranges.size(), 1u);
      EXPECT_EQ(skipped.ranges[0], (wire::SkippedRange{1, wire::SkipReason::parked, 7, 7}));
      parked.add(1, 7);
      continue;
    }
    ASSERT_EQ(frame->type, wire::FrameType::deliver);
    wire::RecordWalk walk(wire::ByteView(frame->body).subspan(8));
    while (const auto record = walk.next()) {
      const bool poison = wire::record_index(record->data()) == 7;
      of_poison += poison;
      if (!poison) good.add(1, wire::record_index(record->data()));
      confirm(receiver, number++, 1, poison);
    }
  }
  EXPECT_EQ(of_poison, 3u);
  EXPECT_TRUE(receiver.receive_all().totals.has_value());
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["confirmed"], 999);
  const json& books = GetParam() == std::string("broadcaster") ? bye["receivers"][0] : bye["total"];
  EXPECT_EQ(books["parked"], 1);
  EXPECT_EQ(books["parked_sets"], json::array({{1, 1, "7"}}));
}

TEST_P(BothModes, AnswersToWhatWasNotSentOrWasAnsweredAreErrors) {
  const auto refused_after = [&](uint64_t first, uint32_t count) {
    BrokerUnderTest broker(with_responses(GetParam(), 1));
    WireClient receiver = WireClient::receiver(broker.port(), 1);
    WireClient sender = WireClient::sender(broker.port(), 1);
    sender.publish(1, 0, 5);
    receiver.receive(5);
    confirm(receiver, 1, 2);
    confirm(receiver, first, count);
    return receiver.read_error().value();
  };
  EXPECT_EQ(refused_after(5, 1).code, ErrorCode::confirmation);
  EXPECT_EQ(refused_after(3, 3).code, ErrorCode::confirmation);
  EXPECT_EQ(refused_after(~0ull, 0xFFFFFFFF).code, ErrorCode::confirmation);
  EXPECT_EQ(refused_after(1, 1).code, ErrorCode::confirmation);
  EXPECT_NE(refused_after(0, 3).text.find("answered before"), std::string::npos);
  EXPECT_EQ(refused_after(0, 0xFFFFFFFF).code, ErrorCode::confirmation);
}

TEST_P(BothModes, MalformedAnswersAreNamed) {
  BrokerUnderTest broker(with_responses(GetParam(), 1));
  wire::Bytes confirmation;
  wire::Confirm{{{0, 1, false}}}.encode(confirmation);
  const auto refused = [&](size_t offset, uint8_t value) {
    WireClient receiver = WireClient::receiver(broker.port(), 1);
    wire::Bytes wrong = confirmation;
    wrong[offset] = value;
    receiver.send(wire::ByteView(wrong));
    if (offset == 0) receiver.send(wire::ByteView(wrong));  // as long as it says
    return receiver.read_error().value();
  };
  EXPECT_EQ(refused(20, 2).code, ErrorCode::frame) << "kind 2";
  EXPECT_EQ(refused(23, 1).code, ErrorCode::frame) << "a reserved byte";
  EXPECT_NE(refused(0, 15).text.find("CONFIRM"), std::string::npos) << "half an entry";
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  receiver.send(wire::Rules{1, {}});
  const auto error = receiver.read_error();
  EXPECT_EQ(error->code, ErrorCode::not_offered);
  EXPECT_NE(error->text.find("requests are off"), std::string::npos);
}

TEST(Responses, AReceiverThatIsGoneLeavesItsMessagesToTheOthers) {
  BrokerUnderTest broker(with_responses("load-balancer", 2, {{"dispatch", "round-robin"}, {"responses_window", 20}}));
  WireClient first = WireClient::receiver(broker.port(), 1);
  WireClient second = WireClient::receiver(broker.port(), 2);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 20);
  sender.end(20);
  first.receive(10);
  EXPECT_EQ(text_of(second.receive(10).set()), "1:1,3,5,7,9,11,13,15,17,19");
  confirm(first, 0, 4);
  // Behind the confirmation nothing is lost by a close in order.
  first.close();
  const Received taken_over = second.receive(6);
  EXPECT_EQ(text_of(taken_over.set()), "1:8,10,12,14,16,18");
  for (const wire::RecordHeader& record : taken_over.records) {
    EXPECT_EQ(record.flags, wire::flag_redelivered);
    EXPECT_EQ(record.attempt, 2);
  }
  confirm(second, 0, 16);
  EXPECT_TRUE(second.receive_all().totals.has_value());
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["confirmed"], 4);
  EXPECT_EQ(bye["receivers"][1]["confirmed"], 16);
  EXPECT_EQ(bye["receivers"][1]["redelivered"], 6);
}

TEST(Responses, ABroadcastReceiverGetsWhatItHadNotConfirmedWhenItIsBack) {
  BrokerUnderTest broker(with_responses("broadcaster", 2));
  WireClient other = WireClient::receiver(broker.port(), 2);
  WireClient sender = WireClient::sender(broker.port(), 1);
  {
    WireClient first = WireClient::receiver(broker.port(), 1);
    sender.publish(1, 0, 10);
    first.receive(10);
    confirm(first, 0, 4);
    confirm(first, 8, 1);
    first.close();
  }
  other.receive(10);
  confirm(other, 0, 10);
  sender.publish(1, 10, 12);
  sender.end(12);
  other.receive(2);
  confirm(other, 10, 2);
  WireClient again = WireClient::receiver(broker.port(), 1, 1);
  const Received received = again.receive(7);
  EXPECT_EQ(text_of(received.set()), "1:4-7,9-11");
  for (const wire::RecordHeader& record : received.records) {
    // The broker may learn of the close only after the last two were on their way.
    EXPECT_TRUE(record.attempt == 2 || (record.index >= 10 && record.attempt == 1)) << record.index;
    EXPECT_EQ(record.flags, record.attempt == 2 ? wire::flag_redelivered : 0);
  }
  confirm(again, 0, 7);  // the numbers begin anew with the connection
  EXPECT_TRUE(again.receive_all().totals.has_value());
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["confirmed"], 12);
  EXPECT_GE(bye["receivers"][0]["redelivered"], 5);
  EXPECT_LE(bye["receivers"][0]["redelivered"], 7);
  EXPECT_EQ(bye["receivers"][1]["confirmed"], 12);
}

TEST(Responses, ConfirmationsGoOnWhileABatchIsStuck) {
  // The receiver does not read, and answers all the same: in the middle of a frame nothing but the end of the connection can follow.
  BrokerUnderTest broker(with_responses("broadcaster", 1, {{"responses_window", 1000}}));
  WireClient receiver = WireClient::receiver(broker.port(), 1, WireClient::Socket{4096});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 1, 10);
  receiver.receive(1);
  sender.publish(1, 1, 65, 1024 * 1024 - 64);
  confirm(receiver, 0, 1);
  sender.end(65);
  for (uint64_t number = 1; number < 65; ++number) {
    EXPECT_EQ(receiver.receive(1).records[0].index, number);
    confirm(receiver, number, 1);
  }
  EXPECT_TRUE(receiver.receive_all().totals.has_value());
}

TEST(Responses, ARestartedBrokerTakesASenderWhereItIsAndRepeatsItsEnd) {
  BrokerUnderTest broker(with_responses("load-balancer", 1));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1, 3, 500);
  EXPECT_EQ(sender.welcome().next_index, 500u);
  sender.publish(1, 500, 503);
  EXPECT_EQ(sender.end(503), 3u);
  WireClient repeats = WireClient::sender(broker.port(), 1, 4, 503);
  EXPECT_EQ(repeats.end(503), 3u);
  EXPECT_EQ(text_of(receiver.receive(3).set()), "1:500-502");
  confirm(receiver, 0, 3);
  EXPECT_TRUE(receiver.receive_all().totals.has_value());
}

TEST(Responses, WhoNeverConfirmsIsCutOffWhereTimeWouldFreeTheMemoryThatOthersNeed) {
  constexpr uint64_t messages = 1500;
  constexpr int write_deadline_ms = 4000;  // who answers must not be cut off: for so long a busy machine does not hold it up
  json configuration = with_responses("broadcaster", 2, {{"remove", "after-time"}, {"retention_ms", 500}, {"responses_window", 4000}});
  configuration["limits"] = {{"memory_bytes", 3'000'000}, {"message_bytes_max", 100'000}, {"write_deadline_ms", write_deadline_ms}};
  BrokerUnderTest broker(configuration);
  // It reads on, so that its socket is never full.
  std::thread silent([receiver = WireClient::receiver(broker.port(), 1)]() mutable { receiver.read_error(); });
  std::thread answers([receiver = WireClient::receiver(broker.port(), 2)]() mutable {
    for (uint64_t answered = 0;;) {
      const auto frame = receiver.read();
      if (!frame || frame->type == wire::FrameType::end) return;
      if (frame->type != wire::FrameType::deliver) continue;
      Received received;
      receiver.take(*frame, received);
      confirm(receiver, answered, static_cast<uint32_t>(received.records.size()));
      answered += received.records.size();
    }
  });
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, 10'000);
  EXPECT_EQ(sender.end(messages), messages);
  silent.join();
  answers.join();
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["cut_off_reason"],
            "write deadline: it answered and asked for nothing within 4000 ms, and others need the memory");
  EXPECT_EQ(bye["receivers"][1]["cut_off_reason"], "");
}

TEST_P(BothModes, AReceiverThatNeverConfirmsHoldsItsWindowAndNoMore) {
  BrokerUnderTest broker(with_responses(GetParam(), 1, {{"responses_window", 8}, {"retention_ms", 300}, {"responses_deadline_ms", 100}}));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  constexpr uint64_t messages = 20'000;
  sender.publish(1, 0, messages, 1000);
  sender.end(messages);
  const Received received = receiver.receive_all();
  ASSERT_TRUE(received.totals.has_value());
  EXPECT_LE(received.set().count(), messages);
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["confirmed"], 0);
  const json& books = GetParam() == std::string("broadcaster") ? bye["receivers"][0] : bye["total"];
  EXPECT_EQ(books["expired"].get<uint64_t>() + books["parked"].get<uint64_t>(), messages);
}

}  // namespace
}  // namespace n2nq
