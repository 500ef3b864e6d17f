// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/receiver_desk.h"

#include <algorithm>

#include "broker/net/clock.h"
#include "broker/queue/sabotage.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::ErrorCode;
using wire::SkipReason;

namespace {

/// Share of the pending limit from which on a receiver is behind.
constexpr size_t behind_divisor = 4;
/// Taken back from who is gone: as much work as what else closing it takes, or more.
constexpr uint64_t unconfirmed_per_closing = limits::responses_window.standard;
/// A receiver that took nothing for so long stands still: waiting for it would let it hold up everybody.
constexpr int64_t standing_still_ns = 500 * net::ns_per_ms;
/// Backlogs grow without their receivers' doing: they are looked at so often.
constexpr int64_t look_ns = 10 * net::ns_per_ms;
/// Longer between two looks at who is silent: this process stood still, nothing came in, or the memory was not needed.
constexpr int64_t unwatched_ns = 250 * net::ns_per_ms;

}  // namespace

ReceiverDesk::ReceiverDesk(net::EventLoop& loop, const Options& options, Queue& queue, EventLog& log)
    : loop_(loop), options_(options), queue_(queue), log_(log), seats_(options.queue.receivers), tellings_(queue, options.queue.receivers),
      round_(loop, options, queue, log, seats_, tellings_, [this](uint32_t number) { look_after(number); }) {
  for (uint32_t number = 1; number <= seats_.count(); ++number) {
    seats_.of(number).write_deadline = std::make_unique<WriteDeadline>(loop, options.limits.write_deadline_ms * net::ns_per_ms,
                                                                       [this, number] { pass_write_deadline(number); });
  }
}

// --- coming and going ---

std::string ReceiverDesk::refusal(uint32_t number) const {
  if (queue_.account(number).state != State::cut_off) return {};
  return "this receiver was cut off in this run (" + cut_off_reason(number) + ") and stays so";
}

void ReceiverDesk::replace(uint32_t number) {
  ReceiverSeat& seat = seats_.of(number);
  if (!seat.session) return;
  Session& session = *seat.session;
  detach(number);
  const bool cut_short = in_frame(number);
  count_taken_back(number);
  if (queue_.account(number).state == State::leaving) {
    queue_.leave(number);
    seat.joined_with_bytes = SIZE_MAX;
  } else {
    queue_.replace(number);
  }
  went_ = true;
  session.refuse(ErrorCode::replaced, "this number has connected again: that connection goes on in place of this one", cut_short);
}

/// Its session is none of this desk's any more.
void ReceiverDesk::detach(uint32_t number) {
  ReceiverSeat& seat = seats_.of(number);
  seat.session = nullptr;
  tellings_.stop(number);
  seat.write_deadline->disarm();
  --connected_;
  leaving_ -= seat.leaving;
  within_host_ -= seat.within_host;
}

void ReceiverDesk::join(Session& session) {
  ReceiverSeat& seat = seats_.of(session.number());
  seat.session = &session;
  ++seat.connection;
  seat.leaving = false;
  seat.ended = false;
  seat.handed_over_before = queue_.account(session.number()).handed_over;
  seat.last_list.reset();
  seat.missing_before = answers_missing(session.number());
  seat.answered = seat.answered_below = 0;
  seat.moved_ns = seat.owes_since_ns = net::now_ns();
  ++connected_;
  seat.within_host = session.connection().is_within_host();
  within_host_ += seat.within_host;
  if (seat.within_host && options_.queue.mode == wire::QueueMode::broadcaster)
    session.connection().set_send_buffer(net::host_send_buffer_bytes);
  // Its connection before may not have come to its END. Of what it is told there some is in the queue still, which is for this one again.
  tellings_.end_last_words(session.number());
  queue_.join(session.number());
  // Who goes on where it was joins with nothing more: else each of its connections would bring it room for another backlog.
  seat.joined_with_bytes = std::min(seat.joined_with_bytes, queue_.backlog_bytes(session.number()));
  round_.mark(session.number());
}

void ReceiverDesk::on_left(Session& session) {
  ReceiverSeat& seat = seats_.of(session.number());
  if (seat.session != &session) return;
  detach(session.number());
  seat.joined_with_bytes = SIZE_MAX;
  // Of what is left once the books are closed nothing changes any more.
  const State state = queue_.account(session.number()).state;
  if (books_closed_ || (state != State::connected && state != State::leaving)) return;
  count_taken_back(session.number());
  state == State::leaving ? queue_.leave(session.number()) : queue_.lose(session.number());
  went_ = true;
}

