// SPDX-License-Identifier: GPL-3.0-or-later
// One message at a time to many receivers: a real n2nq-broker, real TCP, and receivers that come, go and do not read meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "broker/net/core_keeper.h"
#include "broker/net/send_ring.h"
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

constexpr uint32_t receivers = 24;
constexpr uint64_t messages = 3000;
constexpr size_t payload_bytes = 50;

json settings() {
  return {{"expect", {{"senders", 2}, {"receivers", receivers}}}, {"queue", {{"retention_ms", 600'000}}}};
}

/// What the last receiver has, by sender from 1.
using Seen = std::array<std::atomic<uint64_t>, 3>;

/// Of what came behind the first `known`.
void note(const Received& got, size_t known, Seen& seen) {
  for (; known < got.records.size(); ++known) seen[got.records[known].sender] = got.records[known].index + 1;
}

/// Calls `on_frame` with how many records were there before each frame.
void read_to_end(WireClient& client, Received& got, const std::function<void(size_t)>& on_frame) {
  while (!got.totals) {
    const auto frame = client.read();
    ASSERT_TRUE(frame.has_value());
    const size_t known = got.records.size();
    client.take(*frame, got);
    on_frame(known);
  }
  client.close();
}

/// One behind the other, each when the last receiver has the one before: a round of its own, or one with the other sender's.
void publish_one_by_one(uint16_t port, uint32_t number, const Seen& seen) {
  WireClient sender = WireClient::sender(port, number);
  for (uint64_t index = 0; index < messages; ++index) {
    while (seen[number] < index) std::this_thread::yield();
    sender.publish(number, index, index + 1, payload_bytes);
  }
  EXPECT_EQ(sender.end(messages), messages);
}

TEST(FanOut, EverybodyWhoStaysGetsEverythingOnceAndInOrder) {
  BrokerUnderTest broker(settings());
  std::vector<WireClient> clients;
  for (uint32_t number = 1; number <= receivers; ++number) clients.push_back(WireClient::receiver(broker.port(), number));
  std::vector<Received> received(receivers);
  Seen seen{};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < receivers; ++i) {
    threads.emplace_back([&, i] {
      read_to_end(clients[i], received[i], [&](size_t known) {
        if (i + 1 == receivers) note(received[i], known, seen);
      });
    });
  }
  for (uint32_t number : {1u, 2u}) threads.emplace_back([&, number] { publish_one_by_one(broker.port(), number, seen); });
  for (std::thread& thread : threads) thread.join();
  for (const Received& one : received) {
    EXPECT_EQ(text_of(one.set()), "1:0-2999 2:0-2999");
    EXPECT_EQ(one.records.size(), 2 * messages);
    EXPECT_TRUE(one.in_order);
    EXPECT_TRUE(one.checksums_right);
    EXPECT_TRUE(std::is_sorted(one.sent_on_ns.begin(), one.sent_on_ns.end()));
    ASSERT_TRUE(one.totals.has_value());
    EXPECT_EQ(one.totals->handed_over, 2 * messages);
  }
  broker.hear("state", "ended");
  EXPECT_EQ(broker.finish()["deliveries"], 2 * messages * receivers);
}

bool has_core_keeper(pid_t pid) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::string name;
    if (std::getline(std::ifstream(task.path() / "comm"), name) && name == net::CoreKeeper::thread_name) return true;
  }
  return false;
}

TEST(FanOut, ManyReceiversOfThisHostAreKeptOffTheCoreUnlessThatIsNotWanted) {
  for (const bool keep_core : {true, false}) {
    for (const uint32_t amount : {15u, 16u}) {
      BrokerUnderTest broker({{"expect", {{"senders", 1}, {"receivers", amount}}}, {"keep_core", keep_core}});
      std::vector<WireClient> clients;
      for (uint32_t number = 1; number <= amount; ++number) clients.push_back(WireClient::receiver(broker.port(), number));
      WireClient sender = WireClient::sender(broker.port(), 1);
      sender.publish(1, 0, 1);
      for (WireClient& client : clients) EXPECT_EQ(client.receive(1).records.size(), 1u);
      sender.wait_accepted(1);
      EXPECT_EQ(has_core_keeper(broker.process().pid()), keep_core && amount == 16 && net::CoreKeeper::is_of_use());
    }
  }
}

/// Receivers of number 1 to 4 are reset and come back all the time, 5 and 6 read when many wait for them only.
TEST(FanOut, WhoGoesComesOrLagsMeanwhileHasNoPartOfAFrameTwiceAndDisturbsNobody) {
  BrokerUnderTest broker(settings());
  const uint16_t port = broker.port();
  constexpr uint32_t restless = 4, lagging = 2;
  std::vector<Received> received(receivers);
  std::vector<std::vector<Received>> pieces(restless);
  std::vector<WireClient> clients;
  Seen seen{};
  for (uint32_t number = restless + 1; number <= receivers; ++number) {
    const int buffer_bytes = number <= restless + lagging ? 64 * 1024 : 0;
    clients.push_back(WireClient::receiver(port, number, WireClient::Socket{buffer_bytes}));
  }
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number <= restless; ++number) {
    threads.emplace_back([&, number] {
      uint32_t session = 0;
      while (pieces[number - 1].empty() || !pieces[number - 1].back().totals) {
        WireClient client = WireClient::receiver(port, number, ++session);
        Received& got = pieces[number - 1].emplace_back();
        const size_t enough = session % 40 == 0 ? SIZE_MAX : 10 * session % 97;
        while (!got.totals && got.records.size() < enough) {
          const auto frame = client.read();
          if (!frame) break;
          client.take(*frame, got);
        }
        if (!got.totals) client.reset();
      }
    });
  }
  for (uint32_t number = restless + 1; number <= receivers; ++number) {
    threads.emplace_back([&, number] {
      WireClient& client = clients[number - restless - 1];
      Received& got = received[number - 1];
      read_to_end(client, got, [&](size_t known) {
        if (number == receivers) note(got, known, seen);
        const uint64_t further = std::min(messages, got.records.size() / 2 + 700);
        if (number <= restless + lagging && got.records.size() % 500 == 0) {
          while (seen[1] < further) std::this_thread::yield();
        }
      });
    });
  }
  for (uint32_t number : {1u, 2u}) threads.emplace_back([&, number] { publish_one_by_one(port, number, seen); });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t number = restless + 1; number <= receivers; ++number) {
    SCOPED_TRACE(number);
    const Received& one = received[number - 1];
    EXPECT_EQ(text_of(one.set()), "1:0-2999 2:0-2999");
    EXPECT_EQ(one.records.size(), 2 * messages);
    EXPECT_TRUE(one.in_order);
    EXPECT_TRUE(one.checksums_right);
  }
  const json bye = broker.finish();
  for (uint32_t number = 1; number <= restless; ++number) {
    SCOPED_TRACE(number);
    SenderSets all;
    uint64_t records = 0, handed_over = bye["receivers"][number - 1]["handed_over"];
    for (const Received& piece : pieces[number - 1]) {
      EXPECT_TRUE(piece.in_order);
      EXPECT_TRUE(piece.checksums_right);
      EXPECT_FALSE(piece.error);
      records += piece.records.size();
      all += piece.set();
    }
    EXPECT_EQ(all.count(), records) << "something came twice";
    EXPECT_LE(records, handed_over);
    EXPECT_EQ(handed_over, 2 * messages) << "the kernel took each once";
  }
  EXPECT_EQ(bye["faults"], json::array());
}

