// SPDX-License-Identifier: GPL-3.0-or-later
// Both queue modes as clients see them: a real n2nq-broker, real TCP.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tests/broker/queue/queue_kit.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/stepped_server.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::Received;
using support::text_of;
using support::WireClient;

json expect(int senders, int receivers) {
  return {{"senders", senders}, {"receivers", receivers}};
}

/// All senders publish and end at the same time, all receivers read at the same time.
std::vector<Received> run_all(uint16_t port, uint32_t senders, uint32_t receivers, uint64_t messages, size_t payload_bytes = 50) {
  std::vector<WireClient> receiving;
  for (uint32_t number = 1; number <= receivers; ++number) receiving.push_back(WireClient::receiver(port, number));
  std::vector<Received> received(receivers);
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number <= receivers; ++number) {
    threads.emplace_back([&, number] { received[number - 1] = receiving[number - 1].receive_all(); });
  }
  for (uint32_t number = 1; number <= senders; ++number) {
    threads.emplace_back([&, number] {
      WireClient sender = WireClient::sender(port, number);
      for (uint64_t index = 0; index < messages; index += 10) sender.publish(number, index, std::min(messages, index + 10), payload_bytes);
      EXPECT_EQ(sender.end(messages), messages);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return received;
}

TEST(Delivery, BroadcasterGivesEverybodyEverythingAndTheBooksSaySo) {
  BrokerUnderTest broker(json{{"expect", expect(5, 4)}});
  const std::vector<Received> received = run_all(broker.port(), 5, 4, 200);
  for (const Received& one : received) {
    EXPECT_EQ(text_of(one.set()), "1:0-199 2:0-199 3:0-199 4:0-199 5:0-199");
    EXPECT_EQ(one.records.size(), 1000u);
    EXPECT_TRUE(one.in_order);
    EXPECT_TRUE(one.checksums_right);
    ASSERT_TRUE(one.totals.has_value());
    EXPECT_EQ(*one.totals, (wire::EndTotals{1000, 0, 0, 0, 0, 0, 0}));
  }
  broker.hear("state", "ended");
  const json bye = broker.finish();
  EXPECT_EQ(bye["messages_accepted"], 1000);
  EXPECT_EQ(bye["messages_refused"], 0);
  EXPECT_EQ(bye["deliveries"], 4000);
  EXPECT_EQ(bye["senders"][4], json({{"number", 5}, {"accepted", 200}, {"refused", 0}, {"next_index", 200}, {"ended", true}}));
  EXPECT_EQ(bye["receivers"][3]["handed_over"], 1000);
  EXPECT_EQ(bye["receivers"][3]["ended"], true);
  EXPECT_EQ(bye["faults"], json::array());
}

TEST(Delivery, LoadBalancerGivesEachMessageToOneWhicheverTheRule) {
  for (const char* dispatch : {"random", "round-robin", "next-free"}) {
    SCOPED_TRACE(dispatch);
    BrokerUnderTest broker(json{{"expect", expect(3, 4)}, {"queue", {{"mode", "load-balancer"}, {"dispatch", dispatch}}}});
    const std::vector<Received> received = run_all(broker.port(), 3, 4, 400);
    SenderSets all;
    uint64_t copies = 0;
    for (const Received& one : received) {
      copies += one.records.size();
      all += one.set();
      EXPECT_TRUE(one.in_order);
      EXPECT_TRUE(one.checksums_right);
      EXPECT_GT(one.records.size(), 0u);
      ASSERT_TRUE(one.totals.has_value());
      EXPECT_EQ(one.totals->handed_over, one.records.size());
    }
    EXPECT_EQ(copies, 1200u);
    EXPECT_EQ(text_of(all), "1:0-399 2:0-399 3:0-399");
    const json bye = broker.finish();
    EXPECT_EQ(bye["deliveries"], 1200);
    EXPECT_EQ(bye["total"]["still_queued"], 0);
    EXPECT_FALSE(bye["receivers"][0].contains("expired")) << "in this mode the categories stand in total";
  }
}

TEST(Delivery, RoundRobinGoesByNumber) {
  BrokerUnderTest broker(json{{"expect", expect(1, 3)}, {"queue", {{"mode", "load-balancer"}, {"dispatch", "round-robin"}}}});
  const std::vector<Received> received = run_all(broker.port(), 1, 3, 9);
  EXPECT_EQ(text_of(received[0].set()), "1:0,3,6");
  EXPECT_EQ(text_of(received[1].set()), "1:1,4,7");
  EXPECT_EQ(text_of(received[2].set()), "1:2,5,8");
}

TEST(Delivery, LargeAndSmallMessagesBothArrive) {
  for (const char* mode : {"broadcaster", "load-balancer"}) {
    for (const size_t payload_bytes : {0, 1, 1000, 70'000, 1024 * 1024}) {
      BrokerUnderTest broker(json{{"expect", expect(2, 2)}, {"queue", {{"mode", mode}}}});
      SenderSets all;
      for (const Received& one : run_all(broker.port(), 2, 2, 12, payload_bytes)) {
        all += one.set();
        EXPECT_TRUE(one.checksums_right);
      }
      EXPECT_EQ(text_of(all), "1:0-11 2:0-11") << mode << " " << payload_bytes;
    }
  }
}

TEST(Delivery, StampsStandInTheOrderOfTheWay) {
  BrokerUnderTest broker(json{{"expect", expect(1, 1)}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  for (uint64_t index = 0; index < 20; ++index) sender.publish(1, index, index + 1);
  const Received received = receiver.receive(20);
  const int64_t now = net::now_ns();
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_LE(received.records[i].sent_ns, received.records[i].taken_in_ns);
    EXPECT_LE(received.records[i].taken_in_ns, received.sent_on_ns[i]);
    EXPECT_LE(received.sent_on_ns[i], now);
    EXPECT_EQ(received.records[i].attempt, 1);
    EXPECT_EQ(received.records[i].flags, 0);
  }
}

TEST(Delivery, WelcomeTellsWhatAClientHasToKnow) {
  BrokerUnderTest broker(json{{"limits", {{"message_bytes_max", 1000}, {"heartbeat_ms", 7000}}}});
  const wire::Welcome small = WireClient::sender(broker.port(), 1).welcome();
  EXPECT_EQ(small.message_bytes_max, 1000u);
  EXPECT_EQ(small.frame_bytes_max, 256u * 1024);
  EXPECT_EQ(small.heartbeat_ms, 7000u);
  EXPECT_EQ(small.queue_mode, wire::QueueMode::broadcaster);
  EXPECT_EQ(small.features, 0);
  EXPECT_EQ(small.senders_expected, 2u);
  EXPECT_NE(small.epoch, 0u);
  BrokerUnderTest other(json{{"queue", {{"mode", "load-balancer"}}}});
  const wire::Welcome large = WireClient::receiver(other.port(), 1).welcome();
  EXPECT_EQ(large.frame_bytes_max, 1024u * 1024 + 64);
  EXPECT_EQ(large.queue_mode, wire::QueueMode::load_balancer);
  EXPECT_NE(large.epoch, small.epoch);
}

TEST(Delivery, AcceptedIsToldUnasked) {
  BrokerUnderTest broker;
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 7);
  EXPECT_TRUE(sender.wait_accepted(7).empty());
  sender.publish(1, 7, 8);
  EXPECT_TRUE(sender.wait_accepted(8).empty());
}

TEST(Delivery, AcceptedIsToldInPartsBetweenWhichMessagesAreServed) {
  constexpr uint32_t senders = 64, told_at_once = 8;
  Options options;
  options.queue.senders = senders;
  options.queue.receivers = 1;
  support::SteppedServer server(options);
  WireClient receiver = server.connect(wire::Role::receiver, 1);
  std::vector<WireClient> clients;
  for (uint32_t number = 1; number <= senders; ++number) clients.push_back(server.connect(wire::Role::sender, number));
  for (uint32_t number = 1; number <= senders; ++number) clients[number - 1].publish(number, 0, 1);
  server.wake_up();
  receiver.receive(senders);
  const auto told = [&] {
    return std::count_if(clients.begin(), clients.end(), [](WireClient& client) { return client.readable(); });
  };
  uint64_t index = 1;
  for (int64_t before = told(); before < senders; ++index) {
    clients.front().publish(1, index, index + 1);
    server.wake_up();
    ASSERT_TRUE(receiver.readable()) << "message " << index << " waits until all are told";
    receiver.receive(1);
    const int64_t now = told();
    ASSERT_LE(now - before, told_at_once);
    before = now;
  }
}

TEST(Delivery, BehindDeliveriesAcceptedIsToldOnlyWhenItMustBe) {
  constexpr int64_t must_be_after_ns = 15 * net::ns_per_ms;
  Options options;
  options.queue.senders = options.queue.receivers = 1;
  support::SteppedServer server(options);
  WireClient receiver = server.connect(wire::Role::receiver, 1);
  WireClient sender = server.connect(wire::Role::sender, 1);
  const int64_t began_ns = net::now_ns();
  for (uint64_t index = 0; !sender.readable(); ++index) {
    sender.publish(1, index, index + 1);
    server.wake_up();
    receiver.receive(1);
  }
  EXPECT_GE(net::now_ns() - began_ns, must_be_after_ns);
}

TEST(Delivery, AMessageThatIsTooLargeIsRefusedByNameAndTheRestGoesOn) {
  BrokerUnderTest broker(json{{"expect", expect(1, 1)}, {"limits", {{"message_bytes_max", 100}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 1, 100);
  sender.publish(1, 1, 3, 101);
  sender.publish(1, 3, 4, 100);
  EXPECT_EQ(sender.wait_accepted(4), (std::vector<wire::RefusedRange>{{1, 2, wire::RefuseReason::too_large}}));
  EXPECT_EQ(sender.end(4), 2u);
  EXPECT_EQ(text_of(receiver.receive_all().set()), "1:0,3");
  const json bye = broker.finish();
  EXPECT_EQ(bye["messages_refused"], 2);
  EXPECT_EQ(bye["senders"][0]["refused"], 2);
}

TEST(Delivery, ARunAllOfWhoseMessagesWereRefusedEnds) {
  BrokerUnderTest broker(json{{"expect", expect(1, 1)}, {"limits", {{"message_bytes_max", 100}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 2, 101);
  EXPECT_EQ(sender.end(2), 0u);
  const support::Received received = receiver.receive_all();
  EXPECT_TRUE(received.totals.has_value());
  EXPECT_TRUE(received.records.empty());
  broker.hear("state", "ended");
}

TEST(Delivery, AMessageThatIsTooLargeIsRefusedBeforeItsPayloadComesAndTheSenderGoesOn) {
  constexpr uint32_t largest = 1'000'000;
  BrokerUnderTest broker(json{{"expect", expect(2, 1)}, {"limits", {{"message_bytes_max", largest}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  WireClient other = WireClient::sender(broker.port(), 2);
  sender.publish(1, 0, 1, largest);
  const wire::Bytes too_large = support::publish_frames(1, 1, 2, largest + 1, sender.welcome().frame_bytes_max);
  constexpr size_t head_bytes = wire::frame_header_bytes + wire::record_header_bytes;
  sender.send(wire::ByteView(too_large).first(head_bytes - 1));
  other.publish(2, 0, 10);
  sender.send(wire::ByteView(too_large).subspan(head_bytes - 1, 1));
  EXPECT_EQ(sender.wait_accepted(2), (std::vector<wire::RefusedRange>{{1, 1, wire::RefuseReason::too_large}})) << "none of its payload was sent";
  sender.send(wire::ByteView(too_large).subspan(head_bytes));
  sender.publish(1, 2, 3, largest);
  other.publish(2, 10, 20);
  EXPECT_EQ(sender.end(3), 2u);
  EXPECT_EQ(other.end(20), 20u);
  EXPECT_EQ(text_of(receiver.receive_all().set()), "1:0,2 2:0-19");
  EXPECT_EQ(broker.finish()["senders"][0]["refused"], 1);
}

TEST(Delivery, WhatFollowsAThousandRefusedRangesInAFrameIsToldToo) {
  BrokerUnderTest broker(json{{"expect", expect(1, 1)}, {"limits", {{"message_bytes_max", 1}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  constexpr uint64_t messages = 2401;  // every other one is too large: the thousandth range is told at once, in the middle of the frame
  wire::Bytes frame;
  const size_t begun_at = wire::begin_frame(frame, wire::FrameType::publish);
  for (uint64_t index = 0; index < messages; ++index) {
    const wire::Bytes record = support::make_record(1, index, 1 + index % 2, net::now_ns());
    frame.insert(frame.end(), record.begin(), record.end());
  }
  wire::end_frame(frame, begun_at);
  sender.send(wire::ByteView(frame));
  EXPECT_EQ(sender.wait_accepted(messages).size(), messages / 2);
  EXPECT_EQ(sender.end(messages), messages - messages / 2);
}

TEST(Delivery, AfterTimeALateJoinerGetsWhatTheQueueHolds) {
  BrokerUnderTest broker(json{{"expect", expect(1, 2)}, {"queue", {{"remove", "after-time"}}}});
  WireClient early = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  EXPECT_EQ(early.receive(10).records.size(), 10u);
  WireClient late = WireClient::receiver(broker.port(), 2);
  EXPECT_EQ(text_of(late.receive(10).set()), "1:0-9");
  sender.publish(1, 10, 20);
  sender.end(20);
  EXPECT_EQ(text_of(late.receive_all().set()), "1:10-19");
  EXPECT_EQ(text_of(early.receive_all().set()), "1:10-19");
}

TEST(Delivery, WhenAllHaveItAnExpectedLateJoinerMissesNothing) {
  BrokerUnderTest broker(json{{"expect", expect(1, 2)}});
  WireClient early = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  sender.end(10);
  EXPECT_EQ(text_of(early.receive_all().set()), "1:0-9") << "a stream ends when nothing is left for it";
  WireClient late = WireClient::receiver(broker.port(), 2);
  EXPECT_EQ(text_of(late.receive_all().set()), "1:0-9");
  broker.hear("state", "ended");
}

TEST(Delivery, WhatExpiredBeforeItsReceiverCameIsToldWithIdentities) {
  BrokerUnderTest broker(json{{"expect", expect(2, 2)}, {"queue", {{"retention_ms", 50}}}});
  WireClient early = WireClient::receiver(broker.port(), 1);
  WireClient::sender(broker.port(), 2).end(0);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  sender.end(10);
  EXPECT_EQ(early.receive_all().records.size(), 10u);
  broker.hear("state", "ended");  // receiver 2 is expected, so this is the expiry
  const Received late = WireClient::receiver(broker.port(), 2).receive_all();
  EXPECT_TRUE(late.records.empty());
  EXPECT_EQ(late.skipped, (std::vector<wire::SkippedRange>{{1, wire::SkipReason::expired, 0, 9}}));
  EXPECT_EQ(late.totals.value().expired, 10u);
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][1]["expired"], 10);
  EXPECT_EQ(bye["receivers"][1]["expired_sets"], json::parse(R"([[1,1,"0-9"]])"));
  EXPECT_EQ(bye["receivers"][0]["expired"], 0);
}

TEST(Delivery, WithoutAReceiverTheLoadBalancersMessagesExpireInTotal) {
  BrokerUnderTest broker(json{{"expect", expect(1, 2)}, {"queue", {{"mode", "load-balancer"}, {"retention_ms", 50}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  sender.end(10);
  broker.hear("state", "ended");
  const json bye = broker.finish();
  EXPECT_EQ(bye["total"]["expired"], 10);
  EXPECT_EQ(bye["total"]["expired_sets"], json::parse(R"([[1,1,"0-9"]])"));
}

TEST(Delivery, WhatBecameTooOldOnItsWayToAReceiverThatGoesIsForNobody) {
  constexpr int64_t retention_ms = 1000;
  BrokerUnderTest broker(json{{"expect", expect(1, 2)},
                              {"queue", {{"mode", "load-balancer"}, {"dispatch", "round-robin"}, {"retention_ms", retention_ms}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  {
    WireClient stuck = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 4096});
    sender.publish(1, 0, 200, 100'000);  // more than the sockets hold
    sender.wait_accepted(200);
    // Behind the retention, and mostly before N2NQ looks again: nothing waits but what is under way.
    WireClient probe = WireClient::probe(broker.port());
    probe.wait_for_broker_clock(probe.ask_clock().t3_ns + retention_ms * 3 / 2 * net::ns_per_ms);
    WireClient other = WireClient::receiver(broker.port(), 2);
    stuck.reset();
    sender.end(200);
    const Received received = other.receive_all();
    EXPECT_TRUE(received.records.empty());
  }
  broker.hear("state", "ended");
  const json bye = broker.finish();
  EXPECT_GT(bye["total"]["expired"], 0);
  EXPECT_EQ(bye["receivers"][0]["handed_over"].get<int>() + bye["total"]["expired"].get<int>(), 200);
}

TEST(Delivery, AReceiverThatLeavesIsNotWaitedFor) {
  BrokerUnderTest broker(json{{"expect", expect(1, 2)}});
  WireClient stays = WireClient::receiver(broker.port(), 1);
  WireClient leaves = WireClient::receiver(broker.port(), 2);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  leaves.receive(10);
  leaves.send(wire::End{0});
  EXPECT_EQ(leaves.receive_all().totals.value().handed_over, 10u);
  sender.publish(1, 10, 20);
  sender.end(20);
  EXPECT_EQ(stays.receive_all().records.size(), 20u);
  broker.hear("state", "ended");
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][1]["handed_over"], 10);
  EXPECT_EQ(bye["receivers"][1]["still_queued_sets"], json::parse(R"([[1,1,"10-19"]])"));
}

TEST(Delivery, ARunInWhichNothingWasPublishedIsNotOver) {
  BrokerUnderTest broker(json{{"expect", expect(1, 1)}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  EXPECT_EQ(WireClient::sender(broker.port(), 1).end(0), 0u);
  WireClient again = WireClient::sender(broker.port(), 1);  // the senders were stopped and started again
  again.publish(1, 0, 3);
  EXPECT_EQ(receiver.receive(3).records.size(), 3u);
  again.end(3);
  EXPECT_TRUE(receiver.receive_all().totals.has_value());
}

TEST(Delivery, AProbeIsWaitedForByNobody) {
  BrokerUnderTest broker(json{{"expect", expect(1, 1)}});
  WireClient probe = WireClient::probe(broker.port());
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 3);
  sender.end(3);
  EXPECT_EQ(receiver.receive_all().records.size(), 3u);
  broker.hear("state", "ended");
  EXPECT_GT(probe.ask_clock().t2_ns, 0) << "and is answered to the end";
  broker.finish();
}

TEST(Delivery, ProbesAreAnsweredWithTheBrokersClock) {
  BrokerUnderTest broker;
  WireClient probe = WireClient::probe(broker.port());
  int64_t last_ns = net::now_ns();
  for (int i = 0; i < 100; ++i) {
    const wire::ProbeReply reply = probe.ask_clock();
    EXPECT_LE(last_ns, reply.t1_ns);
    EXPECT_LE(reply.t1_ns, reply.t2_ns);
    EXPECT_LE(reply.t2_ns, reply.t3_ns);
    last_ns = reply.t3_ns;
  }
}

TEST(Delivery, AProbeThatAsksManyTimesAtOnceGetsSomeAnswersAndTheNextOne) {
  BrokerUnderTest broker;
  WireClient probe = WireClient::probe(broker.port());
  constexpr int asked = 2'000;
  wire::Bytes many;
  for (int64_t i = 0; i < asked; ++i) wire::Probe{i}.encode(many);
  probe.send(wire::ByteView(many));
  int answers = 0;
  probe.send(wire::Probe{-1});
  while (const auto frame = probe.read()) {
    ASSERT_EQ(frame->type, wire::FrameType::probe_reply);
    const int64_t t1_ns = wire::ProbeReply::decode(frame->body)->t1_ns;
    if (t1_ns == -1) break;
    ++answers;
    if (answers == 1) continue;
    probe.send(wire::Probe{-1});  // the one before may have come with too many
  }
  EXPECT_GE(answers, 16);
  EXPECT_LT(answers, asked / 2);
}

}  // namespace
}  // namespace n2nq
