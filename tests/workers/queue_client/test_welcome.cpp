// SPDX-License-Identifier: GPL-3.0-or-later
// What follows from a WELCOME. One that no N2NQ sends is refused, before anything is made by its numbers.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/net/tcp.h"
#include "broker/wire/messages.h"
#include "tests/broker/support/run_until.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {
namespace {

struct Greeted : QueueHandler {
  void on_open(const OpenFacts&) override { opened = true; }
  void on_end(const wire::EndTotals&) override {}
  void on_closed(const std::string& reason, Closed closed) override {
    EXPECT_EQ(closed, Closed::for_good);
    why = reason;
  }
  bool opened = false;
  std::optional<std::string> why;
};

/// `then`: with a client that was let in, and the other end of its connection.
Greeted greeted_with(const wire::Welcome& welcome, std::uint32_t number = 1, const std::function<void(QueueClient&, int)>& then = {}) {
  net::EventLoop loop;
  const net::Fd listener = net::listen_on(*net::SocketAddress::parse("127.0.0.1", 0));
  Greeted handler;
  ClientIdentity identity;
  identity.role = wire::Role::receiver;
  identity.number = number;
  const auto client = make_queue_client("n2nq", loop, net::local_address(listener.get()), identity, handler);
  client->open(0, nullptr);
  net::Fd socket;
  support::run_until(loop, [&] {
    loop.wake_again();
    pollfd look{.fd = listener.get(), .events = POLLIN, .revents = 0};
    if (!socket.valid() && poll(&look, 1, 0) == 1) {
      socket = net::Fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      wire::Bytes bytes;
      welcome.encode(bytes);
      EXPECT_EQ(::write(socket.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    return handler.opened || handler.why.has_value();
  });
  if (then) then(*client, socket.get());
  return handler;
}

TEST(Welcome, FramesThatNoSettingAllowsAreNotWaitedFor) {
  wire::Welcome welcome;
  welcome.message_bytes_max = 16 << 20;
  welcome.frame_bytes_max = wire::frame_bytes_max_ever;
  EXPECT_TRUE(greeted_with(welcome).opened);
  welcome.frame_bytes_max = wire::frame_bytes_max_ever + 1;
  const Greeted refused = greeted_with(welcome);
  EXPECT_FALSE(refused.opened);
  EXPECT_EQ(refused.why, "N2NQ sent a WELCOME whose frame_bytes_max is 16777281; 16777280 is the most that its settings allow");
}

/// All of a group connect at one moment; that each lives is not to be said at one moment for ever.
TEST(Welcome, WhoOnlyListensSaysThatItLivesAtAMomentOfItsOwn) {
  constexpr std::uint32_t heartbeat_ms = 40'000;
  wire::Welcome welcome;
  welcome.frame_bytes_max = 1 << 20;
  welcome.heartbeat_ms = heartbeat_ms;
  const auto says_it_after = [&](std::uint32_t number, std::int64_t share_of_quarter_percent) {
    bool said = false;
    const Greeted handler = greeted_with(welcome, number, [&](QueueClient& client, int socket) {
      std::array<char, 4096> ignored;
      while (recv(socket, ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) {
      }
      client.tick(net::now_ns() + heartbeat_ms * net::ns_per_ms / 4 * share_of_quarter_percent / 100);
      pollfd look{.fd = socket, .events = POLLIN, .revents = 0};
      said = poll(&look, 1, 0) == 1;
    });
    EXPECT_TRUE(handler.opened);
    return said;
  };
  EXPECT_FALSE(says_it_after(64, 75));
  EXPECT_TRUE(says_it_after(32, 75)) << "half of the time earlier";
  EXPECT_FALSE(says_it_after(32, 25));
  EXPECT_TRUE(says_it_after(64, 101)) << "a quarter of the time at the latest";
}

}  // namespace
}  // namespace n2nq::worker
