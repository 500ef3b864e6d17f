// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/broadcaster.h"

#include <algorithm>

#include "broker/queue/connected.h"
#include "broker/queue/sabotage.h"
#include "broker/wire/record.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::SkipReason;

Broadcaster::Broadcaster(const QueueOptions& options)
    : Queue(options, MessageLog::Holds::chunks), taken_in_(options.senders), cursors_(options.receivers) {}

// --- receivers come and go ---

void Broadcaster::join(uint32_t receiver) {
  take_own_books(receiver);
  if (account(receiver).state == State::left) take_back(receiver);
  account_of(receiver).state = State::connected;
  add_number(connected_, receiver);
  has_new_ = true;
}

void Broadcaster::lose(uint32_t receiver) {
  disconnect(receiver, State::absent);
}

void Broadcaster::replace(uint32_t receiver) {
  give_up_batch(receiver);
  has_new_ = true;
}

void Broadcaster::stop_giving(uint32_t receiver) {
  if (account(receiver).state != State::connected) return;
  account_of(receiver).state = State::leaving;
  remove_number(connected_, receiver);
  // Its books are closed, but for the batch under way: what give_up_batch() takes back of that follows.
  still_queued_[receiver - 1] += waiting_from(next_of(receiver));
  cursor_of(receiver).gone_at = taken_in_.snapshot();
  trim_due_ = true;
  trim();
}

void Broadcaster::leave(uint32_t receiver) {
  if (account(receiver).state == State::left || account(receiver).state == State::cut_off) return;
  take_own_books(receiver);
  const bool was_leaving = account(receiver).state == State::leaving;
  disconnect(receiver, State::left);
  if (was_leaving) return;
  still_queued_[receiver - 1] += waiting_from(next_of(receiver));
  cursor_of(receiver).gone_at = taken_in_.snapshot();
  trim();
}

void Broadcaster::cut_off(uint32_t receiver) {
  take_own_books(receiver);
  const bool was_leaving = account(receiver).state == State::leaving;
  disconnect(receiver, State::cut_off);
  if (was_leaving) return;  // what was there when it said that it leaves is still queued, but for its batch
  skip(receiver, SkipReason::cut_off, waiting_from(next_of(receiver)));
  cursor_of(receiver).gone_at = taken_in_.snapshot();
  trim();
}

void Broadcaster::disconnect(uint32_t receiver, State state) {
  give_up_batch(receiver, state == State::cut_off);
  account_of(receiver).state = state;
  remove_number(connected_, receiver);
  trim_due_ = true;
}

/// A receiver that had left is back, and may have what is in the queue still.
void Broadcaster::take_back(uint32_t receiver) {
  SenderSets& still_queued = still_queued_[receiver - 1];
  still_queued += taken_in_.since(*std::exchange(cursor_of(receiver).gone_at, nullptr));
  still_queued -= waiting_from(next_of(receiver));
}

// --- messages ---

void Broadcaster::on_taken_in(const MessageLog::Appended& appended) {
  taken_in_.add(wire::record_sender(appended.records), wire::record_index(appended.records), appended.messages);
  has_new_ = true;
  trim_due_ = true;
}

void Broadcaster::collect_ready(std::vector<uint32_t>& ready) {
  common_frame_.clear();
  if (std::exchange(has_new_, false)) ready.assign(connected_.begin(), connected_.end());
  make_common_frame(std::exchange(told_, log_.tail()));
}

/// Of what lies side by side: who stands at a border between two chunks gets a batch of his own.
void Broadcaster::make_common_frame(const Position& from) {
  const Position& tail = log_.tail();
  const size_t bytes = tail.byte - from.byte;
  if (sabotage::possible || bytes == 0 || bytes > common_bytes_max || from.chunk != tail.chunk || from.message < head_.message) return;
  common_from_ = from;
  const uint8_t* const records = log_.at(from);
  common_frame_.resize(Batch::head_bytes);
  wire::write_frame_header(common_frame_.data(), wire::FrameType::deliver, static_cast<uint32_t>(wire::deliver_prefix_bytes + bytes));
  common_frame_.insert(common_frame_.end(), records, records + bytes);
}

bool Broadcaster::is_in_step(uint32_t receiver) const {
  return !common_frame_.empty() && cursors_[receiver - 1].next.message == common_from_.message && !batch(receiver).under_way();
}

void Broadcaster::taken_common(uint32_t receiver) {
  cursor_of(receiver).next = log_.tail();
  account_of(receiver).handed_over += log_.tail().message - common_from_.message;
  trim_due_ = true;
}

const Position& Broadcaster::next_of(uint32_t receiver) const {
  const Position& next = cursors_[receiver - 1].next;
  return next.message <= head_.message ? head_ : next;
}

