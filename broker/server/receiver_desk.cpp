// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/receiver_desk.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "broker/net/clock.h"
#include "broker/queue/sabotage.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::ErrorCode;
using wire::SkipReason;

namespace {

/// Batches for one receiver before the others get their turn.
constexpr int batches_per_round_max = 4;
/// Frames that say what it will not get, likewise.
constexpr int skipped_frames_per_round_max = 4;
/// From so many receivers in one round on their writes are given to the kernel together: for one the ring is dearer than a write.
constexpr size_t together_min = 3;
/// From so many receivers of this host in one round on this thread keeps them off its core: for fewer that costs more than it saves.
constexpr ptrdiff_t keep_core_min = 16;
/// Not when more messages came at once: the last ones are read sooner where all are written before anybody reads.
constexpr uint64_t keep_core_messages_max = 8;
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

/// Brings what a write needs of a session nearer while the one before it is written to.
void prefetch(const Session& session) {
  constexpr size_t line_bytes = 64, lines = 4;
  const auto* const first = reinterpret_cast<const uint8_t*>(&session);
  for (size_t line = 0; line < lines; ++line) __builtin_prefetch(first + line * line_bytes);
}

}  // namespace

ReceiverDesk::ReceiverDesk(net::EventLoop& loop, const Options& options, Queue& queue, EventLog& log)
    : loop_(loop), options_(options), queue_(queue), log_(log), desks_(options.queue.receivers),
      may_keep_core_(options.keep_core && net::CoreKeeper::is_of_use()) {
  if (options.io == Io::io_uring) {
    ring_ = std::make_unique<net::SendRing>();
    in_ring_.reserve(net::SendRing::writes_max);
  }
  for (uint32_t number = 1; number <= desks_.size(); ++number) {
    desk_of(number).write_deadline = std::make_unique<WriteDeadline>(loop, options.limits.write_deadline_ms * net::ns_per_ms,
                                                                     [this, number] { pass_write_deadline(number); });
  }
}

// --- coming and going ---

std::string ReceiverDesk::refusal(uint32_t number) const {
  if (queue_.account(number).state != State::cut_off) return {};
  return "this receiver was cut off in this run (" + cut_off_reason(number) + ") and stays so";
}

void ReceiverDesk::replace(uint32_t number) {
  Desk& desk = desk_of(number);
  if (!desk.session) return;
  Session& session = *std::exchange(desk.session, nullptr);
  stop_telling(number);
  desk.write_deadline->disarm();
  --connected_;
  leaving_ -= desk.leaving;
  within_host_ -= desk.within_host;
  const bool cut_short = in_frame(number);
  queue_.account(number).state == State::leaving ? queue_.leave(number) : queue_.replace(number);
  went_ = true;
  session.refuse(ErrorCode::replaced, "this number has connected again", cut_short);
}

void ReceiverDesk::join(Session& session) {
  Desk& desk = desk_of(session.number());
  desk.session = &session;
  ++desk.connection;
  desk.leaving = false;
  desk.ended = false;
  desk.handed_over_before = queue_.account(session.number()).handed_over;
  desk.last_list.reset();
  desk.missing_before = answers_missing(session.number());
  desk.answered = desk.answered_below = 0;
  desk.moved_ns = desk.owes_since_ns = net::now_ns();
  ++connected_;
  desk.within_host = session.connection().is_within_host();
  within_host_ += desk.within_host;
  // Its connection before may not have come to its END. Of what it is told there some is in the queue still, which is for this one again.
  std::erase_if(last_words_, [&](const LastWords& words) {
    if (words.number == session.number()) take_last_words(words);
    return words.number == session.number();
  });
  queue_.join(session.number());
  desk.joined_with_bytes = queue_.backlog_bytes(session.number());
  mark(session.number());
}

