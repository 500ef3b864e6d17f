// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/selective_balancer.h"

#include <algorithm>
#include <utility>

#include "broker/queue/connected.h"
#include "broker/queue/sabotage.h"
#include "broker/wire/record.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::SkipReason;

SelectiveBalancer::SelectiveBalancer(const QueueOptions& options)
    : Queue(options, MessageLog::Holds::messages),
      dispatcher_(options.dispatch, options.seed),
      grid_(options.senders, options.receivers, *this) {
  deliveries_.bytes_max = options.deliveries_bytes_max;
  const uint32_t window = options.responses ? options.responses_window : 0;
  receivers_.reserve(options.receivers);
  for (uint32_t i = 0; i < options.receivers; ++i)
    receivers_.emplace_back(Allowance(options.requests, window, deliveries_), grid_.take({wire::Rule()}).interest);
  interests_.resize(grid_.interests_end());
  interests_.front().receivers = options.receivers;
  interests_.front().expected = options.receivers;
}

// --- receivers come and go ---

void SelectiveBalancer::set_state(uint32_t receiver, State state) {
  drained_.reset();
  const bool was_expected = account(receiver).expected();
  account_of(receiver).state = state;
  const auto count = [&](Interest& interest) {
    interest.expected -= was_expected;
    interest.expected += account(receiver).expected();
  };
  count(interests_[receiver_of(receiver).interest]);
  if (receiver == changing_) count(interests_[changing_from_]);
}

void SelectiveBalancer::join(uint32_t receiver) {
  set_state(receiver, State::connected);
  refill(receiver);
}

void SelectiveBalancer::lose(uint32_t receiver) {
  disconnect(receiver, State::absent);
}

void SelectiveBalancer::stop_giving(uint32_t receiver) {
  if (account(receiver).state != State::connected) return;
  set_room(receiver, false);
  set_state(receiver, State::leaving);
  std::vector<uint32_t> unsent = take_share(receiver);
  for (size_t i = 0; i < unsent.size(); ++i) receiver_of(receiver).allowance.take_back();
  come_back_unsent(std::move(unsent));
}

void SelectiveBalancer::leave(uint32_t receiver) {
  if (account(receiver).state == State::cut_off) return;
  disconnect(receiver, State::left);
}

void SelectiveBalancer::cut_off(uint32_t receiver) {
  disconnect(receiver, State::cut_off);
}

void SelectiveBalancer::disconnect(uint32_t receiver, State state) {
  set_room(receiver, false);
  set_state(receiver, state);
  Receiver& leaver = receiver_of(receiver);
  std::vector<uint32_t> unanswered;
  std::vector<uint32_t> unsent;
  if (batch(receiver).under_way()) {
    count_whole(receiver, unanswered);
    unsent = std::exchange(leaver.batch, {});
    batch_of(receiver).record_bytes = 0;
  }
  for (const uint32_t handle : take_share(receiver)) unsent.push_back(handle);
  for (const Flight& flight : leaver.allowance.reset()) unanswered.push_back(flight.message);
  come_back_unanswered(std::move(unanswered), Why::receiver_gone);
  come_back_unsent(std::move(unsent));
}

/// Of the batch under way, the messages that the kernel took whole are handed over; they leave the batch.
void SelectiveBalancer::count_whole(uint32_t receiver, std::vector<uint32_t>& whole) {
  std::vector<uint32_t>& handles = receiver_of(receiver).batch;
  size_t written = batch(receiver).records_written();
  size_t count = 0;
  for (; count < handles.size() && messages_[handles[count]].bytes <= written; ++count) {
    const uint32_t handle = handles[count];
    written -= messages_[handle].bytes;
    ++account_of(receiver).handed_over;
    account_of(receiver).redelivered += (wire::record_flags(record_of(handle)) & wire::flag_redelivered) != 0;
    if (options_.responses) {
      messages_[handle].place = Place::flight;
      whole.push_back(handle);
    } else {
      remove(handle);
    }
  }
  handles.erase(handles.begin(), handles.begin() + static_cast<ptrdiff_t>(count));
}

