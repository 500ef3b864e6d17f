// SPDX-License-Identifier: GPL-3.0-or-later
// N2NQ in this process, one wake-up at a time, with clients on socket pairs: what one end has written is there at the other at once, so
// that nothing depends on who is given a core when.
#pragma once

#include <sys/socket.h>

#include <stdexcept>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/server/server.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq::support {

class SteppedServer {
 public:
  /// Nothing leaves and nobody is gone because this machine is slow.
  explicit SteppedServer(Options options, uint32_t heartbeat_ms = 0)
      : server_(loop_, patient(std::move(options), heartbeat_ms), log_, 1, [](Server::State, const std::string&) {}) {}

  void wake_up() {
    loop_.post([this] { loop_.stop(); });
    loop_.run();
  }
  /// Has its WELCOME.
  WireClient connect(wire::Role role, uint32_t number) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
    server_.accept(net::Fd(ends[1]));
    WireClient client{net::Fd(ends[0])};
    wire::Hello hello;
    hello.role = role;
    hello.number = number;
    client.send(hello);
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

}  // namespace n2nq::support