/// The descriptor of the ring that io_uring has given this process; -1: it has none.
int ring_of_this_process() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().find("io_uring") != std::string::npos)
      return std::stoi(entry.path().filename().string());
  }
  return -1;
}

TEST(FanOut, ARingThatFailsInTheMiddleOfARoundCostsNobodyAMessage) {
  if (const std::string problem = net::SendRing::problem(); !problem.empty()) GTEST_SKIP() << problem;
  constexpr uint32_t many = net::SendRing::writes_max + 20;
  Options options;
  options.io = Io::io_uring;
  options.queue.receivers = many;
  options.queue.senders = 1;
  support::SteppedServer server(options);
  std::vector<WireClient> all;
  for (uint32_t number = 1; number <= many; ++number) all.push_back(server.connect(wire::Role::receiver, number));
  WireClient sender = server.connect(wire::Role::sender, 1);
  const int ring = ring_of_this_process();
  ASSERT_GE(ring, 0);
  for (uint64_t index = 0; index < 3; ++index) {
    if (index == 1) {
      const net::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
      ASSERT_EQ(::dup2(nothing.get(), ring), ring);  // what is submitted to it fails
    }
    sender.publish(1, index, index + 1);
    for (int i = 0; i < 5; ++i) server.wake_up();
    for (WireClient& receiver : all) ASSERT_EQ(receiver.receive(1).records.size(), 1u) << index;
  }
}

}  // namespace
}  // namespace n2nq
