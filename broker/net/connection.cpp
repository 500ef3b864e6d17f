// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/connection.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "broker/net/clock.h"
#include "broker/net/liveness.h"

namespace n2nq::net {

Connection::Connection(EventLoop& loop, Fd accepted, const wire::FrameLimits& limits, Handler& handler)
    : loop_(loop),
      handler_(handler),
      fd_(std::move(accepted)),
      state_(State::open),
      interest_(EPOLLIN),
      reader_(limits),
      local_(local_address(fd_.get())),
      peer_(peer_address(fd_.get())),
      later_(loop, [this] { on_later(); }) {
  loop_.watch(fd_.get(), interest_, *this);
}

Connection::Connection(EventLoop& loop, const SocketAddress& peer, const wire::FrameLimits& limits, Handler& handler)
    : loop_(loop),
      handler_(handler),
      fd_(start_connect(peer)),
      state_(State::connecting),
      interest_(EPOLLOUT),
      reader_(limits),
      peer_(peer),
      later_(loop, [this] { on_later(); }) {
  loop_.watch(fd_.get(), interest_, *this);
}

Connection::~Connection() {
  close();
}

size_t Connection::write(const iovec* pieces, int count) {
  if (!takes()) return 0;
  size_t offered = 0;
  for (int i = 0; i < count; ++i) offered += pieces[i].iov_len;
  return settle(write_some(fd_.get(), pieces, count), offered);
}

bool Connection::add_to(SendRing& ring, const iovec* pieces, int count) {
  if (!takes()) return false;
  ring.add(fd_.get(), pieces, count);
  return true;
}

size_t Connection::settle(const IoResult& result, size_t offered) {
  if (result.status == IoStatus::failed) {
    write_failed_ = true;
    write_error_ = result.error;
    // What it had sent before it went is there to be read, and its end or the error behind that.
    const bool is_gone = result.error == EPIPE || result.error == ECONNRESET;
    fails_later_ = discarding_ || !is_gone;
    if (fails_later_) later_.arm(loop_.woke_ns());
    return 0;
  }
  if (result.bytes < offered && !wants_write_) {
    wants_write_ = true;
    set_interest();
  }
  return result.bytes;
}

size_t Connection::write(wire::ByteView bytes) {
  if (!takes()) return 0;
  return settle(write_some(fd_.get(), bytes), bytes.size());
}

bool Connection::is_within_host() const {
  return local_.storage.ss_family == AF_UNIX || peer_.is_loopback() || local_.address() == peer_.address();
}

void Connection::share_places(FramePlaces& places) {
  places_ = &places;
  reader_.ask_for_large();
}

/// After the frames that were whole: memory for the one that begins, or back from the one that was the last.
void Connection::look_for_place() {
  if (!places_) return;
  const bool reads_on = state_ == State::open && !discarding_;
  if (!reads_on || (reader_.has_large() && reader_.bytes_waiting() == 0)) leave_place();
  if (!reads_on || reader_.bytes_wanted() == 0 || waits_for_place_) return;
  if (places_->take(*this)) return;
  waits_for_place_ = true;
  set_interest();
}

void Connection::on_place(wire::LargeBuffer place) {
  reader_.reserve(std::move(place));
  waits_for_place_ = false;
  set_interest();
}

void Connection::leave_place() {
  if (!places_ || handing_out_) return;  // the frame being looked at may lie there: look_for_place() follows
  if (std::exchange(waits_for_place_, false)) places_->forget(*this);
  if (wire::LargeBuffer place = reader_.give_back(); place.bytes) places_->give_back(std::move(place));
}

void Connection::pause_reading() {
  reading_ = false;
  if (!fails_later_) later_.disarm();
  set_interest();
}

void Connection::resume_reading() {
  if (reading_) return;
  reading_ = true;
  set_interest();
  if (reader_.bytes_waiting() > 0) later_.arm(loop_.woke_ns());
}

void Connection::wait_for_turn() {
  waits_for_turn_ = true;
  set_interest();
}

void Connection::give_turn() {
  if (!std::exchange(waits_for_turn_, false)) return;
  if (reading_) hand_out_waiting();
  set_interest();
}

uint64_t Connection::unacknowledged_bytes() const {
  return net::unacknowledged_bytes(fd_.get());
}

std::optional<int64_t> Connection::host_silent_ns() const {
  return state_ == State::open ? net::host_silent_ns(fd_.get()) : std::nullopt;
}

bool Connection::has_no_room() const {
  if (!write_failed_ && !wants_write_) return false;
  // Of one whose other end is gone that is to be read first, and told as its end.
  pollfd room{.fd = fd_.get(), .events = static_cast<short>(write_failed_ ? 0 : POLLOUT), .revents = 0};
  return ::poll(&room, 1, 0) == 0;
}

bool Connection::peer_has_closed() const {
  return state_ == State::open && (hung_up_ || net::has_closed(fd_.get()));
}

void Connection::discard_input(size_t bytes_max) {
  discarding_ = true;
  discard_bytes_left_ = bytes_max;
  waits_for_turn_ = false;
  leave_place();
  resume_reading();
  set_interest();
}

void Connection::shut_down_write() {
  if (state_ == State::open) ::shutdown(fd_.get(), SHUT_WR);
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  if (std::exchange(looks_later_, false)) loop_.forget_read(*this);
  leave_place();
  later_.disarm();
  loop_.unwatch(fd_.get(), *this);
  fd_.reset();
}

void Connection::set_send_buffer(int bytes) {
  if (local_.storage.ss_family == AF_UNIX) return;  // whose buffer does not grow
  net::set_send_buffer(fd_.get(), bytes);
}

void Connection::abort() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (state_ != State::closed) setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void Connection::on_events(uint32_t events) {
  if (state_ == State::connecting) {
    finish_connect();
    return;
  }
  // Before anything is written: nobody would hear it, and it would cost what was sent before the end.
  if (state_ == State::open && !reading() && !ended_ && is_orderly_end(events)) hung_up_ = true;
  if (state_ == State::open && (events & EPOLLOUT)) {
    wants_write_ = false;
    set_interest();
    handler_.on_writable();
  }
  if (state_ != State::open) return;
  if (ended_ || (reading() && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))) {
    read_frames();
  } else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
    // Nobody reads, so nobody else would notice, and epoll would report it for ever. What came before an orderly end stays there to be read.
    if (hung_up_) return set_interest();
    if (!loop_.takes_closing()) return;
    const int error = connect_error(fd_.get());
    fail(error == 0 ? "connection reset" : std::strerror(error));
  }
}

