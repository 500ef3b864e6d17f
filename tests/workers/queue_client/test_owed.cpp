// SPDX-License-Identifier: GPL-3.0-or-later
// A receiver's connection that breaks, an attempt that gets no answer, and what N2NQ owes to it then: what was begun under the list before.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/net/tcp.h"
#include "broker/wire/messages.h"
#include "broker/wire/record.h"
#include "tests/broker/support/run_until.h"
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
  explicit Asking(net::EventLoop& given) : loop(given), again(given, [this] { client->open(0, nullptr); }) {}
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
  handler.client->open(0, nullptr);
  loop.run();
  broker.join();
  EXPECT_EQ(handler.opened, 2);
  ASSERT_EQ(handler.asked_for.size(), delivered_first + delivered_then);
  for (std::uint32_t at = 0; at < prefetch; ++at) EXPECT_TRUE(handler.asked_for[at]) << at;
  EXPECT_FALSE(handler.asked_for.back()) << "more than there was credit for";
}

/// Is not answered.
struct Unheard : QueueHandler {
  void on_open(const OpenFacts&) override { ADD_FAILURE() << "nobody greets it"; }
  void on_end(const wire::EndTotals&) override { ADD_FAILURE() << "nobody greets it"; }
  void on_closed(const std::string& reason, Closed closed) override {
    EXPECT_EQ(closed, Closed::for_now) << reason;
    ++given_up;
  }
  int given_up = 0;
};

/// Its HELLO is not to arrive when the next attempt is there, and to replace that. On its own host it has arrived, before that of the next.
TEST(Owed, AnAttemptThatIsNotAnsweredIsTakenBack) {
  net::EventLoop loop;
  const net::Fd tcp = net::listen_on(*net::SocketAddress::parse("127.0.0.1", 0));
  const net::Fd beside = net::listen_on(net::SocketAddress::unix_beside(net::local_address(tcp.get()).port()));
  const auto is_readable = [](int fd) {
    pollfd look{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&look, 1, 0) == 1;
  };
  for (const bool is_tcp : {true, false}) {
    const int listener = is_tcp ? tcp.get() : beside.get();
    Unheard handler;
    ClientIdentity identity;
    identity.role = wire::Role::sender;
    identity.number = 1;
    const auto client = make_queue_client("n2nq", loop, net::local_address(listener), identity, handler);
    client->open(0, nullptr);
    net::Fd socket;
    support::run_until(loop, [&] {
      loop.wake_again();
      if (!socket.valid() && is_readable(listener)) socket = net::Fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
      return socket.valid() && is_readable(socket.get());
    });
    client->tick(net::now_ns());
    EXPECT_EQ(handler.given_up, 0);
    client->tick(net::now_ns() + 60 * net::ns_per_s);
    EXPECT_EQ(handler.given_up, 1);
    std::array<char, 4096> bytes;
    ssize_t count = 0, hello_bytes = 0;
    while ((count = ::read(socket.get(), bytes.data(), bytes.size())) > 0) hello_bytes += count;
    const int error = errno;
    if (is_tcp) {
      EXPECT_EQ(count, -1);
      EXPECT_EQ(error, ECONNRESET);
    } else {
      EXPECT_EQ(count, 0);
      EXPECT_EQ(hello_bytes, 64);
    }
  }
}

/// Comes back with a list, asks for it again when it is there, and leaves.
struct ComingBack : QueueHandler {
  explicit ComingBack(net::EventLoop& given) : loop(given) {}
  void on_open(const OpenFacts&) override {
    client->request({.rules = asked, .prefetch = prefetch});
    client->end(0);
    client->close();
    loop.stop();
  }
  void on_end(const wire::EndTotals&) override {}
  void on_closed(const std::string& reason, Closed) override {
    ADD_FAILURE() << reason;
    loop.stop();
  }

  net::EventLoop& loop;
  std::unique_ptr<QueueClient> client;
  std::vector<wire::Rule> asked;
};

/// What such a one writes before it is greeted, and behind that.
std::array<wire::Bytes, 2> written(const std::vector<wire::Rule>& told_with_hello, const std::vector<wire::Rule>& asked) {
  net::EventLoop loop;
  const net::Fd listener = net::listen_on(*net::SocketAddress::parse("127.0.0.1", 0));
  std::array<wire::Bytes, 2> out;
  std::thread broker([&] {
    pollfd wait{.fd = listener.get(), .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, -1) < 1) continue;
    const net::Fd socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::array<std::uint8_t, 4096> bytes;
    const auto read_into = [&](wire::Bytes& part) {
      const ssize_t count = ::read(socket.get(), bytes.data(), bytes.size());
      if (count > 0) part.insert(part.end(), bytes.begin(), bytes.begin() + count);
      return count > 0;
    };
    EXPECT_TRUE(read_into(out[0]));  // one write
    const wire::Bytes welcome = welcome_and(0);
    EXPECT_EQ(::write(socket.get(), welcome.data(), welcome.size()), static_cast<ssize_t>(welcome.size()));
    while (read_into(out[1])) continue;
  });
  ComingBack handler(loop);
  handler.asked = asked;
  handler.client =
      make_queue_client("n2nq", loop, net::local_address(listener.get()), {wire::Role::receiver, 1, {}, 1}, handler);
  handler.client->open(0, &told_with_hello);
  loop.run();
  broker.join();
  return out;
}

TEST(Owed, TheListOfOneWhoComesBackGoesWithItsHelloAndIsNotToldAgain) {
  const std::vector<wire::Rule> list = {wire::Rule{2, 2}}, another = {wire::Rule{3, 3}};
  wire::Hello hello;
  hello.role = wire::Role::receiver;
  hello.number = hello.session = 1;
  wire::Bytes hello_and_list, credit_and_end, another_first;
  hello.encode(hello_and_list);
  wire::Rules{0, list}.encode(hello_and_list);
  wire::Rules{1, another}.encode(another_first);
  for (wire::Bytes* bytes : {&credit_and_end, &another_first}) {
    wire::Credit{prefetch}.encode(*bytes);
    wire::End{0}.encode(*bytes);
  }
  EXPECT_EQ(written(list, list), (std::array{hello_and_list, credit_and_end}));
  EXPECT_EQ(written(list, another), (std::array{hello_and_list, another_first})) << "it was asked for something else meanwhile";
}

}  // namespace
}  // namespace n2nq::worker
