// SPDX-License-Identifier: GPL-3.0-or-later
// A network that means harm, or does not know what it is talking to: what it costs is bounded, and gone when it is gone.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "broker/net/file_limit.h"
#include "broker/net/frame_places.h"
#include "broker/queue/message_log.h"
#include "tests/broker/support/broker_cost.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/seed_frames.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::ReadFrame;
using support::WireClient;
using support::files_of;
using support::memory_of;
using support::sanitizer_bytes;
using support::wait_for_files;
using wire::ErrorCode;
using wire::FrameType;

constexpr uint8_t frame_types = 14;

wire::Bytes with_header(uint32_t body_bytes, uint8_t type) {
  wire::Bytes bytes;
  wire::Writer(bytes).put(body_bytes).put(type).put(uint8_t{0}).put(uint16_t{0});
  return bytes;
}

/// Sends as much as is taken; the broker may close at any time.
void send_until_closed(WireClient& client, wire::ByteView bytes) {
  try {
    client.send(bytes);
  } catch (const std::runtime_error&) {
    // closed, as it should be
  }
}

/// Everything that the broker says until END or until it closes: types, and what errors say. Throws where it does neither.
std::string answer_of(WireClient& client) {
  std::ostringstream out;
  while (const auto frame = client.read()) {
    out << wire::name_of(frame->type) << ' ';
    if (frame->type == FrameType::end) return out.str();
    if (frame->type == FrameType::error) out << wire::Error::decode(frame->body)->text << ' ';
  }
  out << (client.was_reset() ? "reset" : "closed");
  return out.str();
}

enum class Before { nothing, hello_of_sender, hello_of_receiver, hello_of_probe };

class Hostile : public ::testing::Test {
 protected:
  WireClient client_after(Before before) {
    switch (before) {
      case Before::hello_of_sender:
        return WireClient::sender(broker_.port(), 1, ++session_);
      case Before::hello_of_receiver:
        return WireClient::receiver(broker_.port(), 1, ++session_);
      case Before::hello_of_probe:
        return WireClient::probe(broker_.port());
      case Before::nothing:
        break;
    }
    return WireClient(broker_.port());
  }

  /// Junk without end, until the broker closes the connection: what it held at most meanwhile.
  size_t most_bytes_while_sending_junk(WireClient& client) {
    static const wire::Bytes junk(1 << 20, 0x4E);
    size_t most_bytes = 0;
    try {
      for (int megabyte = 0; megabyte < 100; ++megabyte) {
        client.send(wire::ByteView(junk));
        most_bytes = std::max(most_bytes, memory_of(broker_));
      }
      ADD_FAILURE() << "the broker reads junk for ever";
    } catch (const std::runtime_error&) {
      most_bytes = std::max(most_bytes, memory_of(broker_));  // closed, as it should be
    }
    return most_bytes;
  }

