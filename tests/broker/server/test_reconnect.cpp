// SPDX-License-Identifier: GPL-3.0-or-later
// Connections break; numbers go on.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <random>
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

const json one_to_one = {{"expect", {{"senders", 1}, {"receivers", 1}}}};

TEST(Reconnect, ASenderThatComesBackRepeatsNothingAndLosesNothing) {
  BrokerUnderTest broker(one_to_one);
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  std::mt19937 random(1);
  uint64_t written = 0;
  uint32_t session = 0;
  while (written < 2000) {
    WireClient sender = WireClient::sender(broker.port(), 1, session++);
    const uint64_t next = sender.welcome().next_index;
    EXPECT_LE(next, written);
    const uint64_t to = std::min<uint64_t>(2000, next + 1 + random() % 200);
    // The last frame is cut somewhere: that part is lost with the connection.
    const wire::Bytes bytes = support::publish_frames(1, next, to, 50, 1000);
    sender.send(wire::ByteView(bytes).first(bytes.size() - random() % 100));
    written = std::max(written, to);
    if (random() % 2) {
      sender.reset();
    } else {
      sender.close();
    }
  }
  WireClient sender = WireClient::sender(broker.port(), 1, session);
  sender.publish(1, sender.welcome().next_index, 2000);
  EXPECT_EQ(sender.end(2000), 2000u);
  const Received received = receiver.receive_all();
  EXPECT_EQ(received.records.size(), 2000u);
  EXPECT_EQ(text_of(received.set()), "1:0-1999");
  EXPECT_TRUE(received.in_order);
}

TEST(Reconnect, WhoCameBackWhileTheBrokerStoodStillIsNotGone) {
  constexpr int64_t deadline_ms = 10'000, left_ms = 7000;  // of it when the broker is stopped, later perhaps on a busy machine
  json configuration = one_to_one;
  configuration["limits"] = {{"reconnect_deadline_ms", deadline_ms}};
  BrokerUnderTest broker(configuration);
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  {
    WireClient sender = WireClient::sender(broker.port(), 1);
    sender.publish(1, 0, 10);
    sender.wait_accepted(10);
    sender.reset();
  }
  WireClient probe = WireClient::probe(broker.port());
  const int64_t gone_ns = probe.ask_clock().t3_ns;  // by then it knows
  probe.wait_for_broker_clock(gone_ns + (deadline_ms - left_ms) * net::ns_per_ms);
  broker.process().signal(SIGSTOP);
  WireClient back(broker.port());
  wire::Hello hello;
  hello.role = wire::Role::sender;
  hello.number = 1;
  hello.session = 1;
  back.send(hello);
  std::this_thread::sleep_for(std::chrono::milliseconds(left_ms + 1000));
  broker.process().signal(SIGCONT);
  EXPECT_EQ(back.read_welcome().next_index, 10u);
  back.publish(1, 10, 20);
  EXPECT_EQ(back.end(20), 20u);
  EXPECT_EQ(receiver.receive_all().records.size(), 20u);
  EXPECT_EQ(broker.finish()["faults"], json::array());
}

