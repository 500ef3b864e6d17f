// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/server.h"

#include <malloc.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "broker/net/clock.h"
#include "broker/net/host_facts.h"

namespace n2nq {

using wire::ErrorCode;
using wire::Role;

namespace {

/// From so much of the budget (in eighths) on, receivers that have been silent for their write deadline are cut off, so that senders are not
/// held back for them for good (where time frees memory: only while they are); who is silent is watched from before that on.
constexpr size_t nearly_used_up_eighths = 6, much_in_use_eighths = 2;
constexpr int64_t held_look_ns = 50 * net::ns_per_ms;
/// Messages expire in bundles at most this much late.
constexpr int64_t expiry_bundle_ns = 10 * net::ns_per_ms;
constexpr size_t account_text_max = 192 * 1024 * 1024;  // of the 256 MiB that may stand in a line; the rest is for what still waits
/// Deliveries are taken back in bundles at most this much behind their deadline.
constexpr int64_t deadline_bundle_ns = 10 * net::ns_per_ms;
constexpr int64_t ns_per_us = 1000;
constexpr int64_t settle_ns = 1 * net::ns_per_s;
// Messages wait while it is done: a part takes about 0.3 ms, and all parts together a few percent of the time.
constexpr size_t settle_bytes_max = 256 * 1024;
constexpr int64_t settle_part_ns = 10 * net::ns_per_ms;
// A thousand connections that say nothing have their deadlines together; some 12 us each.
constexpr size_t timers_per_wake_up_max = 8;
// So do those of a process that dies, without its deadlines; several times as many as come in at most, or those that come back would be too many.
constexpr size_t closings_per_wake_up_max = 64;
constexpr int64_t waiting_look_ns = 100 * net::ns_per_ms;
constexpr int64_t house_look_min_ns = 20 * net::ns_per_ms;
constexpr int64_t house_look_max_ns = 500 * net::ns_per_ms;
/// Lines in the log about those who were refused: whoever knocks for days fills no disk.
constexpr size_t refusals_logged_max = 1000;
/// How long `stop` waits for clients to close after the last frame.
constexpr int64_t closing_ns = 1 * net::ns_per_s;
/// Ready at once in a wake-up that yields: where more is, whoever wrote it has gone on already.
constexpr int courteous_ready_max = 2;
/// Share of the memory budget that frames may have which have not come whole. The queue drains, so the budget is never used up by them for
/// good; and the longest frame has room in it (limits::memory_bytes_min_for).
constexpr size_t frame_places_divisor = 2;

/// Memory that was used beyond this and is not any more goes back to the host.
constexpr size_t memory_high_bytes = size_t{64} << 20;
constexpr int64_t memory_low_ns = 2 * net::ns_per_s;  // for so long: a load that comes in waves keeps what it will use again
/// How often the queue's lists give back what they do not need any more.
constexpr int64_t fit_ns = 1 * net::ns_per_s;

int64_t house_look_ns(const Limits& limits) {
  int64_t look_ms = limits.reconnect_deadline_ms / 10;
  if (limits.heartbeat_ms > 0) look_ms = std::min<int64_t>(look_ms, limits.heartbeat_ms / 12);
  return std::clamp(look_ms * net::ns_per_ms, house_look_min_ns, house_look_max_ns);
}

/// Completes "waiting for …": "50 senders", "senders (49 of 50 connected)"; empty when all are there.
std::string missing(const std::string& role, uint32_t connected, uint32_t expected, bool briefly) {
  if (connected == expected) return {};
  if (connected == 0) return std::to_string(expected) + " " + role + (expected == 1 ? "" : "s");
  return role + "s (" + std::to_string(connected) + " of " + std::to_string(expected) + (briefly ? ")" : " connected)");
}

}  // namespace

const char* name_of(Server::State state) {
  static constexpr const char* names[] = {"waiting", "running", "ending", "ended"};
  return names[static_cast<size_t>(state)];
}

Server::Server(net::EventLoop& loop, const Options& options, EventLog& log, uint64_t epoch, OnState on_state)
    : loop_(loop),
      options_(options),
      log_(log),
      epoch_(epoch),
      on_state_(std::move(on_state)),
      queue_(Queue::make(options_.queue)),
      frame_places_(options_.limits.memory_bytes / frame_places_divisor, [this] { on_place_taken(); }),
      senders_(loop, options_, *queue_, frame_places_, log),
      receivers_(loop, options_, *queue_, log),
      hold_rule_(options_.limits.memory_bytes),
      session_places_(options_.limits.sessions_max),
      admission_(options_, epoch, senders_, receivers_, session_places_),
      liveness_(house_look_ns(options_.limits), options_.limits.heartbeat_ms, [this](const Session& session) { return in_frame(session); }),
      listeners_(loop, options_.listen, options_.listen_unix, log, [this](net::Fd socket) { accept(std::move(socket)); }),
      expiry_timer_(loop, [this] { run_expiry(); }),
      deadline_timer_(loop, [this] { run_deadlines(); }),
      settle_timer_(loop, [this] { run_settling(); }),
      house_timer_(loop, [this] { keep_house(); }),
      held_timer_(loop, [this] { balance(); }),
      waiting_timer_(loop, [this] { on_state_(state_, waiting_for()); }),
      drain_timer_(loop, [this] {
        if (books_closed_) {
          set_state(State::ended);
        } else {
          finish();
        }
      }) {
  house_timer_.arm(net::now_ns() + house_look_ns(options_.limits));
  if (options_.queue.requests) settle_timer_.arm(net::now_ns() + settle_ns);
  loop_.set_after_wake_up([this] { after_wake_up(); });
  loop_.set_spin(options_.spin_us * ns_per_us);
  loop_.set_courteous(courteous_ready_max);
  loop_.set_due_max(timers_per_wake_up_max);
  loop_.set_closings_max(closings_per_wake_up_max);
  log_.write("listening on " + listeners_.text());
  note_waiting();
}

Server::~Server() {
  books_closed_ = true;  // sessions give back their places while they go
  loop_.set_after_wake_up({});
}

// --- clients come and go ---

void Server::accept(net::Fd socket) {
  session_places_.make_room();
  const int64_t hello_ns = session_places_.time_for_hello_ns(options_.limits.handshake_deadline_ms * net::ns_per_ms);
  Session::Owner& owner = *this;
  try {
    session_places_.add(std::make_unique<Session>(loop_, std::move(socket), ++arrivals_, hello_ns, owner));
  } catch (const std::system_error& error) {
    listeners_.turn_away(error.what());  // the kernel has no memory to watch one more: those who are there go on
  }
}

void Server::on_hello(Session& session, wire::ByteView body) {
  using Doors = Admission::Doors;
  const Doors doors = books_closed_ ? Doors::closed : stopping_ ? Doors::for_receivers : Doors::open;
  if (const auto refusal = admission_.refusal(body, doors)) {
    session.refuse(refusal->code, refusal->text);
    return;
  }
  const wire::Hello hello = *wire::Hello::decode(body);
  uint64_t next_index = 0;
  if (hello.role == Role::sender) {
    Session* former = senders_.account(hello.number).session;
    if (former) former->refuse(ErrorCode::replaced, "this number has connected again: that connection goes on in place of this one");
    next_index = senders_.join(session, hello);
  } else if (hello.role == Role::receiver) {
    receivers_.replace(hello.number);
  }
  session_places_.give_place(session, hello.role, hello.number);
  session.welcome(hello.role, hello.number, admission_.welcome(next_index), frame_places_);
  // Only now: nothing may come before WELCOME.
  if (hello.role == Role::receiver) receivers_.join(session);
  log_.write(session.name() + " connected, session " + std::to_string(hello.session));
  note_waiting();
}

void Server::on_no_hello(Session& session) {
  const int64_t within_ms = session.handshake_deadline_ns() / net::ns_per_ms;
  const bool was_beside = within_ms < options_.limits.handshake_deadline_ms;
  if (was_beside) return session.refuse(ErrorCode::too_many, session_places_.limit_text());
  session.refuse(ErrorCode::handshake, "no complete HELLO within " + std::to_string(within_ms) + " ms of connecting");
}

void Server::on_frame(Session& session, const wire::Frame& frame, int64_t read_ns) {
  switch (session.role()) {
    case Role::sender:
      senders_.on_frame(session, frame);
      break;
    case Role::receiver:
      receivers_.on_frame(session, frame);
      break;
    case Role::probe:
      on_probe_frame(session, frame, read_ns);
      break;
  }
}

void Server::on_probe_frame(Session& session, const wire::Frame& frame, int64_t read_ns) {
  const auto probe = frame.type == wire::FrameType::probe ? wire::Probe::decode(frame.body) : std::nullopt;
  if (!probe) {
    session.refuse(ErrorCode::frame, std::string(wire::name_of(frame.type)) + " is nothing that a probe says; PROBE and HEARTBEAT are");
  } else if (!session.has_unsent() && session.takes_probe(loop_.woke_ns())) {
    // Who does not read the answers, or asks for many at a time, gets no more of them.
    session.send(wire::ProbeReply{probe->t1_ns, read_ns, net::now_ns()});
  }
}

bool Server::in_frame(const Session& session) const {
  return session.serving() && session.role() == Role::receiver && receivers_.in_frame(session.number());
}

void Server::on_writable(Session& session) {
  if (session.role() == Role::receiver) {
    receivers_.on_writable(session);
  } else {
    session.flush();
  }
}

void Server::on_left(Session& session, const std::string& reason) {
  if (session.welcomed() && session.role() == Role::sender) senders_.on_left(session);
  if (session.welcomed() && session.role() == Role::receiver) receivers_.on_left(session);
  if (session.welcomed()) {
    log_.write(session.name() + " left: " + reason);
  } else if (refusals_logged_ < refusals_logged_max) {
    ++refusals_logged_;
    log_.write(session.name() + " refused: " + reason);
    if (refusals_logged_ == refusals_logged_max) log_.write("whoever is refused from now on is counted only");
  }
  session_places_.on_left(session);
  note_waiting();
}

void Server::on_refused(Session&, ErrorCode code) {
  // What a client did wrong; not what befell it.
  const bool its_fault = code != ErrorCode::replaced && code != ErrorCode::too_slow && code != ErrorCode::ending;
  if (its_fault) ++sessions_refused_[wire::name_of(code)];
}

void Server::on_gone(Session& session) {
  if (session.welcomed() && session.role() == Role::receiver) receivers_.on_gone(session);
  session_places_.on_gone(session);
}

// --- each wake-up ---

void Server::after_wake_up() {
  if (!books_closed_) {
    const size_t memory = senders_.memory_bytes();
    memory_bytes_max_ = std::max(memory_bytes_max_, memory);
    if (memory >= memory_high_bytes || (memory_high_at_ns_ != 0 && memory >= memory_high_bytes / 2)) memory_high_at_ns_ = loop_.woke_ns();
    if (state_ == State::waiting && queue_->messages_taken_in() > 0) set_state(State::running);
    if (!expiry_timer_.armed() && queue_->bytes_held() > 0) expiry_timer_.arm(loop_.woke_ns() + options_.queue.retention_ns);
    if (receivers_.take_went()) run_expiry();
    // A part of it each time, and what has come in meanwhile is served before the next one.
    if (queue_->work(options_.queue.rule_units_at_once) > 0) loop_.wake_again();
    for (const RefusedList& list : queue_->take_refused_lists()) receivers_.refuse_list(list);
    receivers_.set_ending(stopping_ || senders_.all_ended());
    receivers_.flush();
    if (queue_->has_work()) loop_.wake_again();
    if (options_.queue.responses && !deadline_timer_.armed()) {
      const int64_t next_ns = queue_->next_deadline_ns();
      if (next_ns != 0) deadline_timer_.arm(next_ns);
    }
    balance();
  }
  senders_.tell_due();
  look_for_end();
  close_to_lapsed();
  session_places_.remove_gone();
}

/// At once, so that no more than one place is beyond the budget.
void Server::on_place_taken() {
  if (!books_closed_ && !stopping_ && senders_.memory_bytes() >= options_.limits.memory_bytes) senders_.hold_back(Hold::memory);
}

void Server::balance() {
  const bool serves = !books_closed_ && !stopping_;
  const size_t eighth_bytes = options_.limits.memory_bytes / 8;
  if (serves && !senders_.all_ended() && senders_.memory_bytes() >= eighth_bytes * much_in_use_eighths) {
    // By time alone memory may rest at three quarters for good, without anybody having to wait.
    const bool by_time = options_.queue.mode == wire::QueueMode::broadcaster && options_.queue.removal == RemovalRule::after_time;
    receivers_.watch_silent(by_time ? senders_.hold() == Hold::memory : senders_.memory_bytes() >= eighth_bytes * nearly_used_up_eighths);
  }
  const int64_t now = net::now_ns();
  const uint32_t behind = receivers_.behind(hold_rule_.waits_for_receivers(), now);
  const Hold hold = hold_rule_.next(senders_.hold(), senders_.memory_bytes(), behind, receivers_.staying(), now);
  senders_.hold_back(serves ? hold : Hold::none, hold == Hold::memory && receivers_.behind(true, now) == 0);
  if (senders_.held_back()) held_timer_.arm(now + held_look_ns);
}

void Server::run_expiry() {
  const int64_t now = net::now_ns();
  queue_->expire(now);
  receivers_.mark_untold();
  const int64_t next_ns = queue_->next_expiry_ns();
  if (next_ns != 0) expiry_timer_.arm(std::max(next_ns, now + expiry_bundle_ns));
}

void Server::run_deadlines() {
  const int64_t now = net::now_ns();
  // Answers that came in time may lie unread: this process may have stood still since it looked, or there are very many.
  const bool more = queue_->pass_deadlines(loop_.looked_ns());
  receivers_.mark_untold();
  const int64_t next_ns = queue_->next_deadline_ns();
  if (more || (next_ns != 0 && next_ns <= now)) return deadline_timer_.arm(now);  // others are served, or looked at, first
  if (next_ns != 0) deadline_timer_.arm(std::max(next_ns, now + deadline_bundle_ns));
}

void Server::run_settling() {
  const bool more = queue_->settle(settle_bytes_max);
  receivers_.mark_untold();
  settle_timer_.arm(net::now_ns() + (more ? settle_part_ns : settle_ns));
}

/// What was freed lies in the allocator's heap, which gives back its end only.
void Server::give_back_memory(int64_t now_ns) {
  if (!books_closed_ && now_ns - fitted_ns_ >= fit_ns) {
    fitted_ns_ = now_ns;
    queue_->fit();
  }
  if (memory_high_at_ns_ == 0 || now_ns - memory_high_at_ns_ < memory_low_ns) return;
  memory_high_at_ns_ = 0;
  try {
    // It takes some 10 ms for 200 MiB. This thread goes on, unless it needs memory meanwhile.
    std::thread([] { malloc_trim(0); }).detach();
  } catch (const std::system_error& error) {
    log_.write(std::string("memory is not given back: ") + error.what());
  }
}

/// They grow with what receivers do not get, and nothing of them may be forgotten: the ledger is made of them. So it is the run that ends.
void Server::watch_books() {
  if (books_closed_) return;
  const size_t bytes = queue_->books_bytes() + receivers_.telling_bytes();
  books_bytes_max_ = std::max(books_bytes_max_, bytes);
  if (stopping_) return;
  constexpr const char* ended = "N2NQ ended the run: the books of what receivers did not get ";
  if (bytes > options_.limits.books_bytes) {
    fault_ = std::string(ended) + "took " + std::to_string(bytes) + " bytes, the limit is " + std::to_string(options_.limits.books_bytes) + " (limits.books_mib)";
  } else if (const size_t text = queue_->account_text_bytes(); text > account_text_max) {
    fault_ = std::string(ended) + "may come to " + std::to_string(text) + " letters, of which N2NQ's account at its end holds " + std::to_string(account_text_max);
  } else {
    return;
  }
  log_.write(fault_);
  stop();
}

/// Heartbeats, silence, and senders that stay away.
void Server::keep_house() {
  const int64_t now = net::now_ns();
  if (liveness_.is_due(now)) {
    // As of the round before: who had come back by then has been accepted since, and its HELLO read. This process may have stood still.
    senders_.check_gone(std::exchange(looked_before_ns_, loop_.looked_ns()));
    give_back_memory(now);
    watch_books();
    liveness_.begin(session_places_.all(), now);
  }
  house_timer_.arm(liveness_.go_on(session_places_.all(), now));
}

// --- the end ---

void Server::stop() {
  if (std::exchange(stopping_, true)) return;
  log_.write("stop: draining for at most " + std::to_string(options_.limits.drain_ms) + " ms");
  // Theirs is read and refused, so that they come to their END and know what became of it.
  waits_for_senders_ = senders_.held_back() || !fault_.empty();
  senders_.refuse_new();
  if (state_ == State::ended) return;
  set_state(State::ending);
  int64_t drain_ns = options_.limits.drain_ms * net::ns_per_ms;
  if (waits_for_senders_) drain_ns = std::max(drain_ns, closing_ns);
  drain_timer_.arm(net::now_ns() + drain_ns);
  loop_.wake_again();
}

void Server::look_for_end() {
  if (state_ == State::ended) return;
  if (!books_closed_) {
    const bool ending = stopping_ || senders_.all_ended();
    if (!ending) return;
    if (state_ == State::running) set_state(State::ending);
    if (!queue_->drained() || receivers_.connected() > 0) return;
    if (waits_for_senders_ && senders_.connected() > 0) return;
    if (!stopping_) {
      set_state(State::ended);
      return;
    }
    finish();
  }
  const bool all_closed = std::none_of(session_places_.all().begin(), session_places_.all().end(), [](const auto& item) {
    return item.first->welcomed() && item.first->role() != Role::probe && item.first->state() != Session::State::gone;
  });
  if (all_closed) set_state(State::ended);
}

/// A sender that was gone for so long that it counts as ended may be back. The receivers were ended without it.
void Server::close_to_lapsed() {
  if (senders_.refuses_lapsed() || (state_ != State::ended && !receivers_.any_stream_ended())) return;
  senders_.refuse_lapsed();
}

void Server::finish() {
  if (books_closed_) return;
  close_books();
  if (state_ == State::ended) return;
  set_state(State::ending);
  drain_timer_.arm(net::now_ns() + closing_ns);
  loop_.wake_again();
}

void Server::close_books() {
  books_closed_ = true;
  expiry_timer_.disarm();
  deadline_timer_.disarm();
  settle_timer_.disarm();
  senders_.hold_back(Hold::none);
  senders_.dismiss();
  receivers_.end_all();
  log_totals();
}

void Server::log_totals() {
  uint64_t handed_over = 0;
  for (uint32_t number = 1; number <= options_.queue.receivers; ++number) handed_over += queue_->account(number).handed_over;
  log_.write("totals: " + std::to_string(senders_.accepted()) + " messages accepted, " + std::to_string(senders_.refused()) + " refused, " +
             std::to_string(handed_over) + " deliveries");
}

nlohmann::json Server::summary(SetLetters& letters) {
  finish();
  SummaryFacts facts;
  facts.epoch = epoch_;
  facts.memory_bytes_max = memory_bytes_max_;
  facts.books_bytes = queue_->books_bytes() + receivers_.telling_bytes();
  facts.books_bytes_max = std::max(books_bytes_max_, facts.books_bytes);
  facts.kinds_bytes = queue_->kinds_bytes();
  facts.kept_bytes = queue_->bytes_kept() + frame_places_.bytes_free();
  const struct mallinfo2 heap = mallinfo2();
  facts.heap_bytes = heap.uordblks + heap.hblkhd;
  facts.heap_holes_bytes = heap.fordblks;
  const int64_t now = net::now_ns();
  facts.held_back_by_memory_ns = senders_.held_back_ns(Hold::memory, now);
  facts.held_back_by_receivers_ns = senders_.held_back_ns(Hold::receivers, now);
  facts.waited_for_places_ns = frame_places_.waited_ns();
  facts.sessions_refused = sessions_refused_;
  facts.faults = senders_.faults();
  if (!fault_.empty()) facts.faults.push_back(fault_);
  listeners_.add_faults(facts.faults);
  for (std::string& fault : log_.faults()) facts.faults.push_back(std::move(fault));
  nlohmann::json summary = make_summary(options_, *queue_, senders_, receivers_, facts, letters);
  summary["involuntary_switches"] = net::involuntary_switches();
  summary["core_times"] = net::core_times();
  return summary;
}

// --- the state ---

void Server::set_state(State state) {
  if (state == state_) return;
  log_.write(std::string(name_of(state_)) + " -> " + name_of(state));
  if (state == State::running) log_.write("first message");
  state_ = state;
  waiting_timer_.disarm();
  if (state == State::ended) drain_timer_.disarm();
  on_state_(state_, state == State::ending ? fault_ : std::string());
}

void Server::note_waiting() {
  if (state_ == State::waiting && !waiting_timer_.armed()) waiting_timer_.arm(net::now_ns() + waiting_look_ns);
}

std::string Server::waiting_for() const {
  const uint32_t senders = options_.queue.senders;
  const uint32_t receivers = options_.queue.receivers;
  const bool both = senders_.connected() < senders && receivers_.connected() < receivers;
  std::string text = missing("sender", senders_.connected(), senders, both);
  if (both) text += " and ";
  text += missing("receiver", receivers_.connected(), receivers, both);
  return text.empty() ? "the first message" : text;
}

}  // namespace n2nq
