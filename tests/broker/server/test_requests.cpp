// SPDX-License-Identifier: GPL-3.0-or-later
// Requests as clients see them: rules, credit, and what they do not get. A real n2nq-broker, real TCP.
#include <gtest/gtest.h>

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
using support::SteppedServer;
using support::text_of;
using support::WireClient;
using wire::ErrorCode;
using wire::Rule;

constexpr uint32_t any = 0xFFFFFFFF;

json with_requests(const char* mode, int senders, int receivers, json queue = json::object()) {
  json all{{"mode", mode}, {"requests", true}};
  all.merge_patch(queue);
  return {{"expect", {{"senders", senders}, {"receivers", receivers}}}, {"queue", all}};
}

wire::Bytes request(uint32_t list, std::vector<Rule> rules, uint64_t credit) {
  wire::Bytes bytes;
  wire::Rules{list, std::move(rules)}.encode(bytes);
  if (credit > 0) wire::Credit{credit}.encode(bytes);
  return bytes;
}

void send(WireClient& client, const wire::Bytes& bytes) {
  client.send(wire::ByteView(bytes));
}

class BothModes : public ::testing::TestWithParam<const char*> {};

TEST(Requests, WhatAReceiverWillNotGetIsToldInPartsAndTheRestOnTheNextConnection) {
  // Every other one is not asked for, so that there are more runs than fit into what is told at once, and into two sockets: 24 bytes each, and
  // the kernel takes up to 4 MiB for one that is not read.
  constexpr uint64_t messages = 400'000;
  BrokerUnderTest broker(with_requests("broadcaster", 1, 1, {{"remove", "after-time"}, {"retention_ms", 300}}));
  const wire::Bytes small = request(1, {Rule{1, 1, 1, 1}}, 0);
  {
    WireClient receiver = WireClient::receiver(broker.port(), 1);
    send(receiver, small);
  }
  WireClient sender = WireClient::sender(broker.port(), 1);
  for (uint64_t index = 0; index < messages; index += 2'000) {
    wire::Bytes bytes;
    for (uint64_t each = index; each < index + 2'000; ++each) {
      const wire::Bytes frame = support::publish_frames(1, each, each + 1, 1 + each % 2, 1 << 16);
      bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    send(sender, bytes);
    sender.wait_accepted(index + 2'000);
  }
  WireClient probe = WireClient::probe(broker.port());
  probe.wait_for_broker_clock(probe.ask_clock().t2_ns + 600 * net::ns_per_ms);  // all have expired by then
  SenderSets told;
  for (int connection = 0; connection < 2; ++connection) {
    // This one reads a part only, and goes.
    WireClient receiver = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 4096});
    Received received;
    receiver.take(receiver.read().value(), received);
    EXPECT_LT(received.skipped_set().count(), messages);
    told += received.skipped_set();
    receiver.reset();
  }
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  sender.end(messages);
  const Received rest = receiver.receive_all();
  EXPECT_GT(rest.skipped.size(), 10'000u);
  told += rest.skipped_set();
  ASSERT_TRUE(rest.totals.has_value());
  EXPECT_EQ(rest.totals->expired + rest.totals->unrequested, messages);
  // What was on its way when a connection broke may be told to nobody.
  EXPECT_LE(told.count(), messages);
  broker.finish();
}

TEST_P(BothModes, OneLargeListDoesNotStopTheOthers) {
  constexpr uint32_t senders = 50, each = 200;
  Options options;
  options.queue.mode = GetParam() == std::string("broadcaster") ? wire::QueueMode::broadcaster : wire::QueueMode::load_balancer;
  options.queue.requests = true;
  options.queue.senders = senders + 1;
  options.queue.receivers = 30;
  SteppedServer server(options);
  WireClient large = server.connect(wire::Role::receiver, 1);
  WireClient other = server.connect(wire::Role::receiver, 2);
  send(large, request(1, {}, UINT32_MAX));
  send(other, request(1, {Rule{senders + 1, senders + 1, 0, any}}, UINT32_MAX));
  std::vector<WireClient> clients;
  for (uint32_t number = 1; number <= senders; ++number) {
    clients.push_back(server.connect(wire::Role::sender, number));
    for (uint32_t index = 0; index < each; ++index) {
      clients.back().publish(number, index, index + 1, 3 * index);
      server.wake_up();
    }
  }
  WireClient sender = server.connect(wire::Role::sender, senders + 1);
  std::vector<Rule> list;
  for (uint32_t i = 0; i < 500; ++i) list.push_back({1 + i % senders, 1 + i % senders, 3 * (i % each), 3 * (i % each)});
  send(large, request(2, list, 0));
  // Each wake-up does a part of it, and the others get theirs in between.
  uint64_t wake_ups = 0;
  for (; !large.readable(); ++wake_ups) {
    sender.publish(senders + 1, wake_ups, wake_ups + 1, 10);
    server.wake_up();
    ASSERT_TRUE(other.readable()) << "wake-up " << wake_ups;
    ASSERT_EQ(other.receive(1).records.size(), 1u);
  }
  EXPECT_GE(wake_ups, 10u);
  Received received;
  for (uint64_t rest = 0; rest < wake_ups && received.records.size() < each; ++rest) {
    while (large.readable()) large.take(large.read().value(), received);
    server.wake_up();
  }
  EXPECT_EQ(received.records.size(), 200u) << "50 senders x 200 sizes, each pair that comes together in the first 500";
}

TEST_P(BothModes, ManyListsAtOnceHaveTheirPartOfTheTimeAndTheLastOneCounts) {
  Options options;
  options.queue.mode = GetParam() == std::string("broadcaster") ? wire::QueueMode::broadcaster : wire::QueueMode::load_balancer;
  options.queue.requests = true;
  options.queue.senders = 2;
  options.queue.receivers = 2;
  SteppedServer server(options);
  WireClient greedy = server.connect(wire::Role::receiver, 1);
  WireClient other = server.connect(wire::Role::receiver, 2);
  WireClient sender = server.connect(wire::Role::sender, 1);
  wire::Bytes lists;
  for (uint32_t list = 1; list <= 1'000; ++list) {
    const wire::Bytes one = request(list, {Rule{1, 1, list % 2, list % 2}}, 0);
    lists.insert(lists.end(), one.begin(), one.end());
  }
  send(greedy, lists);
  send(other, request(1, {Rule{1, 1, 7, 7}}, UINT32_MAX));
  send(greedy, request(1'001, {Rule{1, 1, 5, 5}}, UINT32_MAX));
  for (int i = 0; i < 20; ++i) server.wake_up();
  sender.publish(1, 0, 1, 5);
  sender.publish(1, 1, 2, 7);
  for (int i = 0; i < 3; ++i) server.wake_up();
  EXPECT_EQ(greedy.receive(1).records.size(), 1u);
  EXPECT_EQ(other.receive(1).records.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Requests, BothModes, ::testing::Values("broadcaster", "load-balancer"),
                         [](const auto& mode) { return std::string(mode.param).substr(0, 4); });

TEST_P(BothModes, NothingComesWithoutCreditAndNoMoreThanThat) {
  BrokerUnderTest broker(with_requests(GetParam(), 1, 1));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  EXPECT_EQ(receiver.welcome().features, wire::feature_requests);
  EXPECT_EQ(receiver.welcome().responses_window, 0u);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  sender.wait_accepted(10);
  receiver.send(wire::Credit{3});
  EXPECT_EQ(text_of(receiver.receive(3).set()), "1:0-2");
  // A list that matches nothing gives nothing, whatever the credit; what came meanwhile would come first.
  send(receiver, request(1, {}, 2));
  send(receiver, request(2, {Rule{1, 1, 0, any}}, 1));
  EXPECT_EQ(text_of(receiver.receive(3).set()), "1:3-5");
  receiver.send(wire::Credit{~0ull});
  receiver.send(wire::Credit{~0ull});
  sender.end(10);
  const Received rest = receiver.receive_all();
  EXPECT_EQ(text_of(rest.set()), "1:6-9");
  ASSERT_TRUE(rest.totals.has_value());
  EXPECT_EQ(rest.totals->handed_over, 10u);
}

TEST_P(BothModes, RulesChooseBySenderAndSizeAndTheRestIsUnrequested) {
  BrokerUnderTest broker(with_requests(GetParam(), 3, 1));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  // Sender 1 up to 50 letters, sender 3 from 100 on.
  send(receiver, request(7, {Rule{1, 1, 0, 50}, Rule{3, 3, 100, any}}, 1000));
  std::vector<WireClient> senders;
  for (uint32_t number = 1; number <= 3; ++number) senders.push_back(WireClient::sender(broker.port(), number));
  for (uint32_t number = 1; number <= 3; ++number) {
    senders[number - 1].publish(number, 0, 5, 50);
    senders[number - 1].publish(number, 5, 10, 100);
    senders[number - 1].end(10);
  }
  const Received received = receiver.receive_all();
  EXPECT_EQ(text_of(received.set()), "1:0-4 3:5-9");
  ASSERT_TRUE(received.totals.has_value()) << "what nobody asks for is not waited for";
  const bool broadcaster = GetParam() == std::string("broadcaster");
  const json bye = broker.finish();
  const json& books = broadcaster ? bye["receivers"][0] : bye["total"];
  EXPECT_EQ(books["unrequested"], 20);
  EXPECT_EQ(books["still_queued"], 0);
  EXPECT_EQ(books["unrequested_sets"], json::array({{1, 1, "5-9"}, {2, 2, "0-9"}, {3, 3, "0-4"}}));
  if (!broadcaster) return;
  EXPECT_EQ(text_of(received.skipped_set()), "1:5-9 2:0-9 3:0-4") << "told";
  for (const wire::SkippedRange& range : received.skipped) EXPECT_EQ(range.reason, wire::SkipReason::unrequested);
  EXPECT_EQ(received.totals->unrequested, 20u);
}

TEST_P(BothModes, ANewListSeesWhatIsStillQueuedMarked) {
  BrokerUnderTest broker(with_requests(GetParam(), 1, 1));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  send(receiver, request(1, {Rule{0, any, 60, any}}, 1000));
  WireClient sender = WireClient::sender(broker.port(), 1);
  for (uint64_t index = 0; index < 10; ++index) sender.publish(1, index, index + 1, index % 2 ? 70 : 50);
  EXPECT_EQ(text_of(receiver.receive(5).set()), "1:1,3,5,7,9");
  send(receiver, request(2, {Rule{0, any, 0, any}}, 0));
  const Received newly = receiver.receive(5);
  EXPECT_EQ(text_of(newly.set()), "1:0,2,4,6,8");
  for (const wire::RecordHeader& record : newly.records) {
    EXPECT_EQ(record.flags, wire::flag_newly_matched);
    EXPECT_EQ(record.attempt, 1);
  }
  EXPECT_TRUE(newly.checksums_right);
  sender.publish(1, 10, 11);
  EXPECT_EQ(receiver.receive(1).records[0].flags, 0);
  sender.end(11);
  EXPECT_TRUE(receiver.receive_all().totals.has_value());
}

TEST_P(BothModes, AnUnmatchableRequestBlocksNobody) {
  BrokerUnderTest broker(with_requests(GetParam(), 1, 3));
  WireClient impossible = WireClient::receiver(broker.port(), 1);
  WireClient nothing = WireClient::receiver(broker.port(), 2);
  WireClient good = WireClient::receiver(broker.port(), 3);
  send(impossible, request(1, {Rule{77, 99, 0, any}}, 1000));
  send(nothing, request(1, {}, 1000));
  send(good, request(1, {Rule{1, 1, 0, any}}, 100'000));
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 2000);
  EXPECT_EQ(good.receive(2000).records.size(), 2000u);
  sender.end(2000);
  EXPECT_TRUE(good.receive_all().totals.has_value());
  EXPECT_TRUE(nothing.receive_all().totals.has_value());
  const Received received = impossible.receive_all();
  EXPECT_TRUE(received.records.empty());
  ASSERT_TRUE(received.totals.has_value());
  EXPECT_EQ(received.totals->handed_over, 0u);
  if (GetParam() == std::string("broadcaster")) {
    EXPECT_EQ(received.totals->unrequested, 2000u);
  }
}

TEST_P(BothModes, WhoHasNoCreditKeepsNothingFromTheOthersAndMissesOnlyWhatExpires) {
  BrokerUnderTest broker(with_requests(GetParam(), 1, 2, {{"retention_ms", 300}}));
  WireClient without = WireClient::receiver(broker.port(), 1);
  WireClient with = WireClient::receiver(broker.port(), 2);
  with.send(wire::Credit{1000});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 100);
  sender.end(100);
  EXPECT_EQ(with.receive(100).records.size(), 100u);
  const Received received = without.receive_all();
  EXPECT_TRUE(received.records.empty());
  ASSERT_TRUE(received.totals.has_value());
  EXPECT_EQ(received.totals->expired, GetParam() == std::string("broadcaster") ? 100u : 0u);
}

TEST_P(BothModes, RulesOutliveTheConnectionAndCreditDoesNot) {
  BrokerUnderTest broker(with_requests(GetParam(), 2, 1));
  WireClient first = WireClient::receiver(broker.port(), 1);
  send(first, request(5, {Rule{2, 2, 0, any}}, 2));
  WireClient one = WireClient::sender(broker.port(), 1);
  WireClient two = WireClient::sender(broker.port(), 2);
  two.publish(2, 0, 2);
  first.receive(2);
  first.send(wire::Credit{50});
  WireClient second = WireClient::receiver(broker.port(), 1, 1);
  EXPECT_EQ(first.read_error().value().code, ErrorCode::replaced);
  one.publish(1, 0, 3);
  two.publish(2, 2, 5);
  one.end(3);
  two.end(5);
  second.send(wire::Credit{1});
  EXPECT_EQ(text_of(second.receive(1).set()), "2:2");
  send(second, request(1, {Rule{2, 2, 0, any}, Rule{1, 1, 0, any}}, 0));  // a list number may be used again on another connection
  second.send(wire::Credit{10});
  EXPECT_EQ(text_of(second.receive_all().set()), "1:0-2 2:3-4");
}

TEST_P(BothModes, WithResponsesEachAnswerGivesOneCreditBack) {
  BrokerUnderTest broker(with_requests(GetParam(), 1, 1, {{"responses", true}, {"responses_deadline_ms", 600'000}}));
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 50);
  sender.end(50);
  receiver.send(wire::Credit{1});
  uint64_t number = 0;
  for (uint64_t index = 0; index < 50; ++index) {
    const Received one = receiver.receive(1);
    ASSERT_EQ(one.records.size(), 1u);
    EXPECT_EQ(one.records[0].index, index);
    const bool negative = index == 20 && one.records[0].attempt == 1;
    receiver.send(wire::Confirm{{{number++, 1, negative}}});
    if (negative) --index;  // it comes again
  }
  const Received rest = receiver.receive_all();
  ASSERT_TRUE(rest.totals.has_value());
  EXPECT_EQ(rest.totals->handed_over, 51u);
  EXPECT_EQ(rest.totals->redelivered, 1u);
}

TEST_P(BothModes, RulesReplacedWhileMessagesFlowLoseNothing) {
  BrokerUnderTest broker(with_requests(GetParam(), 2, 2, {{"responses", true}}));
  constexpr uint64_t messages = 5000;
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number <= 2; ++number) {
    threads.emplace_back([&, number] {
      WireClient sender = WireClient::sender(broker.port(), number);
      for (uint64_t index = 0; index < messages; index += 10) sender.publish(number, index, index + 10, index % 100);
      EXPECT_EQ(sender.end(messages), messages);
    });
  }
  std::vector<Received> received(2);
  for (uint32_t number = 1; number <= 2; ++number) {
    threads.emplace_back([&, number] {
      WireClient receiver = WireClient::receiver(broker.port(), number);
      receiver.send(wire::Credit{20});
      Received& all = received[number - 1];
      uint64_t answered = 0;
      uint32_t list = 0;
      while (!all.totals) {
        const auto frame = receiver.read();
        ASSERT_TRUE(frame.has_value());
        ASSERT_NE(frame->type, wire::FrameType::error);
        const size_t before = all.records.size();
        receiver.take(*frame, all);
        const auto count = static_cast<uint32_t>(all.records.size() - before);
        if (count == 0) continue;
        receiver.send(wire::Confirm{{{answered, count, false}}});
        answered += count;
        // Between a few lists, and any from 2,000 on.
        const uint32_t size = list % 7 * 10;
        if (answered < 2000) send(receiver, request(++list, {Rule{1 + list % 2, 2, size, size + 50}}, 0));
        if (answered >= 2000 && list < 1'000'000) send(receiver, request(list = 1'000'000, {Rule()}, 0));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const json bye = broker.finish();
  SenderSets all;
  for (const Received& one : received) {
    EXPECT_TRUE(one.in_order);
    EXPECT_TRUE(one.checksums_right);
    all += one.set();
    if (GetParam() != std::string("broadcaster")) continue;
    // Each message: delivered, or told as not asked for.
    EXPECT_EQ(one.set().count() + one.skipped_set().count(), 2 * messages);
    SenderSets sum = one.set();
    sum += one.skipped_set();
    EXPECT_EQ(text_of(sum), "1:0-4999 2:0-4999");
  }
  if (GetParam() == std::string("broadcaster")) return;
  EXPECT_EQ(bye["receivers"][0]["confirmed"].get<uint64_t>() + bye["receivers"][1]["confirmed"].get<uint64_t>() +
                bye["total"]["expired"].get<uint64_t>() + bye["total"]["unrequested"].get<uint64_t>() +
                bye["total"]["still_queued"].get<uint64_t>(),
            2 * messages);
  EXPECT_EQ(bye["total"]["still_queued"], 0);
}

TEST_P(BothModes, WrongListsAreNamed) {
  BrokerUnderTest broker(with_requests(GetParam(), 1, 1));
  const auto refused = [&](const wire::Bytes& bytes) {
    WireClient receiver = WireClient::receiver(broker.port(), 1);
    send(receiver, bytes);
    return receiver.read_error().value();
  };
  EXPECT_EQ(refused(request(1, {Rule{2, 1, 0, any}}, 0)).code, ErrorCode::rules);
  EXPECT_EQ(refused(request(1, {Rule{}, Rule{1, 2, 60, 50}}, 0)).text.substr(0, 6), "rule 2");
  EXPECT_EQ(refused(request(1, std::vector<Rule>(1025), 0)).code, ErrorCode::rules);
  std::vector<Rule> many;
  for (uint32_t i = 0; i < 1000; ++i) many.push_back({0, any, 10 * i + 1, 10 * i + 5});
  const wire::Error error = refused(request(1, many, 0));
  EXPECT_EQ(error.code, ErrorCode::rules);
  EXPECT_NE(error.text.find("2000 borders between sizes, the limit is 1024"), std::string::npos) << error.text;
  wire::Bytes twice = request(3, {}, 0);
  const wire::Bytes again = request(3, {}, 0);
  twice.insert(twice.end(), again.begin(), again.end());
  EXPECT_EQ(refused(twice).code, ErrorCode::rules);
  wire::Bytes cut = request(1, {Rule{}}, 0);
  wire::store(cut.data() + 12, uint32_t{2});  // two rules, it says
  EXPECT_EQ(refused(cut).code, ErrorCode::frame);
  EXPECT_EQ(refused([] {
              wire::Bytes bytes;
              wire::Confirm{{{0, 1, false}}}.encode(bytes);
              return bytes;
            }())
                .code,
            ErrorCode::not_offered);
}

}  // namespace
}  // namespace n2nq