void ReceiverDesk::on_left(Session& session) {
  Desk& desk = desk_of(session.number());
  if (desk.session != &session) return;
  desk.session = nullptr;
  stop_telling(session.number());
  desk.write_deadline->disarm();
  --connected_;
  leaving_ -= desk.leaving;
  within_host_ -= desk.within_host;
  // Of what is left once the books are closed nothing changes any more.
  const State state = queue_.account(session.number()).state;
  if (books_closed_ || (state != State::connected && state != State::leaving)) return;
  loop_.count_closings(queue_.unconfirmed(session.number()) / unconfirmed_per_closing);
  state == State::leaving ? queue_.leave(session.number()) : queue_.lose(session.number());
  went_ = true;
}

void ReceiverDesk::on_gone(const Session& session) {
  std::erase_if(last_words_, [&](const LastWords& words) {
    if (words.session == &session) take_last_words(words);
    return words.session == &session;
  });
}

/// What the kernel has not taken of them is told on its next connection.
void ReceiverDesk::take_last_words(const LastWords& words) {
  const auto rest = words.rest.lock();
  if (rest && !books_closed_) queue_.give_back_untold(words.number, rest->take_rest());
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
        if (!std::exchange(desk_of(number).leaving, true)) ++leaving_;
        queue_.stop_giving(number);  // it may be long until the batch under way is through
        mark(number);
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
      Desk& desk = desk_of(session.number());
      if (result == Queue::Confirmed::yes) desk.owes_since_ns = loop_.woke_ns();
      if (range.count == 0) continue;
      desk.answered += range.count;
      desk.answered_below = std::max(desk.answered_below, range.first_delivery + range.count);
      continue;
    }
    const char* reason =
        result == Queue::Confirmed::twice ? " were answered before, in part or all" : " were not all sent on this connection, in whole frames";
    refuse(session, ErrorCode::confirmation,
           std::to_string(range.count) + " deliveries from number " + std::to_string(range.first_delivery) + " on" + reason);
    break;
  }
  // What is sent on, and what was parked by that, is to be written.
  mark(session.number());
}

void ReceiverDesk::on_rules(Session& session, wire::ByteView body) {
  if (!options_.queue.requests) return refuse(session, ErrorCode::not_offered, "RULES: requests are off in this run");
  const auto rules = wire::Rules::decode(body);
  if (!rules) return refuse(session, ErrorCode::frame, "RULES: `count` says another number of rules than the body has");
  std::optional<uint32_t>& last_list = desk_of(session.number()).last_list;
  if (last_list && rules->list <= *last_list) {
    return refuse(
        session, ErrorCode::rules,
        "list " + std::to_string(rules->list) + " comes behind list " + std::to_string(*last_list) + "; the numbers have to rise");
  }
  last_list = rules->list;
  const bool at_once = lists_at_once_.take(loop_.woke_ns());
  const std::string wrong = queue_.set_rules(session.number(), rules->rules, desk_of(session.number()).connection, at_once);
  if (!wrong.empty()) return refuse(session, ErrorCode::rules, wrong);
  mark(session.number());
}

void ReceiverDesk::refuse_list(const RefusedList& list) {
  const Desk& desk = desk_of(list.receiver);
  log_.write(service_name(wire::Role::receiver, list.receiver) + ": its list is refused: " + list.reason);
  // A connection that is newer than the list has done nothing wrong.
  if (desk.session && desk.session->serving() && desk.connection == list.asked_on) refuse(*desk.session, ErrorCode::rules, list.reason);
}

void ReceiverDesk::on_credit(Session& session, wire::ByteView body) {
  if (!options_.queue.requests) return refuse(session, ErrorCode::not_offered, "CREDIT: requests are off in this run");
  const uint64_t more = wire::Credit::decode(body)->more;
  queue_.add_credit(session.number(), more);
  if (more > 0) desk_of(session.number()).owes_since_ns = loop_.woke_ns();
  mark(session.number());
}

// --- writing ---

void ReceiverDesk::mark(uint32_t number) {
  if (std::exchange(desk_of(number).marked, true)) return;
  marked_.push_back(number);
}