/// Before what this one has not confirmed is taken back: many of them would make everybody wait.
void ReceiverDesk::count_taken_back(uint32_t number) {
  loop_.count_closings(queue_.unconfirmed(number) / unconfirmed_per_closing);
}

/// The same, where it may as well be done in the next wake-up. False: it is to be left for that one.
bool ReceiverDesk::may_take_back(uint32_t number) {
  if (queue_.unconfirmed(number) == 0) return true;
  if (loop_.takes_closing()) return count_taken_back(number), true;
  look_again_ = true;
  loop_.wake_again();
  return false;
}

void ReceiverDesk::on_frame(Session& session, const wire::Frame& frame) {
  const uint32_t number = session.number();
  switch (frame.type) {
    case wire::FrameType::confirm:
      on_confirm(session, frame.body);
      return;
    case wire::FrameType::rules:
      on_rules(session, frame.body);
      return;
    case wire::FrameType::credit:
      on_credit(session, frame.body);
      return;
    case wire::FrameType::end:
      if (const auto end = wire::End::decode(frame.body)) {
        if (end->value != 0) return refuse(session, ErrorCode::frame, "END of a receiver says 0, not " + std::to_string(end->value));
        if (!std::exchange(seats_.of(number).leaving, true)) ++leaving_;
        queue_.stop_giving(number);  // it may be long until the batch under way is through
        round_.mark(number);
        return;
      }
      [[fallthrough]];
    default:
      session.refuse(ErrorCode::frame,
                     std::string(name_of(frame.type)) + " of " + std::to_string(frame.body.size()) +
                         " bytes is nothing that a receiver says; CONFIRM, RULES, CREDIT, END (8 bytes) and HEARTBEAT are",
                     in_frame(number));
  }
}

void ReceiverDesk::refuse(Session& session, ErrorCode code, const std::string& text) {
  session.refuse(code, text, in_frame(session.number()));
}

void ReceiverDesk::on_confirm(Session& session, wire::ByteView body) {
  if (!options_.queue.responses) return refuse(session, ErrorCode::not_offered, "CONFIRM: responses are off in this run");
  if (!confirm_.read(body)) return refuse(session, ErrorCode::frame, "CONFIRM: kind is 0 or 1, and three bytes of 0 follow it");
  for (const wire::ConfirmRange& range : confirm_.ranges) {
    if (sabotage::now(sabotage::Way::skip_confirmation)) continue;
    const Queue::Confirmed result = queue_.confirm(session.number(), range.first_delivery, range.count, range.negative);
    if (result == Queue::Confirmed::yes || result == Queue::Confirmed::nothing) {
      ReceiverSeat& seat = seats_.of(session.number());
      if (result == Queue::Confirmed::yes) seat.owes_since_ns = loop_.woke_ns();
      if (range.count == 0) continue;
      seat.answered += range.count;
      seat.answered_below = std::max(seat.answered_below, range.first_delivery + range.count);
      continue;
    }
    const char* reason =
        result == Queue::Confirmed::twice ? " were answered before, in part or all" : " were not all sent on this connection, in whole frames";
    refuse(session, ErrorCode::confirmation,
           std::to_string(range.count) + " deliveries from number " + std::to_string(range.first_delivery) + " on" + reason);
    break;
  }
  // What is sent on, and what was parked by that, is to be written.
  round_.mark(session.number());
}

void ReceiverDesk::on_rules(Session& session, wire::ByteView body) {
  if (!options_.queue.requests) return refuse(session, ErrorCode::not_offered, "RULES: requests are off in this run");
  const auto rules = wire::Rules::decode(body);
  if (!rules) return refuse(session, ErrorCode::frame, "RULES: `count` says another number of rules than the body has");
  std::optional<uint32_t>& last_list = seats_.of(session.number()).last_list;
  if (last_list && rules->list <= *last_list) {
    return refuse(
        session, ErrorCode::rules,
        "list " + std::to_string(rules->list) + " comes behind list " + std::to_string(*last_list) + "; the numbers have to rise");
  }
  last_list = rules->list;
  const bool at_once = lists_at_once_.take(loop_.woke_ns());
  const std::string wrong = queue_.set_rules(session.number(), rules->rules, seats_.of(session.number()).connection, at_once);
  if (!wrong.empty()) return refuse(session, ErrorCode::rules, wrong);
  round_.mark(session.number());
}

