// SPDX-License-Identifier: GPL-3.0-or-later
// N2NQ in this process, one wake-up at a time, with clients on socket pairs: what one end has written is there at the other at once, so
// that nothing depends on who is given a core when.
#pragma once

#include <sys/socket.h>

#include <stdexcept>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/server/server.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq::support {

inline wire::Hello hello_of(wire::Role role, uint32_t number) {
  wire::Hello hello;
  hello.role = role;
  hello.number = number;
  return hello;
}

/// Settings of N2NQ that writes as the environment wants it.
inline Options options_with_wanted_io() {
  Options options;
  if (wanted_io() == "io_uring") options.io = Io::io_uring;
  return options;
}

class SteppedServer {
 public:
  /// Nothing leaves and nobody is gone because this machine is slow.
  explicit SteppedServer(Options options, uint32_t heartbeat_ms = 0)
      : server_(loop_, patient(std::move(options), heartbeat_ms), log_, 1, [](Server::State, const std::string&) {}) {}

  void wake_up() {
    loop_.post([this] { loop_.stop(); });
    loop_.run();
  }
  Server& server() { return server_; }
  /// Has not said HELLO. About `send_buffer_bytes` of what N2NQ says wait for it to be read, the rest at N2NQ's end; 0: the system's.
  WireClient open(int send_buffer_bytes = 0) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
    if (send_buffer_bytes > 0) setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
    server_.accept(net::Fd(ends[1]));
    return WireClient{net::Fd(ends[0])};
  }
  /// Has its WELCOME, and perhaps a part of what follows.
  WireClient connect(wire::Role role, uint32_t number, int send_buffer_bytes = 0) {
    WireClient client = open(send_buffer_bytes);
    client.send(hello_of(role, number));
    wake_up();
    client.read_welcome();
    return client;
  }

 private:
  static Options patient(Options options, uint32_t heartbeat_ms) {
    options.listen = *net::SocketAddress::parse("127.0.0.1", 0);
    options.queue.retention_ns = 3600 * net::ns_per_s;
    options.queue.responses_deadline_ns = 3600 * net::ns_per_s;
    options.limits.heartbeat_ms = heartbeat_ms;
    return options;
  }

  net::EventLoop loop_;
  EventLog log_{""};
  Server server_;
};

/// What a client gets from now on, read as it comes: a frame may be longer than what the socket holds at a time.
class Reading {
 public:
  Reading(SteppedServer& server, WireClient& client) : server_(server), client_(client) {}
  /// Until on_frame(frame) says true. False: that never came.
  template <typename OnFrame>
  bool until(OnFrame on_frame) {
    const int64_t until_ns = net::now_ns() + 60 * net::ns_per_s;
    while (net::now_ns() < until_ns) {
      server_.wake_up();
      if (take(on_frame)) return true;
    }
    return false;
  }
  /// The same of what is there already: N2NQ does nothing meanwhile.
  template <typename OnFrame>
  bool take(OnFrame on_frame) {
    while (true) {
      const std::span<uint8_t> room = reader_.room();
      const ssize_t bytes = recv(client_.fd(), room.data(), room.size(), MSG_DONTWAIT);
      if (bytes <= 0) return false;
      reader_.commit(static_cast<size_t>(bytes));
      while (const auto frame = reader_.next()) {
        if (on_frame(*frame)) return true;
      }
    }
  }
  /// As WireClient::receive_all(); without totals also where they never came.
  Received receive_all() {
    Received received;
    until([&](const wire::Frame& frame) {
      client_.take({frame.type, {frame.body.begin(), frame.body.end()}}, received);
      return received.totals.has_value();
    });
    return received;
  }

 private:
  SteppedServer& server_;
  WireClient& client_;
  wire::FrameReader reader_{1 << 20};
};

}  // namespace n2nq::support
