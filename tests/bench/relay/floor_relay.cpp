// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/relay/floor_relay.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "broker/net/clock.h"
#include "broker/net/tcp.h"
#include "broker/wire/record.h"

namespace n2nq::bench {

namespace {

constexpr std::size_t read_bytes_max = 256 * 1024;
constexpr std::size_t record_bytes_max = 64 * 1024;
/// While a ring has less, nothing is read: the rest of a record, and one read more.
constexpr std::size_t room_min = record_bytes_max + read_bytes_max;
constexpr std::size_t greeting_bytes = 8;
// As N2NQ's (broker/server/server.cpp, write_round.cpp).
constexpr int courteous_ready_max = 2;
constexpr std::size_t keep_core_min = 16;
constexpr std::uint64_t keep_core_records_max = 8;

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void watch(const net::Fd& epoll, int fd, std::uint32_t events, void* client) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = client;
  checked(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

}  // namespace

FloorRelay::FloorRelay(Pattern pattern, WriteAfter write_after, unsigned senders, unsigned receivers)
    : pattern_(pattern),
      write_after_(write_after),
      senders_(senders),
      listener_(net::listen_on(*net::SocketAddress::parse("127.0.0.1", 0))),
      everybody_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      the_rest_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
  (pattern == Pattern::broadcast ? common_ : input_).allocate();
  for (const net::Fd* epoll : {&everybody_, &the_rest_}) {
    watch(*epoll, listener_.get(), EPOLLIN, &listener_);
    watch(*epoll, STDIN_FILENO, EPOLLIN, nullptr);
  }
  if (write_after == WriteAfter::each_wake_up_kept && net::CoreKeeper::is_of_use()) core_keeper_ = std::make_unique<net::CoreKeeper>();
  receiving_.reserve(receivers);
  fresh_.reserve(receivers);
}

std::uint16_t FloorRelay::port() const {
  return net::local_address(listener_.get()).port();
}

void FloorRelay::run() {
  while (!stopped_) {
    const int count = wait();
    for (int i = 0; i < count; ++i) serve(events_[static_cast<std::size_t>(i)]);
    if (write_after_ == WriteAfter::each_read) continue;
    keep_core();
    write_all();
  }
}

int FloorRelay::wait() {
  const net::Fd& epoll = has_room() ? everybody_ : the_rest_;
  const int count = epoll_wait(epoll.get(), events_.data(), static_cast<int>(events_.size()), -1);
  if (count < 0 && errno != EINTR) checked(count, "epoll_wait");
  if (write_after_ != WriteAfter::each_wake_up_kept || count < 1 || count > courteous_ready_max) return count;
  if (const std::int64_t awake_ns = net::now_ns(); courtesy_.due(awake_ns)) {
    sched_yield();
    courtesy_.yielded(awake_ns, net::now_ns());
  }
  return count;
}

void FloorRelay::keep_core() {
  const std::uint64_t records = records_ - std::exchange(written_records_, records_);
  const std::size_t receivers = pattern_ == Pattern::broadcast ? receiving_.size() : fresh_.size();
  if (core_keeper_ && records > 0 && records <= keep_core_records_max && receivers >= keep_core_min) core_keeper_->keep();
}

void FloorRelay::serve(const epoll_event& event) {
  if (event.data.ptr == nullptr) {
    char byte = 0;
    stopped_ = ::read(STDIN_FILENO, &byte, 1) <= 0;
    return;
  }
  if (event.data.ptr == &listener_) return accept_client();
  Client& client = *static_cast<Client*>(event.data.ptr);
  if (!client.fd.valid()) return;
  switch (client.kind) {
    case Client::Kind::unknown:
      return greet(client);
    case Client::Kind::sender:
      return read_from(client);
    case Client::Kind::receiver:
      if (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {  // it takes nothing any more, and holds nobody up
        client.fd.reset();
        client.sent = ring_of(client).end;
        client.blocked = false;
        return;
      }
      client.blocked = false;
      return write_to(client);
  }
}

void FloorRelay::accept_client() {
  net::Fd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.valid()) return;
  net::prepare_stream(socket.get());
  Client& client = clients_.emplace_back();
  client.fd = std::move(socket);
  watch(everybody_, client.fd.get(), EPOLLIN, &client);
  watch(the_rest_, client.fd.get(), EPOLLIN, &client);
}

void FloorRelay::greet(Client& client) {
  std::array<std::uint8_t, greeting_bytes> greeting{};
  if (recv(client.fd.get(), greeting.data(), greeting.size(), 0) != greeting_bytes) return client.fd.reset();
  const bool sends = wire::load<std::uint32_t>(greeting.data()) == 1;
  client.kind = sends ? Client::Kind::sender : Client::Kind::receiver;
  epoll_ctl(the_rest_.get(), EPOLL_CTL_DEL, client.fd.get(), nullptr);
  if (sends) {
    client.rest.reserve(record_bytes_max);
  } else {
    epoll_ctl(everybody_.get(), EPOLL_CTL_DEL, client.fd.get(), nullptr);
    // Edge-triggered: the kernel tells once when a socket that was full has room again, and nothing has to be switched on and off.
    for (const net::Fd* epoll : {&everybody_, &the_rest_}) watch(*epoll, client.fd.get(), EPOLLOUT | EPOLLRDHUP | EPOLLET, &client);
    if (pattern_ == Pattern::balance) {
      client.ring.allocate();
    } else {
      net::set_send_buffer(client.fd.get(), net::host_send_buffer_bytes);
    }
    client.sent = ring_of(client).end;
    receiving_.push_back(&client);
  }
  greeting.fill(0);
  if (send(client.fd.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) != greeting_bytes) client.fd.reset();
}

void FloorRelay::read_from(Client& sender) {
  if (!has_room()) return;
  ByteRing& ring = pattern_ == Pattern::broadcast ? common_ : input_;
  std::uint8_t* const at = ring.at(ring.end);
  std::memcpy(at, sender.rest.data(), sender.rest.size());
  const net::IoResult result = net::read_some(sender.fd.get(), {at + sender.rest.size(), read_bytes_max});
  if (result.status == net::IoStatus::again) return;
  if (result.status != net::IoStatus::done) return end_sender(sender);
  const std::size_t bytes = sender.rest.size() + result.bytes;
  const std::size_t whole = take(at, bytes);
  if (bytes - whole > record_bytes_max) return end_sender(sender);
  sender.rest.assign(at + whole, at + bytes);
  if (write_after_ == WriteAfter::each_read) write_all();
}

/// Returns the length of the whole records.
std::size_t FloorRelay::take(const std::uint8_t* records, std::size_t bytes) {
  std::size_t whole = 0;
  while (bytes - whole >= wire::record_header_bytes) {
    const std::size_t record_bytes = wire::record_bytes(records + whole);
    if (record_bytes > bytes - whole) break;
    if (pattern_ == Pattern::balance) give_to_next(records + whole, record_bytes);
    ++records_;
    whole += record_bytes;
  }
  if (pattern_ == Pattern::broadcast) common_.end += whole;
  return whole;
}

void FloorRelay::give_to_next(const std::uint8_t* record, std::size_t bytes) {
  if (receiving_.empty()) return;
  if (++turn_ >= receiving_.size()) turn_ = 0;
  Client& receiver = *receiving_[turn_];
  if (!receiver.fd.valid()) return;
  std::memcpy(receiver.ring.at(receiver.ring.end), record, bytes);
  receiver.ring.end += bytes;
  if (receiver.ring.room() < room_min) tight_ = true;
  ++receiver.records;
  if (!std::exchange(receiver.marked, true)) fresh_.push_back(&receiver);
}

void FloorRelay::end_sender(Client& sender) {
  sender.fd.reset();
  if (++ended_ < senders_) return;
  std::array<std::uint8_t, wire::record_header_bytes> last{};
  wire::RecordHeader header;
  if (pattern_ == Pattern::broadcast) {
    header.index = records_;
    wire::write_record_header(common_.at(common_.end), header);
    common_.end += last.size();
  } else {
    for (Client* receiver : receiving_) {
      header.index = receiver->records;
      wire::write_record_header(last.data(), header);
      std::memcpy(receiver->ring.at(receiver->ring.end), last.data(), last.size());
      receiver->ring.end += last.size();
    }
    fresh_ = receiving_;
  }
  write_all();
}

void FloorRelay::write_all() {
  std::vector<Client*>& receivers = pattern_ == Pattern::broadcast ? receiving_ : fresh_;
  for (Client* receiver : receivers) {
    receiver->marked = false;
    if (!receiver->blocked) write_to(*receiver);
  }
  if (pattern_ == Pattern::balance) fresh_.clear();
}

void FloorRelay::write_to(Client& receiver) {
  ByteRing& ring = ring_of(receiver);
  if (!receiver.fd.valid()) {
    receiver.sent = ring.end;
  } else if (receiver.sent < ring.end) {
    const auto bytes = static_cast<std::size_t>(ring.end - receiver.sent);
    receiver.sent += net::write_some(receiver.fd.get(), std::span(ring.at(receiver.sent), bytes)).bytes;
    receiver.blocked = receiver.sent < ring.end;
  }
  if (pattern_ == Pattern::broadcast) return;
  ring.begin = receiver.sent;
  if (ring.begin == ring.end) receiver.sent = 0, ring.rewind();
}

void FloorRelay::free_common() {
  std::uint64_t least = common_.end;
  for (const Client* receiver : receiving_) least = std::min(least, receiver->sent);
  common_.begin = least;
  if (common_.begin < common_.end) return;
  for (Client* receiver : receiving_) receiver->sent = 0;
  common_.rewind();
}

bool FloorRelay::has_room() {
  if (pattern_ == Pattern::broadcast) {
    if (common_.end > 0) free_common();
    return common_.room() >= room_min;
  }
  if (tight_) tight_ = std::ranges::any_of(receiving_, [](const Client* receiver) { return receiver->ring.room() < room_min; });
  return !tight_;
}

}  // namespace n2nq::bench
