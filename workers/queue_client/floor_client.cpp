// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/floor_client.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "broker/net/clock.h"
#include "broker/wire/record.h"
#include "workers/queue_client/records.h"

namespace n2nq::worker {

namespace {

/// As N2NQ's client has it, so that both offer alike.
constexpr std::uint32_t batch_bytes = 64 * 1024;
/// The relay takes no longer record.
constexpr std::uint32_t record_letters_max = batch_bytes - wire::record_header_bytes;
constexpr std::size_t greeting_bytes = 8;

}  // namespace

FloorClient::FloorClient(net::EventLoop& loop, const net::SocketAddress& address, const ClientIdentity& identity, QueueHandler& handler)
    : loop_(loop), address_(address), identity_(identity), handler_(handler) {}

FloorClient::~FloorClient() {
  close();
}

void FloorClient::open(std::uint64_t /*next_index*/, const std::vector<wire::Rule>* /*rules*/) {
  close();
  out_.clear();
  rest_.clear();
  written_ = 0;
  published_ = accepted_ = deliveries_ = 0;
  ending_ = false;
  reading_ = true;
  opened_ns_ = net::now_ns();
  fd_ = net::start_connect(address_);
  state_ = State::connecting;
  interest_ = EPOLLOUT;
  loop_.watch(fd_.get(), interest_, *this);
}

void FloorClient::on_events(std::uint32_t events) {
  if (state_ == State::connecting) {
    const int error = net::connect_error(fd_.get());
    if (error != 0) return fail(std::strerror(error), Closed::for_now);
    return greet();
  }
  if (events & EPOLLOUT) {
    flush();
    if (state_ == State::open && can_publish()) handler_.on_room();
  }
  if (fd_.valid() && reading_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) read();
}

void FloorClient::greet() {
  out_.resize(greeting_bytes);
  wire::store(out_.data(), static_cast<std::uint32_t>(identity_.role));
  wire::store(out_.data() + 4, identity_.number);
  state_ = State::greeting;
  greeted_ns_ = net::now_ns();
  flush();
}

void FloorClient::read() {
  if (looks_later_) loop_.look_now();
  if (!fd_.valid() || !reading_) return;
  // As N2NQ's client does it, so that both read alike: into the memory that all share, what was left of the last read in front.
  const std::span<std::uint8_t> room = loop_.read_room();
  std::ranges::copy(rest_, room.begin());
  const net::IoResult result = net::read_some(fd_.get(), room.subspan(rest_.size()));
  read_ns_ = net::now_ns();
  switch (result.status) {
    case net::IoStatus::again:
      return;
    case net::IoStatus::closed:
      return ending_ ? take_end(published_) : fail("the relay closed the connection", Closed::for_now);
    case net::IoStatus::failed:
      return fail(std::strerror(result.error), Closed::for_now);
    case net::IoStatus::done:
      break;
  }
  read_ = room.first(rest_.size() + result.bytes);
  looks_later_ = loop_.look_later(*this, read_.size());
  if (!looks_later_) look_at_read();
}

void FloorClient::look_at_read() {
  looks_later_ = false;
  if (state_ == State::greeting) take_greeting();
  if (state_ == State::open) take_records();
  rest_.assign(read_.begin(), read_.end());
}

void FloorClient::take_greeting() {
  if (read_.size() < greeting_bytes) return;
  read_ = read_.subspan(greeting_bytes);
  state_ = State::open;
  OpenFacts facts;
  facts.incarnation = 1;
  facts.batch_bytes_max = batch_bytes;
  facts.letters_max = record_letters_max;
  facts.source_port = net::local_address(fd_.get()).port();
  facts.offset_error_ns = (net::now_ns() - greeted_ns_) / 2;
  handler_.on_open(facts);
}

void FloorClient::take_records() {
  wire::RecordWalk walk(read_);
  std::size_t used = 0;
  bool ended = false;
  std::uint64_t messages = 0;
  while (const auto record = walk.next()) {
    used += record->size();
    ended = wire::record_sender(record->data()) == 0;
    messages = wire::record_index(record->data());
    if (ended) break;
    Delivery delivery = read_record(record->data());
    delivery.attempt = 1;
    // The relay stamps nothing. The stages are filled in all the same, so that a delivery costs its receiver what one of N2NQ's costs.
    delivery.taken_in_ns = delivery.sent_on_ns = delivery.sent_ns;
    delivery.received_ns = read_ns_;
    delivery.number = deliveries_++;
    handler_.on_delivery(delivery);
  }
  handler_.on_deliveries_done();
  if (ended) return take_end(messages);
  read_ = read_.subspan(used);
}

std::size_t FloorClient::bytes_in_batch(std::size_t letters) const {
  return wire::record_header_bytes + letters;
}

void FloorClient::publish(std::span<Outgoing> messages) {
  tell_accepted();
  out_.resize(record_bytes_of(messages));
  write_records(out_.data(), messages, identity_.number);
  written_ = 0;
  published_ = messages.back().index + 1;
  flush();
}

/// Told late, because the sender counts a message only behind publish().
void FloorClient::tell_accepted() {
  if (accepted_ == published_) return;
  accepted_ = published_;
  handler_.on_accepted(accepted_, {});
}

void FloorClient::flush() {
  if (written_ < out_.size()) {
    const iovec piece{out_.data() + written_, out_.size() - written_};
    const net::IoResult result = net::write_some(fd_.get(), &piece, 1);
    if (result.status == net::IoStatus::failed) written_ = out_.size();  // the next read says so
    written_ += result.bytes;
  }
  if (ending_ && written_ == out_.size()) ::shutdown(fd_.get(), SHUT_WR);
  set_interest();
}

void FloorClient::set_interest() {
  const std::uint32_t interest = (reading_ ? EPOLLIN : 0u) | (written_ < out_.size() ? EPOLLOUT : 0u);
  if (interest == interest_) return;
  interest_ = interest;
  loop_.change(fd_.get(), interest_, *this);
}

void FloorClient::end(std::uint64_t /*next_index*/) {
  if (state_ != State::open || ending_) return;
  ending_ = true;
  flush();
}

void FloorClient::take_end(std::uint64_t messages) {
  if (identity_.role == wire::Role::sender) tell_accepted();
  wire::EndTotals totals;
  totals.handed_over = messages;
  close();
  handler_.on_end(totals);
}

void FloorClient::set_reading(bool reading) {
  if (state_ != State::open) return;
  reading_ = reading;
  set_interest();
}

void FloorClient::tick(std::int64_t now_ns) {
  const bool greets = state_ == State::connecting || state_ == State::greeting;
  if (greets && now_ns - opened_ns_ > greeting_deadline_ns) fail("no answer from " + address_.text(), Closed::for_now);
}

void FloorClient::fail(const std::string& reason, Closed closed) {
  close();
  handler_.on_closed(reason, closed);
}

void FloorClient::close() {
  if (!fd_.valid()) return;
  if (std::exchange(looks_later_, false)) loop_.forget_read(*this);
  loop_.unwatch(fd_.get(), *this);
  fd_.reset();
  state_ = State::closed;
}

}  // namespace n2nq::worker