/// Those for whom something is new, and those who were marked, each once.
void ReceiverDesk::begin_round() {
  const std::vector<uint32_t>& ready = queue_.take_ready();
  if (marked_.empty()) {
    round_.assign(ready.begin(), ready.end());
    return;
  }
  for (const uint32_t number : ready) mark(number);
  round_.swap(marked_);
  for (const uint32_t number : round_) desk_of(number).marked = false;
}

/// Before writes that would bring many receivers onto this core.
void ReceiverDesk::keep_core() {
  const uint64_t messages = queue_.messages_taken_in() - std::exchange(messages_before_, queue_.messages_taken_in());
  if (within_host_ < keep_core_min || messages > keep_core_messages_max || !may_keep_core_) return;
  if (std::ranges::count_if(round_, [this](uint32_t number) { return desk_of(number).within_host; }) < keep_core_min) return;
  try {
    if (!core_keeper_) core_keeper_ = std::make_unique<net::CoreKeeper>();
    core_keeper_->keep();
  } catch (const std::system_error& error) {
    may_keep_core_ = false;
    log_.write(std::string("receivers are not kept off this core: ") + error.what());
  }
}

void ReceiverDesk::flush() {
  begin_round();
  keep_core();
  const bool together = ring_ && round_.size() >= together_min;
  if (together) stamp_common();
  size_t turn = round_.empty() ? 0 : ++turn_ % round_.size();
  for (size_t i = 0; i < round_.size(); ++i) {
    const uint32_t number = round_[turn];
    if (++turn == round_.size()) turn = 0;
    if (const Session* next = desk_of(round_[turn]).session) prefetch(*next);
    if (together) {
      if (!add_to_ring(number)) apart_.push_back(number);
    } else if (!write_common(number)) {
      flush_one(number);
    }
  }
  if (together && ring_) submit_ring();
  // What waits in the ring is stamped: much for others is not to be written before it goes.
  for (const uint32_t number : apart_) flush_one(number);
  apart_.clear();
  round_.clear();
  queue_.trim();
  watch_all_limits();
  for (uint32_t number = 1; ending_ && number <= desks_.size(); ++number) end_if_due(number);
  if (!marked_.empty()) loop_.wake_again();
}

void ReceiverDesk::mark_untold() {
  for (uint32_t number = 1; number <= desks_.size(); ++number) {
    if (desk_of(number).session && (desk_of(number).telling || queue_.account(number).has_untold)) mark(number);
  }
}

void ReceiverDesk::flush_one(uint32_t number) {
  Desk& desk = desk_of(number);
  if (!desk.session || !desk.session->serving()) return;
  if (!desk.session->connection().waits_for_room()) {
    int batches = 0;
    while (write_control(number) && write_batch(number)) {
      if (++batches < batches_per_round_max) continue;
      mark(number);
      break;
    }
  }
  look_after(number);
}

void ReceiverDesk::look_after(uint32_t number) {
  watch_limits(number);
  if (desk_of(number).leaving) end_if_due(number);
}

/// Whether the queue's common frame is the next thing to be written to it.
bool ReceiverDesk::takes_common(uint32_t number) const {
  const Desk& desk = desk_of(number);
  if (!queue_.is_in_step(number) || queue_.account(number).has_untold || desk.telling) return false;
  return desk.session && desk.session->serving() && !desk.leaving && !desk.session->has_unsent() &&
         !desk.session->connection().waits_for_room();
}

void ReceiverDesk::stamp_common() {
  if (const std::span<uint8_t> frame = queue_.common_frame(); !frame.empty()) wire::store(frame.data() + Batch::stamp_at, net::now_ns());
}

/// False: it gets something else, or nothing.
bool ReceiverDesk::write_common(uint32_t number) {
  if (!takes_common(number)) return false;
  stamp_common();
  settle_common(number, desk_of(number).session->connection().write(queue_.common_frame()));
  return true;
}

