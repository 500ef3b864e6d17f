// SPDX-License-Identifier: GPL-3.0-or-later
// N2NQ: accepts clients, lets each say HELLO, and wires senders, queue and receivers together on one thread.
//
//   waiting --first message--> running --all senders ended, or stop()--> ending --drained, or the drain deadline--> ended
//
// Per wake-up: ready senders are read and their messages taken in; then each receiver with something new gets one write (after_wake_up).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/net/event_loop.h"
#include "broker/queue/queue.h"
#include "broker/server/admission.h"
#include "broker/server/event_log.h"
#include "broker/server/listeners.h"
#include "broker/server/liveness_round.h"
#include "broker/server/options.h"
#include "broker/server/receiver_desk.h"
#include "broker/server/sender_desk.h"
#include "broker/server/session.h"
#include "broker/server/session_places.h"
#include "broker/server/summary.h"

namespace n2nq {

class Server : private Session::Owner {
 public:
  enum class State { waiting, running, ending, ended };
  /// On the loop's thread: the state, or what is waited for, has changed (at most 10 times a second). `why`: with waiting, what is waited
  /// for; with ending, why the broker ends by itself, empty where it was asked to or all senders have ended.
  using OnState = std::function<void(State state, const std::string& why)>;

  /// Open files beside one for each of limits.sessions_max: connections that have no place among these, and what the process itself has.
  static constexpr size_t files_beside_sessions = SessionPlaces::strangers_beside_max + 32;

  /// Listens at once. Throws std::runtime_error that names address and reason. `epoch` differs from start to start.
  Server(net::EventLoop& loop, const Options& options, EventLog& log, uint64_t epoch, OnState on_state);
  ~Server() override;

  const net::SocketAddress& address() const { return listeners_.address(); }
  /// Somebody has connected: the listener calls this, or whoever brings a socket of another kind.
  void accept(net::Fd socket);
  State state() const { return state_; }

  /// Senders are about to begin: from now on one that is gone may count as ended.
  void begin() { senders_.begin(net::now_ns()); }
  /// Takes nothing more in, drains for at most drain_ms, ends.
  void stop();
  bool stopping() const { return stopping_; }
  /// Ends every stream now and closes the books.
  void finish();
  /// The summary of docs/control-protocol.md, after finish() or in the state ended; see make_summary().
  nlohmann::json summary(SetLetters& letters);
  nlohmann::json summary() {
    SetLetters letters;
    return summary(letters);
  }

 private:
  void on_hello(Session& session, wire::ByteView body) override;
  void on_no_hello(Session& session) override;
  void on_frame(Session& session, const wire::Frame& frame, int64_t read_ns) override;
  bool wants(Session& session, const wire::BegunFrame& frame) override {
    return session.role() != wire::Role::sender || senders_.wants(session, frame);
  }
  bool in_frame(const Session& session) const override;
  void on_writable(Session& session) override;
  void on_left(Session& session, const std::string& reason) override;
  void on_refused(Session& session, wire::ErrorCode code) override;
  void on_gone(Session& session) override;

  void on_probe_frame(Session& session, const wire::Frame& frame, int64_t read_ns);
  void after_wake_up();
  void give_back_memory(int64_t now_ns);
  void watch_books();
  void on_place_taken();
  void balance();
  void run_expiry();
  void run_deadlines();
  void run_settling();
  void keep_house();
  void look_for_end();
  void close_to_lapsed();
  void close_books();
  void log_totals();
  void set_state(State state);
  void note_waiting();
  std::string waiting_for() const;

  net::EventLoop& loop_;
  const Options options_;
  EventLog& log_;
  const uint64_t epoch_;
  const OnState on_state_;
  std::unique_ptr<Queue> queue_;
  net::FramePlaces frame_places_;
  SenderDesk senders_;
  ReceiverDesk receivers_;
  HoldRule hold_rule_;
  SessionPlaces session_places_;
  const Admission admission_;
  uint64_t arrivals_ = 0;
  LivenessRound liveness_;
  Listeners listeners_;

  State state_ = State::waiting;
  bool stopping_ = false;
  bool waits_for_senders_ = false;  // that were held back when it was stopped, or that nobody had told
  bool books_closed_ = false;
  size_t memory_bytes_max_ = 0;
  size_t books_bytes_max_ = 0;
  std::string fault_;  // why it ended the run; empty: it did not
  int64_t memory_high_at_ns_ = 0;  // when much was last in use that was not given back since; 0: never
  std::map<std::string, uint64_t> sessions_refused_;  // by the code's name
  size_t refusals_logged_ = 0;
  int64_t fitted_ns_ = 0;

  net::Timer expiry_timer_;
  net::Timer deadline_timer_;  // of unconfirmed deliveries
  net::Timer settle_timer_;    // tells what left unrequested
  net::Timer house_timer_;
  int64_t looked_before_ns_ = 0;  // in the round before
  net::Timer held_timer_;     // looks again while senders are held back
  net::Timer waiting_timer_;  // says what is waited for
  net::Timer drain_timer_;    // the drain deadline, then the deadline for clients to close
};

/// As in the control protocol: "waiting", "running", "ending", "ended".
const char* name_of(Server::State state);

}  // namespace n2nq