/// Takes back what is assigned and not in a batch, `most` messages of it at most, the first ones first; their places are to be set.
std::vector<uint32_t> SelectiveBalancer::take_share(uint32_t receiver, size_t most) {
  Receiver& holder = receiver_of(receiver);
  std::vector<uint32_t> handles;
  handles.reserve(std::min(holder.assigned, most));
  for (; !holder.share.empty() && handles.size() < most; holder.share.pop_front()) {
    const uint32_t handle = holder.share.front();
    if (messages_[handle].place == Place::gone) {
      messages_.remove(handle);
    } else {
      handles.push_back(handle);
      holder.share_bytes -= messages_[handle].bytes;
      --holder.assigned;
    }
  }
  return handles;
}

// --- who gets what ---

bool SelectiveBalancer::has_room(uint32_t number) const {
  const Receiver& receiver = receivers_[number - 1];
  return account(number).state == State::connected && receiver.share_bytes < share_bytes_max && receiver.assigned < share_messages_max &&
         receiver.allowance.room() > 0 && !changes_.pending(number);
}

void SelectiveBalancer::set_room(uint32_t number, bool has_room) {
  Receiver& receiver = receiver_of(number);
  if (std::exchange(receiver.has_room, has_room) == has_room) return;
  std::vector<uint32_t>& with_room = interests_[receiver.interest].with_room;
  has_room ? add_number(with_room, number) : remove_number(with_room, number);
}

/// To be called whenever a receiver may have got room: takes what waits for it.
void SelectiveBalancer::refill(uint32_t number) {
  while (has_room(number) && waiting_ > 0) {
    const uint32_t handle = take_lowest(receiver_of(number).interest);
    if (handle == MessageTable::none) break;
    assign(number, handle);
  }
  set_room(number, has_room(number));
}

/// 0: nobody.
uint32_t SelectiveBalancer::choose(uint32_t cell) {
  groups_.clear();
  for (const uint32_t interest : grid_.interests_of(cell)) {
    if (!interests_[interest].with_room.empty()) groups_.push_back(interests_[interest].with_room);
  }
  if (groups_.empty()) return 0;
  return dispatcher_.choose_among(groups_, [this](uint32_t number) {
    return options_.responses ? receivers_[number - 1].allowance.unconfirmed() : load_bytes(number);
  });
}

/// To whom the rule chooses; to `not_to` only when nobody else has room, and then it is left waiting for whoever gets room first.
void SelectiveBalancer::dispatch(uint32_t handle, uint32_t not_to) {
  // Another number may share the cell: splitting and regrouping go on while a message is under way.
  QueuedMessage& message = messages_[handle];
  const uint8_t* record = record_of(handle);
  const uint32_t sender =
      sabotage::now(sabotage::Way::unasked) ? wire::record_sender(record) % options_.senders + 1 : wire::record_sender(record);
  const size_t kinds = grid_.cells();
  message.cell = grid_.cell_of(sender, wire::record_size(record));
  if (grid_.cells() > kinds) grid_.make_way_for(message.cell);  // what is handed out at once never lies in it, and nobody would note that
  const bool steps_back = not_to != 0 && receiver_of(not_to).has_room;
  if (steps_back) set_room(not_to, false);
  const uint32_t chosen = choose(message.cell);
  if (steps_back) set_room(not_to, true);
  if (chosen == 0) {
    wait(handle);
  } else {
    assign(chosen, handle);
    set_room(chosen, has_room(chosen));
  }
}