void ReceiverDesk::settle_common(uint32_t number, size_t bytes) {
  const std::span<const uint8_t> frame = queue_.common_frame();
  if (bytes < frame.size()) {
    queue_.begin_batch(number, wire::load<int64_t>(frame.data() + Batch::stamp_at));
    took(number, bytes);
    return look_after(number);
  }
  queue_.taken_common(number);
  Desk& desk = desk_of(number);
  desk.moved_ns = loop_.woke_ns();
  desk.session->note_sent(loop_.woke_ns());
}

/// False: nothing of this receiver is in the ring, and it is to be flushed on its own.
bool ReceiverDesk::add_to_ring(uint32_t number) {
  if (!ring_) return false;  // it failed in this very round
  Desk& desk = desk_of(number);
  const bool common = takes_common(number);
  if (common) {
    pieces_.clear();
    pieces_.gather(queue_.common_frame());
  } else {
    if (!desk.session || !desk.session->serving() || desk.session->connection().waits_for_room()) return false;
    // What is under way is the rest of a batch that was too much for its socket: no small one.
    if (queue_.batch(number).under_way() || queue_.backlog_bytes(number) > net::SendRing::write_bytes_max) return false;
    if (!write_control(number) || !gather_batch(number)) return false;
  }
  const size_t bytes = pieces_.bytes();
  if (bytes > net::SendRing::write_bytes_max) {
    // Its batch is stamped, as is what waits in the ring: neither is to wait for more than that.
    submit_ring();
    flush_one(number);
    stamp_common();
    return true;
  }
  if (!desk.session->connection().add_to(*ring_, pieces_.data(), pieces_.count())) return false;
  in_ring_.push_back({number, bytes, common});
  if (ring_->full()) {
    submit_ring();
    stamp_common();  // for those who come behind these
  }
  return true;
}

void ReceiverDesk::submit_ring() {
  const auto results = ring_->submit();
  for (size_t i = 0; i < in_ring_.size(); ++i) {
    const auto [number, bytes, common] = in_ring_[i];
    const size_t taken = desk_of(number).session->connection().settle(results[i], bytes);
    if (common) {
      settle_common(number, taken);
      continue;
    }
    if (took(number, taken) && queue_.has_next(number)) mark(number);
    look_after(number);
  }
  in_ring_.clear();
  if (!ring_->failed()) return;
  log_.write(std::string("io_uring failed (") + std::strerror(ring_->error()) + "): from here on each write is a call of its own");
  ring_.reset();
}

/// Frames that stand between batches. False: something is left, no batch may follow.
bool ReceiverDesk::write_control(uint32_t number) {
  Session& session = *desk_of(number).session;
  if (queue_.batch(number).under_way()) return true;
  return session.flush() && (desk_of(number).leaving || tell(number));  // who leaves is told at last, see send_end()
}

/// False: there is more to tell than the kernel takes now, or than the others are to wait for.
bool ReceiverDesk::tell(uint32_t number) {
  for (int frames = 0; desk_of(number).telling || queue_.account(number).has_untold; ++frames) {
    if (frames == skipped_frames_per_round_max) return mark(number), false;
    // Each has the whole write deadline: it is a receiver that takes nothing who is too slow.
    desk_of(number).write_deadline->disarm();
    desk_of(number).moved_ns = loop_.woke_ns();
    tell_some(number);
    if (!desk_of(number).session->flush()) return false;
  }
  return true;
}

std::unique_ptr<Telling> ReceiverDesk::begin_telling(uint32_t number) {
  SkippedSets sets = queue_.take_untold(number);
  SenderSets& expired = of(sets, SkipReason::expired);
  if (!expired.empty() && sabotage::now(sabotage::Way::forget_expired)) expired = {};
  return std::make_unique<Telling>(std::move(sets));
}

/// One frame. The one before it is out.
void ReceiverDesk::tell_some(uint32_t number) {
  std::unique_ptr<Telling>& telling = desk_of(number).telling;
  if (!telling) telling = begin_telling(number);
  if (!telling->write(desk_of(number).session->out())) telling.reset();
}