/// A Unix-domain socket says of one what TCP says of a reset.
bool Connection::is_orderly_end(uint32_t events) const {
  if (events & (EPOLLHUP | EPOLLERR)) return !net::host_silent_ns(fd_.get());
  return (events & EPOLLRDHUP) != 0;
}

void Connection::finish_connect() {
  const int error = connect_error(fd_.get());
  if (error != 0) {
    fail(std::strerror(error));
    return;
  }
  state_ = State::open;
  local_ = local_address(fd_.get());
  set_interest();
  handler_.on_connected();
}

void Connection::read_frames() {
  if (looks_later_) loop_.look_now();
  if (ended_ && state_ == State::open) return end(end_error_);
  if (state_ != State::open || !reading()) return;
  // What waited while nobody read goes first: it may be a whole frame, and its memory has room for nothing behind it.
  if (later_.armed() && !discarding_ && !fails_later_) {
    later_.disarm();
    hand_out_waiting();
    if (state_ != State::open || !reading()) return;
  }
  // One read per wake-up: epoll tells when there is more, and the others get their turn.
  if (discarding_) reader_.reset();
  const IoResult result = read_some(fd_.get(), reader_.room(loop_.read_room()));
  switch (result.status) {
    case IoStatus::again:
      reader_.keep();
      return;
    case IoStatus::closed:
      return end(0);
    case IoStatus::failed:
      return end(result.error);
    case IoStatus::done:
      break;
  }
  if (discarding_) {
    discard(result.bytes);
    return;
  }
  mark_read(result.bytes);
  looks_later_ = loop_.look_later(*this, std::max(result.bytes, reader_.bytes_shared()));
  if (!looks_later_) look_at_read();
}

