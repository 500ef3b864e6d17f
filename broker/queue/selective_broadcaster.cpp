// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/selective_broadcaster.h"

#include <algorithm>
#include <utility>

#include "broker/queue/connected.h"
#include "broker/queue/sabotage.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::SkipReason;

namespace {

/// What is kept of lists of a cell that nearly always are short.
constexpr size_t short_list_kept_bytes = 256;

}  // namespace

SelectiveBroadcaster::SelectiveBroadcaster(const QueueOptions& options)
    : Queue(options, MessageLog::Holds::messages), grid_(options.senders, options.receivers, *this), taken_in_(options.senders) {
  deliveries_.bytes_max = options.deliveries_bytes_max;
  const uint32_t window = options.responses ? options.responses_window : 0;
  receivers_.reserve(options.receivers);
  for (uint32_t i = 0; i < options.receivers; ++i)
    receivers_.emplace_back(Allowance(options.requests, window, deliveries_), grid_.take({wire::Rule()}).interest);
  expected_.resize(grid_.interests_end());
  expected_receivers_ = options.receivers;
  for (uint32_t number = 1; number <= options.receivers; ++number) cover_all(number);
}

// --- receivers come and go ---

void SelectiveBroadcaster::join(uint32_t receiver) {
  const bool was_expected = account(receiver).expected();
  if (account(receiver).state == State::left) take_back(receiver);
  account_of(receiver).state = State::connected;
  if (!was_expected) {
    ++expected_receivers_;
    cover_all(receiver);
    if (!options_.requests) count_bytes_passed(receiver);
  }
  mark_ready(receiver);
}

void SelectiveBroadcaster::count_bytes_passed(uint32_t receiver) {
  const auto bytes_of = [this](const Cell& cell, uint64_t from, uint64_t to) {
    uint64_t bytes = 0;
    walked_over_ += to - from;
    for (; from < to; ++from) {
      const uint32_t handle = cell.entries[from - cell.first].message;
      if (handle != MessageTable::none) bytes += messages_[handle].bytes;
    }
    return bytes;
  };
  uint64_t queued = 0;
  for (const auto& [cell_number, place] : receiver_of(receiver).places) {
    Cell& cell = cells_[cell_number];
    const uint64_t at = std::max(place.at, cell.first);
    const uint64_t before = at - cell.first, behind = cell.end() - at;
    if (std::min(before, behind) >= options_.walked_at_once) {
      queued += waiting_from(cell, at).bytes;
    } else {
      queued += before < behind ? cell.bytes - bytes_of(cell, cell.first, at) : bytes_of(cell, at, cell.end());
    }
  }
  receiver_of(receiver).bytes_passed = bytes_taken_in_ - queued;
}

void SelectiveBroadcaster::lose(uint32_t receiver) {
  interrupt(receiver);
  account_of(receiver).state = State::absent;
}

void SelectiveBroadcaster::stop_giving(uint32_t receiver) {
  if (account(receiver).state != State::connected) return;
  settle_for(receiver);
  still_queued_[receiver - 1] += close_books(receiver, State::leaving);
  trim();
}

void SelectiveBroadcaster::leave(uint32_t receiver) {
  if (account(receiver).state == State::left || account(receiver).state == State::cut_off) return;
  go(receiver, State::left);
}

void SelectiveBroadcaster::cut_off(uint32_t receiver) {
  go(receiver, State::cut_off);
}

/// The connection is gone: what is not answered is owed.
void SelectiveBroadcaster::interrupt(uint32_t receiver) {
  give_up_batch(receiver);
  for (const Flight& flight : receiver_of(receiver).allowance.reset()) {
    owe_again(receiver, flight.message, flight.attempt, flight.failures);
  }
}

/// Of the batch under way, what the kernel took whole is handed over, and the rest is owed.
void SelectiveBroadcaster::give_up_batch(uint32_t receiver) {
  Batch& batch = batch_of(receiver);
  if (!batch.under_way()) return;
  size_t written = batch.records_written();
  bool whole = true;
  for (const Delivery& delivery : std::exchange(receiver_of(receiver).batch, {})) {
    const size_t bytes = messages_[delivery.message].bytes;
    whole = whole && bytes <= written;
    if (!whole) {
      owe(receiver, delivery);
      continue;
    }
    written -= bytes;
    ++account_of(receiver).handed_over;
    account_of(receiver).redelivered += (delivery.flags & wire::flag_redelivered) != 0;
    if (options_.responses) {
      owe_again(receiver, delivery.message, delivery.attempt, delivery.failures);
    } else {
      release(delivery.message);
    }
  }
  receiver_of(receiver).heads.clear();
  batch.record_bytes = 0;
}