void SelectiveBalancer::assign(uint32_t number, uint32_t handle) {
  Receiver& receiver = receiver_of(number);
  QueuedMessage& message = messages_[handle];
  uint8_t* record = record_of(handle);
  uint16_t flags = wire::record_flags(record) & static_cast<uint16_t>(~wire::flag_newly_matched);
  if (message.number < receiver.above_highest && !(flags & wire::flag_redelivered)) flags |= wire::flag_newly_matched;
  wire::set_record_flags(record, flags);  // nobody else reads this record
  receiver.above_highest = std::max(receiver.above_highest, message.number + 1);
  message.place = Place::assigned;
  message.last_receiver = number;
  receiver.share.push_back(handle);
  ++receiver.assigned;
  receiver.share_bytes += message.bytes;
  receiver.allowance.begin();
  ++under_way_;
  drained_.reset();
  if (!std::exchange(receiver.marked_ready, true)) marked_.push_back(number);
}

void SelectiveBalancer::collect_ready(std::vector<uint32_t>& ready) {
  for (const uint32_t number : marked_) {
    receiver_of(number).marked_ready = false;
    if (account(number).state == State::connected) ready.push_back(number);
  }
  marked_.clear();
}

void SelectiveBalancer::on_taken_in(const MessageLog::Appended& appended) {
  QueuedMessage message;
  message.number = appended.message;
  message.chunk = appended.chunk;
  appended.for_each([&](const uint8_t*, size_t bytes, uint32_t offset) {
    message.offset = offset;
    message.bytes = static_cast<uint32_t>(bytes);
    dispatch(messages_.add(message), 0);
    ++message.number;
  });
}

/// They were assigned or handed over and are to be delivered (again); in the order of their numbers.
void SelectiveBalancer::come_back(std::vector<uint32_t> handles) {
  std::sort(handles.begin(), handles.end(), [this](uint32_t a, uint32_t b) { return messages_[a].number < messages_[b].number; });
  // Each of a new kind is compared with every list: so many that it takes longer than others may wait are brought back in parts.
  for (const uint32_t handle : handles) {
    const uint8_t* record = record_of(handle);
    const bool has_time = coming_back_.empty() && grid_.rules_looked_at() < looks_end_;
    if (has_time || !is_new_kind(wire::record_sender(record), wire::record_size(record))) {
      bring_back(handle);
    } else {
      messages_[handle].place = Place::coming_back;
      coming_back_.push_back(handle);
    }
  }
}

/// Their receiver went or goes. They go to others marked, who may have had later ones by now.
void SelectiveBalancer::come_back_unsent(std::vector<uint32_t> handles) {
  for (const uint32_t handle : handles) {
    uint8_t* record = record_of(handle);
    wire::set_record_flags(record, wire::record_flags(record) | wire::flag_redelivered);
    wire::set_record_attempt(record, wire::next_attempt(wire::record_attempt(record)));
  }
  come_back(std::move(handles));
}

void SelectiveBalancer::bring_back(uint32_t handle) {
  if (!messages_[handle].aging) return skip_and_remove(handle, SkipReason::expired);
  --under_way_;
  dispatch(handle, messages_[handle].last_receiver);
}

size_t SelectiveBalancer::work(size_t units) {
  size_t done = give_back(units);
  done += changes_.work(units - done);
  // Until the next time, for all that comes back. A look at a rule takes a hundredth of what a unit takes.
  looks_end_ = grid_.rules_looked_at() + 100 * std::max<size_t>(options_.rule_units_at_once, 1);
  for (; !coming_back_.empty() && grid_.rules_looked_at() < looks_end_; ++done) {
    const uint32_t handle = coming_back_.front();
    coming_back_.pop_front();
    const uint32_t last_receiver = messages_[handle].last_receiver;
    bring_back(handle);
    refill(last_receiver);  // nobody else may have room for it
  }
  return done;
}

