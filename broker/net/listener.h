// SPDX-License-Identifier: GPL-3.0-or-later
// Accepts TCP connections.
//
// Where the process has no descriptor left, who comes is accepted and closed at once. Where even that cannot be done, because the whole
// system is out of descriptors or of memory for sockets, who comes waits: accepting pauses, for epoll would say the same again at once.
#pragma once

#include <cstdint>
#include <functional>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/net/fd.h"
#include "broker/net/tcp.h"

namespace n2nq::net {

class Listener : private Watcher {
 public:
  /// The socket is non-blocking and has TCP_NODELAY.
  using OnAccept = std::function<void(Fd socket, const SocketAddress& peer)>;
  /// Accepting pauses for the first time, because of this errno. It goes on by itself.
  using OnFirstPause = std::function<void(int error)>;
  /// From one attempt to the next while nothing can be accepted.
  static constexpr int64_t pause_ns = 100 * ns_per_ms;

  /// Port 0: the kernel picks one, address() tells. Throws std::runtime_error that names address, port and reason.
  Listener(EventLoop& loop, const SocketAddress& address, OnAccept on_accept, OnFirstPause on_first_pause = {});
  ~Listener() override;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const SocketAddress& address() const { return address_; }
  /// Connections that were closed at once because the process had no descriptor left for them.
  uint64_t turned_away() const { return turned_away_; }
  /// How often accepting paused, for pause_ns each.
  uint64_t pauses() const { return pauses_; }
  /// errno of the last pause; 0: there was none.
  int pause_error() const { return pause_error_; }

 private:
  void on_events(uint32_t events) override;
  int turn_away_one();
  void pause(int error);

  EventLoop& loop_;
  OnAccept on_accept_;
  OnFirstPause on_first_pause_;
  Fd socket_;
  Fd spare_;  // given up for a moment to accept and close when descriptors have run out, else the loop would spin
  SocketAddress address_;
  uint64_t turned_away_ = 0;
  uint64_t pauses_ = 0;
  int pause_error_ = 0;
  Timer go_on_;  // the end of a pause
};

}  // namespace n2nq::net