void SelectiveBroadcaster::go(uint32_t receiver, State state) {
  const bool was_leaving = account(receiver).state == State::leaving;
  if (!was_leaving) settle_for(receiver);
  interrupt(receiver);
  // Of who was leaving nothing is left but what had been begun for it.
  const SenderSets missed = was_leaving ? drop_owed(receiver) : close_books(receiver, state);
  account_of(receiver).state = state;
  if (state == State::left) {
    still_queued_[receiver - 1] += missed;
  } else {
    skip(receiver, SkipReason::cut_off, missed);
  }
  trim();
}

/// It gets nothing any more of what is in the queue or comes in from here on, and holds nothing but what is under way to it or not answered.
/// Returns what it misses; settle_for() comes before.
SenderSets SelectiveBroadcaster::close_books(uint32_t receiver, State state) {
  SenderSets missed = missed_by(receiver);
  account_of(receiver).state = state;
  --expected_receivers_;
  uncover_all(receiver);
  missed += drop_owed(receiver);  // only now: it has not got them
  receiver_of(receiver).gone_at = taken_in_.snapshot();
  return missed;
}

// --- messages ---

void SelectiveBroadcaster::mark_ready(uint32_t receiver) {
  if (!std::exchange(receiver_of(receiver).marked_ready, true)) marked_.push_back(receiver);
}

void SelectiveBroadcaster::collect_ready(std::vector<uint32_t>& ready) {
  for (const uint32_t receiver : marked_) {
    receiver_of(receiver).marked_ready = false;
    if (account(receiver).state == State::connected) ready.push_back(receiver);
  }
  marked_.clear();
}

void SelectiveBroadcaster::on_taken_in(const MessageLog::Appended& appended) {
  taken_in_.add(wire::record_sender(appended.records), wire::record_index(appended.records), appended.messages);
  bytes_taken_in_ += appended.bytes;
  QueuedMessage message;
  message.number = appended.message;
  message.chunk = appended.chunk;
  appended.for_each([&](const uint8_t* record, size_t bytes, uint32_t offset) {
    message.offset = offset;
    message.bytes = static_cast<uint32_t>(bytes);
    file(record, message);
    ++message.number;
  });
}

/// It comes to the others of its kind, and to who waits for one of them.
void SelectiveBroadcaster::file(const uint8_t* record, QueuedMessage message) {
  const uint32_t sender = wire::record_sender(record);
  const uint32_t filed_under = sabotage::now(sabotage::Way::unasked) ? sender % options_.senders + 1 : sender;
  message.cell = grid_.cell_of(filed_under, wire::record_size(record));
  Cell& cell = cells_[message.cell];
  cell.entries.push_back({message.number, messages_.add(message), std::exchange(cell.at_end, 0)});
  cell.bytes += message.bytes;
  ++entries_;
  for (const uint32_t number : cell.idle) {
    Receiver& receiver = receiver_of(number);
    const auto place = receiver.places.find(message.cell);
    if (place == receiver.places.end() || !place->second.idle) continue;  // it stood there once
    place->second.idle = false;
    receiver.next.push_back({message.number, message.cell});
    std::push_heap(receiver.next.begin(), receiver.next.end(), higher);
    mark_ready(number);
  }
  cell.idle.clear();
}

bool SelectiveBroadcaster::has_next(uint32_t number) const {
  const Receiver& receiver = receivers_[number - 1];
  return (!receiver.next.empty() || !receiver.owed.empty()) && receiver.allowance.room() > 0 && !changes_.pending(number) &&
         account(number).state != State::leaving;
}

/// Takes the next message that was not begun for this receiver; its heap is not empty.
SelectiveBroadcaster::Delivery SelectiveBroadcaster::take_next(uint32_t number) {
  Receiver& receiver = receiver_of(number);
  const uint32_t cell_number = receiver.next.front().cell;
  Cell& cell = cells_[cell_number];
  Place& place = receiver.places[cell_number];
  const Entry& entry = cell.entries[place.at - cell.first];
  Delivery delivery{entry.number, entry.message, 1, 0};
  if (entry.number < receiver.above_highest) delivery.flags = wire::flag_newly_matched;
  receiver.above_highest = std::max(receiver.above_highest, entry.number + 1);
  QueuedMessage& message = messages_[entry.message];
  ++message.holders;
  receiver.bytes_passed += message.bytes;
  const uint64_t before = place.at;
  leave_place(cell, before);
  place.at = step(cell, before + 1);
  put_place(cell, place.at);
  fix_next(number);
  if (before == cell.least) move_least(cell_number);
  return delivery;
}

