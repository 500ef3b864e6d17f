// SPDX-License-Identifier: GPL-3.0-or-later
// Where clients connect: a TCP address and, where it is wanted, a Unix-domain socket beside it. Says in the log, and as faults of the run,
// whom it had to turn away or let wait. Belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/net/listener.h"
#include "broker/server/event_log.h"

namespace n2nq {

class Listeners {
 public:
  using OnAccept = std::function<void(net::Fd socket)>;

  /// Listens at once. Throws std::runtime_error that names address and reason.
  Listeners(net::EventLoop& loop, const net::SocketAddress& address, bool unix_beside, EventLog& log, OnAccept on_accept);

  const net::SocketAddress& address() const { return tcp_.address(); }
  /// Of all, as people read it.
  std::string text() const;
  /// One that was accepted is closed again, for this reason.
  void turn_away(const std::string& reason);
  void add_faults(std::vector<std::string>& faults) const;

 private:
  void note_pause(const net::Listener& listener, int error);

  EventLog& log_;
  const OnAccept on_accept_;
  net::Listener tcp_;
  std::unique_ptr<net::Listener> unix_;  // null: not wanted
  uint64_t turned_away_ = 0;             // beside those of the listeners
};

}  // namespace n2nq
