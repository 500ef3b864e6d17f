// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/listeners.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "broker/net/clock.h"

namespace n2nq {

Listeners::Listeners(net::EventLoop& loop, const net::SocketAddress& address, bool unix_beside, EventLog& log, OnAccept on_accept)
    : log_(log),
      on_accept_(std::move(on_accept)),
      tcp_(
          loop, address, [this](net::Fd socket, const net::SocketAddress&) { on_accept_(std::move(socket)); },
          [this](int error) { note_pause(error); }) {
  if (!unix_beside) return;
  unix_ = std::make_unique<net::Listener>(
      loop, net::SocketAddress::unix_beside(tcp_.address().port()),
      [this](net::Fd socket, const net::SocketAddress&) { on_accept_(std::move(socket)); }, [this](int error) { note_pause(error); });
}

std::string Listeners::text() const {
  return tcp_.address().text() + (unix_ ? " and " + unix_->address().text() : "");
}

void Listeners::note_pause(int error) {
  log_.write(std::string("who connects has to wait: ") + std::strerror(error) + "; accepting is tried again every " +
             std::to_string(net::Listener::pause_ns / net::ns_per_ms) + " ms");
}

void Listeners::turn_away(const std::string& reason) {
  if (turned_away_++ == 0) log_.write("a connection is turned away: " + reason);
}

void Listeners::add_faults(std::vector<std::string>& faults) const {
  uint64_t turned_away = turned_away_, pauses = 0;
  int error = 0;
  for (const net::Listener* listener : {&tcp_, static_cast<const net::Listener*>(unix_.get())}) {
    if (!listener) continue;
    turned_away += listener->turned_away();
    pauses = std::max(pauses, listener->pauses());  // both pause at a time
    if (listener->pauses() > 0) error = listener->pause_error();
  }
  if (turned_away > 0) {
    faults.push_back(std::to_string(turned_away) + " connections were turned away: no file descriptors, or no memory, left for them");
  }
  if (pauses == 0) return;
  faults.push_back("who connected had to wait, for " + std::to_string(pauses * net::Listener::pause_ns / net::ns_per_ms) +
                   " ms in all: " + std::strerror(error));
}

}  // namespace n2nq
