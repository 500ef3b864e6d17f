// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/listener.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>

namespace n2nq::net {

namespace {

/// Connections per wake-up before the others get their turn: they wait some 12 us for each.
constexpr int accepts_per_wake_up_max = 8;

Fd open_spare() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

Listener::Listener(EventLoop& loop, const SocketAddress& address, OnAccept on_accept)
    : loop_(loop),
      on_accept_(std::move(on_accept)),
      socket_(listen_on(address)),
      spare_(open_spare()),
      address_(local_address(socket_.get())) {
  loop_.watch(socket_.get(), EPOLLIN, *this);
}

Listener::~Listener() {
  loop_.unwatch(socket_.get(), *this);
}

void Listener::on_events(uint32_t) {
  for (int i = 0; i < accepts_per_wake_up_max; ++i) {
    SocketAddress peer;
    peer.bytes = sizeof peer.storage;
    Fd socket(accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      const bool out_of_descriptors = errno == EMFILE || errno == ENFILE;
      if (out_of_descriptors && turn_away_one()) continue;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return;
    }
    prepare_stream(socket.get());
    on_accept_(std::move(socket), peer);
  }
}

bool Listener::turn_away_one() {
  spare_.reset();
  Fd socket(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const bool accepted = socket.valid();
  if (accepted) ++turned_away_;
  socket.reset();  // its descriptor is the one that the spare takes again
  spare_ = open_spare();
  return accepted;
}

}  // namespace n2nq::net
