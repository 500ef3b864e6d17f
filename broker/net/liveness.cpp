// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/liveness.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "broker/net/clock.h"

namespace n2nq::net {

std::optional<int64_t> host_silent_ns(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return std::nullopt;
  return std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv) * ns_per_ms;
}

uint64_t unacknowledged_bytes(int fd) {
  int bytes = 0;
  return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

bool has_closed(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 && info.tcpi_state == TCP_CLOSE_WAIT;
}

Silence judge_silence(std::optional<int64_t> silent_ns, std::optional<int64_t> host_silent_ns, int64_t heartbeat_ns) {
  const int64_t host_ns = host_silent_ns.value_or(0);
  if (!silent_ns) return host_ns > heartbeat_ns ? Silence::link : Silence::none;
  if (*silent_ns > heartbeat_ns / 2 * 3) return Silence::process;
  // A window that is full is probed at growing intervals, up to half of the time for which it has been full: three quarters are more than
  // a live host ever leaves out, and less than a dead link has been silent for when nothing was heard for the whole time.
  return *silent_ns > heartbeat_ns && host_ns > heartbeat_ns / 4 * 3 ? Silence::link : Silence::none;
}

}  // namespace n2nq::net