void SelectiveBroadcaster::begin_batch(uint32_t number, int64_t now_ns) {
  Receiver& receiver = receiver_of(number);
  size_t bytes = 0;
  while (has_next(number)) {
    const bool is_owed = !receiver.owed.empty();
    const Next& next = receiver.next.empty() ? Next{} : receiver.next.front();
    const uint32_t handle = is_owed ? receiver.owed.front().message
                                    : cells_[next.cell].entries[receiver.places[next.cell].at - cells_[next.cell].first].message;
    const size_t more = messages_[handle].bytes;
    if (bytes > 0 && wire::deliver_prefix_bytes + bytes + more > Batch::body_bytes_max) break;
    bytes += more;
    if (is_owed) {
      receiver.batch.push_back(receiver.owed.front());
      pop_owed(receiver);
    } else {
      receiver.batch.push_back(take_next(number));
    }
    receiver.allowance.begin();
  }
  for (const Delivery& delivery : receiver.batch) {
    if (delivery.flags == 0 && delivery.attempt == 1) continue;
    // The record is shared: what differs for this receiver stands in a head of its own.
    Head& head = receiver.heads.emplace_back();
    const uint8_t* record = record_of(delivery.message);
    std::copy_n(record, head.size(), head.begin());
    wire::set_record_flags(head.data(), wire::record_flags(record) | delivery.flags);
    wire::set_record_attempt(head.data(), delivery.attempt);
  }
  batch_of(number).begin(bytes, receiver.batch.size(), now_ns);
}

void SelectiveBroadcaster::gather_records(uint32_t number, size_t skip, Pieces& pieces) {
  const Receiver& receiver = receivers_[number - 1];
  size_t heads = 0;
  const auto add = [&](const uint8_t* from, size_t bytes) {
    if (skip < bytes && !pieces.add({from + skip, bytes - skip})) return false;
    skip -= std::min(skip, bytes);
    return true;
  };
  for (const Delivery& delivery : receiver.batch) {
    const uint8_t* record = record_of(delivery.message);
    const size_t bytes = messages_[delivery.message].bytes;
    if (delivery.flags == 0 && delivery.attempt == 1) {
      if (!add(record, bytes)) return;
    } else {
      const Head& head = receiver.heads[heads++];
      if (!add(head.data(), head.size()) || !add(record + head.size(), bytes - head.size())) return;
    }
  }
}

void SelectiveBroadcaster::complete_batch(uint32_t number, int64_t now_ns) {
  Receiver& receiver = receiver_of(number);
  const int64_t deadline_ns = std::max(now_ns, batch(number).sent_on_ns()) + options_.responses_deadline_ns;
  for (const Delivery& delivery : receiver.batch) {
    account_of(number).redelivered += (delivery.flags & wire::flag_redelivered) != 0;
    if (options_.responses) {
      receiver.allowance.hand_over({delivery.message, delivery.attempt, delivery.failures, true, deadline_ns});
    } else {
      receiver.allowance.hand_over();
      release(delivery.message);
    }
  }
  // The next one needs it again.
  receiver.batch.clear();
  n2nq::fit(receiver.batch, Batch::list_kept_bytes);
  receiver.heads.clear();
  n2nq::fit(receiver.heads, Batch::list_kept_bytes);
}

size_t SelectiveBroadcaster::backlog_bytes(uint32_t number) const {
  const Batch& under_way = batch(number);
  const size_t unwritten = under_way.under_way() ? under_way.record_bytes - under_way.records_written() : 0;
  const bool waits_for_it = !options_.requests && account(number).state != State::leaving;
  return unwritten + (waits_for_it ? bytes_taken_in_ - receivers_[number - 1].bytes_passed : 0);
}