void ReceiverDesk::refuse_list(const RefusedList& list) {
  const ReceiverSeat& seat = seats_.of(list.receiver);
  log_.write(service_name(wire::Role::receiver, list.receiver) + ": its list is refused: " + list.reason);
  // A connection that is newer than the list has done nothing wrong.
  if (seat.serving() && seat.connection == list.asked_on) refuse(*seat.session, ErrorCode::rules, list.reason);
}

void ReceiverDesk::on_credit(Session& session, wire::ByteView body) {
  if (!options_.queue.requests) return refuse(session, ErrorCode::not_offered, "CREDIT: requests are off in this run");
  const uint64_t more = wire::Credit::decode(body)->more;
  queue_.add_credit(session.number(), more);
  if (more > 0) seats_.of(session.number()).owes_since_ns = loop_.woke_ns();
  round_.mark(session.number());
}

// --- writing ---

void ReceiverDesk::flush() {
  round_.write(within_host_);
  queue_.trim();
  watch_all_limits();
  for (uint32_t number = 1; ending_ && number <= seats_.count(); ++number) end_if_due(number);
  if (round_.any_marked()) loop_.wake_again();
}

void ReceiverDesk::mark_untold() {
  for (uint32_t number = 1; number <= seats_.count(); ++number) {
    if (seats_.of(number).session && tellings_.any(number)) round_.mark(number);
  }
}

void ReceiverDesk::look_after(uint32_t number) {
  watch_limits(number);
  if (seats_.of(number).leaving) end_if_due(number);
}

// --- limits ---

void ReceiverDesk::watch_limits(uint32_t number) {
  ReceiverSeat& seat = seats_.of(number);
  if (queue_.batch(number).under_way() || seat.session->has_unsent()) {
    seat.write_deadline->watch(queue_.account(number).handed_over, seat.session->connection());
  } else {
    seat.write_deadline->disarm();
  }
  const size_t backlog_bytes = queue_.backlog_bytes(number);
  // A message of that size alone cuts nobody off.
  const size_t pending_bytes_max = options_.limits.pending_bytes + wire::record_header_bytes;
  if (backlog_bytes <= pending_bytes_max) {
    seat.joined_with_bytes = 0;
  } else if (backlog_bytes > pending_bytes_max + seat.joined_with_bytes && may_take_back(number)) {
    cut_off(number,
            "pending bytes: " + std::to_string(backlog_bytes) + " wait, the limit is " + std::to_string(options_.limits.pending_bytes));
  }
}

/// Whoever may get nothing at present, because its window is full, is in nobody's round.
void ReceiverDesk::watch_all_limits() {
  const int64_t now_ns = loop_.woke_ns();
  if (!std::exchange(look_again_, false) && now_ns - looked_ns_ < look_ns) return;
  looked_ns_ = now_ns;
  if (queue_.bytes_held() <= options_.limits.pending_bytes) return;
  for (uint32_t number = 1; number <= seats_.count(); ++number) {
    const ReceiverSeat& seat = seats_.of(number);
    if (seat.serving()) watch_limits(number);
  }
}

void ReceiverDesk::watch_silent(bool memory_is_needed) {
  const int64_t now_ns = loop_.woke_ns();
  if (looked_ns_ != now_ns) return;  // as often as at the other limits
  if (now_ns - silent_looked_ns_ > unwatched_ns) silent_watched_since_ns_ = now_ns;
  silent_looked_ns_ = now_ns;
  for (uint32_t number = 1; number <= seats_.count(); ++number) {
    ReceiverSeat& seat = seats_.of(number);
    if (!seat.serving()) continue;
    // Who had nothing to answer was not silent, however long that was.
    if (!queue_.is_kept_waiting(number)) seat.owes_since_ns = now_ns;
    const int64_t silent_ns = now_ns - std::max(seat.owes_since_ns, silent_watched_since_ns_);
    if (!memory_is_needed || silent_ns < options_.limits.write_deadline_ms * net::ns_per_ms || !may_take_back(number)) continue;
    cut_off(number, "write deadline: it answered and asked for nothing within " + std::to_string(options_.limits.write_deadline_ms) +
                        " ms, and others need the memory");
  }
}

