// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever a client does wrong gets an error with a name, a closed connection, and nobody else notices.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <thread>

#include "tests/broker/queue/queue_kit.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::WireClient;
using wire::ErrorCode;

const std::string token_hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

wire::Hello good_hello(wire::Role role, uint32_t number) {
  wire::Hello hello;
  hello.role = role;
  hello.number = number;
  hello.token = wire::token_from_hex(token_hex).value();
  return hello;
}

wire::Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

template <typename Message>
wire::Bytes encoded(const Message& message) {
  wire::Bytes bytes;
  message.encode(bytes);
  return bytes;
}

wire::Bytes with_header(uint32_t body_bytes, uint8_t type, uint8_t reserved = 0) {
  wire::Bytes bytes;
  wire::Writer(bytes).put(body_bytes).put(type).put(reserved).put(uint16_t{0});
  return bytes;
}

struct Wrong {
  std::string what;
  wire::Bytes bytes;
  ErrorCode code;
  std::string says;  // part of the text
};

std::vector<Wrong> wrong_first_frames() {
  const auto hello = [](const std::function<void(wire::Hello&)>& spoil) {
    wire::Hello one = good_hello(wire::Role::sender, 1);
    spoil(one);
    return encoded(one);
  };
  const auto with_index = [](wire::Role role) {
    wire::Hello one = good_hello(role, 1);
    one.next_index = 1;
    return encoded(one);
  };
  wire::Bytes long_hello = encoded(good_hello(wire::Role::sender, 1));
  long_hello.resize(long_hello.size() + 4);
  wire::store(long_hello.data(), uint32_t{60});
  return {
      {"a web browser", bytes_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ErrorCode::not_n2nq, ""},
      {"a TLS client", with_header(0x00010316, 0xFC, 3), ErrorCode::not_n2nq, ""},
      {"zeros", wire::Bytes(1000, 0), ErrorCode::not_n2nq, ""},
      {"another frame first", encoded(wire::Probe{1}), ErrorCode::not_n2nq, "HELLO"},
      {"a HELLO of 7 bytes", with_header(7, 1), ErrorCode::not_n2nq, "at least 8"},
      {"a length over 64", with_header(65, 1), ErrorCode::not_n2nq, "64"},
      {"a length of -1", with_header(0xFFFFFFFF, 1), ErrorCode::not_n2nq, "64"},
      {"wrong magic", hello([](auto& one) { one.magic_read = 0x51514E32; }), ErrorCode::not_n2nq, "N2NQ"},
      {"version 2", hello([](auto& one) { one.version_read = 2; }), ErrorCode::other_version, "version 2"},
      {"a longer HELLO", long_hello, ErrorCode::frame, "56"},
      {"an index that cannot be", hello([](auto& one) { one.next_index = UINT64_MAX; }), ErrorCode::frame, "indexes end at"},
      {"a receiver's index", with_index(wire::Role::receiver), ErrorCode::frame, "of a receiver"},
      {"a probe's index", with_index(wire::Role::probe), ErrorCode::frame, "of a probe"},
      {"a reserved byte", hello([](auto& one) { one.reserved_read = 1; }), ErrorCode::frame, "byte 7"},
      {"role 0", hello([](auto& one) { one.role = static_cast<wire::Role>(0); }), ErrorCode::number, "role 0"},
      {"role 4", hello([](auto& one) { one.role = static_cast<wire::Role>(4); }), ErrorCode::number, "role 4"},
      {"number 0", hello([](auto& one) { one.number = 0; }), ErrorCode::number, "1 to 2"},
      {"number 3 of 2", hello([](auto& one) { one.number = 3; }), ErrorCode::number, "1 to 2"},
      {"number -1", hello([](auto& one) { one.number = 0xFFFFFFFF; }), ErrorCode::number, "1 to 2"},
      {"no token", hello([](auto& one) { one.token = {}; }), ErrorCode::token, "token"},
      {"one bit of the token", hello([](auto& one) { one.token[31] ^= 1; }), ErrorCode::token, "token"},
  };
}

/// A message with a stamp beyond all clocks.
wire::Bytes beyond_clocks(size_t offset, int64_t stamp_ns) {
  wire::Bytes frame = support::publish_frames(1, 0, 1, 50, 1000);
  wire::store(frame.data() + wire::frame_header_bytes + offset, stamp_ns);
  return frame;
}