bool Broadcaster::has_next(uint32_t receiver) const {
  return next_of(receiver).message != log_.tail().message && account(receiver).state != State::leaving;
}

void Broadcaster::begin_batch(uint32_t receiver, int64_t now_ns) {
  Cursor& cursor = cursor_of(receiver);
  cursor.begin = log_.normal(next_of(receiver));
  cursor.last_chunk = cursor.begin.chunk;
  // Whole chunks, so that no record has to be looked at.
  Position end = log_.end_of_chunk(cursor.begin);
  while (end.message != log_.tail().message) {
    const Position further = log_.end_of_chunk(log_.normal(end));
    if (wire::deliver_prefix_bytes + further.byte - cursor.begin.byte > Batch::body_bytes_max) break;
    end = further;
    cursor.last_chunk = further.chunk;
  }
  cursor.next = end;
  if (end.message > cursor.begin.message + 1 && sabotage::now(sabotage::Way::drop_one)) cursor.begin = log_.behind(cursor.begin);
  for (uint64_t chunk = cursor.begin.chunk; chunk <= cursor.last_chunk; ++chunk) log_.hold(chunk);
  batch_of(receiver).begin(end.byte - cursor.begin.byte, end.message - cursor.begin.message, now_ns);
}

void Broadcaster::gather_records(uint32_t receiver, size_t skip, Pieces& pieces) {
  const Cursor& cursor = cursors_[receiver - 1];
  size_t left = batch(receiver).record_bytes;
  for (Position at = cursor.begin; left > 0; ++at.chunk, at.offset = 0) {
    // The last chunk may have grown since the batch began.
    const size_t bytes = std::min<size_t>(left, log_.end_of_chunk(at).offset - at.offset);
    left -= bytes;
    if (skip < bytes && !pieces.add({log_.at(at) + skip, bytes - skip})) return;
    skip -= std::min(skip, bytes);
  }
}

void Broadcaster::complete_batch(uint32_t receiver, int64_t) {
  release_batch(cursor_of(receiver));
  trim_due_ = true;
}

void Broadcaster::release_batch(Cursor& cursor) {
  for (uint64_t chunk = cursor.begin.chunk; chunk <= cursor.last_chunk; ++chunk) log_.release(chunk);
}

/// The connection is gone or goes: whole messages that the kernel took are handed over, the cursor goes back to the first that is not.
void Broadcaster::give_up_batch(uint32_t receiver, bool cut) {
  Batch& batch = batch_of(receiver);
  if (!batch.under_way()) return;
  Cursor& cursor = cursor_of(receiver);
  Position at = cursor.begin;
  size_t written = batch.records_written();
  while (at.message < cursor.next.message && wire::record_bytes(log_.at(at)) <= written) {
    written -= wire::record_bytes(log_.at(at));
    ++account_of(receiver).handed_over;
    at = log_.behind(at);
  }
  if (account(receiver).state == State::leaving) {
    // It is missing in the books that were closed then, whether it is in the queue still or not.
    if (cut) skip(receiver, SkipReason::cut_off, walk(at, cursor.next));
    else still_queued_[receiver - 1] += walk(at, cursor.next);
  } else if (at.message < head_.message) {
    // The batch has kept them alive beyond their time in the queue; nobody does any more.
    skip(receiver, SkipReason::expired, walk(at, cursor.next.message < head_.message ? cursor.next : head_));
  }
  cursor.next = at;
  release_batch(cursor);
  batch.record_bytes = 0;
}

size_t Broadcaster::backlog_bytes(uint32_t receiver) const {
  const Batch& under_way = batch(receiver);
  const size_t unwritten = under_way.under_way() ? under_way.record_bytes - under_way.records_written() : 0;
  if (account(receiver).state == State::leaving) return unwritten;
  return unwritten + log_.tail().byte - next_of(receiver).byte;
}

// --- leaving the queue ---

void Broadcaster::trim() {
  if (options_.removal != RemovalRule::when_all_have_it || !std::exchange(trim_due_, false)) return;
  const Position* least = &log_.tail();
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    if (!account(receiver).expected()) continue;
    const Position& has = batch(receiver).under_way() ? cursors_[receiver - 1].begin : next_of(receiver);
    if (has.message < least->message) least = &has;
  }
  if (least->message > head_.message) move_head(*least);
}

void Broadcaster::move_head(const Position& to) {
  const Position head = log_.normal(to);
  if (waiting_ && waiting_->to.message <= head.message) {
    waiting_.reset();
  } else if (waiting_ && waiting_->from.message <= head.message) {  // the same message may be named by the end of a chunk that goes
    waiting_->sets -= walk(waiting_->from, head);
    waiting_->from = head;
  }
  const Position before = std::exchange(head_, head);
  for (uint64_t chunk = before.chunk; chunk < head_.chunk; ++chunk) log_.release(chunk);
}