void ReceiverDesk::pass_write_deadline(uint32_t number) {
  count_taken_back(number);
  cut_off(number, "write deadline: a batch was not taken within " + std::to_string(options_.limits.write_deadline_ms) + " ms");
}

void ReceiverDesk::cut_off(uint32_t number, const std::string& reason) {
  ReceiverSeat& seat = seats_.of(number);
  seat.cut_off_reason = reason;
  const bool cut_short = in_frame(number);
  queue_.cut_off(number);
  went_ = true;
  // cut_off() of the queue has ended the batch; the stream is still in the middle of it.
  seat.session->refuse(ErrorCode::too_slow, reason, cut_short);
  loop_.wake_again();  // what was passed on to others
}

uint32_t ReceiverDesk::behind(bool held, int64_t now_ns) const {
  const size_t behind_bytes = options_.limits.pending_bytes / behind_divisor / (held ? 2 : 1);
  if (queue_.bytes_held() <= behind_bytes) return 0;
  uint32_t behind = 0;
  const size_t unassigned_bytes = queue_.unassigned_bytes() / std::max<uint32_t>(staying(), 1);  // will be theirs
  for (uint32_t number = 1; number <= seats_.count(); ++number) {
    const ReceiverSeat& seat = seats_.of(number);
    const bool moving = seat.session && !seat.leaving && now_ns - seat.moved_ns < standing_still_ns;
    if (moving && queue_.backlog_bytes(number) + unassigned_bytes > behind_bytes) ++behind;
  }
  return behind;
}

// --- the end ---

void ReceiverDesk::end_if_due(uint32_t number) {
  const ReceiverSeat& seat = seats_.of(number);
  if (!seat.serving() || seat.session->has_unsent() || in_frame(number)) return;
  const bool drained = ending_ && queue_.drained(number);
  if (!drained && !seat.leaving) return;
  if (!seat.leaving && !round_.tell(number)) return watch_limits(number);  // what it will not get goes before END
  if (!may_take_back(number)) return round_.mark(number);
  any_stream_ended_ = any_stream_ended_ || !seat.leaving;
  queue_.leave(number);
  went_ = true;
  loop_.wake_again();  // what was passed on to others
  send_end(number, seat.leaving ? "left" : "stream ended");
}

void ReceiverDesk::end_all() {
  // The books close in between: a batch under way is given up by that, and its stream is in the middle of a frame for good.
  std::vector<uint32_t> in_order, in_the_middle;
  for (uint32_t number = 1; number <= seats_.count(); ++number) {
    if (seats_.of(number).serving()) (in_frame(number) ? in_the_middle : in_order).push_back(number);
  }
  queue_.finish();
  tellings_.close_books();
  books_closed_ = true;
  for (const uint32_t number : in_the_middle) seats_.of(number).session->close("the drain deadline is over in the middle of a batch");
  for (const uint32_t number : in_order) send_end(number, "stream ended");
}

/// Behind what it was not told yet that it will not get: as it reads it, for that may be a run for every other message there is.
void ReceiverDesk::send_end(uint32_t number, const char* why) {
  ReceiverSeat& seat = seats_.of(number);
  seat.ended = true;
  const std::shared_ptr<Telling> rest = tellings_.begin_last_words(*seat.session);
  const wire::EndTotals end = totals(number);
  const auto last_words = [rest, end](wire::Bytes& out) {
    if (rest && rest->write(out)) return true;
    end.encode(out);
    return false;
  };
  // What it has not read yet left the queue in time, and is kept as long as it would have been there.
  seat.session->finish(std::string(why) + ", " + std::to_string(end.handed_over) + " messages handed over",
                       std::max(Session::end_linger_ns, options_.queue.retention_ns), last_words);
}

wire::EndTotals ReceiverDesk::totals(uint32_t number) const {
  const ReceiverAccount& account = queue_.account(number);
  wire::EndTotals totals;
  totals.handed_over = account.handed_over;
  totals.redelivered = account.redelivered;
  totals.expired = of(account.skipped, SkipReason::expired).count();
  totals.unrequested = of(account.skipped, SkipReason::unrequested).count();
  totals.parked = of(account.skipped, SkipReason::parked).count();
  totals.cut_off = of(account.skipped, SkipReason::cut_off).count();
  totals.still_queued = queue_.still_queued(number).count();
  return totals;
}

}  // namespace n2nq
