// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/floor.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "broker/net/clock.h"
#include "broker/net/fd.h"
#include "broker/net/tcp.h"
#include "workers/measure/histogram.h"

namespace n2nq::worker {

namespace {

using measure::Histogram;

constexpr int clock_reads = 10'000;
constexpr int timer_wakes = 100;
constexpr int echoes = 200;
constexpr std::size_t echo_bytes = 64;
constexpr int echo_wait_ms = 200;  // no echo takes that long on a machine that can measure anything

double clock_read_ns() {
  const std::int64_t begun = net::now_ns();
  for (int i = 0; i < clock_reads; ++i) net::now_ns();
  return static_cast<double>(net::now_ns() - begun) / (clock_reads + 1);
}

/// How late epoll wakes for a timer 1 ms ahead: the senders' way of waiting.
Histogram timer_lateness() {
  Histogram lateness;
  const net::Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  const net::Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  if (!epoll.valid() || !timer.valid() || epoll_ctl(epoll.get(), EPOLL_CTL_ADD, timer.get(), &event) != 0) return lateness;
  for (int i = 0; i < timer_wakes; ++i) {
    const std::int64_t due_ns = net::now_ns() + net::ns_per_ms;
    const std::int64_t ring_ns = net::kernel_timer_ns(due_ns);
    itimerspec spec{};
    spec.it_value.tv_sec = ring_ns / net::ns_per_s;
    spec.it_value.tv_nsec = ring_ns % net::ns_per_s;
    if (timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0) return lateness;
    if (epoll_wait(epoll.get(), &event, 1, -1) != 1) continue;
    lateness.add(net::now_ns() - due_ns);
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t bytes = ::read(timer.get(), &rings, sizeof rings);
  }
  return lateness;
}

bool is_ready(int fd, short events) {
  pollfd wait{fd, events, 0};
  return poll(&wait, 1, echo_wait_ms) == 1 && (wait.revents & events) != 0;
}

/// Sends `echo_bytes` from one socket to the other; false when they do not arrive.
bool pass(int from, int to) {
  std::array<std::uint8_t, echo_bytes> bytes{};
  const iovec piece{bytes.data(), bytes.size()};
  if (net::write_some(from, &piece, 1).bytes != bytes.size()) return false;
  for (std::size_t read = 0; read < bytes.size();) {
    if (!is_ready(to, POLLIN)) return false;
    const net::IoResult result = net::read_some(to, bytes);
    if (result.status != net::IoStatus::done) return false;
    read += result.bytes;
  }
  return true;
}

/// There and back between two TCP sockets of this thread.
Histogram loopback_echo() {
  Histogram round_trips;
  try {
    const auto any_port = net::SocketAddress::parse("127.0.0.1", 0);
    const net::Fd listener = net::listen_on(*any_port);
    const net::Fd near = net::start_connect(net::local_address(listener.get()));
    if (!is_ready(listener.get(), POLLIN)) return round_trips;
    const net::Fd far(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!far.valid() || !is_ready(near.get(), POLLOUT)) return round_trips;
    net::prepare_stream(far.get());
    for (int i = 0; i < echoes; ++i) {
      const std::int64_t begun = net::now_ns();
      if (!pass(near.get(), far.get()) || !pass(far.get(), near.get())) break;
      round_trips.add(net::now_ns() - begun);
    }
  } catch (const std::exception&) {  // a host without a loopback address: the figures stay unknown
  }
  return round_trips;
}

nlohmann::json percentile_or_null(const Histogram& histogram, std::uint64_t percent) {
  if (histogram.empty()) return nullptr;
  return histogram.percentile(percent, 100);
}

}  // namespace

nlohmann::json measure_floor() {
  const Histogram wakes = timer_lateness();
  const Histogram trips = loopback_echo();
  return {{"clock_read_ns", clock_read_ns()},
          {"timer_wake_p50_ns", percentile_or_null(wakes, 50)},
          {"timer_wake_p99_ns", percentile_or_null(wakes, 99)},
          {"loopback_echo_p50_ns", percentile_or_null(trips, 50)},
          {"loopback_echo_p99_ns", percentile_or_null(trips, 99)}};
}

}  // namespace n2nq::worker
