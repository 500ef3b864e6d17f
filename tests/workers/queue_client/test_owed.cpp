// SPDX-License-Identifier: GPL-3.0-or-later
// A receiver's connection that breaks, an attempt that gets no answer, and what N2NQ owes to it then: what was begun under the list before.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "broker/net/event_loop.h"
#include "broker/net/tcp.h"
#include "broker/wire/messages.h"
#include "broker/wire/record.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {
namespace {

constexpr std::uint32_t prefetch = 10, delivered_first = 2, delivered_then = 12;

wire::Bytes welcome_and(std::uint32_t deliveries) {
  wire::Bytes bytes;
  wire::Welcome welcome;
  welcome.features = wire::feature_requests;
  welcome.message_bytes_max = 1000;
  welcome.frame_bytes_max = 1 << 20;
  welcome.encode(bytes);
  wire::Bytes records;
  for (std::uint32_t index = 0; index < deliveries; ++index) {
    wire::Bytes record(wire::record_header_bytes + 5, 'x');
    wire::write_record_header(record.data(), {.size = 5, .sender = 1, .index = index});
    wire::set_record_checksum(record.data(), wire::compute_record_checksum(record.data()));
    records.insert(records.end(), record.begin(), record.end());
  }
  wire::Writer(bytes)
      .put(static_cast<std::uint32_t>(wire::deliver_prefix_bytes + records.size()))
      .put(static_cast<std::uint8_t>(wire::FrameType::deliver))
      .put(std::uint8_t{0})
      .put(std::uint16_t{0})
      .put(std::int64_t{1});
  bytes.insert(bytes.end(), records.begin(), records.end());
  return bytes;
}

/// N2NQ's end of three connections. The second one is closed without a word.
void answer(int listener) {
  const auto wait_for = [](int fd) {
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, -1) < 1) continue;
  };
  for (const std::uint32_t deliveries : {delivered_first, 0u, delivered_then}) {
    wait_for(listener);
    const net::Fd socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (deliveries == 0) continue;
    wait_for(socket.get());  // HELLO
    const wire::Bytes bytes = welcome_and(deliveries);
    EXPECT_EQ(::write(socket.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::shutdown(socket.get(), SHUT_WR);
    std::array<char, 4096> rest;
    while (::read(socket.get(), rest.data(), rest.size()) > 0) continue;
  }
}

/// Asks for sender 1 first, and for sender 2 on the connections behind that.
struct Asking : QueueHandler {
  explicit Asking(net::EventLoop& given) : loop(given), again(given, [this] { client->open(0); }) {}
  void on_open(const OpenFacts&) override {
    ++opened;
    const std::uint32_t sender = opened == 1 ? 1 : 2;
    client->request({.rules = {wire::Rule{sender, sender, 0, UINT32_MAX}}, .prefetch = prefetch});
  }
  void on_delivery(const Delivery& delivery) override { asked_for.push_back(delivery.asked_for); }
  void on_end(const wire::EndTotals&) override {}
  void on_closed(const std::string& reason, Closed closed) override {
    EXPECT_EQ(closed, Closed::for_now) << reason;
    asked_for.size() == delivered_first + delivered_then ? loop.stop() : again.arm(1);
  }

  net::EventLoop& loop;
  net::Timer again;
  std::unique_ptr<QueueClient> client;
  int opened = 0;
  std::vector<bool> asked_for;
};

TEST(Owed, WhatWasBegunUnderTheListBeforeIsAskedForAlsoBehindAnAttemptThatFailed) {
  net::EventLoop loop;
  const net::Fd listener = net::listen_on(*net::SocketAddress::parse("127.0.0.1", 0));
  std::thread broker(answer, listener.get());
  Asking handler(loop);
  ClientIdentity identity;
  identity.role = wire::Role::receiver;
  identity.number = 1;
  handler.client = make_queue_client("n2nq", loop, net::local_address(listener.get()), identity, handler);
  handler.client->open(0);
  loop.run();
  broker.join();
  EXPECT_EQ(handler.opened, 2);
  ASSERT_EQ(handler.asked_for.size(), delivered_first + delivered_then);
  for (std::uint32_t at = 0; at < prefetch; ++at) EXPECT_TRUE(handler.asked_for[at]) << at;
  EXPECT_FALSE(handler.asked_for.back()) << "more than there was credit for";
}

}  // namespace
}  // namespace n2nq::worker
