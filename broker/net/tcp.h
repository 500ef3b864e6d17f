// SPDX-License-Identifier: GPL-3.0-or-later
// TCP and Unix-domain streams without blocking: addresses, sockets, and one read or write with its outcome named.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "broker/net/fd.h"

namespace n2nq::net {

/// A numeric IPv4 or IPv6 address with a port, or a Unix-domain one, which has neither.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  /// None when `address` is no numeric address: names are resolved by the bench.
  static std::optional<SocketAddress> parse(const std::string& address, uint16_t port);
  /// Where what listens on this TCP port is also reached from its own host: a name that leaves no file behind (unix(7), abstract), and
  /// that nobody else has but who listens on the same port of another of this host's addresses.
  static SocketAddress unix_beside(uint16_t tcp_port);
  std::string address() const;  // "127.0.0.1", "::1"
  uint16_t port() const;
  std::string text() const;  // "127.0.0.1:4000", "[::1]:4000", "unix:n2nq-4000"
  /// Only this host can reach it: 127.0.0.0/8 (also written as IPv6), ::1, Unix-domain.
  bool is_loopback() const;
};

SocketAddress local_address(int fd);
SocketAddress peer_address(int fd);

/// Listening, non-blocking, SO_REUSEADDR. Throws std::runtime_error that names address, port and reason.
Fd listen_on(const SocketAddress& address);
/// A non-blocking socket with TCP_NODELAY that is connecting; wait for EPOLLOUT, then ask connect_error(). Throws std::system_error when
/// the attempt fails at once.
Fd start_connect(const SocketAddress& address);
/// 0 when connected, else errno of the failed attempt.
int connect_error(int fd);
/// TCP_NODELAY on; non-blocking.
void prepare_stream(int fd);
/// So much (about, as the kernel counts it) may have been written and not have reached the other end, in place of what the kernel finds good by
/// itself for TCP: up to megabytes. Nothing where the other end is gone.
void set_send_buffer(int fd, int bytes);
/// What a receiver on the sender's own host that falls behind may have there; the rest of what waits for it waits with who sends, where all
/// receivers have it once (docs/decisions/0009-what-waits-in-the-kernel.md).
inline constexpr int host_send_buffer_bytes = 256 * 1024;

enum class IoStatus {
  done,    // bytes moved (perhaps fewer than asked)
  again,   // nothing moved: try when epoll says so
  closed,  // read: the other end is done
  failed,  // `error` says why
};
struct IoResult {
  IoStatus status = IoStatus::again;
  size_t bytes = 0;
  int error = 0;
};

IoResult read_some(int fd, std::span<uint8_t> room);
/// At most IOV_MAX pieces are looked at. Never raises SIGPIPE.
IoResult write_some(int fd, const iovec* pieces, int count);
/// The same for one piece, which costs the kernel less.
IoResult write_some(int fd, std::span<const uint8_t> bytes);

}  // namespace n2nq::net