  static json many_features() {
    return {{"queue", {{"responses", true}, {"requests", true}}}, {"limits", {{"reconnect_deadline_ms", 600'000}}}};
  }

  BrokerUnderTest broker_{many_features()};
  uint32_t session_ = 0;
};

constexpr Before all_moments[] = {Before::nothing, Before::hello_of_sender, Before::hello_of_receiver, Before::hello_of_probe};

/// Behind whatever is sent (but END, which is the last) comes a frame that is always wrong, so that there is an answer to wait for.
const wire::Bytes& last_word() {
  static const wire::Bytes bytes = with_header(0, 99);
  return bytes;
}

TEST_F(Hostile, EverySeedFrameMeansTheSameByteByByte) {
  for (const Before before : all_moments) {
    for (const auto& seed : support::seed_frames()) {
      wire::Bytes bytes = seed.bytes;
      const bool ends = seed.name == "END" && (before == Before::hello_of_receiver);
      if (ends) {
        wire::store(bytes.data() + wire::frame_header_bytes, uint64_t{0});  // as a receiver has to say it
      } else {
        bytes.insert(bytes.end(), last_word().begin(), last_word().end());
      }
      WireClient whole = client_after(before);
      whole.send(wire::ByteView(bytes));
      const std::string expected = answer_of(whole);
      WireClient bytewise = client_after(before);
      for (size_t i = 0; i < bytes.size(); ++i) send_until_closed(bytewise, wire::ByteView(bytes).subspan(i, 1));
      std::string answer = answer_of(bytewise);
      // The rest of an answer that crosses bytes under way may be lost with the connection; another answer may not come.
      if (answer.ends_with("reset")) {
        answer.resize(answer.size() - std::string("reset").size());
        EXPECT_TRUE(expected.starts_with(answer)) << answer << " in place of " << expected;
        continue;
      }
      EXPECT_EQ(answer, expected) << seed.name << " at moment " << static_cast<int>(before);
    }
  }
}

TEST_F(Hostile, ImpossibleLengthsAreRefusedAtOnceWhateverTheTypeAndTheMoment) {
  const size_t before_bytes = memory_of(broker_);
  std::vector<WireClient> clients;  // none closes at this end
  for (const Before before : all_moments) {
    for (uint8_t type = 1; type <= frame_types; ++type) {
      for (const uint32_t length : {0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x00FFFFFFu}) {
        WireClient& client = clients.emplace_back(client_after(before));
        const size_t without_bytes = memory_of(broker_);
        client.send(wire::ByteView(with_header(length, type)));  // and not one byte of the body
        const auto error = client.read_error();
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, before == Before::nothing ? ErrorCode::not_n2nq : ErrorCode::frame) << error->text;
        EXPECT_NE(error->text.find("limit"), std::string::npos) << error->text;
        EXPECT_LT(memory_of(broker_), without_bytes + (1u << 20) + sanitizer_bytes) << "for a length of " << length;
        EXPECT_FALSE(client.read().has_value());
      }
    }
  }
  EXPECT_EQ(clients.size(), 4u * frame_types * 4);
  EXPECT_LT(memory_of(broker_), before_bytes + (4u << 20) + sanitizer_bytes) << "224 tries; one that believed a length would show";
}

TEST_F(Hostile, LengthsInTextAreNoLengths) {
  const size_t before_bytes = memory_of(broker_);
  for (const char* text : {"-1\r\n", "9223372036854775808\r\n", "18446744073709551616\r\n", "$99999999999999999999\r\n"}) {
    WireClient client(broker_.port());
    client.send(wire::ByteView(reinterpret_cast<const uint8_t*>(text), std::string(text).size()));
    wire::Bytes rest(8, 'x');
    send_until_closed(client, wire::ByteView(rest));
    EXPECT_EQ(client.read_error().value().code, ErrorCode::not_n2nq) << text;
    const std::string end = answer_of(client);
    EXPECT_TRUE(end == "closed" || end == "reset") << text << ": " << end;
  }
  EXPECT_LT(memory_of(broker_), before_bytes + (1u << 20) + sanitizer_bytes);
}

TEST_F(Hostile, JunkOfEveryKindAsFirstPacketCostsNoMemory) {
  const size_t before_bytes = memory_of(broker_);
  size_t most_bytes = 0;
  for (uint8_t type = 1; type <= frame_types; ++type) {
    // A length that is out of the question, and one that is allowed: what follows is no HELLO of anybody's.
    for (const uint32_t length : {0x4E4E4E4Eu, 56u}) {
      WireClient client(broker_.port());
      client.send(wire::ByteView(with_header(length, type)));
      most_bytes = std::max(most_bytes, most_bytes_while_sending_junk(client));
    }
  }
  EXPECT_GT(most_bytes, 0u) << "nobody has looked";
  EXPECT_LT(most_bytes, before_bytes + (20u << 20) + sanitizer_bytes);
  EXPECT_LT(broker_.finish()["memory_bytes_max"].get<size_t>(), 1000u);
}

TEST_F(Hostile, JunkOfManyAtOnceIsNotKept) {
  const size_t before_bytes = memory_of(broker_);
  const wire::Bytes junk(64 << 10, 0x4E);
  std::vector<WireClient> clients;
  size_t most_bytes = 0;
  for (int i = 0; i < 500; ++i) {
    clients.emplace_back(broker_.port());
    send_until_closed(clients.back(), wire::ByteView(junk));
    if (i % 50 == 49) most_bytes = std::max(most_bytes, memory_of(broker_));
  }
  EXPECT_LT(most_bytes, before_bytes + (12u << 20) + sanitizer_bytes) << "64 KiB for each would be 32 MiB";
}

TEST_F(Hostile, JunkBehindAGoodHelloCostsNoMemoryEither) {
  const size_t before_bytes = memory_of(broker_);
  size_t most_bytes = 0;
  for (const Before before : {Before::hello_of_sender, Before::hello_of_receiver, Before::hello_of_probe}) {
    for (uint8_t type = 1; type <= frame_types; ++type) {
      WireClient client = client_after(before);
      send_until_closed(client, wire::ByteView(with_header(48 * 20'000, type)));
      most_bytes = std::max(most_bytes, most_bytes_while_sending_junk(client));
    }
  }
  EXPECT_GT(most_bytes, 0u) << "nobody has looked";
  EXPECT_LT(most_bytes, before_bytes + (20u << 20) + sanitizer_bytes);
}

TEST(HostileLimits, AFrameOverTheLimitIsRefusedBeforeItsBodyAndNobodyElseNotices) {
  constexpr size_t largest = 1'000'000;
  BrokerUnderTest broker(json{{"expect", {{"senders", 2}, {"receivers", 1}}}, {"limits", {{"message_bytes_max", largest}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient good = WireClient::sender(broker.port(), 1);
  good.publish(1, 0, 1, largest);
  WireClient bad = WireClient::sender(broker.port(), 2);
  const uint32_t over = bad.welcome().frame_bytes_max + 1;
  bad.send(wire::ByteView(with_header(over, static_cast<uint8_t>(FrameType::publish))));
  const auto error = bad.read_error();  // comes though no byte of the body was sent
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, ErrorCode::frame);
  EXPECT_NE(error->text.find(std::to_string(over)), std::string::npos) << error->text;
  EXPECT_NE(error->text.find(std::to_string(over - 1)), std::string::npos) << error->text;
  good.publish(1, 1, 2, largest);
  const support::Received received = receiver.receive(2);
  EXPECT_EQ(received.records[1].size, largest);
  EXPECT_TRUE(received.checksums_right);
}

TEST(HostileLimits, AFrameThatCannotBeLongIsRefusedAtItsHeader) {
  struct Case {
    WireClient (*connect)(uint16_t port);
    FrameType type;
    uint32_t body_bytes;
  };
  const auto sender = [](uint16_t port) { return WireClient::sender(port, 1); };
  const auto receiver = [](uint16_t port) { return WireClient::receiver(port, 1); };
  const auto probe = [](uint16_t port) { return WireClient::probe(port); };
  const Case cases[] = {{sender, FrameType::confirm, 1'000'000},    {sender, FrameType::deliver, 1'000'000},
                        {sender, FrameType::error, 1033},           {receiver, FrameType::publish, 100'000},
                        {receiver, FrameType::confirm, 16 * 4097},  {receiver, FrameType::rules, 8 + 16 * 4096},
                        {receiver, FrameType::skipped, 2400},       {probe, FrameType::publish, 1'000'000},
                        {probe, FrameType::accepted, 8 + 24 * 100}, {probe, FrameType::error, 1'000'000}};
  BrokerUnderTest broker;
  for (const Case& one : cases) {
    WireClient client = one.connect(broker.port());
    client.send(wire::ByteView(with_header(one.body_bytes, static_cast<uint8_t>(one.type))));
    const auto error = client.read_error();  // comes though no byte of the body was sent
    ASSERT_TRUE(error.has_value()) << wire::name_of(one.type);
    EXPECT_EQ(error->code, ErrorCode::frame);
    EXPECT_NE(error->text.find(std::to_string(one.body_bytes) + " bytes is over the limit of"), std::string::npos) << error->text;
  }
}

TEST(HostileLimits, WhoSaysWhatItsRoleDoesNotIsToldSoHoweverLongItIs) {
  BrokerUnderTest broker;
  std::pair<WireClient, std::string> cases[] = {
      {WireClient::sender(broker.port(), 1), "of what a sender says only PUBLISH and ERROR are longer"},
      {WireClient::receiver(broker.port(), 1), "of what a receiver says only CONFIRM, RULES and ERROR are longer"},
      {WireClient::probe(broker.port()), "of what a probe says only ERROR is longer"},
      {WireClient(broker.port()), "nothing is longer before WELCOME, and HELLO comes first"}};
  for (auto& [client, text] : cases) {
    client.send(wire::ByteView(with_header(98, static_cast<uint8_t>(FrameType::deliver))));
    EXPECT_EQ(client.read_error().value().text, "DELIVER: a body of 98 bytes is over the limit of 64: " + text);
  }
}

/// Gives the kernel what it takes without waiting; returns how much.
size_t send_what_is_taken(WireClient& client, wire::ByteView bytes) {
  const ssize_t taken = ::send(client.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return taken > 0 ? static_cast<size_t>(taken) : 0;
}

/// How much of it N2NQ takes until it holds senders back, and then the sockets.
size_t send_until_held_back(WireClient& sender, wire::ByteView frames, WireClient& probe) {
  size_t sent = 0;
  for (int rounds_without = 0; rounds_without < 20; ++rounds_without) {
    const size_t taken = send_what_is_taken(sender, frames.subspan(sent));
    sent += taken;
    if (taken > 0) rounds_without = 0;
    probe.ask_clock();
  }
  return sent;
}

TEST(HostileLimits, FramesThatHaveNotComeWholeCountAgainstTheMemoryBudget) {
  constexpr uint32_t senders = 60;
  constexpr size_t payload_bytes = 1'000'000, budget_bytes = 8u << 20, own_bytes = 64 * 1024, place_bytes = 1 << 20;
  BrokerUnderTest broker(json{{"expect", {{"senders", senders}, {"receivers", 1}}},
                              {"limits", {{"memory_bytes", budget_bytes}, {"pending_bytes", budget_bytes}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient probe = WireClient::probe(broker.port());
  std::vector<WireClient> clients;
  std::vector<wire::Bytes> frames;
  std::vector<size_t> sent(senders);
  for (uint32_t number = 1; number <= senders; ++number) {
    clients.push_back(WireClient::sender(broker.port(), number));
    frames.push_back(support::publish_frames(number, 0, 1, payload_bytes, 1 << 20));
  }
  const size_t before_bytes = memory_of(broker);
  // All but the last byte of each, as much as the broker reads of it.
  for (int rounds_without = 0; rounds_without < 5; ++rounds_without) {
    for (uint32_t i = 0; i < senders; ++i) {
      const size_t taken = send_what_is_taken(clients[i], wire::ByteView(frames[i]).subspan(sent[i], frames[i].size() - 1 - sent[i]));
      sent[i] += taken;
      if (taken > 0) rounds_without = 0;
    }
    probe.ask_clock();
  }
  EXPECT_LE(memory_of(broker), before_bytes + budget_bytes + senders * own_bytes + sanitizer_bytes);
  // Nobody is stuck for good: when the rest comes, all that was begun gets through.
  std::vector<std::jthread> rest;
  for (uint32_t i = 0; i < senders; ++i) {
    rest.emplace_back([&, i] {
      clients[i].send(wire::ByteView(frames[i]).subspan(sent[i]));
      EXPECT_EQ(clients[i].end(1), 1u);
    });
  }
  EXPECT_EQ(receiver.receive_all().records.size(), senders);
  rest.clear();
  broker.hear("state", "ended");
  const json bye = broker.finish();
  EXPECT_EQ(bye["messages_accepted"], senders);
  EXPECT_GT(bye["waited_for_places_ns"].get<int64_t>(), 0) << "most had to wait for their place";
  EXPECT_LE(bye["memory_bytes_max"].get<size_t>(), budget_bytes + place_bytes + own_bytes);
  EXPECT_GE(bye["kept_bytes"].get<size_t>(), net::FramePlaces::free_bytes_max) << "four places of 1 MiB, which nobody has any more";
  EXPECT_LE(bye["kept_bytes"].get<size_t>(), net::FramePlaces::free_bytes_max + MessageLog::free_bytes_max);
}

TEST(HostileLimits, ALongFrameThatIsUnderWayGetsThroughWhereWhatNobodyWantsUsedUpTheMemory) {
  constexpr size_t payload_bytes = 1'000'000, budget_bytes = 4u << 20, read_bytes = 64 * 1024;
  BrokerUnderTest broker(json{{"expect", {{"senders", 2}, {"receivers", 1}}},
                              {"queue", {{"mode", "load-balancer"}, {"requests", true}, {"retention_ms", 600'000}}},
                              {"limits", {{"memory_bytes", budget_bytes}, {"pending_bytes", budget_bytes}}}});
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  receiver.send(wire::Rules{1, {wire::Rule{2, 2, 0, UINT32_MAX}}});
  receiver.send(wire::Credit{1});
  WireClient wanted = WireClient::sender(broker.port(), 2);
  const wire::Bytes frame = support::publish_frames(2, 0, 1, payload_bytes, 1 << 20);
  wanted.send(wire::ByteView(frame).first(frame.size() / 2));
  WireClient unwanted = WireClient::sender(broker.port(), 1);
  const wire::Bytes frames = support::publish_frames(1, 0, 3000, 10'000, read_bytes);  // more than budget and sockets take
  WireClient probe = WireClient::probe(broker.port());
  ASSERT_LT(send_until_held_back(unwanted, frames, probe), frames.size());
  wanted.send(wire::ByteView(frame).subspan(frame.size() / 2));
  const support::Received received = receiver.receive(1);
  ASSERT_EQ(received.records.size(), 1u);
  EXPECT_EQ(received.records[0].sender, 2u);
  const json bye = broker.finish();
  EXPECT_GT(bye["held_back_by_memory_ns"].get<int64_t>(), 0);
  EXPECT_LE(bye["memory_bytes_max"].get<size_t>(), budget_bytes + 2 * read_bytes);
}

TEST(HostileLimits, WhatSomebodySentWhoEndsWhileNobodyIsReadIsTakenIn) {
  constexpr size_t payload_bytes = 10'000, memory_bytes = 3'000'000;
  constexpr int64_t heartbeat_ms = 2000;
  constexpr uint64_t last_words = 5;
  BrokerUnderTest broker(json{
      {"expect", {{"senders", 2}, {"receivers", 1}}},
      {"queue", {{"retention_ms", 600'000}}},
      {"limits",
       {{"memory_bytes", memory_bytes}, {"message_bytes_max", 100'000}, {"heartbeat_ms", heartbeat_ms}, {"reconnect_deadline_ms", 600'000}}}});
  // More than budget and sockets take; made before somebody connects, who would be silent meanwhile.
  const wire::Bytes frames = support::publish_frames(1, 0, 3000, payload_bytes, 64 * 1024);
  WireClient sender = WireClient::sender(broker.port(), 1);
  WireClient probe = WireClient::probe(broker.port());
  const size_t taken = send_until_held_back(sender, frames, probe);
  ASSERT_GE(taken, memory_bytes);
  ASSERT_LT(taken, frames.size());
  WireClient doomed = WireClient::sender(broker.port(), 2);  // not before: it would have been silent, however long that took
  doomed.publish(2, 0, last_words, payload_bytes);
  // With something unread its own host would throw away what N2NQ has not read yet.
  for (std::array<char, 4096> told; ::recv(doomed.fd(), told.data(), told.size(), MSG_DONTWAIT) > 0;) {
  }
  doomed.close();
  probe.wait_for_broker_clock(net::now_ns() + 2 * heartbeat_ms * net::ns_per_ms);  // a word to it would have been due
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  wire::Bytes heartbeat;
  wire::encode_heartbeat(heartbeat);
  for (uint64_t heard = 0; heard < last_words;) {
    for (const wire::RecordHeader& record : receiver.receive(1).records) heard += record.sender == 2;
    receiver.send(wire::ByteView(heartbeat));
  }
}

TEST(HostileLimits, WhoHoldsAPlaceForALongFrameAndSaysNothingLosesItToWhoWaits) {
  constexpr size_t payload_bytes = 1'000'000;
  BrokerUnderTest broker(json{{"expect", {{"senders", 4}, {"receivers", 1}}},
                              {"limits", {{"memory_bytes", 4u << 20}, {"pending_bytes", 4u << 20}, {"heartbeat_ms", 2000}}}});
  const wire::Bytes frame = support::publish_frames(1, 0, 1, payload_bytes, 1 << 20);
  // The share of such frames is 2 MiB: two have room at a time.
  std::vector<WireClient> silent;
  for (uint32_t number = 2; number <= 4; ++number) {
    silent.push_back(WireClient::sender(broker.port(), number));
    silent.back().send(wire::ByteView(with_header(payload_bytes, static_cast<uint8_t>(FrameType::publish))));
  }
  WireClient sender = WireClient::sender(broker.port(), 1);
  sender.send(wire::ByteView(frame));
  EXPECT_TRUE(sender.wait_accepted(1).empty());
  EXPECT_EQ(silent.front().read_error().value().code, ErrorCode::silent);
}

TEST(HostileLimits, ADesyncedStreamIsClosedAndToldOnce) {
  const std::filesystem::path log = std::filesystem::temp_directory_path() / ("n2nq-desync-" + std::to_string(getpid()) + ".log");
  {
    BrokerUnderTest broker(json{{"log_file", log.string()}, {"limits", {{"drain_ms", 0}}}});
    WireClient sender = WireClient::sender(broker.port(), 1);
    sender.publish(1, 0, 10);
    // One byte too many, then lines of 1 kB: every later header is somewhere else.
    wire::Bytes shifted(1, 0);
    for (int line = 0; line < 50; ++line) {
      shifted.insert(shifted.end(), 1023, 'A');
      shifted.push_back('\n');
    }
    send_until_closed(sender, wire::ByteView(shifted));
    EXPECT_EQ(sender.read_error().value().code, ErrorCode::frame);
    EXPECT_EQ(broker.finish()["messages_accepted"], 10);
  }
  std::ifstream file(log);
  std::string line;
  int told = 0;
  while (std::getline(file, line)) told += line.find("S001") != std::string::npos && line.find("left: frame:") != std::string::npos;
  EXPECT_EQ(told, 1);
  std::filesystem::remove(log);
}

/// So many sessions and not one more; and when all have gone, once more.
void fill_twice(uint32_t sessions) {
  ASSERT_EQ(net::raise_file_limit(sessions + 100), "");
  BrokerUnderTest broker(json{{"expect", {{"senders", sessions}, {"receivers", 1}}},
                              {"limits", {{"sessions_max", sessions}, {"reconnect_deadline_ms", 600'000}}}});
  const size_t files_before = files_of(broker);
  for (uint32_t round = 0; round < 2; ++round) {
    std::vector<WireClient> senders;
    senders.reserve(sessions);
    for (uint32_t number = 1; number <= sessions; ++number) senders.push_back(WireClient::sender(broker.port(), number, round));
    WireClient one_more(broker.port());
    const auto error = one_more.read_error();
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::too_many);
    for (WireClient& sender : senders) sender.reset();
    one_more.close();
    // Until there is room for a probe again, then until all are gone.
    support::wait_for_a_place(broker.port());
    wait_for_files(broker, files_before);
  }
}

TEST(HostileLimits, TenSessionsAndNotOneMoreTwice) {
  fill_twice(10);
}

TEST(HostileLimits, TwoThousandSessionsAndNotOneMoreTwice) {
  fill_twice(2000);
}

}  // namespace
}  // namespace n2nq