bool SelectiveBroadcaster::is_kept_waiting(uint32_t number) const {
  const Receiver& receiver = receivers_[number - 1];
  const Flight* const oldest = receiver.allowance.flights().oldest();
  // Only what it has not answered by its retention stays. The oldest tells of the others, or will within a retention.
  if (options_.removal == RemovalRule::after_time) return oldest && is_gone(oldest->message);
  if (oldest) return true;
  return (!receiver.next.empty() || !receiver.owed.empty()) && receiver.allowance.room() == 0;
}

// --- responses and requests ---

void SelectiveBroadcaster::skip_one(uint32_t receiver, SkipReason reason, uint32_t handle) {
  skip(receiver, reason, wire::record_sender(record_of(handle)), wire::record_index(record_of(handle)));
}

/// It is held for this receiver already.
void SelectiveBroadcaster::owe(uint32_t number, const Delivery& delivery) {
  if (is_gone(delivery.message)) {
    skip_one(number, SkipReason::expired, delivery.message);
    release(delivery.message);
    return;
  }
  std::vector<Delivery>& owed = receiver_of(number).owed;
  owed.push_back(delivery);
  std::push_heap(owed.begin(), owed.end(), higher);
  ++owed_;
  mark_ready(number);
}

void SelectiveBroadcaster::pop_owed(Receiver& receiver) {
  std::pop_heap(receiver.owed.begin(), receiver.owed.end(), higher);
  receiver.owed.pop_back();
  --owed_;
}

/// It was handed over, and not confirmed; `failures` counts those that are the message's own fault.
void SelectiveBroadcaster::owe_again(uint32_t number, uint32_t handle, uint16_t attempt, uint16_t failures) {
  if (failures >= options_.responses_attempts_max && !is_gone(handle) && !closing_) {
    skip_one(number, SkipReason::parked, handle);
    release(handle);
  } else {
    owe(number, {messages_[handle].number, handle, wire::next_attempt(attempt),
                 sabotage::now(sabotage::Way::unflagged) ? uint16_t{0} : wire::flag_redelivered, failures});
  }
}

void SelectiveBroadcaster::expire_owed(uint32_t number) {
  Receiver& receiver = receiver_of(number);
  while (!receiver.owed.empty() && is_gone(receiver.owed.front().message)) {
    const uint32_t handle = receiver.owed.front().message;
    pop_owed(receiver);
    skip_one(number, SkipReason::expired, handle);
    release(handle);
  }
}

Queue::Confirmed SelectiveBroadcaster::confirm(uint32_t number, uint64_t first, uint32_t count, bool negative) {
  Receiver& receiver = receiver_of(number);
  const uint64_t sent = receiver.allowance.flights().next_number();
  if (first > sent || count > sent - first) return Confirmed::never_sent;
  Confirmed result = Confirmed::nothing;
  for (uint64_t delivery = std::max(first, receiver.allowance.flights().remembered_from()); delivery < first + count; ++delivery) {
    Flight flight;
    const Flights::Answer answer = receiver.allowance.answer(delivery, flight);
    if (answer == Flights::Answer::twice) return Confirmed::twice;
    if (answer != Flights::Answer::forgotten) result = Confirmed::yes;
    if (answer != Flights::Answer::taken) continue;
    if (negative) {
      owe_again(number, flight.message, flight.attempt, static_cast<uint16_t>(flight.failures + 1));
    } else {
      ++account_of(number).confirmed;
      release(flight.message);
    }
  }
  if (has_next(number)) mark_ready(number);
  return result;
}

std::string SelectiveBroadcaster::set_rules(uint32_t number, const std::vector<wire::Rule>& rules, uint64_t asked_on, bool at_once) {
  if (std::string wrong = GridIndex::refusal_of(rules); !wrong.empty()) return wrong;
  const bool is_first = changes_.idle();
  if (!changes_.ask(number, rules, asked_on, at_once)) return {};
  if (!at_once || !is_first) return {};
  changes_.work(options_.rule_units_at_once);
  for (RefusedList& refused : changes_.take_refused()) return std::move(refused.reason);  // there is no other
  return {};
}

void SelectiveBroadcaster::on_change_begun(uint32_t number, uint32_t interest) {
  if (expected_.size() < grid_.interests_end()) expected_.resize(grid_.interests_end());
  Receiver& receiver = receiver_of(number);
  changing_ = number;
  remove_number(expected_[receiver.interest], number);
  receiver.interest = interest;
}