/// They were handed over, and not confirmed. It is not the message's fault when its receiver went away: a whole group that dies takes a
/// message through all its receivers within a moment.
void SelectiveBalancer::come_back_unanswered(std::vector<uint32_t> handles, Why why) {
  std::vector<uint32_t> again;
  for (const uint32_t handle : handles) {
    uint8_t* record = record_of(handle);
    QueuedMessage& message = messages_[handle];
    message.failures = static_cast<uint16_t>(message.failures + (why == Why::failed));
    if (message.aging && message.failures >= options_.responses_attempts_max) {
      skip_and_remove(handle, SkipReason::parked);
      continue;
    }
    if (!sabotage::now(sabotage::Way::unflagged)) wire::set_record_flags(record, wire::record_flags(record) | wire::flag_redelivered);
    wire::set_record_attempt(record, wire::next_attempt(wire::record_attempt(record)));
    again.push_back(handle);
  }
  come_back(std::move(again));
}

// --- batches ---

void SelectiveBalancer::begin_batch(uint32_t number, int64_t now_ns) {
  Receiver& receiver = receiver_of(number);
  size_t bytes = 0;
  while (receiver.assigned > 0) {
    const uint32_t handle = receiver.share.front();
    QueuedMessage& message = messages_[handle];
    if (message.place == Place::gone) {
      messages_.remove(handle);
      receiver.share.pop_front();
      continue;
    }
    if (bytes > 0 && wire::deliver_prefix_bytes + bytes + message.bytes > Batch::body_bytes_max) break;
    bytes += message.bytes;
    message.place = Place::batch;
    receiver.batch.push_back(handle);
    receiver.share.pop_front();
    receiver.share_bytes -= message.bytes;
    --receiver.assigned;
  }
  batch_of(number).begin(bytes, receiver.batch.size(), now_ns);
  refill(number);
}

void SelectiveBalancer::gather_records(uint32_t number, size_t skip, Pieces& pieces) {
  for (const uint32_t handle : receiver_of(number).batch) {
    const size_t bytes = messages_[handle].bytes;
    if (skip < bytes && !pieces.add({record_of(handle) + skip, bytes - skip})) return;
    skip -= std::min(skip, bytes);
  }
}

void SelectiveBalancer::complete_batch(uint32_t number, int64_t now_ns) {
  Receiver& receiver = receiver_of(number);
  const int64_t deadline_ns = std::max(now_ns, batch(number).sent_on_ns()) + options_.responses_deadline_ns;
  for (const uint32_t handle : receiver.batch) {
    const uint8_t* record = record_of(handle);
    account_of(number).redelivered += (wire::record_flags(record) & wire::flag_redelivered) != 0;
    if (options_.responses) {
      messages_[handle].place = Place::flight;
      receiver.allowance.hand_over({handle, wire::record_attempt(record), 0, true, deadline_ns});
    } else {
      receiver.allowance.hand_over();
      remove(handle);
    }
  }
  receiver.batch.clear();
  refill(number);
}

size_t SelectiveBalancer::unwritten_bytes(uint32_t number) const {
  const Batch& under_way = batch(number);
  return under_way.under_way() ? under_way.record_bytes - under_way.records_written() : 0;
}

size_t SelectiveBalancer::load_bytes(uint32_t number) const {
  return receivers_[number - 1].share_bytes + unwritten_bytes(number);
}

/// What is assigned was chosen for it, and goes to others when it goes: that it waits is not the receiver's slowness.
size_t SelectiveBalancer::backlog_bytes(uint32_t number) const {
  return unwritten_bytes(number);
}

bool SelectiveBalancer::is_kept_waiting(uint32_t number) const {
  return receivers_[number - 1].allowance.flights().open() > 0;  // for want of credit others get it
}

// --- responses and requests ---

Queue::Confirmed SelectiveBalancer::confirm(uint32_t number, uint64_t first, uint32_t count, bool negative) {
  Receiver& receiver = receiver_of(number);
  const uint64_t sent = receiver.allowance.flights().next_number();
  if (first > sent || count > sent - first) return Confirmed::never_sent;
  Confirmed result = Confirmed::nothing;
  std::vector<uint32_t> again;
  for (uint64_t delivery = std::max(first, receiver.allowance.flights().remembered_from());
       delivery < first + count && result != Confirmed::twice; ++delivery) {
    Flight flight;
    const Flights::Answer answer = receiver.allowance.answer(delivery, flight);
    if (answer != Flights::Answer::forgotten) result = answer == Flights::Answer::twice ? Confirmed::twice : Confirmed::yes;
    if (answer != Flights::Answer::taken) continue;
    if (negative) {
      again.push_back(flight.message);
    } else {
      ++account_of(number).confirmed;
      remove(flight.message);
    }
  }
  come_back_unanswered(std::move(again), Why::failed);
  refill(number);
  return result;
}

