// SPDX-License-Identifier: GPL-3.0-or-later
// Accepts TCP connections.
#pragma once

#include <cstdint>
#include <functional>

#include "broker/net/event_loop.h"
#include "broker/net/fd.h"
#include "broker/net/tcp.h"

namespace n2nq::net {

class Listener : private Watcher {
 public:
  /// The socket is non-blocking and has TCP_NODELAY.
  using OnAccept = std::function<void(Fd socket, const SocketAddress& peer)>;

  /// Port 0: the kernel picks one, address() tells. Throws std::runtime_error that names address, port and reason.
  Listener(EventLoop& loop, const SocketAddress& address, OnAccept on_accept);
  ~Listener() override;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const SocketAddress& address() const { return address_; }
  /// Connections that were closed at once because the process had no descriptor left for them.
  uint64_t turned_away() const { return turned_away_; }

 private:
  void on_events(uint32_t events) override;
  bool turn_away_one();

  EventLoop& loop_;
  OnAccept on_accept_;
  Fd socket_;
  Fd spare_;  // given up for a moment to accept and close when descriptors have run out, else the loop would spin
  SocketAddress address_;
  uint64_t turned_away_ = 0;
};

}  // namespace n2nq::net