size_t SelectiveBroadcaster::on_cell_changes(uint32_t number, uint32_t cell, bool matches) {
  if (!account(number).expected() || receiver_of(number).places.contains(cell) == matches) return 0;
  // What left so far did so under the list before.
  const size_t done = 4 + settle_cell(cell) / bytes_per_look;
  return done + (matches ? cover(number, cell, options_.passed_at_once) : uncover(number, cell, options_.passed_at_once));
}

size_t SelectiveBroadcaster::on_change_done(uint32_t number) {
  changing_ = 0;
  if (account(number).expected()) add_number(expected_[receiver_of(number).interest], number);
  fix_next(number);
  trim();
  mark_ready(number);
  return 0;
}

/// The connection that asked may have gone since, and the one that came has done nothing wrong: it is to get what the list before matches.
void SelectiveBroadcaster::on_refused(uint32_t number) {
  mark_ready(number);
}

void SelectiveBroadcaster::add_credit(uint32_t number, uint64_t more) {
  receiver_of(number).allowance.add_credit(more);
  if (has_next(number)) mark_ready(number);
}

bool SelectiveBroadcaster::pass_deadlines(int64_t now_ns) {
  size_t done = 0;
  // From where the last call stopped: nobody has so many that others wait for ever.
  for (uint32_t looked = 0; looked < options_.receivers && done < options_.passed_at_once; ++looked) {
    const uint32_t number = std::exchange(deadlines_from_, deadlines_from_ % options_.receivers + 1);
    Receiver& receiver = receiver_of(number);
    const size_t before = done;
    while (done < options_.passed_at_once) {
      const auto passed = receiver.allowance.pass_deadline(now_ns);
      if (!passed) break;
      ++done;
      if (sabotage::now(sabotage::Way::confirm_by_itself)) {
        ++account_of(number).confirmed;
        release(passed->message);
      } else {
        owe_again(number, passed->message, passed->attempt, static_cast<uint16_t>(passed->failures + 1));
      }
    }
    if (done > before) mark_ready(number);
  }
  return done == options_.passed_at_once;
}

int64_t SelectiveBroadcaster::next_deadline_ns() const {
  return soonest_deadline_ns(receivers_);
}

// --- the whole ---

bool SelectiveBroadcaster::drained(uint32_t number) const {
  if (!account(number).expected()) return true;
  const Receiver& receiver = receivers_[number - 1];
  return !changes_.pending(number) && !batch(number).under_way() && receiver.owed.empty() && receiver.next.empty() &&
         receiver.allowance.flights().open() == 0;
}

bool SelectiveBroadcaster::drained() const {
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    if (!drained(number)) return false;
  }
  return true;
}

size_t SelectiveBroadcaster::bytes_held() const {
  if (messages_.size() == 0) return log_.bytes_held();
  const size_t in_lists_bytes = 2 * (entries_ * sizeof(Entry) + owed_ * sizeof(Delivery));
  return log_.bytes_held() + messages_.bytes() + in_lists_bytes + deliveries_.bytes + kinds_bytes();
}

size_t SelectiveBroadcaster::books_bytes() const {
  size_t bytes = Queue::books_bytes() + taken_in_.bytes() + waiting_bytes_;
  for (const Receiver& receiver : receivers_) bytes += receiver.foreign.bytes();
  return bytes;
}

void SelectiveBroadcaster::fit() {
  Queue::fit();
  if (changes_.idle()) {
    grid_.fit();
    if (cells_.size() > grid_.cells_end()) cells_.resize(grid_.cells_end());
    n2nq::fit(cells_, idle_kept_bytes);
  }
  ++fits_;
  fitting_.go_on(cells_.size(), [this](size_t number) {
    Cell& cell = cells_[number];
    cell.entries.fit(idle_cell_kept_bytes);
    if (fits_ - cell.waiting_used_on > waiting_unused_max) forget_waiting(cell);
    forget_idle(static_cast<uint32_t>(number));
    n2nq::fit(cell.idle, short_list_kept_bytes);
    forget_cuts(cell);
    n2nq::fit(cell.cuts, short_list_kept_bytes);
    n2nq::fit(cell.passed);
  });
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    Receiver& receiver = receiver_of(number);
    fix_next(number);
    n2nq::fit(receiver.next, idle_kept_bytes);
    n2nq::fit(receiver.places);
    n2nq::fit(receiver.owed, idle_kept_bytes);
    receiver.allowance.fit();
  }
}

}  // namespace n2nq
