// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-bare-client n2nq|floor PORT SENDERS RECEIVERS SIZE INTERVAL_NS spread|in-phase SECONDS: as little of a client as can be, through
// N2NQ or the bare relay. One thread sends, one receives, and nothing is checked or kept but how long each message took. What the worker processes need
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
#include "broker/net/turns.h"
#include "broker/wire/messages.h"
#include "broker/wire/record.h"

namespace {

using namespace n2nq;

constexpr std::size_t batch_bytes = 64 * 1024, read_bytes = 256 * 1024;
constexpr int bucket_bits = 6;                         // of 64 ns
constexpr std::size_t buckets = std::size_t{1} << 25;  // 2 s
constexpr std::int64_t rate_from_ns = 500'000'000, rate_to_ns = 200'000'000;

struct Plan {
  bool n2nq;
  std::uint16_t port;
  unsigned senders, receivers, size;
  std::int64_t interval_ns;
  bool in_phase;
  std::int64_t begin_ns, end_ns;
};

/// Says who we are and waits for the whole answer: 8 bytes, or WELCOME.
net::Fd open_client(const Plan& plan, wire::Role role, std::uint32_t number) {
  net::Fd fd = net::start_connect(*net::SocketAddress::parse("127.0.0.1", plan.port));
  pollfd ready{fd.get(), POLLOUT, 0};
  poll(&ready, 1, -1);
  wire::Bytes greeting(8), answer(8);
  wire::store(greeting.data(), static_cast<std::uint32_t>(role));
  if (plan.n2nq) {
    wire::Hello hello;
    hello.role = role;
    hello.number = number;
    greeting.clear();
    hello.encode(greeting);
    answer.resize(wire::frame_header_bytes + wire::Welcome::body_bytes);
  }
  ready.events = POLLIN;
  const bool greeted = send(fd.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(greeting.size()) &&
                       poll(&ready, 1, -1) == 1 && recv(fd.get(), answer.data(), answer.size(), 0) == static_cast<ssize_t>(answer.size());
  if (!greeted) std::exit(1);
  return fd;
}

struct Sender {
  net::Fd fd;
  std::size_t head_bytes = 0;       // of a PUBLISH frame
  std::vector<std::uint8_t> batch;  // the head, then records
  std::size_t written = 0;
  std::uint64_t index = 0;

  /// Stamps the first records of the batch, `bytes` with the head, and offers them.
  bool offer(std::size_t bytes, std::size_t record_bytes) {
    if (written == 0) {
      if (head_bytes > 0) wire::write_frame_header(batch.data(), wire::FrameType::publish, static_cast<std::uint32_t>(bytes - head_bytes));
      const std::int64_t now = net::now_ns();
      for (std::size_t at = head_bytes; at < bytes; at += record_bytes) {
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
      while (!senders[i].offer(senders[i].head_bytes + record_bytes, record_bytes)) {
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

/// END, and then what N2NQ has said all the time is thrown away until it says END too: the connection has to stay until then.
void say_end(std::vector<Sender>& senders) {
  for (Sender& sender : senders) {
    wire::Bytes end;
    wire::End{sender.index}.encode(end);
    pollfd ready{sender.fd.get(), POLLOUT, 0};
    poll(&ready, 1, -1);
    if (send(sender.fd.get(), end.data(), end.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(end.size())) std::exit(1);
    shutdown(sender.fd.get(), SHUT_WR);
  }
  wire::Bytes told(read_bytes);
  for (Sender& sender : senders) {
    pollfd ready{sender.fd.get(), POLLIN, 0};
    while (poll(&ready, 1, -1) == 1 && recv(sender.fd.get(), told.data(), told.size(), 0) > 0) {
    }
  }
}

void send_by(const Plan& plan) {
  prctl(PR_SET_TIMERSLACK, 1);
  const std::size_t record_bytes = wire::record_header_bytes + plan.size;
  std::vector<Sender> senders(plan.senders);
  for (std::uint32_t number = 1; Sender & sender : senders) {
    sender.fd = open_client(plan, wire::Role::sender, number);
    sender.head_bytes = plan.n2nq ? wire::frame_header_bytes : 0;
    sender.batch.resize(sender.head_bytes + batch_bytes / record_bytes * record_bytes, 'A');
    wire::RecordHeader header;
    header.size = plan.size;
    header.sender = number++;
    for (std::size_t at = sender.head_bytes; at < sender.batch.size(); at += record_bytes)
      wire::write_record_header(sender.batch.data() + at, header);
  }
  plan.interval_ns == 0 ? send_all_it_takes(plan, senders, record_bytes) : send_planned(plan, senders, record_bytes);
  if (plan.n2nq) say_end(senders);
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
  std::size_t left_in_frame = 0;  // of a DELIVER frame's records

  /// False at the end of its stream.
  bool read(const Plan& plan, Seen& seen) {
    const ssize_t more = recv(fd.get(), bytes.data() + held, bytes.size() - held, 0);
    if (more <= 0) return more < 0;
    const std::int64_t now = net::now_ns();
    held += static_cast<std::size_t>(more);
    std::size_t at = 0;
    bool open = true;
    while (open) {
      if (plan.n2nq && left_in_frame == 0) {
        const std::size_t head = enter_frame(at, open);
        if (head == 0) break;
        at += head;
      }
      const std::size_t length = take_record(at, now, seen, open);
      if (length == 0) break;
      at += length;
      left_in_frame -= plan.n2nq ? length : 0;
    }
    std::memmove(bytes.data(), bytes.data() + at, held - at);
    held -= at;
    const std::int64_t marks[2] = {plan.begin_ns + rate_from_ns, plan.end_ns - rate_to_ns};
    for (int i = 0; i < 2; ++i) {
      if (seen.rate_ns[i] == 0 && now >= marks[i]) seen.rate_ns[i] = now, seen.rate_count[i] = seen.count;
    }
    return open;
  }

  /// Steps over the head of a DELIVER frame. 0: it is not there yet, or it is END.
  std::size_t enter_frame(std::size_t at, bool& open) {
    constexpr std::size_t head_bytes = wire::frame_header_bytes + wire::deliver_prefix_bytes;
    if (held - at < head_bytes) return 0;
    open = bytes[at + 4] == static_cast<std::uint8_t>(wire::FrameType::deliver);
    if (!open) return 0;
    left_in_frame = wire::load<std::uint32_t>(bytes.data() + at) - wire::deliver_prefix_bytes;
    return head_bytes;
  }

  /// Its length; 0 when it is not whole yet, or the relay's last.
  std::size_t take_record(std::size_t at, std::int64_t now, Seen& seen, bool& open) {
    const std::uint8_t* const record = bytes.data() + at;
    if (held - at < wire::record_header_bytes || held - at < wire::record_bytes(record)) return 0;
    open = wire::record_sender(record) != 0;
    if (!open) return 0;
    const auto bucket = static_cast<std::size_t>(std::max<std::int64_t>(now - wire::load<std::int64_t>(record + 24), 0)) >> bucket_bits;
    ++seen.latencies[std::min(bucket, buckets - 1)];
    ++seen.count;
    return wire::record_bytes(record);
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
  if (argc != 9) return 2;
  const auto number = [argv](int i) { return std::strtoll(argv[i], nullptr, 10); };
  Plan plan{std::string_view(argv[1]) == "n2nq",
            static_cast<std::uint16_t>(number(2)),
            static_cast<unsigned>(number(3)),
            static_cast<unsigned>(number(4)),
            static_cast<unsigned>(number(5)),
            number(6),
            std::string_view(argv[7]) == "in-phase",
            0,
            0};
  net::raise_file_limit(plan.senders + plan.receivers + 16);
  net::ask_for_short_turns();  // as the worker processes do
  std::vector<Receiver> receivers(plan.receivers);
  for (std::uint32_t i = 0; Receiver & receiver : receivers) receiver.fd = open_client(plan, wire::Role::receiver, ++i);
  plan.begin_ns = net::now_ns() + 300 * net::ns_per_ms;
  plan.end_ns = plan.begin_ns + static_cast<std::int64_t>(std::strtod(argv[8], nullptr) * 1e9);
  Seen seen;
  std::thread sending([&plan] { send_by(plan); });
  receive(plan, receivers, seen);
  sending.join();
  const double seconds = static_cast<double>(seen.rate_ns[1] - seen.rate_ns[0]) / 1e9;
  std::printf("{\"count\": %llu, \"p50\": %.3f, \"p99\": %.3f, \"rate\": %.0f}\n", static_cast<unsigned long long>(seen.count),
              seen.percentile_us(0.5), seen.percentile_us(0.99),
              seconds > 0 ? static_cast<double>(seen.rate_count[1] - seen.rate_count[0]) / seconds : 0.0);
  return 0;
}
