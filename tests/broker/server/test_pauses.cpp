// SPDX-License-Identifier: GPL-3.0-or-later
// N2NQ itself stands still for longer than its deadlines, while more comes in than it looks at in one wake-up. A real n2nq-broker, real
// TCP.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::BrokerUnderTest;
using support::WireClient;

constexpr uint32_t senders = 600;  // one wake-up looks at 512
constexpr int64_t deadline_ms = 5000;
constexpr int64_t retention_ms = 60'000;  // nothing expires while N2NQ stands still

std::vector<WireClient> connect_senders(const BrokerUnderTest& broker) {
  std::vector<WireClient> all;
  for (uint32_t number = 1; number <= senders; ++number) all.push_back(WireClient::sender(broker.port(), number));
  return all;
}

/// Meanwhile all senders publish a message, and what `last` does comes behind these.
template <typename Last>
void pause_beyond_the_deadline(BrokerUnderTest& broker, std::vector<WireClient>& all, uint64_t next_of_first, const Last& last) {
  broker.process().signal(SIGSTOP);
  const auto stopped = std::chrono::steady_clock::now();
  for (uint32_t number = senders; number > 1; --number) all[number - 1].publish(number, 0, 1);
  all[0].publish(1, next_of_first, next_of_first + 1);
  last();
  // Nothing tells this: it is for so long that N2NQ stands still.
  std::this_thread::sleep_until(stopped + std::chrono::milliseconds(deadline_ms + 500));
  broker.process().signal(SIGCONT);
}

TEST(Pauses, AnAnswerThatCameInTimeCountsHoweverManyCameBeforeIt) {
  BrokerUnderTest broker(json{{"expect", {{"senders", senders}, {"receivers", 1}}},
                              {"queue",
                               {{"responses", true},
                                {"responses_deadline_ms", deadline_ms},
                                {"responses_attempts_max", 1},
                                {"retention_ms", retention_ms}}}});
  std::vector<WireClient> all = connect_senders(broker);
  WireClient receiver = WireClient::receiver(broker.port(), 1);
  all[0].publish(1, 0, 1);
  EXPECT_EQ(receiver.receive(1).records.size(), 1u);
  pause_beyond_the_deadline(broker, all, 1, [&] { receiver.send(wire::Confirm{{{0, 1, false}}}); });
  for (uint64_t number = 1; number <= senders;) {
    const auto count = static_cast<uint32_t>(receiver.receive(1).records.size());
    receiver.send(wire::Confirm{{{number, count, false}}});
    number += count;
  }
  for (uint32_t number = 1; number <= senders; ++number) all[number - 1].end(number == 1 ? 2 : 1);
  const json bye = broker.finish();
  EXPECT_EQ(bye["receivers"][0]["confirmed"], senders + 1) << bye["receivers"][0];
  EXPECT_EQ(bye["receivers"][0]["redelivered"], 0);
}

TEST(Pauses, AReceiverThatReadsIsNotCutOffHoweverManyAreReadyBeforeIt) {
  constexpr uint64_t messages = 100;  // more than the sockets hold
  BrokerUnderTest broker(json{{"expect", {{"senders", senders}, {"receivers", 1}}},
                              {"queue", {{"retention_ms", retention_ms}}},
                              {"limits", {{"write_deadline_ms", deadline_ms}}}});
  std::vector<WireClient> all = connect_senders(broker);
  WireClient receiver = WireClient::receiver(broker.port(), 1, {.receive_buffer_bytes = 4096});
  all[0].publish(1, 0, messages, 100'000);
  all[0].wait_accepted(messages);
  std::thread reading;
  pause_beyond_the_deadline(broker, all, messages, [&] {
    reading = std::thread([&] { EXPECT_EQ(receiver.receive(messages + senders).records.size(), messages + senders); });
  });
  reading.join();
  EXPECT_EQ(broker.finish()["receivers"][0]["cut_off_reason"], "");
}

}  // namespace
}  // namespace n2nq
