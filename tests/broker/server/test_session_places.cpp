// SPDX-License-Identifier: GPL-3.0-or-later
// Who has one of the limited places (limits.sessions_max), who has to go where all are taken, and who does not have to.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <vector>

#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/stepped_server.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::Reading;
using support::SteppedServer;
using support::WireClient;
using wire::ErrorCode;
using wire::Role;

/// The ERROR that it is told, however late; none: that never came.
std::optional<ErrorCode> error_of(SteppedServer& server, WireClient& client) {
  std::optional<ErrorCode> code;
  Reading(server, client).until([&code](const wire::Frame& frame) {
    if (frame.type == wire::FrameType::error) code = wire::Error::decode(frame.body).value().code;
    return code.has_value();
  });
  return code;
}

Options options_of(uint32_t senders, size_t sessions_max) {
  Options options = support::options_with_wanted_io();
  options.queue.senders = senders;
  options.limits.sessions_max = sessions_max;
  return options;
}

/// As sender it says END; how many messages were accepted, as the answer says. None: that never came.
std::optional<uint64_t> accepted_at_end(SteppedServer& server, WireClient& sender, uint64_t next_index) {
  sender.send(wire::End{next_index});
  std::optional<uint64_t> accepted;
  Reading(server, sender).until([&accepted](const wire::Frame& frame) {
    if (frame.type == wire::FrameType::end) accepted = wire::End::decode(frame.body).value().value;
    return accepted.has_value();
  });
  return accepted;
}

TEST(SessionPlaces, AServiceThatComesAndEndsOverAndOverTakesOnePlaceFromOthers) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 2}, {"receivers", 1}}}, {"limits", {{"sessions_max", 5}}}});
  std::vector<WireClient> ended;  // each of them stays open
  for (int i = 0; i < 20; ++i) {
    ended.push_back(WireClient::sender(broker.port(), 1));
    EXPECT_EQ(ended.back().end(0), 0u);
  }
  WireClient other = WireClient::sender(broker.port(), 2);
  other.publish(2, 0, 10);
  EXPECT_EQ(other.end(10), 10u);
  EXPECT_TRUE(broker.finish()["sessions_refused"].empty());
}

TEST(SessionPlaces, ProbesTakeNoPlacesFromServices) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"sessions_max", 6}}}});
  std::vector<WireClient> probes;
  for (int i = 0; i < 4; ++i) probes.push_back(WireClient::probe(broker.port()));
  WireClient one_more(broker.port());
  one_more.send(support::hello_of(Role::probe, 0));
  const support::ReadFrame refusal = one_more.read().value();
  ASSERT_EQ(refusal.type, wire::FrameType::error);
  const auto error = wire::Error::decode(refusal.body);
  EXPECT_EQ(error->code, ErrorCode::too_many);
  EXPECT_EQ(error->text, "4 probes are connected; the other sessions are kept for this run's services");
  WireClient sender = WireClient::sender(broker.port(), 1);
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  sender.publish(1, 0, 10);
  EXPECT_EQ(sender.end(10), 10u);
  EXPECT_EQ(receiver.receive_all().records.size(), 10u);
  probes.pop_back();
  support::wait_for_a_place(broker.port());
}

TEST(SessionPlaces, ProbesThatAreRefusedOverAndOverTakeNoPlacesFromServices) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"sessions_max", 4}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  std::vector<WireClient> refused;  // each of them stays open, and is thrown out half a second later
  for (int i = 0; i < 20; ++i) {
    refused.push_back(WireClient::probe(broker.port()));
    refused.back().send(wire::Credit{1});
    EXPECT_EQ(refused.back().read_error()->code, ErrorCode::frame);
  }
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, 10);
  EXPECT_EQ(sender.end(10), 10u);
  EXPECT_EQ(receiver.receive_all().records.size(), 10u);
  const json refusals = broker.finish()["sessions_refused"];
  EXPECT_EQ(refusals.size(), 1u) << refusals.dump();
}

TEST(SessionPlaces, SessionsOverTheLimitAreToldAndThoseWithinItAreNot) {
  BrokerUnderTest broker(json{{"expect", {{"senders", 10}, {"receivers", 1}}}, {"limits", {{"sessions_max", 10}}}});
  for (int round = 0; round < 2; ++round) {
    std::vector<WireClient> senders;
    for (uint32_t number = 1; number <= 10; ++number) senders.push_back(WireClient::sender(broker.port(), number));
    WireClient one_more(broker.port());
    const auto error = one_more.read_error();
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::too_many);
    EXPECT_NE(error->text.find("10"), std::string::npos);
    // END is answered by END and the broker waits for the close: all are gone when all were answered and closed.
    for (WireClient& sender : senders) sender.end(0);
    one_more.close();
    for (WireClient& sender : senders) sender.reset();
    support::wait_for_a_place(broker.port());
  }
  EXPECT_GE(broker.finish()["sessions_refused"][0]["count"].get<int>(), 2);
}

