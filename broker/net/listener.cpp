// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/listener.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <utility>

namespace n2nq::net {

namespace {

/// Connections per wake-up before the others get their turn: they wait some 12 us for each.
constexpr int accepts_per_wake_up_max = 8;

Fd open_spare() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

Listener::Listener(EventLoop& loop, const SocketAddress& address, OnAccept on_accept, OnFirstPause on_first_pause)
    : loop_(loop),
      on_accept_(std::move(on_accept)),
      on_first_pause_(std::move(on_first_pause)),
      socket_(listen_on(address)),
      spare_(open_spare()),
      address_(local_address(socket_.get())),
      go_on_(loop, [this] { loop_.change(socket_.get(), EPOLLIN, *this); }) {
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
    if (socket.valid()) {
      prepare_stream(socket.get());
      on_accept_(std::move(socket), peer);
      if (!spare_.valid()) spare_ = open_spare();  // another process had taken its file
      continue;
    }
    int error = errno;
    if (error == EMFILE || error == ENFILE) error = turn_away_one();
    if (error == 0 || error == ECONNABORTED || error == EINTR) continue;
    if (error != EAGAIN) pause(error);
    return;
  }
}

/// 0, or why not, as accept4() says: without a descriptor left it does not even say whether anybody is there.
int Listener::turn_away_one() {
  spare_.reset();
  Fd socket(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int error = socket.valid() ? 0 : errno;
  if (error == 0) ++turned_away_;
  socket.reset();  // its descriptor is the one that the spare takes again
  spare_ = open_spare();
  return error;
}

/// Who comes waits in the kernel, and those who are there do not notice.
void Listener::pause(int error) {
  pause_error_ = error;
  if (pauses_++ == 0 && on_first_pause_) on_first_pause_(error);
  loop_.change(socket_.get(), 0, *this);
  go_on_.arm(now_ns() + pause_ns);
}

}  // namespace n2nq::net