/// A message with 2 in a field that is the broker's.
wire::Bytes touched_record(size_t offset) {
  wire::Bytes frame = support::publish_frames(1, 0, 1, 50, 1000);
  frame[wire::frame_header_bytes + offset] = 2;
  return frame;
}

std::vector<Wrong> wrong_senders_frames() {
  wire::Bytes cut = support::publish_frames(1, 0, 1, 50, 1000);
  wire::store(cut.data(), static_cast<uint32_t>(cut.size() - 8 - 1));
  cut.pop_back();
  wire::Bytes size_lies = support::publish_frames(1, 0, 1, 50, 1000);
  wire::store(size_lies.data() + 8, uint32_t{0xFFFFFFFF});
  wire::Welcome welcome;
  return {
      {"an index gap", support::publish_frames(1, 5, 6, 50, 1000), ErrorCode::index_gap, "expected 0"},
      {"another sender's message", support::publish_frames(2, 0, 1, 50, 1000), ErrorCode::index_gap, "sender 1"},
      {"an index that no message can have", support::publish_frames(1, wire::index_max + 1, wire::index_max + 2, 50, 1000), ErrorCode::frame,
       "indexes end at"},
      {"a cut record", cut, ErrorCode::frame, "middle of a record"},
      {"a record's size of -1", size_lies, ErrorCode::frame, "middle of a record"},
      {"intended before all clocks", beyond_clocks(16, INT64_MIN), ErrorCode::frame, "intended_ns and sent_ns"},
      {"sent behind all clocks", beyond_clocks(24, wire::stamp_ns_max + 1), ErrorCode::frame, "intended_ns and sent_ns"},
      {"taken_in_ns of a sender", touched_record(32), ErrorCode::frame, "taken_in_ns"},
      {"the bit redelivered from a sender", touched_record(40), ErrorCode::frame, "flags but bit 0"},
      {"an attempt from a sender", touched_record(42), ErrorCode::frame, "attempt"},
      {"an empty PUBLISH", with_header(0, 3), ErrorCode::frame, "PUBLISH"},
      {"PUBLISH over the limit", with_header(2'000'000, 3), ErrorCode::frame, "limit"},
      {"PUBLISH of 2^31", with_header(0x80000000, 3), ErrorCode::frame, "limit"},
      {"an unknown type", with_header(8, 15), ErrorCode::frame, "15"},
      {"a reserved byte", with_header(0, 14, 1), ErrorCode::frame, "0"},
      {"a second HELLO", encoded(good_hello(wire::Role::sender, 1)), ErrorCode::frame, "HELLO"},
      {"WELCOME", encoded(welcome), ErrorCode::frame, "WELCOME"},
      {"CREDIT", encoded(wire::Credit{1}), ErrorCode::frame, "CREDIT"},
      {"PROBE", encoded(wire::Probe{1}), ErrorCode::frame, "PROBE"},
      {"END that skips", encoded(wire::End{3}), ErrorCode::index_gap, "expected 0"},
      {"END of 7 bytes", with_header(7, 12), ErrorCode::frame, "it has 8 bytes, or 56 to a receiver"},
      {"a receiver's END", encoded(wire::EndTotals{}), ErrorCode::frame, "END"},
  };
}

std::vector<Wrong> wrong_receivers_frames() {
  return {
      {"CONFIRM of nothing", with_header(0, 5), ErrorCode::frame, "it has 1 or more times 16 bytes"},
      {"CONFIRM", encoded(wire::Confirm{{{0, 1, false}}}), ErrorCode::not_offered, "responses"},
      {"RULES", encoded(wire::Rules{}), ErrorCode::not_offered, "requests"},
      {"CREDIT", encoded(wire::Credit{1}), ErrorCode::not_offered, "requests"},
      {"PUBLISH", support::publish_frames(1, 0, 1, 50, 1000), ErrorCode::frame, "PUBLISH"},
      {"DELIVER", with_header(1 << 30, 4), ErrorCode::frame, "limit"},
      {"END with a number", encoded(wire::End{1}), ErrorCode::frame, "says 0, not 1"},
  };
}

