// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/session.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "broker/net/clock.h"

namespace n2nq {

namespace {
/// How long a client may take to read why it was refused.
constexpr int64_t refused_linger_ns = 500 * net::ns_per_ms;
/// What a client may still send in that time; one that was never let in, less.
constexpr size_t discard_bytes_max = 16 * 1024 * 1024, discard_bytes_max_of_strangers = 64 * 1024;
/// Parts of its last words that a client gets before others have their turn.
constexpr int last_words_at_once_max = 4;
/// What a session keeps of the memory of what it has told.
constexpr size_t out_kept_bytes = 4096;

const wire::FrameLimits limits_before_welcome(wire::frame_bytes_max_before_welcome,
                                              ": nothing is longer before WELCOME, and HELLO comes first");

/// What is no frame of a role may be as long as a short one: then its name and length can be told.
wire::FrameLimits limits_of(wire::Role role, uint32_t frame_bytes_max) {
  const char* longer = role == wire::Role::sender     ? ": of what a sender says only PUBLISH and ERROR are longer"
                       : role == wire::Role::receiver ? ": of what a receiver says only CONFIRM, RULES and ERROR are longer"
                                                      : ": of what a probe says only ERROR is longer";
  wire::FrameLimits limits(wire::frame_bytes_max_before_welcome, longer);
  limits.set(wire::FrameType::error, wire::Error::body_bytes_max);
  if (role == wire::Role::sender) limits.set(wire::FrameType::publish, frame_bytes_max);
  if (role == wire::Role::receiver) {
    limits.set(wire::FrameType::confirm, wire::frame_bytes_max_from_receiver);
    limits.set(wire::FrameType::rules, wire::frame_bytes_max_from_receiver);
  }
  return limits;
}

}  // namespace

std::string service_name(wire::Role role, uint32_t number) {
  char name[16];
  std::snprintf(name, sizeof name, "%c%03u", role == wire::Role::sender ? 'S' : 'R', number);
  return name;
}

Session::Session(net::EventLoop& loop, net::Fd socket, uint64_t arrival, int64_t handshake_deadline_ns, Owner& owner)
    : loop_(loop),
      owner_(owner),
      arrival_(arrival),
      connection_(loop, std::move(socket), limits_before_welcome, *this),
      deadline_(loop, [this] { on_deadline(); }),
      next_words_(loop, [this] { flush_last_words(); }),
      handshake_deadline_ns_(handshake_deadline_ns) {
  const int64_t now = net::now_ns();
  last_heard_ns_ = now;
  last_sent_ns_ = now;
  deadline_.arm(now + handshake_deadline_ns);
}

std::string Session::name() const {
  const std::string address = connection_.peer().text();
  if (!welcomed_) return address;
  if (role_ == wire::Role::probe) return "probe (" + address + ")";
  return service_name(role_, number_) + " (" + address + ")";
}

void Session::welcome(wire::Role role, uint32_t number, const wire::Welcome& welcome, net::FramePlaces& places) {
  role_ = role;
  number_ = number;
  welcomed_ = true;
  state_ = State::serving;
  deadline_.disarm();
  connection_.set_frame_limits(limits_of(role, welcome.frame_bytes_max));
  if (role == wire::Role::sender) connection_.share_places(places);
  send(welcome);
}

void Session::send_heartbeat() {
  wire::encode_heartbeat(out_.bytes());
  flush();
}

bool Session::flush() {
  if (out_.empty()) return true;
  last_sent_ns_ = loop_.woke_ns();
  const bool flushed = out_.flush(connection_);
  if (flushed) out_.fit(out_kept_bytes);  // of something long, which is said once
  return flushed;
}

void Session::refuse(wire::ErrorCode code, const std::string& text, bool in_frame) {
  if (state_ == State::lingering || state_ == State::gone) return;
  owner_.on_refused(*this, code);
  const std::string reason = std::string(wire::name_of(code)) + ": " + text;
  if (in_frame) {
    close(reason);
    return;
  }
  send(wire::Error{code, text});
  shut_down_when_flushed_ = true;
  if (out_.empty()) connection_.shut_down_write();
  linger(refused_linger_ns, reason);
}

void Session::finish(const std::string& reason, int64_t linger_ns, LastWords last_words) {
  if (state_ != State::serving) return;
  linger(linger_ns, reason);
  last_words_ = std::move(last_words);
  flush_last_words();
}

/// True when nothing is left to be written.
bool Session::flush_last_words() {
  for (int parts = 0; flush() && state_ == State::lingering; ++parts) {
    if (!last_words_) return true;
    if (parts == last_words_at_once_max) {
      next_words_.arm(loop_.woke_ns());  // the others' turn
      return false;
    }
    if (!last_words_(out_.bytes())) last_words_ = nullptr;
  }
  return false;
}

void Session::linger(int64_t linger_ns, const std::string& reason) {
  state_ = State::lingering;
  const bool is_service = welcomed_ && role_ != wire::Role::probe;
  connection_.discard_input(is_service ? discard_bytes_max : discard_bytes_max_of_strangers);
  deadline_.arm(net::now_ns() + linger_ns);
  owner_.on_left(*this, reason);
}

void Session::close(const std::string& reason) {
  const bool leaves = state_ == State::awaiting_hello || state_ == State::serving;
  if (state_ == State::gone) return;
  state_ = State::gone;
  deadline_.disarm();
  next_words_.disarm();
  connection_.close();
  if (leaves) owner_.on_left(*this, reason);
  owner_.on_gone(*this);
  last_words_ = nullptr;
}

void Session::on_frame(const wire::Frame& frame, int64_t read_ns) {
  last_heard_ns_ = std::max(last_heard_ns_, read_ns);  // it may have waited here
  if (state_ == State::awaiting_hello) {
    if (frame.type == wire::FrameType::hello) {
      owner_.on_hello(*this, frame.body);
    } else {
      refuse(wire::ErrorCode::not_n2nq, std::string("the first frame is ") + wire::name_of(frame.type) + ", it has to be HELLO");
    }
    return;
  }
  if (state_ != State::serving || frame.type == wire::FrameType::heartbeat) return;
  if (frame.type == wire::FrameType::error) {
    const auto error = wire::Error::decode(frame.body);
    std::string said = "?";
    if (error) said = error->text.empty() ? "ERROR " + std::to_string(static_cast<int>(error->code)) + ", without a word" : error->text;
    close("the client says: " + said);  // its last word; nothing is left to tell it
  } else if (frame.type == wire::FrameType::hello) {
    refuse(wire::ErrorCode::frame, "a second HELLO; one per connection", owner_.in_frame(*this));
  } else {
    owner_.on_frame(*this, frame, read_ns);
  }
}

bool Session::wants(const wire::BegunFrame& frame) {
  if (state_ != State::serving || owner_.wants(*this, frame)) return true;
  // on_frame() does not come for it, and whoever sends nothing else is no silent one.
  last_heard_ns_ = std::max(last_heard_ns_, loop_.woke_ns());
  return false;
}

void Session::on_malformed(const std::string& error) {
  refuse(state_ == State::awaiting_hello ? wire::ErrorCode::not_n2nq : wire::ErrorCode::frame, error, owner_.in_frame(*this));
}

void Session::on_writable() {
  if (state_ == State::serving) {
    owner_.on_writable(*this);
  } else if (flush_last_words() && shut_down_when_flushed_) {
    connection_.shut_down_write();
  }
}

void Session::on_closed(const std::string& reason) {
  close(reason.empty() ? "connection closed" : "connection lost: " + reason);
}

void Session::on_deadline() {
  if (state_ != State::awaiting_hello) return close("");
  // Where much is ready at once its turn may not have come: that is this process's slowness, not the client's.
  connection_.read_waiting();
  if (state_ == State::awaiting_hello) owner_.on_no_hello(*this);
}

}  // namespace n2nq