/// The rest is told on its next connection.
void ReceiverDesk::stop_telling(uint32_t number) {
  const std::unique_ptr<Telling> telling = std::move(desk_of(number).telling);
  if (!telling) return;
  queue_.give_back_untold(number, telling->take_rest());
}

size_t ReceiverDesk::telling_bytes() {
  size_t bytes = 0;
  for (const Desk& desk : desks_) {
    if (desk.telling) bytes += desk.telling->bytes();
  }
  std::erase_if(last_words_, [](const LastWords& words) { return words.rest.expired(); });
  for (const LastWords& words : last_words_) bytes += words.rest.lock()->bytes();
  return bytes;
}

/// Puts what is to be written next into pieces_, stamped, unless it is the rest of what was; false: nothing is.
bool ReceiverDesk::gather_batch(uint32_t number) {
  if (!queue_.batch(number).under_way()) {
    if (desk_of(number).leaving || !queue_.has_next(number)) return false;
    queue_.begin_batch(number, net::now_ns());
  }
  pieces_.clear();
  queue_.gather(number, pieces_);
  return true;
}

/// True when a whole batch went out and there may be another one.
bool ReceiverDesk::write_batch(uint32_t number) {
  if (!gather_batch(number)) return false;
  return took(number, desk_of(number).session->connection().write(pieces_.data(), pieces_.count()));
}

/// The kernel took so much of what was gathered; true: all of the batch.
bool ReceiverDesk::took(uint32_t number, size_t bytes) {
  // An answer has its whole time from here on, however long this wake-up has lasted.
  queue_.taken(number, bytes, options_.queue.responses ? net::now_ns() : loop_.woke_ns());
  if (bytes > 0) {
    Desk& desk = desk_of(number);
    desk.moved_ns = loop_.woke_ns();
    desk.write_deadline->took(bytes);
    desk.session->note_sent(loop_.woke_ns());
  }
  return !queue_.batch(number).under_way();
}

// --- limits ---

void ReceiverDesk::watch_limits(uint32_t number) {
  Desk& desk = desk_of(number);
  if (queue_.batch(number).under_way() || desk.session->has_unsent()) {
    desk.write_deadline->watch(queue_.account(number).handed_over, desk.session->connection());
  } else {
    desk.write_deadline->disarm();
  }
  const size_t backlog_bytes = queue_.backlog_bytes(number);
  // A message of that size alone cuts nobody off.
  const size_t pending_bytes_max = options_.limits.pending_bytes + wire::record_header_bytes;
  if (backlog_bytes <= pending_bytes_max) {
    desk.joined_with_bytes = 0;
  } else if (backlog_bytes > pending_bytes_max + desk.joined_with_bytes) {
    cut_off(number,
            "pending bytes: " + std::to_string(backlog_bytes) + " wait, the limit is " + std::to_string(options_.limits.pending_bytes));
  }
}

/// Whoever may get nothing at present, because its window is full, is in nobody's round.
void ReceiverDesk::watch_all_limits() {
  const int64_t now_ns = loop_.woke_ns();
  if (now_ns - looked_ns_ < look_ns) return;
  looked_ns_ = now_ns;
  if (queue_.bytes_held() <= options_.limits.pending_bytes) return;
  for (uint32_t number = 1; number <= desks_.size(); ++number) {
    const Desk& desk = desk_of(number);
    if (desk.session && desk.session->serving()) watch_limits(number);
  }
}

void ReceiverDesk::watch_silent(bool memory_is_needed) {
  const int64_t now_ns = loop_.woke_ns();
  if (looked_ns_ != now_ns) return;  // as often as at the other limits
  if (now_ns - silent_looked_ns_ > unwatched_ns) silent_watched_since_ns_ = now_ns;
  silent_looked_ns_ = now_ns;
  for (uint32_t number = 1; number <= desks_.size(); ++number) {
    Desk& desk = desk_of(number);
    if (!desk.session || !desk.session->serving()) continue;
    // Who had nothing to answer was not silent, however long that was.
    if (!queue_.is_kept_waiting(number)) desk.owes_since_ns = now_ns;
    const int64_t silent_ns = now_ns - std::max(desk.owes_since_ns, silent_watched_since_ns_);
    if (!memory_is_needed || silent_ns < options_.limits.write_deadline_ms * net::ns_per_ms) continue;
    cut_off(number, "write deadline: it answered and asked for nothing within " + std::to_string(options_.limits.write_deadline_ms) +
                        " ms, and others need the memory");
  }
}