class Refusals : public ::testing::Test {
 protected:
  void expect_refused(WireClient& client, const Wrong& wrong) {
    client.send(wire::ByteView(wrong.bytes));
    const auto error = client.read_error();
    ASSERT_TRUE(error.has_value()) << wrong.what;
    EXPECT_EQ(error->code, wrong.code) << wrong.what << ": " << error->text;
    EXPECT_NE(error->text.find(wrong.says), std::string::npos) << wrong.what << ": " << error->text;
    EXPECT_FALSE(client.read().has_value()) << wrong.what << ": the connection is closed after it";
  }
  void expect_refused_after_hello(wire::Role role, const std::vector<Wrong>& wrongs) {
    for (const Wrong& wrong : wrongs) {
      WireClient client(broker_.port());
      client.hello(good_hello(role, 1));
      expect_refused(client, wrong);
    }
  }

  BrokerUnderTest broker_{json{{"token", token_hex}, {"limits", {{"reconnect_deadline_ms", 600'000}}}}};
};

TEST_F(Refusals, AtTheDoor) {
  const auto wrongs = wrong_first_frames();
  for (const Wrong& wrong : wrongs) {
    WireClient client(broker_.port());
    expect_refused(client, wrong);
  }
  uint64_t counted = 0;
  const json bye = broker_.finish();
  for (const json& refused : bye["sessions_refused"]) counted += refused["count"].get<uint64_t>();
  EXPECT_EQ(counted, wrongs.size());
}

TEST_F(Refusals, OfASender) {
  expect_refused_after_hello(wire::Role::sender, wrong_senders_frames());
}

TEST_F(Refusals, OfAMessageBehindTheLastIndex) {
  WireClient client(broker_.port());
  wire::Hello hello = good_hello(wire::Role::sender, 1);
  hello.next_index = wire::index_max + 1;  // there is none behind it
  client.hello(hello);
  expect_refused(client, {"one more", support::publish_frames(1, wire::index_max + 1, wire::index_max + 2, 50, 1000), ErrorCode::frame,
                          "indexes end at"});
}

TEST_F(Refusals, OfAReceiver) {
  expect_refused_after_hello(wire::Role::receiver, wrong_receivers_frames());
}

TEST_F(Refusals, OfAProbe) {
  expect_refused_after_hello(wire::Role::probe, {{"PUBLISH", support::publish_frames(1, 0, 1, 50, 1000), ErrorCode::frame, "PUBLISH"},
                                                 {"END", encoded(wire::End{}), ErrorCode::frame, "END"}});
}

TEST_F(Refusals, MagicIsLookedAtBeforeVersionBeforeTokenBeforeRoleBeforeNumber) {
  wire::Hello hello = good_hello(wire::Role::sender, 99);
  hello.token = {};
  hello.role = static_cast<wire::Role>(9);
  hello.version_read = 3;
  hello.magic_read = 1;
  const auto refused_with = [&] {
    WireClient client(broker_.port());
    client.send(hello);
    return client.read_error().value().code;
  };
  EXPECT_EQ(refused_with(), ErrorCode::not_n2nq);
  hello.magic_read = wire::magic;
  EXPECT_EQ(refused_with(), ErrorCode::other_version);
  hello.version_read = wire::version;
  EXPECT_EQ(refused_with(), ErrorCode::token) << "who has none learns nothing of the run";
  hello.token = good_hello(wire::Role::sender, 1).token;
  EXPECT_EQ(refused_with(), ErrorCode::number);
  hello.role = wire::Role::sender;
  EXPECT_EQ(refused_with(), ErrorCode::number);
}

TEST_F(Refusals, NobodyElseNotices) {
  std::vector<WireClient> receivers;
  for (uint32_t number = 1; number <= 2; ++number) {
    receivers.emplace_back(broker_.port());
    receivers.back().hello(good_hello(wire::Role::receiver, number));
  }
  WireClient sender(broker_.port());
  sender.hello(good_hello(wire::Role::sender, 2));
  uint64_t index = 0;
  const auto wrongs = wrong_senders_frames();
  for (int round = 0; round < 3; ++round) {
    for (const Wrong& wrong : wrongs) {
      WireClient client(broker_.port());
      client.hello(good_hello(wire::Role::sender, 1));
      client.send(wire::ByteView(wrong.bytes));
      sender.publish(2, index, index + 10);
      index += 10;
      client.reset();
    }
  }
  WireClient first(broker_.port());
  first.hello(good_hello(wire::Role::sender, 1));
  first.end(0);
  sender.end(index);
  for (WireClient& receiver : receivers) {
    const support::Received received = receiver.receive_all();
    EXPECT_EQ(received.records.size(), index);
    EXPECT_TRUE(received.in_order);
    EXPECT_TRUE(received.totals.has_value());
  }
}

TEST(Handshake, HalfOpenConnectionsAreClosedAtTheDeadline) {
  BrokerUnderTest broker(json{{"limits", {{"handshake_deadline_ms", 200}}}});
  std::vector<WireClient> silent;
  for (int i = 0; i < 200; ++i) silent.emplace_back(broker.port());
  for (WireClient& one : silent) EXPECT_EQ(one.read_error().value().code, ErrorCode::handshake);
}

TEST(Handshake, AByteNowAndThenIsNoReasonToWaitLonger) {
  constexpr int64_t deadline_ms = 1000;
  BrokerUnderTest broker(json{{"limits", {{"handshake_deadline_ms", deadline_ms}}}});
  WireClient probe = WireClient::probe(broker.port());
  const wire::Bytes hello = encoded(good_hello(wire::Role::sender, 1));
  WireClient slow(broker.port());
  // One with each tenth of the deadline: with a new deadline for each it would have come to its end only behind the last one.
  size_t said = 0;
  for (; said < hello.size() && !slow.readable(); ++said) {
    probe.wait_for_broker_clock(probe.ask_clock().t3_ns + deadline_ms * net::ns_per_ms / 10);
    if (!slow.readable()) slow.send(wire::ByteView(hello).subspan(said, 1));
  }
  EXPECT_LT(said, hello.size());
  EXPECT_EQ(slow.read_error().value().code, ErrorCode::handshake);
}

TEST(Heartbeat, WhoIsSilentIsGoneAndWhoSaysSomethingStays) {
  BrokerUnderTest broker(json{{"limits", {{"heartbeat_ms", 3000}}}});
  WireClient silent = WireClient::sender(broker.port(), 1);
  WireClient alive = WireClient::sender(broker.port(), 2);
  // The broker's own heartbeats are the clock here: each one is answered.
  std::thread answering([&] {
    wire::Bytes heartbeat;
    wire::encode_heartbeat(heartbeat);
    for (int i = 0; i < 8; ++i) {
      const auto frame = alive.read(true);
      ASSERT_TRUE(frame.has_value());
      ASSERT_EQ(frame->type, wire::FrameType::heartbeat);
      alive.send(wire::ByteView(heartbeat));
    }
  });
  const auto error = silent.read_error();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, ErrorCode::silent);
  answering.join();
}

TEST(Heartbeat, AReceiverThatReadsSlowlyIsNoCaseForIt) {
  constexpr int64_t heartbeat_ms = 2000;
  constexpr uint64_t messages = 60;  // more than the sockets hold
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"heartbeat_ms", heartbeat_ms}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.publish(1, 0, messages, 100'000);
  WireClient slow = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 4096});  // not before: it would have been silent
  wire::Bytes heartbeat;
  wire::encode_heartbeat(heartbeat);
  const auto say_something = [&] {
    slow.send(wire::ByteView(heartbeat));
    sender.send(wire::ByteView(heartbeat));
  };
  // For three times the heartbeat time it takes nothing, so that the broker stands in the middle of a batch and can say nothing itself.
  WireClient probe = WireClient::probe(broker.port());
  const int64_t until_ns = net::now_ns() + 3 * heartbeat_ms * net::ns_per_ms;
  while (probe.ask_clock().t3_ns < until_ns) say_something();
  for (size_t received = 0; received < messages; say_something()) received += slow.receive(1).records.size();
  EXPECT_EQ(sender.end(messages), messages);
}

TEST(Heartbeat, WhoseMessagesAreAllRefusedByTheirHeadsIsNotSilent) {
  constexpr int64_t heartbeat_ms = 2000;
  BrokerUnderTest broker(
      json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"heartbeat_ms", heartbeat_ms}, {"message_bytes_max", 1000}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  WireClient probe = WireClient::probe(broker.port());
  constexpr size_t part_bytes = 1000;  // never whole in one read
  uint64_t messages = 0;
  for (const int64_t until_ns = net::now_ns() + 4 * heartbeat_ms * net::ns_per_ms; probe.ask_clock().t3_ns < until_ns; ++messages) {
    const wire::Bytes frame = support::publish_frames(1, messages, messages + 1, 2 * part_bytes, sender.welcome().frame_bytes_max);
    sender.send(wire::ByteView(frame).first(part_bytes));
    EXPECT_FALSE(sender.wait_accepted(messages + 1).empty());
    sender.send(wire::ByteView(frame).subspan(part_bytes));
  }
  EXPECT_EQ(sender.end(messages), 0u);
  EXPECT_EQ(broker.finish()["messages_refused"], messages);
}

/// Everything to the end of the stream, as bytes.
std::string rest_of(const WireClient& client) {
  std::string rest;
  std::array<char, 65536> some;
  for (;;) {
    pollfd look{client.fd(), POLLIN, 0};
    if (poll(&look, 1, 60'000) != 1) throw std::runtime_error("the connection stays open");
    const ssize_t bytes = recv(client.fd(), some.data(), some.size(), MSG_DONTWAIT);
    if (bytes <= 0) return rest;
    rest.append(some.data(), static_cast<size_t>(bytes));
  }
}

TEST(Refused, NothingIsSaidInTheMiddleOfADelivery) {
  for (const bool second_hello : {false, true}) {
    BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}}, {"limits", {{"drain_ms", 50}}}});
    WireClient stuck = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 4096});
    WireClient sender = WireClient::sender(broker.port(), 1);
    sender.publish(1, 0, 30, 1024 * 1024);  // more than the sockets hold, and less than may be pending
    sender.wait_accepted(30);
    stuck.send(wire::ByteView(second_hello ? encoded(good_hello(wire::Role::receiver, 1)) : with_header(8, 99)));
    WireClient probe = WireClient::probe(broker.port());
    probe.ask_clock();  // by then it has been read
    // The bytes of an ERROR would be those of a record.
    const std::string rest = rest_of(stuck);
    EXPECT_EQ(rest.find(second_hello ? "one per connection" : "does not exist"), std::string::npos);
    EXPECT_EQ(broker.finish()["sessions_refused"][0]["count"], 1);
  }
}