TEST(Reconnect, SendersThatStayAwayAreNamedAndManyOfThemCounted) {
  constexpr uint32_t senders = 120;
  BrokerUnderTest broker(json{{"expect", {{"senders", senders}, {"receivers", 1}}}, {"limits", {{"reconnect_deadline_ms", 20}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  for (uint32_t number = 1; number <= senders; ++number) {
    WireClient sender = WireClient::sender(broker.port(), number);
    if (number > 1) continue;
    sender.publish(1, 0, 1);
    sender.wait_accepted(1);
  }
  EXPECT_TRUE(receiver.receive_all().totals.has_value()) << "all of them count as ended";
  const json faults = broker.finish()["faults"];
  ASSERT_EQ(faults.size(), 101u);
  EXPECT_NE(faults[0].get<std::string>().find("S001 was gone for 20 ms without END"), std::string::npos) << faults[0];
  EXPECT_NE(faults[100].get<std::string>().find("and 20 more times"), std::string::npos) << faults[100];
}

TEST(Reconnect, WhoeverIsNotBackAtABrokerThatTakesOverCountsAsEnded) {
  BrokerUnderTest broker(
      json{{"takes_over", true}, {"expect", {{"senders", 2}, {"receivers", 1}}}, {"limits", {{"reconnect_deadline_ms", 2000}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1, 0, 7);
  sender.publish(1, 7, 10);
  EXPECT_EQ(sender.end(10), 3u);
  const Received received = receiver.receive_all();
  EXPECT_EQ(text_of(received.set()), "1:7-9");
  EXPECT_TRUE(received.totals.has_value()) << "S002 ended at the broker before, or is dead: nobody waits for it";
  EXPECT_EQ(broker.finish()["faults"], json::array());
}

TEST(Reconnect, WhatASenderRepeatsAllTheSameIsDropped) {
  BrokerUnderTest broker(one_to_one);
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient first = WireClient::sender(broker.port(), 1);
  first.publish(1, 0, 10);
  first.wait_accepted(10);
  first.close();
  WireClient second = WireClient::sender(broker.port(), 1, 1);
  EXPECT_EQ(second.welcome().next_index, 10u);
  second.publish(1, 5, 15);
  EXPECT_EQ(second.end(15), 15u);
  EXPECT_EQ(receiver.receive_all().records.size(), 15u);
}

TEST(Reconnect, AnEndThatIsRepeatedIsAnsweredAgain) {
  BrokerUnderTest broker(one_to_one);
  WireClient first = WireClient::sender(broker.port(), 1);
  first.publish(1, 0, 10);
  EXPECT_EQ(first.end(10), 10u);
  WireClient second = WireClient::sender(broker.port(), 1, 1);
  EXPECT_EQ(second.welcome().next_index, 10u);
  EXPECT_EQ(second.end(10), 10u);
  EXPECT_EQ(WireClient::receiver(broker.port(), 1).receive_all().records.size(), 10u);
}

TEST(Reconnect, AnEndThatIsRepeatedWithAnotherNumberIsRefused) {
  BrokerUnderTest broker(one_to_one);
  WireClient first = WireClient::sender(broker.port(), 1);
  first.publish(1, 0, 10);
  EXPECT_EQ(first.end(10), 10u);
  uint32_t session = 0;
  for (const uint64_t other : {9, 11, 12}) {
    WireClient again = WireClient::sender(broker.port(), 1, ++session, other);
    again.send(wire::End{other});
    const auto error = again.read_error();
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, wire::ErrorCode::index_gap);
    EXPECT_NE(error->text.find("expected 10, as END said before"), std::string::npos) << error->text;
  }
}

TEST(Reconnect, BehindItsEndASenderPublishesOnALaterConnectionOnly) {
  BrokerUnderTest broker(one_to_one);
  WireClient other = WireClient::receiver(broker.port(), 1);
  WireClient first = WireClient::sender(broker.port(), 1);
  first.publish(1, 0, 10);
  wire::Bytes end_and_more;
  wire::End{10}.encode(end_and_more);
  const wire::Bytes more = support::publish_frames(1, 10, 15, 50, 1000);
  end_and_more.insert(end_and_more.end(), more.begin(), more.end());
  first.send(wire::ByteView(end_and_more));
  while (const auto frame = first.read()) {
    if (frame->type == wire::FrameType::end) {
      EXPECT_EQ(wire::End::decode(frame->body).value().value, 10u);
    }
  }
  WireClient second = WireClient::sender(broker.port(), 1, 1);
  EXPECT_EQ(second.welcome().next_index, 10u) << "what came behind END was not accepted";
  second.publish(1, 10, 12);
  EXPECT_EQ(second.end(12), 12u);
}

TEST(Reconnect, ASenderWithoutWhomTheReceiversWereEndedIsRefused) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"reconnect_deadline_ms", 100}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient first = WireClient::sender(broker.port(), 1);
  first.publish(1, 0, 10);
  first.wait_accepted(10);
  first.reset();
  EXPECT_EQ(text_of(receiver.receive_all().set()), "1:0-9");
  WireClient second = WireClient::sender(broker.port(), 1, 1);
  second.publish(1, 10, 12);
  EXPECT_EQ(second.wait_accepted(12), (std::vector<wire::RefusedRange>{{10, 11, wire::RefuseReason::ending}}));
  EXPECT_EQ(second.end(12), 10u);
}

TEST(Reconnect, WhatWasRefusedIsToldAgainOnTheNextConnection) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"message_bytes_max", 1000}}}});
  WireClient first = WireClient::sender(broker.port(), 1);
  const auto publish = [](WireClient& sender, uint64_t from, uint64_t to, size_t payload_bytes) {
    sender.send(wire::ByteView(support::publish_frames(1, from, to, payload_bytes, sender.welcome().frame_bytes_max)));
  };
  publish(first, 0, 1, 10);
  publish(first, 1, 3, 1001);
  EXPECT_EQ(first.wait_accepted(3), (std::vector<wire::RefusedRange>{{1, 2, wire::RefuseReason::too_large}}));
  publish(first, 3, 4, 1001);
  first.reset();  // with or without that one
  WireClient second = WireClient::sender(broker.port(), 1, 1);
  const uint64_t next_index = second.welcome().next_index;
  publish(second, next_index, 5, 1001);
  const wire::RefusedRange all{1, 4, wire::RefuseReason::too_large};
  std::vector<wire::RefusedRange> told = second.wait_accepted(5);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front().from, 1u);
  EXPECT_EQ(told.back().to, 4u);
  WireClient third = WireClient::sender(broker.port(), 1, 2);  // in place of the second
  publish(third, 5, 6, 10);
  EXPECT_EQ(third.wait_accepted(6), (std::vector<wire::RefusedRange>{all})) << "each of them once";
  EXPECT_EQ(third.end(6), 2u);
}