/// Both connections of each number are there for a moment, and N2NQ does not know that the first one is dead.
TEST(SessionPlaces, AServiceThatComesBackHasItsOwnPlaceWhereAllAreTaken) {
  Options options = support::options_with_wanted_io();
  options.queue.senders = options.queue.receivers = 2;
  options.limits.sessions_max = 4;
  options.limits.handshake_deadline_ms = 3'600'000;  // not that is what ends who says nothing
  SteppedServer server(options);
  std::vector<WireClient> dead;
  dead.push_back(server.connect(Role::sender, 1));
  dead.push_back(server.connect(Role::receiver, 1));
  WireClient sender = server.connect(Role::sender, 2);
  WireClient receiver = server.connect(Role::receiver, 2);
  // Who says nothing does not keep them out, however many there are.
  std::vector<WireClient> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(server.open());
  std::vector<WireClient> back;
  back.push_back(server.connect(Role::sender, 1));
  back.push_back(server.connect(Role::receiver, 1));
  EXPECT_EQ(error_of(server, silent.back()), ErrorCode::too_many);
  for (WireClient& each : dead) EXPECT_EQ(error_of(server, each), ErrorCode::replaced);
  back[0].publish(1, 0, 10);
  EXPECT_EQ(accepted_at_end(server, back[0], 10), 10u);
  // Its last words on that connection are no other place.
  WireClient once_more = server.connect(Role::sender, 1);
  EXPECT_EQ(accepted_at_end(server, once_more, 10), 10u);
  sender.publish(2, 0, 10);
  EXPECT_EQ(accepted_at_end(server, sender, 10), 10u);
  EXPECT_EQ(Reading(server, back[1]).receive_all().records.size(), 20u);
  EXPECT_EQ(Reading(server, receiver).receive_all().records.size(), 20u);
  const json bye = server.server().summary();
  for (const json& refused : bye["sessions_refused"]) EXPECT_EQ(refused["code"], "too many");
}

TEST(SessionPlaces, ServicesThatComeBackTogetherFindTheirOwnWhereOnePlaceIsLeft) {
  SteppedServer server(options_of(10, 10));
  std::vector<WireClient> dead, back;
  for (uint32_t number = 1; number <= 9; ++number) dead.push_back(server.connect(Role::sender, number));
  // None of them has said anything when the last one comes.
  for (size_t i = 0; i < dead.size(); ++i) back.push_back(server.open());
  for (uint32_t number = 1; number <= 9; ++number) back[number - 1].send(support::hello_of(Role::sender, number));
  server.wake_up();
  for (WireClient& service : back) service.read_welcome();
  EXPECT_TRUE(server.server().summary()["sessions_refused"].empty());
}

TEST(SessionPlaces, WhoIsReplacedWhereAllAreTakenIsNotClosedBeforeItCanReadWhy) {
  SteppedServer server(options_of(3, 2));
  WireClient former = server.connect(Role::sender, 1);
  WireClient other = server.connect(Role::sender, 2);
  WireClient again = server.connect(Role::sender, 1);
  // Over a network what N2NQ said last is thrown away where more is sent to a connection that is closed.
  EXPECT_EQ(::send(former.fd(), "more", 4, MSG_NOSIGNAL), 4);
  EXPECT_EQ(error_of(server, former), ErrorCode::replaced);
  WireClient third = server.open();
  third.send(support::hello_of(Role::sender, 3));
  EXPECT_EQ(error_of(server, third), ErrorCode::too_many);
}

TEST(SessionPlaces, WhoWasReplacedAndLingersKeepsNoPlaceForItsService) {
  SteppedServer server(options_of(4, 3));
  WireClient former = server.connect(Role::sender, 1);
  WireClient second = server.connect(Role::sender, 2);
  WireClient again = server.connect(Role::sender, 1);
  WireClient third = server.connect(Role::sender, 3);  // who comes for the first time finds the place that is left
  again.close();
  server.wake_up();
  WireClient fourth = server.connect(Role::sender, 4);
  WireClient once_more = server.open();
  once_more.send(support::hello_of(Role::sender, 1));
  EXPECT_EQ(error_of(server, once_more), ErrorCode::too_many);
  EXPECT_EQ(error_of(server, former), ErrorCode::replaced);
}

/// Though all places are taken by then.
TEST(SessionPlaces, WhoWasLetInWithAPlaceAndSaysNothingIsToldThatItIsLate) {
  Options options = options_of(4, 4);
  options.limits.handshake_deadline_ms = 600;
  SteppedServer server(options);
  WireClient silent = server.open();
  std::vector<WireClient> senders;
  for (uint32_t number = 1; number <= 4; ++number) senders.push_back(server.connect(Role::sender, number));
  EXPECT_EQ(error_of(server, silent), ErrorCode::handshake);
}

/// One that has no place gets none, whatever it says.
TEST(SessionPlaces, WhoHasNoPlaceGetsNoneWhereAllAreTaken) {
  SteppedServer server(options_of(5, 4));
  std::vector<WireClient> senders;
  for (uint32_t number = 1; number <= 4; ++number) senders.push_back(server.connect(Role::sender, number));
  WireClient fifth = server.open();
  fifth.send(support::hello_of(Role::sender, 5));
  server.wake_up();
  const auto error = fifth.read_error();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, ErrorCode::too_many);
  EXPECT_EQ(error->text, "the limit of 4 sessions (limits.sessions_max) is reached");
  WireClient fourth = server.connect(Role::sender, 4);
  fourth.publish(4, 0, 10);
  server.wake_up();
  EXPECT_EQ(server.server().summary()["messages_accepted"], 10);
}

}  // namespace
}  // namespace n2nq