void ReceiverDesk::pass_write_deadline(uint32_t number) {
  cut_off(number, "write deadline: a batch was not taken within " + std::to_string(options_.limits.write_deadline_ms) + " ms");
}

void ReceiverDesk::cut_off(uint32_t number, const std::string& reason) {
  Desk& desk = desk_of(number);
  desk.cut_off_reason = reason;
  const bool cut_short = in_frame(number);
  queue_.cut_off(number);
  went_ = true;
  // cut_off() of the queue has ended the batch; the stream is still in the middle of it.
  desk.session->refuse(ErrorCode::too_slow, reason, cut_short);
  loop_.wake_again();  // what was passed on to others
}

uint32_t ReceiverDesk::behind(bool held, int64_t now_ns) const {
  const size_t behind_bytes = options_.limits.pending_bytes / behind_divisor / (held ? 2 : 1);
  if (queue_.bytes_held() <= behind_bytes) return 0;
  uint32_t behind = 0;
  const size_t unassigned_bytes = queue_.unassigned_bytes() / std::max<uint32_t>(staying(), 1);  // will be theirs
  for (uint32_t number = 1; number <= desks_.size(); ++number) {
    const Desk& desk = desks_[number - 1];
    const bool moving = desk.session && !desk.leaving && now_ns - desk.moved_ns < standing_still_ns;
    if (moving && queue_.backlog_bytes(number) + unassigned_bytes > behind_bytes) ++behind;
  }
  return behind;
}

// --- the end ---

void ReceiverDesk::end_if_due(uint32_t number) {
  const Desk& desk = desk_of(number);
  if (!desk.session || !desk.session->serving() || desk.session->has_unsent() || in_frame(number)) return;
  const bool drained = ending_ && queue_.drained(number);
  if (!drained && !desk.leaving) return;
  if (!desk.leaving && !tell(number)) return watch_limits(number);  // what it will not get goes before END
  any_stream_ended_ = any_stream_ended_ || !desk.leaving;
  queue_.leave(number);
  went_ = true;
  loop_.wake_again();  // what was passed on to others
  send_end(number, desk.leaving ? "left" : "stream ended");
}

void ReceiverDesk::end_all() {
  // The books close in between: a batch under way is given up by that, and its stream is in the middle of a frame for good.
  std::vector<uint32_t> in_order, in_the_middle;
  for (uint32_t number = 1; number <= desks_.size(); ++number) {
    if (desk_of(number).session && desk_of(number).session->serving()) (in_frame(number) ? in_the_middle : in_order).push_back(number);
  }
  queue_.finish();
  books_closed_ = true;
  for (const uint32_t number : in_the_middle) desk_of(number).session->close("the drain deadline is over in the middle of a batch");
  for (const uint32_t number : in_order) send_end(number, "stream ended");
}

/// Behind what it was not told yet that it will not get: as it reads it, for that may be a run for every other message there is.
void ReceiverDesk::send_end(uint32_t number, const char* why) {
  Desk& desk = desk_of(number);
  desk.ended = true;
  stop_telling(number);
  const std::shared_ptr<Telling> rest = queue_.account(number).has_untold ? begin_telling(number) : nullptr;
  if (rest) last_words_.push_back({desk.session, number, rest});
  const wire::EndTotals end = totals(number);
  const auto last_words = [rest, end](wire::Bytes& out) {
    if (rest && rest->write(out)) return true;
    end.encode(out);
    return false;
  };
  // What it has not read yet left the queue in time, and is kept as long as it would have been there.
  desk.session->finish(std::string(why) + ", " + std::to_string(end.handed_over) + " messages handed over",
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