/// At once, or when epoll says again that it has ended.
void Connection::end(int error) {
  ended_ = true;
  // A write may have taken the error from the socket.
  if (error == 0 && write_error_ == ECONNRESET) error = write_error_;
  end_error_ = error;
  if (!loop_.takes_closing()) return reader_.keep();
  if (error != 0) return fail(std::strerror(error));
  fail(reader_.in_frame() ? "connection closed in the middle of a frame" : "");
}

void Connection::look_at_read() {
  looks_later_ = false;
  hand_out_waiting();
  if (discarding_) reader_.reset();  // nobody looks at what came behind what was refused
  reader_.keep();
}

void Connection::hand_out_waiting() {
  hand_out_frames();
  look_for_place();
}

void Connection::read_waiting() {
  if (is_open() && reading()) read_frames();
  loop_.look_now();
}

void Connection::mark_read(size_t bytes) {
  const int64_t now = now_ns();
  const uint64_t handed_out = bytes_in_ - reader_.bytes_waiting();
  std::erase_if(read_marks_, [=](const ReadMark& mark) { return mark.bytes_in <= handed_out; });
  reader_.commit(bytes);
  bytes_in_ += bytes;
  if (read_marks_.size() == read_marks_max) read_marks_.pop_back();
  read_marks_.push_back({bytes_in_, now});
}

void Connection::discard(size_t bytes) {
  if (bytes > discard_bytes_left_) {
    fail("the other end talks on");
  } else {
    discard_bytes_left_ -= bytes;
  }
}

void Connection::hand_out_frames() {
  handing_out_ = true;
  while (state_ == State::open && reading_ && !discarding_ && !waits_for_turn_) {
    const auto frame = reader_.next();
    if (!frame) {
      if (const auto begun = reader_.begun(); begun && !handler_.wants(*begun)) reader_.skip();
      break;
    }
    handler_.on_frame(*frame, read_ns_of(*frame, frame->body.size()));
    if (waits_for_turn_ && state_ == State::open) {
      reader_.put_back(*frame);
      break;
    }
  }
  if (state_ == State::open && reader_.failed() && !malformed_told_ && !discarding_) {
    malformed_told_ = true;
    handler_.on_malformed(reader_.error());
  }
  handing_out_ = false;
}

void Connection::on_later() {
  if (fails_later_) {
    fail(std::strerror(write_error_));
    return;
  }
  if (reading_) hand_out_waiting();
}

void Connection::set_interest() {
  if (state_ != State::open) return;
  uint32_t interest = (reading() || ended_ ? EPOLLIN : 0u) | (wants_write_ ? EPOLLOUT : 0u);
  if (!reading() && !ended_) interest = hung_up_ ? static_cast<uint32_t>(EPOLLET) : interest | EPOLLRDHUP;  // heard once, not for ever
  if (interest == interest_) return;
  interest_ = interest;
  loop_.change(fd_.get(), interest_, *this);
}

void Connection::fail(const std::string& reason) {
  close();
  handler_.on_closed(reason);
}

bool OutBuffer::flush(Connection& connection) {
  if (empty()) return true;
  written_ += connection.write(wire::ByteView(bytes_).subspan(written_));
  if (empty()) clear();
  return empty();
}

void OutBuffer::clear() {
  bytes_.clear();
  written_ = 0;
}

void OutBuffer::fit(size_t kept_bytes) {
  if (bytes_.empty() && bytes_.capacity() > kept_bytes) bytes_.shrink_to_fit();
}

}  // namespace n2nq::net
