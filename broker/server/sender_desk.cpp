// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/sender_desk.h"

#include <algorithm>
#include <utility>

#include "broker/net/clock.h"
#include "broker/queue/sabotage.h"
#include "broker/wire/record.h"

namespace n2nq {

namespace {

/// The protocol promises 20 ms: 15 until the first part, 4 for all parts, and the rest is for the way. From 10 to 13 ms on a wake-up is
/// waited for that brought no messages: behind deliveries the senders would be woken on the core where receivers read these.
constexpr int64_t tell_after_ns = 10 * net::ns_per_ms, tell_after_more_ns = 3 * net::ns_per_ms, tell_by_after_ns = 15 * net::ns_per_ms;
/// Each is a write, and whoever has sent a message meanwhile waits for the part that is under way; so does the receiver that is woken for
/// it on the same core. Between parts this thread sleeps.
constexpr size_t told_at_once_min = 4, told_parts_max = 8;
constexpr int64_t between_parts_ns = net::ns_per_ms / 4, between_parts_more_ns = net::ns_per_ms / 4;
/// Refused ranges that wait to be told; more are told at once.
constexpr size_t refused_untold_max = 1000;
constexpr size_t faults_max = 100;
/// About a millisecond.
constexpr uint64_t looks_per_wake_up = 500'000;

/// Senders that lost their broker look for it at least so often.
constexpr int64_t reconnect_pause_ns = 1'000'000'000;

/// From this sender, not beyond the next index, with stamps that receivers can reckon with, and the fields that the broker fills in are as a
/// sender has to leave them.
bool is_right(uint32_t number, uint64_t next_index, const uint8_t* record) {
  return wire::record_sender(record) == number && wire::record_index(record) <= std::min(next_index, wire::index_max) &&
         wire::is_stamp(wire::record_intended_ns(record)) && wire::is_stamp(wire::record_sent_ns(record)) &&
         wire::record_taken_in_ns(record) == 0 && wire::record_attempt(record) == 0 &&
         (wire::record_flags(record) & ~wire::flag_warm_up) == 0;
}

}  // namespace

SenderDesk::SenderDesk(net::EventLoop& loop, const Options& options, Queue& queue, net::FramePlaces& frame_places, EventLog& log)
    : loop_(loop),
      options_(options),
      queue_(queue),
      frame_places_(frame_places),
      log_(log),
      accounts_(options.queue.senders),
      tell_timer_(loop, [this] { tells_ = true; }),
      turns_timer_(loop, [this] { give_turns(); }) {
  untold_.reserve(2 * accounts_.size());
  if (!options_.takes_over) return;
  for (Account& account : accounts_) {
    account.known = true;
    account.gone_since_ns = net::now_ns() + reconnect_pause_ns;
  }
}

uint64_t SenderDesk::join(Session& session, const wire::Hello& hello) {
  Account& account = accounts_[hello.number - 1];
  account.session = &session;
  account.walked_bytes = 0;  // whatever waited on the connection before is gone with it
  account.known = account.joined = true;
  ++connected_;
  set_ended(account, false);
  if (account.lapsed && lapsed_refused_)
    log_.write(service_name(wire::Role::sender, hello.number) +
               " is back, but the receivers were ended without it: what it offers is refused");
  account.lapsed = account.lapsed && lapsed_refused_;
  // Behind a restart of the broker a sender may be unable to repeat what an earlier broker had: that gap is its loss, not an error.
  account.next_index = std::max(account.next_index, hello.next_index);
  // WELCOME says what is accepted, not what is refused; and whether the connection before brought all that it was told, nobody knows.
  account.refused_untold.insert(account.refused_untold.begin(), account.refused_told.begin(), account.refused_told.end());
  account.refused_told.clear();
  if (!account.refused_untold.empty()) mark_untold(hello.number);
  if (held_back()) session.connection().pause_reading();
  return account.next_index;
}

void SenderDesk::on_left(Session& session) {
  Account& account = accounts_[session.number() - 1];
  if (account.session != &session) return;
  account.session = nullptr;
  account.gone_since_ns = net::now_ns();
  --connected_;
}

void SenderDesk::on_frame(Session& session, const wire::Frame& frame) {
  if (frame.type == wire::FrameType::publish) {
    on_publish(session, frame);
  } else if (const auto end = wire::End::decode(frame.body); frame.type == wire::FrameType::end && end) {
    on_end(session, *end);
  } else {
    session.refuse(wire::ErrorCode::frame, std::string(wire::name_of(frame.type)) + " of " + std::to_string(frame.body.size()) +
                                               " bytes is nothing that a sender says; PUBLISH, END (8 bytes) and HEARTBEAT are");
  }
}

/// Mostly all of a frame; none where each message has to be looked at for itself.
SenderDesk::Run SenderDesk::run_at(const Session& session, const Account& account, wire::ByteView records, size_t before_bytes,
                                   net::Connection::ReadTimes& times) const {
  Run run;
  if (ending_ || account.lapsed || options_.queue.requests || sabotage::possible || records.size() < wire::record_header_bytes) return run;
  const uint8_t* const begin = records.data();
  run.read_ns = times.ns_of(before_bytes + std::min(records.size(), wire::record_bytes(begin)));
  const size_t bytes_max = std::min({records.size(), times.reach_bytes() - before_bytes, Run::bytes_max});
  const uint32_t number = session.number();
  const size_t size_max = options_.limits.message_bytes_max;
  size_t bytes = 0;
  while (bytes_max - bytes >= wire::record_header_bytes) {
    const uint8_t* const record = begin + bytes;
    const size_t size = wire::record_size(record);
    if (size > size_max || bytes_max - bytes - wire::record_header_bytes < size) break;
    const uint64_t index = account.next_index + run.messages;
    if (wire::record_index(record) != index || !is_right(number, index, record)) break;
    bytes += wire::record_header_bytes + size;
    ++run.messages;
    run.warm_up += wire::record_flags(record);  // nothing but this flag, which is 1
  }
  run.records = records.first(bytes);
  return run;
}

void SenderDesk::take(Account& account, wire::ByteView record, int64_t read_ns) {
  const bool too_large = wire::record_size(record.data()) > options_.limits.message_bytes_max;
  if (too_large || ending_ || (account.lapsed && lapsed_refused_)) {
    took_in_ = true;
    refuse_message(account, account.next_index++, too_large ? wire::RefuseReason::too_large : wire::RefuseReason::ending);
    return;
  }
  take_in(account, {record, 1, wire::record_flags(record.data()), read_ns});
}

void SenderDesk::take_in(Account& account, const Run& run) {
  took_in_ = true;
  if (!sabotage::takes_in(queue_, run.records, run.read_ns)) queue_.take_in(run.records, run.messages, run.read_ns);
  account.next_index += run.messages;
  account.accepted += run.messages;
  accepted_ += run.messages;
  account.warm_up += run.warm_up;
}

/// Something of it is new.
void SenderDesk::published(uint32_t number) {
  accounts_[number - 1].end_said.reset();
  mark_untold(number);
}

bool SenderDesk::wants(Session& session, const wire::BegunFrame& frame) {
  if (frame.type != wire::FrameType::publish || frame.so_far.size() < wire::record_header_bytes) return true;
  const uint8_t* record = frame.so_far.data();
  if (wire::record_size(record) <= options_.limits.message_bytes_max || wire::record_bytes(record) != frame.body_bytes) return true;
  Account& account = accounts_[session.number() - 1];
  // What is wrong with its head is said when it is there, as of any other.
  if (!is_right(session.number(), account.next_index, record)) return true;
  if (wire::record_index(record) < account.next_index) return false;  // repeated
  published(session.number());
  refuse_message(account, account.next_index++, wire::RefuseReason::too_large);
  return false;
}

void SenderDesk::on_publish(Session& session, const wire::Frame& frame) {
  Account& account = accounts_[session.number() - 1];
  net::Connection::ReadTimes times(session.connection(), frame);
  wire::RecordWalk records(frame.body);
  records.skip(std::exchange(account.walked_bytes, 0));
  bool right = true, took = false;
  const auto begin_to_take = [&] {
    if (!std::exchange(took, true)) published(session.number());
  };
  while (right) {
    const size_t before_bytes = frame.body.size() - records.rest().size();
    if (const Run run = run_at(session, account, records.rest(), before_bytes, times); run.messages > 0) {
      begin_to_take();
      take_in(account, run);
      records.skip(run.records.size());
      continue;
    }
    const auto record = records.next();
    if (!record) break;
    right = is_right(session.number(), account.next_index, record->data());
    if (!right) {
      refuse_record(session, account.next_index, record->data());
    } else if (wire::record_index(record->data()) == account.next_index) {  // below: repeated after a reconnect
      if (!has_time_for(record->data())) {
        account.walked_bytes = before_bytes;
        wait_for_turn(session);
        break;
      }
      begin_to_take();
      take(account, *record, times.ns_of(before_bytes + record->size()));
    }
  }
  if (records.failed()) {
    session.refuse(wire::ErrorCode::frame, "PUBLISH ends in the middle of a record");
    return;
  }
  if (!right || ending_) return;
  if (!held_back() && memory_bytes() >= options_.limits.memory_bytes) hold_back(Hold::memory);
  if (!held_back() || account.session != &session) return;
  const bool is_done = !account.awaits_turn;
  if (is_done) session.connection().pause_reading();
  // What is done gives back its place in a moment; what takes turns counts twice until then.
  const size_t place_bytes = is_done ? session.connection().place_bytes() : 0;
  if (finish_ && memory_bytes() - place_bytes > held_bytes_max_) let_finish(false, is_done ? nullptr : &session);
}

bool SenderDesk::has_time_for(const uint8_t* record) {
  if (!options_.queue.requests) return true;
  const uint64_t looks = queue_.looks_at_new_kinds();
  if (std::exchange(looks_woke_ns_, loop_.woke_ns()) != loop_.woke_ns()) looks_max_ = looks + looks_per_wake_up;
  return looks < looks_max_ || !queue_.is_new_kind(wire::record_sender(record), wire::record_size(record));
}

void SenderDesk::wait_for_turn(Session& session) {
  session.connection().wait_for_turn();
  if (!std::exchange(accounts_[session.number() - 1].awaits_turn, true)) turns_.push_back(session.number());
  if (!turns_timer_.armed()) turns_timer_.arm(net::now_ns());
}

/// Each in the deque once; who is not done yet stands at its end again.
void SenderDesk::give_turns() {
  for (size_t left = turns_.size(); left > 0; --left) {
    Account& account = accounts_[turns_.front() - 1];
    turns_.pop_front();
    account.awaits_turn = false;
    if (account.session) account.session->connection().give_turn();
    if (queue_.looks_at_new_kinds() >= looks_max_) break;
  }
  if (!turns_.empty()) turns_timer_.arm(net::now_ns());
}

/// A record that is not right ends its connection.
void SenderDesk::refuse_record(Session& session, uint64_t next_index, const uint8_t* record) {
  const std::string message =
      "message " + std::to_string(wire::record_index(record)) + " of sender " + std::to_string(wire::record_sender(record));
  if (wire::record_index(record) > wire::index_max) {
    session.refuse(wire::ErrorCode::frame, message + "; indexes end at " + std::to_string(wire::index_max));
  } else if (wire::record_sender(record) != session.number() || wire::record_index(record) > next_index) {
    session.refuse(wire::ErrorCode::index_gap,
                   message + "; expected " + std::to_string(next_index) + " of sender " + std::to_string(session.number()));
  } else if (!wire::is_stamp(wire::record_intended_ns(record)) || !wire::is_stamp(wire::record_sent_ns(record))) {
    session.refuse(wire::ErrorCode::frame, message + ": intended_ns and sent_ns have to lie between -2^59 and 2^59");
  } else {
    session.refuse(wire::ErrorCode::frame, message + ": taken_in_ns, attempt and flags but bit 0 are the broker's, a sender leaves them 0");
  }
}

void SenderDesk::refuse_message(Account& account, uint64_t index, wire::RefuseReason reason) {
  ++account.refused;
  ++refused_;
  std::vector<wire::RefusedRange>& ranges = account.refused_untold;
  if (!ranges.empty() && ranges.back().reason == reason && ranges.back().to + 1 == index) {
    ranges.back().to = index;
    return;
  }
  ranges.push_back({index, index, reason});
  if (ranges.size() < refused_untold_max || !account.session || !account.session->serving()) return;
  if (account.session->has_unsent() && !account.session->flush()) {
    account.session->refuse(wire::ErrorCode::too_slow, "this sender does not read what it is told: " + std::to_string(ranges.size()) +
                                                           " ranges of refused messages wait");
    return;
  }
  say_accepted(account);  // it stays marked: what comes behind these ranges is untold
}

void SenderDesk::on_end(Session& session, const wire::End& end) {
  Account& account = accounts_[session.number() - 1];
  // HELLO may have moved next_index since; nothing was published behind the END before.
  const uint64_t expected = account.end_said.value_or(account.next_index);
  if (end.value != expected) {
    session.refuse(wire::ErrorCode::index_gap, "END says that " + std::to_string(end.value) + " is one above the last message; expected " +
                                                   std::to_string(expected) + (account.end_said ? ", as END said before" : ""));
    return;
  }
  account.end_said = end.value;
  set_ended(account, true);
  account.untold = true;
  tell(account);
  const auto last_words = [totals = wire::End{account.accepted}](wire::Bytes& out) {
    totals.encode(out);
    return false;
  };
  session.finish("ended, " + std::to_string(account.accepted) + " messages accepted", Session::end_linger_ns, last_words);
}

void SenderDesk::set_ended(Account& account, bool ended) {
  if (account.ended == ended) return;
  account.ended = ended;
  ended ? ++ended_ : --ended_;
}

void SenderDesk::check_gone(int64_t now_ns) {
  if (begun_ns_ == 0 && options_.takes_over) begin(1);
  if (begun_ns_ == 0 && accepted_ + refused_ > 0) begin(now_ns);
  // Nobody has left a run that has not begun: who is there may be put up and taken down again, for as long as one likes.
  if (begun_ns_ == 0) return;
  const int64_t deadline_ns = options_.limits.reconnect_deadline_ms * net::ns_per_ms;
  for (uint32_t number = 1; number <= accounts_.size(); ++number) {
    Account& account = accounts_[number - 1];
    const bool gone = account.known && !account.session && !account.ended;
    if (!gone || now_ns - std::max(account.gone_since_ns, begun_ns_) < deadline_ns) continue;
    set_ended(account, true);
    account.lapsed = any_lapsed_ = true;
    if (!account.joined) {  // it may have ended at the broker before, and whether it has is known to whoever started this one
      log_.write(service_name(wire::Role::sender, number) + " did not come back; it counts as ended");
      continue;
    }
    note_fault(service_name(wire::Role::sender, number) + " was gone for " + std::to_string(options_.limits.reconnect_deadline_ms) +
               " ms without END; it counts as ended after " + std::to_string(account.accepted) + " messages" +
               (account.warm_up > 0 ? " (" + std::to_string(account.warm_up) + " of them warm-up)" : ""));
  }
}

void SenderDesk::note_fault(std::string sentence) {
  log_.write(sentence);
  if (faults_.size() < faults_max) {
    faults_.push_back(std::move(sentence));
  } else {
    ++faults_beyond_;
  }
}

std::vector<std::string> SenderDesk::faults() const {
  std::vector<std::string> faults = faults_;
  if (faults_beyond_ > 0)
    faults.push_back("and " + std::to_string(faults_beyond_) + " more times a sender was gone like that; the broker's log names them");
  return faults;
}

void SenderDesk::dismiss() {
  // Also whose ACCEPTED before this one is still unsent: nothing else follows.
  for (const uint32_t number : untold_) tell(accounts_[number - 1]);
  told_ = untold_.size();
  forget_told();
  for (Account& account : accounts_) {
    if (account.session) account.session->refuse(wire::ErrorCode::ending, "N2NQ is ending: no more messages are taken in; ACCEPTED has told which were");
  }
}

void SenderDesk::hold_back(Hold hold, bool finish) {
  if (hold_ == hold) {
    if (finish_ && !finish) let_finish(false);
    // Who takes turns goes on alone until it is done.
    const bool may_finish = hold == Hold::memory && finish && turns_.empty() && memory_bytes() <= held_bytes_max_;
    if (!finish_ && may_finish) let_finish(true);
    return;
  }
  const int64_t now = net::now_ns();
  held_total_ns_[static_cast<size_t>(hold_)] += now - held_since_ns_;
  held_since_ns_ = now;
  hold_ = hold;
  if (hold != Hold::none && !std::exchange(hold_told_[static_cast<size_t>(hold)], true)) {
    log_.write(hold == Hold::memory ? "senders are held back for the first time: the memory budget is used up"
                                    : "senders are held back for the first time: most receivers are behind");
  }
  held_bytes_max_ = std::max(options_.limits.memory_bytes, memory_bytes());
  frame_places_.set_held(hold == Hold::memory);
  let_finish(false);
}

/// Brings it in force who is read while senders are held back, and who is again.
void SenderDesk::let_finish(bool finish, const Session* all_the_same) {
  finish_ = finish;
  const int64_t now = net::now_ns();
  for (Account& account : accounts_) {
    if (!account.session) continue;
    net::Connection& connection = account.session->connection();
    const bool is_read = !held_back() || (finish_ && connection.has_place()) || account.session == all_the_same;
    if (!is_read) {
      connection.pause_reading();
    } else if (connection.paused()) {
      account.session->note_heard(now);  // it could not be heard
      connection.resume_reading();
    }
  }
}

void SenderDesk::mark_untold(uint32_t number) {
  if (std::exchange(accounts_[number - 1].untold, true)) return;
  untold_.push_back(number);
  if (!tell_timer_.armed()) tell_later(loop_.woke_ns());
}

/// Never as long after a message as the last time: senders that keep to a plan would meet it each time.
void SenderDesk::tell_later(int64_t now_ns) {
  const auto [least_ns, more_ns] =
      due_ > 0 ? std::pair(between_parts_ns, between_parts_more_ns) : std::pair(tell_after_ns, tell_after_more_ns);
  if (due_ == 0) tell_by_ns_ = now_ns + tell_by_after_ns;
  tell_timer_.arm(now_ns + least_ns + std::uniform_int_distribution(int64_t{0}, more_ns)(chance_));
}

void SenderDesk::tell_due() {
  const bool took_in = std::exchange(took_in_, false);
  if (!std::exchange(tells_, false)) return;
  if (due_ == 0) due_ = untold_.size();
  if (took_in && loop_.woke_ns() < tell_by_ns_) return tell_later(net::now_ns());
  tell_next(std::max(told_at_once_min, (due_ + told_parts_max - 1) / told_parts_max));
  if (told_ == due_) forget_told();
  if (!untold_.empty()) tell_later(net::now_ns());
}

void SenderDesk::tell_next(size_t senders_max) {
  for (const size_t end = told_ + std::min(senders_max, due_ - told_); told_ < end; ++told_) {
    const uint32_t number = untold_[told_];
    Account& account = accounts_[number - 1];
    // Whose last ACCEPTED is still unsent stays for the next time: one waits at most, however slowly a sender reads.
    if (account.session && account.session->has_unsent() && !account.session->flush()) {
      untold_.push_back(number);
    } else {
      tell(account);
    }
  }
}

void SenderDesk::forget_told() {
  untold_.erase(untold_.begin(), untold_.begin() + static_cast<ptrdiff_t>(told_));
  due_ = told_ = 0;
}

void SenderDesk::tell(Account& account) {
  if (std::exchange(account.untold, false) && account.session) say_accepted(account);
}

void SenderDesk::say_accepted(Account& account) {
  const uint64_t next_index = account.next_index + sabotage::now(sabotage::Way::accepted_ahead);
  remember_told(account);
  account.session->send(wire::Accepted{next_index, std::exchange(account.refused_untold, {})});
}

/// As many as one ACCEPTED says: of a sender whose refusals fall apart into more, and whose connection breaks, the oldest are told once.
void SenderDesk::remember_told(Account& account) {
  std::vector<wire::RefusedRange>& told = account.refused_told;
  for (const wire::RefusedRange& range : account.refused_untold) {
    if (!told.empty() && told.back().reason == range.reason && told.back().to + 1 == range.from) {
      told.back().to = range.to;
    } else {
      told.push_back(range);
    }
  }
  if (told.size() > refused_untold_max) told.erase(told.begin(), told.end() - refused_untold_max);
}

}  // namespace n2nq
