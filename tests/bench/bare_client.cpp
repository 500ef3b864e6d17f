// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-bare-client PORT SENDERS RECEIVERS SIZE INTERVAL_NS spread|in-phase SECONDS: as little of a client as can be, through the bare
// relay. One thread sends, one receives, and nothing is checked or kept but how long each message took. What the worker processes need
// beyond that is what the difference shows.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

#include "broker/net/clock.h"
#include "broker/net/fd.h"
#include "broker/net/file_limit.h"
#include "broker/net/tcp.h"
#include "broker/wire/record.h"

namespace {

using namespace n2nq;

constexpr std::size_t batch_bytes = 64 * 1024, read_bytes = 256 * 1024;
constexpr int bucket_bits = 6;                         // of 64 ns
constexpr std::size_t buckets = std::size_t{1} << 25;  // 2 s
constexpr std::int64_t rate_from_ns = 500'000'000, rate_to_ns = 200'000'000;

struct Plan {
  std::uint16_t port;
  unsigned senders, receivers, size;
  std::int64_t interval_ns;
  bool in_phase;
  std::int64_t begin_ns, end_ns;
};

net::Fd open_client(std::uint16_t port, std::uint32_t role, std::uint32_t number) {
  net::Fd fd = net::start_connect(*net::SocketAddress::parse("127.0.0.1", port));
  pollfd ready{fd.get(), POLLOUT, 0};
  poll(&ready, 1, -1);
  const std::uint32_t greeting[2] = {role, number};
  std::uint8_t answer[8];
  ready.events = POLLIN;
  const bool greeted = send(fd.get(), greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting && poll(&ready, 1, -1) == 1 &&
                       recv(fd.get(), answer, sizeof answer, 0) == sizeof answer;
  if (!greeted) std::exit(1);
  return fd;
}

struct Sender {
  net::Fd fd;
  std::vector<std::uint8_t> batch;
  std::size_t written = 0;
  std::uint64_t index = 0;

  /// Stamps the first `bytes` of the batch and offers them.
  bool offer(std::size_t bytes, std::size_t record_bytes) {
    if (written == 0) {
      const std::int64_t now = net::now_ns();
      for (std::size_t at = 0; at < bytes; at += record_bytes) {
        wire::store(batch.data() + at + 8, index++);
        wire::set_record_sent_ns(batch.data() + at, now);
      }
    }
    const ssize_t sent = send(fd.get(), batch.data() + written, bytes - written, MSG_NOSIGNAL);
    if (sent > 0) written += static_cast<std::size_t>(sent);
    if (written == bytes) written = 0;
    return written == 0;
  }
};

void sleep_until(std::int64_t at_ns) {
  const timespec at{at_ns / net::ns_per_s, at_ns % net::ns_per_s};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

void send_planned(const Plan& plan, std::vector<Sender>& senders, std::size_t record_bytes) {
  for (std::int64_t round = 0;; ++round) {
    for (std::size_t i = 0; i < senders.size(); ++i) {
      const auto phase = plan.in_phase ? 0 : static_cast<std::int64_t>(i) * plan.interval_ns / static_cast<std::int64_t>(senders.size());
      const std::int64_t due_ns = plan.begin_ns + phase + round * plan.interval_ns;
      if (due_ns >= plan.end_ns) return;
      if (net::now_ns() < due_ns) sleep_until(due_ns);
      while (!senders[i].offer(record_bytes, record_bytes)) {
        pollfd room{senders[i].fd.get(), POLLOUT, 0};
        poll(&room, 1, -1);
      }
    }
  }
}

void send_all_it_takes(const Plan& plan, std::vector<Sender>& senders, std::size_t record_bytes) {
  std::vector<pollfd> room;
  for (const Sender& sender : senders) room.push_back({sender.fd.get(), POLLOUT, 0});
  sleep_until(plan.begin_ns);
  while (net::now_ns() < plan.end_ns) {
    poll(room.data(), room.size(), -1);
    for (std::size_t i = 0; i < senders.size(); ++i) {
      if (room[i].revents & POLLOUT) senders[i].offer(senders[i].batch.size(), record_bytes);
    }
  }
  for (Sender& sender : senders) {
    while (sender.written > 0 && !sender.offer(sender.batch.size(), record_bytes)) poll(room.data(), room.size(), 1);
  }
}

void send_by(const Plan& plan) {
  prctl(PR_SET_TIMERSLACK, 1);
  const std::size_t record_bytes = wire::record_header_bytes + plan.size;
  std::vector<Sender> senders(plan.senders);
  for (std::uint32_t number = 1; Sender & sender : senders) {
    sender.fd = open_client(plan.port, 1, number);
    sender.batch.resize(batch_bytes / record_bytes * record_bytes, 'A');
    wire::RecordHeader header;
    header.size = plan.size;
    header.sender = number++;
    for (std::size_t at = 0; at < sender.batch.size(); at += record_bytes) wire::write_record_header(sender.batch.data() + at, header);
  }
  plan.interval_ns == 0 ? send_all_it_takes(plan, senders, record_bytes) : send_planned(plan, senders, record_bytes);
}

struct Seen {
  std::vector<std::uint32_t> latencies = std::vector<std::uint32_t>(buckets);
  std::uint64_t count = 0;
  std::uint64_t rate_count[2] = {};
  std::int64_t rate_ns[2] = {};

  double percentile_us(double q) const {
    std::uint64_t left = static_cast<std::uint64_t>(q * static_cast<double>(count)) + 1;
    std::size_t bucket = 0;
    for (; bucket + 1 < buckets && latencies[bucket] < left; ++bucket) left -= latencies[bucket];
    return static_cast<double>(bucket << bucket_bits) / 1e3;
  }
};

struct Receiver {
  net::Fd fd;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(read_bytes);
  std::size_t held = 0;

  /// False at the end of its stream.
  bool read(const Plan& plan, Seen& seen) {
    const ssize_t more = recv(fd.get(), bytes.data() + held, bytes.size() - held, 0);
    if (more <= 0) return more < 0;
    const std::int64_t now = net::now_ns();
    held += static_cast<std::size_t>(more);
    std::size_t at = 0;
    for (std::size_t length; held - at >= wire::record_header_bytes; at += length) {
      const std::uint8_t* const record = bytes.data() + at;
      length = wire::record_bytes(record);
      if (length > held - at) break;
      if (wire::record_sender(record) == 0) return false;
      const auto bucket = static_cast<std::size_t>(std::max<std::int64_t>(now - wire::load<std::int64_t>(record + 24), 0)) >> bucket_bits;
      ++seen.latencies[std::min(bucket, buckets - 1)];
      ++seen.count;
    }
    std::memmove(bytes.data(), bytes.data() + at, held - at);
    held -= at;
    const std::int64_t marks[2] = {plan.begin_ns + rate_from_ns, plan.end_ns - rate_to_ns};
    for (int i = 0; i < 2; ++i) {
      if (seen.rate_ns[i] == 0 && now >= marks[i]) seen.rate_ns[i] = now, seen.rate_count[i] = seen.count;
    }
    return true;
  }
};

void receive(const Plan& plan, std::vector<Receiver>& receivers, Seen& seen) {
  const net::Fd epoll(epoll_create1(0));
  for (Receiver& receiver : receivers) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &receiver;
    epoll_ctl(epoll.get(), EPOLL_CTL_ADD, receiver.fd.get(), &event);
  }
  std::vector<epoll_event> events(512);
  for (std::size_t open = receivers.size(); open > 0;) {
    const int count = epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto& receiver = *static_cast<Receiver*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (receiver.read(plan, seen)) continue;
      receiver.fd.reset();
      --open;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const auto number = [argv](int i) { return std::strtoll(argv[i], nullptr, 10); };
  Plan plan{static_cast<std::uint16_t>(number(1)),
            static_cast<unsigned>(number(2)),
            static_cast<unsigned>(number(3)),
            static_cast<unsigned>(number(4)),
            number(5),
            std::string_view(argv[6]) == "in-phase",
            0,
            0};
  net::raise_file_limit(plan.senders + plan.receivers + 16);
  std::vector<Receiver> receivers(plan.receivers);
  for (std::uint32_t i = 0; Receiver & receiver : receivers) receiver.fd = open_client(plan.port, 2, ++i);
  plan.begin_ns = net::now_ns() + 300 * net::ns_per_ms;
  plan.end_ns = plan.begin_ns + static_cast<std::int64_t>(std::strtod(argv[7], nullptr) * 1e9);
  Seen seen;
  std::thread sending([&plan] { send_by(plan); });
  receive(plan, receivers, seen);
  sending.join();
  const double seconds = static_cast<double>(seen.rate_ns[1] - seen.rate_ns[0]) / 1e9;
  std::printf("{\"count\": %llu, \"p50\": %.3f, \"p99\": %.3f, \"rate\": %.0f}\n", static_cast<unsigned long long>(seen.count),
              seen.percentile_us(0.5), seen.percentile_us(0.99), static_cast<double>(seen.rate_count[1] - seen.rate_count[0]) / seconds);
  return 0;
}
