// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/listeners.h"

#include <cstring>
#include <utility>

#include "broker/net/clock.h"

namespace n2nq {

Listeners::Listeners(net::EventLoop& loop, const net::SocketAddress& address, bool unix_beside, EventLog& log, OnAccept on_accept)
    : log_(log),
      on_accept_(std::move(on_accept)),
      tcp_(
          loop, address, [this](net::Fd socket, const net::SocketAddress&) { on_accept_(std::move(socket)); },
          [this](int error) { note_pause(tcp_, error); }) {
  if (!unix_beside) return;
  unix_ = std::make_unique<net::Listener>(
      loop, net::SocketAddress::unix_beside(tcp_.address().port()),
      [this](net::Fd socket, const net::SocketAddress&) { on_accept_(std::move(socket)); }, [this](int error) { note_pause(*unix_, error); });
}

std::string Listeners::text() const {
  return tcp_.address().text() + (unix_ ? " and " + unix_->address().text() : "");
}

void Listeners::note_pause(const net::Listener& listener, int error) {
  log_.write("who connects to " + listener.address().text() + " has to wait: " + std::strerror(error) + "; accepting is tried again every " +
             std::to_string(net::Listener::pause_ns / net::ns_per_ms) + " ms");
}

void Listeners::turn_away(const std::string& reason) {
  if (turned_away_++ == 0) log_.write("a connection is turned away: " + reason);
}

void Listeners::add_faults(std::vector<std::string>& faults) const {
  const uint64_t turned_away = turned_away_ + tcp_.turned_away() + (unix_ ? unix_->turned_away() : 0);
  if (turned_away > 0) {
    faults.push_back(std::to_string(turned_away) + " connections were turned away: no file descriptors, or no memory, left for them");
  }
  // Each pauses when somebody comes to it, and for what it finds then.
  for (const net::Listener* listener : {&tcp_, static_cast<const net::Listener*>(unix_.get())}) {
    if (!listener || listener->pauses() == 0) continue;
    faults.push_back("who connected to " + listener->address().text() + " had to wait, for " +
                     std::to_string(listener->pauses() * net::Listener::pause_ns / net::ns_per_ms) +
                     " ms in all: " + std::strerror(listener->pause_error()));
  }
}

}  // namespace n2nq