void Broadcaster::expire(int64_t now_ns) {
  Position head = log_.normal(head_);
  while (head.message < log_.tail().message && is_expired(log_.at(head), now_ns)) head = log_.behind(head);
  if (head.message == head_.message) return;
  // Most of those that lag have not even the first one: they share one walk.
  SenderSets all;
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    const Position& next = next_of(receiver);
    if (!account(receiver).expected() || next.message >= head.message) continue;
    if (next.message > head_.message) {
      skip(receiver, SkipReason::expired, walk(next, head));
    } else {
      if (all.empty()) all = walk(head_, head);
      // One that is absent goes on lagging until it comes, leaves or is cut off.
      account(receiver).state == State::absent ? miss_with_others(receiver) : skip(receiver, SkipReason::expired, all);
    }
  }
  if (away_) away_->add(all);
  move_head(head);
}

int64_t Broadcaster::next_expiry_ns() const {
  const Position head = log_.normal(head_);
  if (head.message == log_.tail().message) return 0;
  return wire::record_taken_in_ns(log_.at(head)) + options_.retention_ns;
}

bool Broadcaster::drained(uint32_t receiver) const {
  return !account(receiver).expected() || (!batch(receiver).under_way() && !has_next(receiver));
}

bool Broadcaster::drained() const {
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    if (!drained(receiver)) return false;
  }
  return true;
}

// --- the books ---

void Broadcaster::take_own_books(uint32_t receiver) {
  auto at = std::exchange(cursor_of(receiver).away_at, nullptr);
  if (!at) return;
  skip(receiver, SkipReason::expired, away_->since(*at));
  at.reset();
  if (--away_count_ == 0) away_.reset();
}

/// From now on.
void Broadcaster::miss_with_others(uint32_t receiver) {
  Cursor& cursor = cursor_of(receiver);
  if (cursor.away_at) return;
  if (!away_) away_.emplace(options_.senders);
  cursor.away_at = away_->snapshot();
  ++away_count_;
}

void Broadcaster::bring_books_up_to_date() {
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) take_own_books(receiver);
}

SenderSets Broadcaster::walk(Position from, const Position& to) const {
  SenderSets found;
  {
    GatheredRuns runs(found);
    for (from = log_.normal(from); from.message < to.message;) {
      const Position end = log_.end_of_chunk(from);
      const uint8_t* record = log_.at(from);
      for (uint64_t left = std::min(end.message, to.message) - from.message; left > 0; --left, record += wire::record_bytes(record)) {
        runs.add(wire::record_sender(record), wire::record_index(record));
      }
      from = log_.normal(end);
    }
  }
  return found;
}

SenderSets Broadcaster::waiting_from(const Position& from) {
  const Position& tail = log_.tail();
  const uint64_t messages = tail.message - from.message;
  if (messages < waiting_min) return walk(from, tail);
  if (!waiting_) waiting_ = Waiting{from, from, {}};
  waiting_->unused = 0;
  if (from.message < waiting_->from.message) waiting_->sets += walk(from, std::exchange(waiting_->from, from));
  waiting_->sets += walk(std::exchange(waiting_->to, tail), tail);
  const uint64_t before = from.message - waiting_->from.message;
  if (before > messages) return walk(from, tail);
  SenderSets found = waiting_->sets;
  if (before > 0) found -= walk(waiting_->from, from);
  return found;
}

void Broadcaster::fit() {
  Queue::fit();
  if (waiting_ && ++waiting_->unused > waiting_unused_max) waiting_.reset();
}

void Broadcaster::finish() {
  bring_books_up_to_date();
  std::vector<uint32_t> expected;
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    give_up_batch(receiver);
    const Cursor& cursor = cursors_[receiver - 1];
    SenderSets& still_queued = still_queued_[receiver - 1];
    switch (account(receiver).state) {
      case State::absent:
      case State::connected:
        expected.push_back(receiver);
        break;
      case State::leaving:
      case State::left:
        still_queued += taken_in_.since(*cursor.gone_at);
        break;
      case State::cut_off:
        skip(receiver, SkipReason::cut_off, taken_in_.since(*cursor.gone_at));
        break;
    }
  }
  // One walk for all, from those who lack least to those who lack most.
  const auto has_more = [this](uint32_t a, uint32_t b) { return next_of(a).message > next_of(b).message; };
  std::sort(expected.begin(), expected.end(), has_more);
  SenderSets lacking;
  Position from = log_.tail();
  for (const uint32_t receiver : expected) {
    lacking += walk(next_of(receiver), from);
    from = next_of(receiver);
    still_queued_[receiver - 1] += lacking;
  }
}

}  // namespace n2nq