std::string SelectiveBalancer::set_rules(uint32_t number, const std::vector<wire::Rule>& rules, uint64_t asked_on, bool at_once) {
  if (std::string wrong = GridIndex::refusal_of(rules); !wrong.empty()) return wrong;
  const bool is_first = changes_.idle();
  if (!changes_.ask(number, rules, asked_on, at_once)) return {};
  set_room(number, false);
  drained_.reset();
  if (at_once && is_first) {
    changes_.work(options_.rule_units_at_once);
    for (RefusedList& refused : changes_.take_refused()) return std::move(refused.reason);  // there is no other
  }
  const bool lies_still = changes_.pending(number) && receiver_of(number).assigned > 0;
  if (lies_still && !std::exchange(receiver_of(number).gives_back, true)) giving_back_.push_back(number);
  return {};
}

/// What was meant for it under the list before and is not on its way yet is free again, `most` messages of it at most.
size_t SelectiveBalancer::free_share(uint32_t number, size_t most) {
  std::vector<uint32_t> free = take_share(number, most);
  const size_t count = free.size();
  for (size_t i = 0; i < count; ++i) receiver_of(number).allowance.take_back();
  come_back(std::move(free));
  return count;
}

/// It would lie still, and expire, while lists before that one are much work. All of it at once would be much work where many have asked.
size_t SelectiveBalancer::give_back(size_t units) {
  size_t done = 0;
  while (done < units && !giving_back_.empty()) {
    const uint32_t number = giving_back_.front();
    const bool waits = changes_.pending(number);
    if (waits) done += free_share(number, units - done);
    if (waits && receiver_of(number).assigned > 0) break;
    receiver_of(number).gives_back = false;
    giving_back_.pop_front();
  }
  return done;
}

size_t SelectiveBalancer::on_turn(uint32_t number) {
  return free_share(number, SIZE_MAX);
}

void SelectiveBalancer::on_change_begun(uint32_t number, uint32_t interest) {
  if (interests_.size() < grid_.interests_end()) interests_.resize(grid_.interests_end());
  Receiver& receiver = receiver_of(number);
  --interests_[receiver.interest].receivers;
  changing_ = number;
  changing_from_ = std::exchange(receiver.interest, interest);
  announces_ = interests_[interest].receivers++ == 0;
  if (announces_) interests_[interest].cells.clear();
  interests_[interest].expected += account(number).expected();
  drained_.reset();
}

size_t SelectiveBalancer::on_cell_changes(uint32_t number, uint32_t cell, bool matches) {
  if (!announces_ || !matches || cells_[cell].empty()) return 0;
  announce(receiver_of(number).interest, cell);
  return 1;
}

size_t SelectiveBalancer::on_change_done(uint32_t number) {
  announces_ = false;
  if (std::exchange(changing_, 0) != 0) interests_[changing_from_].expected -= account(number).expected();
  drained_.reset();
  refill(number);
  return receiver_of(number).assigned;
}

/// The connection that asked may have gone since, and the one that came has done nothing wrong: it is to get what the list before matches.
void SelectiveBalancer::on_refused(uint32_t number) {
  drained_.reset();
  refill(number);
}

void SelectiveBalancer::add_credit(uint32_t number, uint64_t more) {
  receiver_of(number).allowance.add_credit(more);
  refill(number);
}