TEST(Reconnect, ANewBrokerTakesASenderWhereItIs) {
  BrokerUnderTest broker(one_to_one);
  WireClient sender = WireClient::sender(broker.port(), 1, 3, 500);
  EXPECT_EQ(sender.welcome().next_index, 500u);
  sender.publish(1, 500, 510);
  EXPECT_EQ(sender.end(510), 10u);
  EXPECT_EQ(text_of(WireClient::receiver(broker.port(), 1).receive_all().set()), "1:500-509");
}

TEST(Reconnect, AReceiverThatComesBackGoesOnWhereItWas) {
  BrokerUnderTest broker(one_to_one);
  WireClient sender = WireClient::sender(broker.port(), 1);
  SenderSets all;
  for (uint32_t session = 0; session < 20; ++session) {
    WireClient receiver = WireClient::receiver(broker.port(), 1, session);
    sender.publish(1, session * 10, session * 10 + 10);
    const Received received = receiver.receive(10);
    EXPECT_EQ(received.records.size(), 10u) << session;
    all += received.set();
    receiver.close();
  }
  WireClient last = WireClient::receiver(broker.port(), 1, 20);
  sender.end(200);
  const Received received = last.receive_all();
  EXPECT_EQ(received.totals.value().handed_over, 200u) << "totals are over all connections of the number";
  EXPECT_EQ(text_of(all), "1:0-199");
}

TEST(Reconnect, ASecondConnectionOfANumberReplacesTheFirst) {
  BrokerUnderTest broker(one_to_one);
  WireClient old_receiver = WireClient::receiver(broker.port(), 1);
  WireClient old_sender = WireClient::sender(broker.port(), 1);
  old_sender.publish(1, 0, 5);
  EXPECT_EQ(old_receiver.receive(5).records.size(), 5u);
  WireClient receiver = WireClient::receiver(broker.port(), 1, 1);
  WireClient sender = WireClient::sender(broker.port(), 1, 1);
  EXPECT_EQ(old_receiver.read_error().value().code, wire::ErrorCode::replaced);
  EXPECT_EQ(old_sender.read_error().value().code, wire::ErrorCode::replaced);
  EXPECT_EQ(sender.welcome().next_index, 5u);
  sender.publish(1, 5, 10);
  sender.end(10);
  EXPECT_EQ(text_of(receiver.receive_all().set()), "1:5-9");
  EXPECT_EQ(broker.finish()["sessions_refused"], json::array());
}

TEST(Reconnect, ASenderThatStaysAwayCountsAsEndedWithAFault) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 2}, {"receivers", 1}}}, {"limits", {{"reconnect_deadline_ms", 200}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient lost = WireClient::sender(broker.port(), 1);
  lost.publish(1, 0, 3);
  lost.wait_accepted(3);
  lost.reset();
  WireClient sender = WireClient::sender(broker.port(), 2);
  sender.publish(2, 0, 3);
  sender.end(3);
  EXPECT_EQ(receiver.receive_all().records.size(), 6u);
  const json bye = broker.finish();
  ASSERT_EQ(bye["faults"].size(), 1u);
  EXPECT_EQ(bye["faults"][0].get<std::string>().find("S001"), 0u);
  EXPECT_NE(bye["faults"][0].get<std::string>().find("200 ms"), std::string::npos);
}

TEST(Reconnect, InTheLoadBalancerALostReceiversRestGoesToTheOthers) {
  BrokerUnderTest broker(
      {{"expect", {{"senders", 1}, {"receivers", 2}}}, {"queue", {{"mode", "load-balancer"}, {"dispatch", "round-robin"}}}});
  WireClient stuck = WireClient::receiver(broker.port(), 2, {.receive_buffer_bytes = 4096});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  Received received;
  std::thread reading([&] { received = receiver.receive_all(); });
  sender.publish(1, 0, 200, 100'000);
  sender.wait_accepted(200);
  stuck.reset();
  sender.end(200);
  reading.join();
  const json bye = broker.finish();
  EXPECT_EQ(received.records.size() + bye["receivers"][1]["handed_over"].get<size_t>(), 200u);
  EXPECT_GT(received.records.size(), 100u);
  EXPECT_TRUE(received.in_order);
  // Which came behind later ones, the moment decides; the books say as much as the records do.
  const auto flagged = std::count_if(received.records.begin(), received.records.end(),
                                     [](const wire::RecordHeader& record) { return record.flags & wire::flag_redelivered; });
  EXPECT_EQ(received.totals.value().redelivered, static_cast<uint64_t>(flagged));
}

}  // namespace
}  // namespace n2nq