TEST(Heartbeat, AFrameThatTakesLongOverASlowLinkIsNoSilence) {
  constexpr int64_t heartbeat_ms = 3000;
  BrokerUnderTest broker(json{{"expect", {{"senders", 1}, {"receivers", 1}}},
                              {"limits", {{"heartbeat_ms", heartbeat_ms}}},
                              {"queue", {{"retention_ms", 50}}}});
  WireClient sender = WireClient::sender(broker.port(), 1);
  WireClient probe = WireClient::probe(broker.port());
  const wire::Bytes frame = support::publish_frames(1, 0, 1, 1'000'000, sender.welcome().frame_bytes_max);
  constexpr size_t parts = 10;  // 100 kB each, in a quarter of the heartbeat time: in all two and a half times it
  for (size_t part = 0; part < parts; ++part) {
    const size_t from = frame.size() * part / parts, to = frame.size() * (part + 1) / parts;
    probe.wait_for_broker_clock(probe.ask_clock().t3_ns + heartbeat_ms * net::ns_per_ms / 4);
    sender.send(wire::ByteView(frame).subspan(from, to - from));
  }
  EXPECT_EQ(sender.end(1), 1u);
  broker.finish();
}

TEST(Heartbeat, ManyAtOnceAreNoCredit) {
  BrokerUnderTest broker(json{{"limits", {{"heartbeat_ms", 500}}}});
  WireClient chatty = WireClient::sender(broker.port(), 1);
  wire::Bytes heartbeats;
  for (int i = 0; i < 100; ++i) wire::encode_heartbeat(heartbeats);
  chatty.send(wire::ByteView(heartbeats));
  const auto error = chatty.read_error();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, ErrorCode::silent);
  EXPECT_NE(error->text.find("stands still"), std::string::npos) << "this host answers: " << error->text;
  EXPECT_NE(error->text.find("sends no HEARTBEAT; one is due "), std::string::npos) << "what would be right: " << error->text;
}

}  // namespace
}  // namespace n2nq
