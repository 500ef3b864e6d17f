// SPDX-License-Identifier: GPL-3.0-or-later
// Who connects and has not introduced himself, or not with the token: he keeps nobody out, and what he costs is gone with him.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "broker/net/file_limit.h"
#include "broker/server/session_places.h"
#include "tests/broker/support/broker_cost.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::WireClient;
using support::files_of;
using support::memory_of;
using support::sanitizer_bytes;
using support::wait_for_files;
using wire::ErrorCode;
using wire::FrameType;

TEST(HostileLimits, WhoHasNotIntroducedItselfKeepsNobodyOut) {
  constexpr uint32_t sessions = 10, too_long_there = 40;
  const std::string token_hex(64, 'a');
  BrokerUnderTest broker(json{{"token", token_hex},
                              {"expect", {{"senders", sessions}, {"receivers", 1}}},
                              {"limits", {{"sessions_max", sessions}, {"handshake_deadline_ms", 60'000}}}});
  wire::Hello hello;
  hello.role = wire::Role::sender;
  hello.token = wire::token_from_hex(token_hex).value();
  wire::Hello wrong = hello;
  wrong.number = 1;
  wrong.token[7] ^= 1;
  // The door is full of those who say nothing, and of those who were told that their token is wrong and stay.
  std::vector<WireClient> strangers;
  for (uint32_t i = 0; i < 2 * (SessionPlaces::strangers_beside_max + too_long_there); ++i) {
    strangers.emplace_back(broker.port());
    if (i % 2 == 1) strangers.back().send(wrong);
  }
  std::vector<WireClient> services;
  for (hello.number = 1; hello.number <= sessions; ++hello.number) {
    services.emplace_back(broker.port());
    services.back().hello(hello);
  }
  // Those who had been there longest made room, and those of them who said nothing were told why.
  for (uint32_t i = 0; i < 2 * too_long_there; i += 2) EXPECT_EQ(strangers[i].read_error().value().code, ErrorCode::too_many) << i;
  // Services make no room for anybody.
  WireClient one_more(broker.port());
  EXPECT_EQ(one_more.read_error().value().code, ErrorCode::too_many);
  for (WireClient& service : services) EXPECT_EQ(service.end(0), 0u);
}

TEST(HostileLimits, AThousandHalfOpenConnectionsAreClosedAndTheirFilesComeBack) {
  constexpr size_t connections = 1000;
  ASSERT_EQ(net::raise_file_limit(connections + 100), "");
  BrokerUnderTest broker(json{{"limits", {{"handshake_deadline_ms", 2000}, {"drain_ms", 0}}}});
  const size_t files_before = files_of(broker);
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  WireClient sender = WireClient::sender(broker.port(), 1);
  std::vector<WireClient> silent;
  for (size_t i = 0; i < connections; ++i) silent.emplace_back(broker.port());
  sender.publish(1, 0, 100);
  EXPECT_EQ(receiver.receive(100).records.size(), 100u) << "who has introduced himself is served meanwhile";
  for (WireClient& client : silent) {
    EXPECT_EQ(client.read_error().value().code, ErrorCode::handshake);
    EXPECT_FALSE(client.read().has_value());
  }
  silent.clear();
  wait_for_files(broker, files_before + 2);
  const json refused = broker.finish()["sessions_refused"][0];
  EXPECT_EQ(refused["code"], "handshake");
  EXPECT_EQ(refused["count"], connections);
}

TEST(HostileLimits, AHelloThatLiesThereIsNotLateWhenTheBrokerItselfStoodStill) {
  constexpr int64_t deadline_ms = 12'000;  // within which all are accepted, on a busy machine, too
  constexpr size_t connections = 800;  // far more than are looked at in one wake-up
  ASSERT_EQ(net::raise_file_limit(connections + 100), "");
  BrokerUnderTest broker(json{{"limits", {{"handshake_deadline_ms", deadline_ms}, {"drain_ms", 0}}}});
  const size_t files_before = files_of(broker);
  std::vector<WireClient> clients;
  for (size_t i = 0; i < connections; ++i) clients.emplace_back(broker.port());
  const int64_t connected_ns = net::now_ns();
  while (files_of(broker) < files_before + connections && net::now_ns() - connected_ns < support::patience_ns) std::this_thread::yield();
  broker.process().signal(SIGSTOP);
  wire::Hello hello;
  hello.role = wire::Role::probe;
  for (WireClient& client : clients) client.send(hello);
  // Nothing tells this: it is for so long that N2NQ stands still.
  std::this_thread::sleep_for(std::chrono::milliseconds(deadline_ms + 500));
  broker.process().signal(SIGCONT);
  size_t welcomed = 0;
  for (WireClient& client : clients) {
    const auto frame = client.read();
    welcomed += frame && frame->type == FrameType::welcome;
  }
  EXPECT_EQ(welcomed, connections);
}

TEST(HostileLimits, TenThousandWrongTokensOpenNothingAndCostNothing) {
  constexpr int tries = 10'000;
  const std::string token_hex = std::string(62, 'a') + "01";
  const std::filesystem::path log = std::filesystem::temp_directory_path() / ("n2nq-token-" + std::to_string(getpid()) + ".log");
  {
    BrokerUnderTest broker(json{{"token", token_hex}, {"log_file", log.string()}});
    wire::Hello hello;
    hello.role = wire::Role::receiver;
    hello.number = 1;
    hello.token = wire::token_from_hex(token_hex).value();
    std::string said;
    size_t files_before = 0, bytes_before = 0;
    for (int i = 0; i < tries; ++i) {
      wire::Hello wrong = hello;
      wrong.token[static_cast<size_t>(i) % wrong.token.size()] ^= static_cast<uint8_t>(1 + i % 255);
      WireClient client(broker.port());
      client.send(wrong);
      const auto error = client.read_error();
      ASSERT_TRUE(error.has_value());
      ASSERT_EQ(error->code, ErrorCode::token);
      if (said.empty()) said = error->text;
      ASSERT_EQ(error->text, said) << "the same word, however wrong the token is";
      ASSERT_FALSE(client.read().has_value());
      if (i == tries / 10) files_before = files_of(broker), bytes_before = memory_of(broker);
    }
    EXPECT_LE(files_of(broker), files_before + 10);
    EXPECT_LT(memory_of(broker), bytes_before + (1u << 20) + sanitizer_bytes);
    EXPECT_EQ(said.find("aaaa"), std::string::npos);
    WireClient right(broker.port());
    right.hello(hello);
    const json bye = broker.finish();
    EXPECT_EQ(bye["sessions_refused"][0]["count"], tries);
  }
  std::ifstream file(log);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    EXPECT_EQ(line.find("aaaaaaaa"), std::string::npos) << "a token in the log";
  }
  EXPECT_LT(lines, 1100) << "whoever knocks for days fills no disk";
  std::filesystem::remove(log);
}

}  // namespace
}  // namespace n2nq
