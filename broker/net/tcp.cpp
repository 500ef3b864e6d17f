// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace n2nq::net {

namespace {

constexpr int listen_backlog = 4096;

// What is done for every message is called by its number: send() and its like are points where a thread may be cancelled, and in a process
// with threads the C library pays for that with two locked instructions per call. Nobody cancels threads here.

IoResult outcome(ssize_t bytes) {
  if (bytes >= 0) return {IoStatus::done, static_cast<size_t>(bytes), 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoStatus::again, 0, 0};
  return {IoStatus::failed, 0, errno};
}

const sockaddr* as_sockaddr(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

}  // namespace

std::optional<SocketAddress> SocketAddress::parse(const std::string& address, uint16_t port) {
  SocketAddress parsed;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&parsed.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&parsed.storage);
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    parsed.bytes = sizeof *v4;
    return parsed;
  }
  if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    parsed.bytes = sizeof *v6;
    return parsed;
  }
  return std::nullopt;
}

SocketAddress SocketAddress::unix_beside(uint16_t tcp_port) {
  SocketAddress beside;
  auto* local = reinterpret_cast<sockaddr_un*>(&beside.storage);
  local->sun_family = AF_UNIX;
  const std::string name = "n2nq-" + std::to_string(tcp_port);
  std::copy(name.begin(), name.end(), local->sun_path + 1);  // a leading 0: no file
  beside.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return beside;
}

std::string SocketAddress::address() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text, sizeof text);
  } else if (storage.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, text, sizeof text);
  }
  return text;
}

uint16_t SocketAddress::port() const {
  if (storage.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  return 0;
}

bool SocketAddress::is_loopback() const {
  constexpr uint8_t loopback_net = 127;
  if (storage.ss_family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr) >> 24 == loopback_net;
  }
  if (storage.ss_family == AF_UNIX) return true;
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&address) || (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == loopback_net);
}

std::string SocketAddress::text() const {
  if (storage.ss_family == AF_UNIX) {
    constexpr size_t before_name = offsetof(sockaddr_un, sun_path) + 1;
    const char* name = reinterpret_cast<const sockaddr_un&>(storage).sun_path + 1;
    return "unix:" + (bytes > before_name ? std::string(name, bytes - before_name) : std::string());
  }
  const std::string host = storage.ss_family == AF_INET6 ? "[" + address() + "]" : address();
  return host + ":" + std::to_string(port());
}

SocketAddress local_address(int fd) {
  SocketAddress address;
  address.bytes = sizeof address.storage;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.bytes);
  return address;
}

SocketAddress peer_address(int fd) {
  SocketAddress address;
  address.bytes = sizeof address.storage;
  getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.bytes);
  return address;
}

Fd listen_on(const SocketAddress& address) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  const bool listening = fd.valid() && setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                         bind(fd.get(), as_sockaddr(address), address.bytes) == 0 && listen(fd.get(), listen_backlog) == 0;
  if (!listening) throw std::runtime_error("cannot listen on " + address.text() + ": " + std::strerror(errno));
  return fd;
}

Fd start_connect(const SocketAddress& address) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), "socket");
  prepare_stream(fd.get());
  if (::connect(fd.get(), as_sockaddr(address), address.bytes) != 0 && errno != EINPROGRESS) {
    throw std::system_error(errno, std::generic_category(), "connect to " + address.text());
  }
  return fd;
}

int connect_error(int fd) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) return errno;
  return error;
}

void prepare_stream(int fd) {
  const int on = 1;
  // Fails on a socket that is gone already (the next read says so) and on a Unix-domain one, which holds nothing back.
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void set_send_buffer(int fd, int bytes) {
  const int asked = bytes / 2;  // the kernel doubles it, for what it needs beside the bytes (socket(7))
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &asked, sizeof asked);
}

IoResult read_some(int fd, std::span<uint8_t> room) {
  ssize_t bytes = 0;
  do {
    bytes = ::syscall(SYS_recvfrom, fd, room.data(), room.size(), 0, nullptr, nullptr);
  } while (bytes < 0 && errno == EINTR);
  if (bytes == 0) return {IoStatus::closed, 0, 0};
  return outcome(bytes);
}

IoResult write_some(int fd, const iovec* pieces, int count) {
  if (count == 1) return write_some(fd, {static_cast<const uint8_t*>(pieces->iov_base), pieces->iov_len});
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces);  // sendmsg reads it only
  message.msg_iovlen = static_cast<size_t>(std::min(count, IOV_MAX));
  ssize_t bytes = 0;
  do {
    bytes = ::syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
  } while (bytes < 0 && errno == EINTR);
  return outcome(bytes);
}

IoResult write_some(int fd, std::span<const uint8_t> piece) {
  ssize_t bytes = 0;
  do {
    bytes = ::syscall(SYS_sendto, fd, piece.data(), piece.size(), MSG_NOSIGNAL, nullptr, 0);
  } while (bytes < 0 && errno == EINTR);
  return outcome(bytes);
}

}  // namespace n2nq::net
