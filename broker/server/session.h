// SPDX-License-Identifier: GPL-3.0-or-later
// One client's connection and where it stands in the protocol.
//
//   awaiting_hello --HELLO--> serving --END--> lingering --> gone
//        |                       |                 ^
//        +------- ERROR ---------+-----------------+          lingering: the last frame is on its way, what comes in is thrown away
//
// Knows the frames that every role has (HELLO, HEARTBEAT, ERROR); the rest is the owner's. Belongs to the loop's thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "broker/net/clock.h"
#include "broker/net/connection.h"
#include "broker/net/event_loop.h"
#include "broker/net/liveness.h"
#include "broker/server/per_wake_up.h"
#include "broker/wire/messages.h"

namespace n2nq {

/// "S003", "R017".
std::string service_name(wire::Role role, uint32_t number);

class Session : private net::Connection::Handler {
 public:
  /// How long a client that has all may take to read END and close.
  static constexpr int64_t end_linger_ns = 10 * net::ns_per_s;

  enum class State { awaiting_hello, serving, lingering, gone };

  class Owner {
   public:
    virtual ~Owner() = default;
    /// The first frame was HELLO, of any version. Answers with welcome() or refuse().
    virtual void on_hello(Session& session, wire::ByteView body) = 0;
    /// No complete HELLO came within the deadline. Answers with refuse().
    virtual void on_no_hello(Session& session) = 0;
    /// A frame while serving; never HELLO, HEARTBEAT or ERROR.
    virtual void on_frame(Session& session, const wire::Frame& frame, int64_t read_ns) = 0;
    /// While serving, as net::Connection::Handler says it.
    virtual bool wants(Session& session, const wire::BegunFrame& frame) = 0;
    /// Whether a frame is on its way to it of which the kernel has not taken every byte.
    virtual bool in_frame(const Session& session) const = 0;
    /// While serving: the kernel has room again.
    virtual void on_writable(Session& session) = 0;
    /// serving -> lingering or gone (`reason` says why, for the log), and awaiting_hello -> lingering or gone. Once per session.
    virtual void on_left(Session& session, const std::string& reason) = 0;
    /// refuse() was called; on_left() follows.
    virtual void on_refused(Session& session, wire::ErrorCode code) = 0;
    /// Nothing is left to do: to be destroyed at the end of the wake-up. Of its last words what was not said is still there.
    virtual void on_gone(Session& session) = 0;
  };

  /// `arrival` rises from session to session.
  Session(net::EventLoop& loop, net::Fd socket, uint64_t arrival, int64_t handshake_deadline_ns, Owner& owner);

  uint64_t arrival() const { return arrival_; }
  int64_t handshake_deadline_ns() const { return handshake_deadline_ns_; }
  State state() const { return state_; }
  bool serving() const { return state_ == State::serving; }
  /// Of serving sessions, and of those that were serving.
  wire::Role role() const { return role_; }
  uint32_t number() const { return number_; }
  bool welcomed() const { return welcomed_; }
  /// "S003 (127.0.0.1:51000)", or the address alone before HELLO.
  std::string name() const;

  /// A sender's long frames get their memory in `places`.
  void welcome(wire::Role role, uint32_t number, const wire::Welcome& welcome, net::FramePlaces& places);
  /// Encodes and writes a frame; what the kernel does not take follows when it can.
  template <typename Message>
  void send(const Message& message) {
    message.encode(out_.bytes());
    flush();
  }
  void send_heartbeat();
  /// Control frames that wait. True when none is left, so that records may follow.
  bool flush();
  bool has_unsent() const { return !out_.empty(); }
  /// To encode frames into before flush().
  wire::Bytes& out() { return out_.bytes(); }

  /// ERROR, then lingering. With `in_frame` (a DELIVER is cut short) nothing can be said any more: closes.
  void refuse(wire::ErrorCode code, const std::string& text, bool in_frame = false);
  /// Appends a part of what a client is told at last; false: that was the end of it.
  using LastWords = std::function<bool(wire::Bytes& out)>;
  /// The client is to read what `last_words` says, a part at a time as the kernel has room for it, and to close, within `linger_ns`. `reason`
  /// for the log.
  void finish(const std::string& reason, int64_t linger_ns, LastWords last_words);
  /// At once, without a word.
  void close(const std::string& reason);

  net::Connection& connection() { return connection_; }
  const net::Connection& connection() const { return connection_; }

  int64_t last_heard_ns() const { return last_heard_ns_; }
  void note_heard(int64_t now_ns) { last_heard_ns_ = now_ns; }
  /// Heard, too, is whoever sends a long frame over a slow link, as long as some of it comes.
  void note_progress(int64_t now_ns) {
    last_heard_ns_ = std::max(last_heard_ns_, progress_.came_ns(connection_.bytes_in(), now_ns));
  }
  /// Whether its probe is answered in this wake-up: a system call each. Who waits for the answer before asking again has one.
  bool takes_probe(int64_t woke_ns) { return probes_.take(woke_ns); }
  int64_t last_sent_ns() const { return last_sent_ns_; }
  void note_sent(int64_t now_ns) { last_sent_ns_ = now_ns; }

 private:
  void on_frame(const wire::Frame& frame, int64_t read_ns) override;
  bool wants(const wire::BegunFrame& frame) override;
  void on_malformed(const std::string& error) override;
  void on_writable() override;
  void on_closed(const std::string& reason) override;
  void on_deadline();
  void linger(int64_t linger_ns, const std::string& reason);
  bool flush_last_words();

  net::EventLoop& loop_;
  Owner& owner_;
  const uint64_t arrival_;
  State state_ = State::awaiting_hello;
  bool welcomed_ = false;
  bool shut_down_when_flushed_ = false;
  wire::Role role_ = wire::Role::probe;
  uint32_t number_ = 0;
  int64_t last_heard_ns_ = 0;
  net::Progress progress_;
  int64_t last_sent_ns_ = 0;
  PerWakeUp probes_{16};
  net::OutBuffer out_;
  net::Connection connection_;
  net::Timer deadline_;  // of the handshake, then of lingering
  LastWords last_words_;  // empty: all is said
  net::Timer next_words_;
  const int64_t handshake_deadline_ns_;
};

}  // namespace n2nq