bool SelectiveBalancer::pass_deadlines(int64_t now_ns) {
  size_t done = 0;
  // From where the last call stopped: nobody has so many that others wait for ever.
  for (uint32_t looked = 0; looked < options_.receivers && done < options_.passed_at_once; ++looked) {
    const uint32_t number = std::exchange(deadlines_from_, deadlines_from_ % options_.receivers + 1);
    std::vector<uint32_t> again;
    while (done < options_.passed_at_once) {
      const auto passed = receiver_of(number).allowance.pass_deadline(now_ns);
      if (!passed) break;
      ++done;
      if (sabotage::now(sabotage::Way::confirm_by_itself)) {
        ++account_of(number).confirmed;
        remove(passed->message);
      } else {
        again.push_back(passed->message);
      }
    }
    if (again.empty()) continue;
    come_back_unanswered(std::move(again), Why::failed);
    refill(number);
  }
  return done == options_.passed_at_once;
}

int64_t SelectiveBalancer::next_deadline_ns() const {
  return soonest_deadline_ns(receivers_);
}

// --- the whole ---

bool SelectiveBalancer::drained(uint32_t receiver) const {
  return !account(receiver).expected() || drained();
}

bool SelectiveBalancer::drained() const {
  if (under_way_ > 0) return false;
  if (waiting_ == 0) return true;
  if (!options_.requests || !changes_.idle()) return false;
  if (!drained_) {
    bool wanted = false;
    for (uint32_t cell = 0; cell < grid_.cells_end() && !wanted; ++cell) {
      wanted = grid_.exists(cell) && !cells_[cell].empty() && is_wanted(cell);
    }
    drained_ = !wanted;
  }
  return *drained_;
}

size_t SelectiveBalancer::bytes_held() const {
  if (messages_.size() == 0) return log_.bytes_held();
  // Each stands in the list of a cell or in a share.
  const size_t in_lists_bytes = messages_.size() * 2 * sizeof(Waiting);
  return log_.bytes_held() + messages_.bytes() + in_lists_bytes + deliveries_.bytes + kinds_bytes();
}

void SelectiveBalancer::fit() {
  Queue::fit();
  if (changes_.idle()) {
    grid_.fit();
    if (cells_.size() > grid_.cells_end()) cells_.resize(grid_.cells_end());
    n2nq::fit(cells_, idle_kept_bytes);
  }
  fitting_.go_on(cells_.size(), [this](size_t number) {
    Cell& cell = cells_[number];
    cell.fresh.fit(idle_cell_kept_bytes);
    n2nq::fit(cell.returned, idle_cell_kept_bytes);
  });
  for (Interest& interest : interests_) n2nq::fit(interest.cells, idle_kept_bytes);
  for (Receiver& receiver : receivers_) {
    receiver.share.fit(idle_kept_bytes);
    n2nq::fit(receiver.batch, Batch::list_kept_bytes);
    receiver.allowance.fit();
  }
}

void SelectiveBalancer::finish() {
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    Receiver& receiver = receiver_of(number);
    std::vector<uint32_t> unconfirmed;
    if (batch(number).under_way()) {
      count_whole(number, unconfirmed);
      unconfirmed.insert(unconfirmed.end(), receiver.batch.begin(), receiver.batch.end());
      receiver.batch.clear();
      batch_of(number).record_bytes = 0;
    }
    for (const Flight& flight : receiver.allowance.reset()) unconfirmed.push_back(flight.message);
    for (const uint32_t handle : unconfirmed) {
      if (!messages_[handle].aging) skip_and_remove(handle, SkipReason::expired);
    }
  }
  for (const uint32_t handle : std::exchange(coming_back_, {})) {
    if (!messages_[handle].aging) skip_and_remove(handle, SkipReason::expired);
  }
  for (uint32_t handle = messages_.oldest(); handle != MessageTable::none; handle = messages_.newer(handle)) {
    const QueuedMessage& message = messages_[handle];
    const bool wanted = message.place != Place::waiting || is_wanted(message.cell);
    add_to(wanted ? total_.still_queued : of(total_.skipped, SkipReason::unrequested), handle);
  }
}

}  // namespace n2nq
