// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/load_balancer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "broker/queue/connected.h"
#include "broker/wire/record.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::SkipReason;

namespace {
/// No record is longer: a frame is not.
constexpr uint32_t bytes_mask = 0x7FFF'FFFF;
}  // namespace

LoadBalancer::LoadBalancer(const QueueOptions& options)
    : Queue(options, MessageLog::Holds::messages), dispatcher_(options.dispatch, options.seed), shares_(options.receivers) {}

inline uint32_t LoadBalancer::choose_receiver() {
  return dispatcher_.choose(connected_, [this](uint32_t receiver) { return backlog_bytes(receiver); });
}

inline void LoadBalancer::mark_ready(uint32_t receiver) {
  if (std::exchange(share_of(receiver).marked_ready, true)) return;
  marked_.push_back(receiver);
}

// --- receivers come and go ---

void LoadBalancer::join(uint32_t receiver) {
  pass_on();
  account_of(receiver).state = State::connected;
  add_number(connected_, receiver);
  if (unassigned_.waiting.empty()) return;
  // Nobody else is there. There may be very much of it, which is not to be copied, nor looked through, for each who comes and goes.
  Share& share = share_of(receiver);
  std::swap(share.waiting, unassigned_.waiting);
  std::swap(share.bytes, unassigned_.bytes);
  for (size_t i = 0; i < share.waiting.size() && share.latest.is_behind(share.waiting[i]); ++i) flag_as_late(share.waiting[i]);
  mark_ready(receiver);
}

void LoadBalancer::lose(uint32_t receiver) {
  give_up_batch(receiver);
  disconnect(receiver, State::absent);
}

void LoadBalancer::replace(uint32_t receiver) {
  give_up_batch(receiver);
  mark_ready(receiver);
}

void LoadBalancer::leave(uint32_t receiver) {
  if (account(receiver).state == State::cut_off) return;
  give_up_batch(receiver);
  disconnect(receiver, State::left);
}

void LoadBalancer::cut_off(uint32_t receiver) {
  give_up_batch(receiver, true);
  disconnect(receiver, State::cut_off);
}

/// Costs nothing for each message that it leaves, unless others left something, too.
void LoadBalancer::disconnect(uint32_t receiver, State state) {
  account_of(receiver).state = state;
  remove_number(connected_, receiver);
  Share& share = share_of(receiver);
  left_behind_.bytes += std::exchange(share.bytes, 0);
  Ring<Assigned> left;
  std::swap(left, share.waiting);
  if (left.empty()) return;
  if (left_behind_.waiting.empty()) {
    left_behind_.waiting = std::move(left);
  } else {
    left_behind_parts_.push_back(left_behind_.waiting.size());
    append(left_behind_.waiting, left);
  }
}

/// What was left behind since the last time, perhaps by very many at once: each message goes to whom the dispatch rule chooses now, in its
/// place in the order of taking in.
void LoadBalancer::pass_on() {
  if (left_behind_.waiting.empty()) return;
  // Each part is in order: two beside each other become one, then two of these.
  while (!left_behind_parts_.empty()) {
    std::vector<size_t> parts;
    size_t begin = 0;
    for (size_t i = 0; i < left_behind_parts_.size(); i += 2) {
      const size_t end = i + 1 < left_behind_parts_.size() ? left_behind_parts_[i + 1] : left_behind_.waiting.size();
      merge(left_behind_.waiting, begin, left_behind_parts_[i], end);
      if (end < left_behind_.waiting.size()) parts.push_back(end);
      begin = end;
    }
    left_behind_parts_ = std::move(parts);
  }
  Ring<Assigned> messages;
  std::swap(messages, left_behind_.waiting);
  const size_t bytes = std::exchange(left_behind_.bytes, 0);
  if (connected_.empty()) {  // what came since the last one went is behind it, or between
    unassigned_.bytes += bytes;
    if (messages.size() > unassigned_.waiting.size()) std::swap(messages, unassigned_.waiting);
    const size_t before = unassigned_.waiting.size();
    append(unassigned_.waiting, messages);
    merge(unassigned_.waiting, 0, before, unassigned_.waiting.size());
    return;
  }
  struct Before {
    size_t waiting;
    Assigned latest;  // that it has, or that is under way to it
  };
  std::vector<Before> before;
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    const Share& share = share_of(receiver);
    before.push_back({share.waiting.size(), share.latest});
    if (!batch(receiver).under_way()) continue;
    const Assigned& last = share.waiting[batch(receiver).messages - 1];
    if (last.is_behind(share.latest)) before.back().latest = last;
  }
  // For each of very many messages next free would look at all receivers: here at those alone that have least, in a heap.
  using Load = std::pair<size_t, uint32_t>;
  std::vector<Load> loads;
  if (dispatcher_.rule() == DispatchRule::next_free) {
    for (const uint32_t receiver : connected_) loads.emplace_back(backlog_bytes(receiver), receiver);
    std::make_heap(loads.begin(), loads.end(), std::greater<>());
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!loads.empty()) std::pop_heap(loads.begin(), loads.end(), std::greater<>());
    const uint32_t chosen = loads.empty() ? choose_receiver() : loads.back().second;
    Share& share = share_of(chosen);
    share.bytes += messages[i].bytes;
    if (before[chosen - 1].latest.is_behind(messages[i])) flag_as_late(messages[i]);
    share.waiting.push_back(messages[i]);
    if (loads.empty()) continue;
    loads.back().first += messages[i].bytes;
    std::push_heap(loads.begin(), loads.end(), std::greater<>());
  }
  for (const uint32_t receiver : connected_) {
    Ring<Assigned>& waiting = share_of(receiver).waiting;
    const size_t middle = before[receiver - 1].waiting;
    if (waiting.size() == middle) continue;
    merge(waiting, batch(receiver).under_way() ? batch(receiver).messages : 0, middle, waiting.size());
    mark_ready(receiver);
  }
}

void LoadBalancer::append(Ring<Assigned>& list, const Ring<Assigned>& more) {
  for (size_t i = 0; i < more.size(); ++i) list.push_back(more[i]);
}

/// What stands from `first` on is in order up to `middle`, and from there up to `end`; then as a whole. Takes a copy of the shorter half
/// alone: there may be much, and memory may be short.
void LoadBalancer::merge(Ring<Assigned>& list, size_t first, size_t middle, size_t end) {
  if (middle == first || middle == end || list[middle].is_behind(list[middle - 1])) return;
  const bool is_first_shorter = middle - first < end - middle;
  std::vector<Assigned> more;
  more.reserve(is_first_shorter ? middle - first : end - middle);
  for (size_t i = is_first_shorter ? first : middle; i < (is_first_shorter ? middle : end); ++i) more.push_back(list[i]);
  if (is_first_shorter) {
    size_t to = first;
    for (const Assigned& one : more) {
      while (middle < end && one.is_behind(list[middle])) list[to++] = list[middle++];
      list[to++] = one;
    }
    return;
  }
  for (size_t to = end; !more.empty();) {
    if (middle > first && list[middle - 1].is_behind(more.back())) {
      list[--to] = list[--middle];
    } else {
      list[--to] = more.back();
      more.pop_back();
    }
  }
}

/// Nobody else reads this record, so it is marked in place.
void LoadBalancer::flag_as_redelivered(Assigned& assigned) {
  assigned.again = 1;
  uint8_t* record = log_.at(assigned.chunk, assigned.offset);
  wire::set_record_flags(record, wire::record_flags(record) | wire::flag_redelivered);
  wire::set_record_attempt(record, wire::next_attempt(wire::record_attempt(record)));
}

/// It comes behind later ones of its sender, perhaps.
void LoadBalancer::flag_as_late(Assigned& assigned) {
  if (!assigned.again) flag_as_redelivered(assigned);
}

// --- messages ---

void LoadBalancer::collect_ready(std::vector<uint32_t>& ready) {
  pass_on();
  for (const uint32_t receiver : marked_) {
    share_of(receiver).marked_ready = false;
    if (account(receiver).state == State::connected) ready.push_back(receiver);
  }
  marked_.clear();
}

inline LoadBalancer::Assigned LoadBalancer::assigned(uint64_t chunk, uint32_t offset, size_t bytes) {
  return {.chunk = chunk, .offset = offset, .bytes = static_cast<uint32_t>(bytes) & bytes_mask, .again = 0};
}

void LoadBalancer::on_taken_in(const MessageLog::Appended& appended) {
  queued_ += appended.messages;
  if (!connected_.empty() && dispatcher_.rule() == DispatchRule::round_robin) return assign_in_turn(appended);
  appended.for_each([&, this](const uint8_t*, size_t bytes, uint32_t offset) {
    const uint32_t chosen = connected_.empty() ? 0 : choose_receiver();
    Share& share = chosen == 0 ? unassigned_ : share_of(chosen);
    share.waiting.push_back(assigned(appended.chunk, offset, bytes));
    share.bytes += bytes;
    if (chosen != 0) mark_ready(chosen);
  });
}

/// As choosing a receiver for each message would; but each receiver's list is looked up once for all it gets of them.
void LoadBalancer::assign_in_turn(const MessageLog::Appended& appended) {
  const size_t receivers = connected_.size();
  size_t place = dispatcher_.take_turns(connected_, appended.messages);
  std::array<uint32_t, 257> begins;  // of each message, and the end of the last one
  const uint8_t* record = appended.records;
  for (size_t left = appended.messages; left > 0;) {
    const size_t messages = std::min(left, begins.size() - 1);
    for (size_t i = 0; i < messages; ++i) {
      begins[i] = static_cast<uint32_t>(record - appended.records);
      record += wire::record_bytes(record);
    }
    begins[messages] = static_cast<uint32_t>(record - appended.records);
    const size_t chosen = std::min(messages, receivers);
    for (size_t first = 0; first < chosen; ++first) {
      const uint32_t receiver = connected_[(place + first) % receivers];
      Share& share = share_of(receiver);
      size_t bytes = 0;
      for (size_t i = first; i < messages;) {
        for (Assigned& one : share.waiting.grow_back((messages - i + receivers - 1) / receivers)) {
          one = assigned(appended.chunk, appended.offset + begins[i], begins[i + 1] - begins[i]);
          bytes += one.bytes;
          i += receivers;
        }
      }
      share.bytes += bytes;
      mark_ready(receiver);
    }
    left -= messages;
    place = (place + messages) % receivers;
  }
}

bool LoadBalancer::has_next(uint32_t receiver) const {
  return !shares_[receiver - 1].waiting.empty();
}

void LoadBalancer::begin_batch(uint32_t receiver, int64_t now_ns) {
  const Share& share = share_of(receiver);
  const Ring<Assigned>& waiting = share.waiting;
  size_t bytes = share.bytes;
  uint64_t messages = waiting.size();
  if (wire::deliver_prefix_bytes + bytes > Batch::body_bytes_max) {
    bytes = waiting.front().bytes;
    messages = 1;
    while (messages < waiting.size() && wire::deliver_prefix_bytes + bytes + waiting[messages].bytes <= Batch::body_bytes_max) {
      bytes += waiting[messages++].bytes;
    }
  }
  batch_of(receiver).begin(bytes, messages, now_ns);
}

void LoadBalancer::gather_records(uint32_t receiver, size_t skip, Pieces& pieces) {
  const Ring<Assigned>& waiting = share_of(receiver).waiting;
  const uint64_t messages = batch(receiver).messages;
  uint64_t i = 0;
  for (; i < messages && waiting[i].bytes <= skip; ++i) skip -= waiting[i].bytes;
  while (i < messages) {
    const std::span<const Assigned> some = waiting.side_by_side(i, messages - i);
    const uint8_t* records = nullptr;
    uint64_t chunk = UINT64_MAX;  // mostly that of many
    for (const Assigned& assigned : some) {
      if (assigned.chunk != chunk) records = log_.at(chunk = assigned.chunk, 0);
      if (!pieces.add({records + assigned.offset + skip, assigned.bytes - skip})) return;
      skip = 0;
    }
    i += some.size();
  }
}

void LoadBalancer::complete_batch(uint32_t receiver, int64_t) {
  hand_over_first(receiver, batch(receiver).messages);
}

void LoadBalancer::hand_over_first(uint32_t receiver, uint64_t messages) {
  Share& share = share_of(receiver);
  size_t bytes = 0;
  uint64_t redelivered = 0;
  for (uint64_t i = 0; i < messages;) {
    const std::span<const Assigned> some = share.waiting.side_by_side(i, messages - i);
    for (size_t first = 0; first < some.size();) {
      const uint64_t chunk = some[first].chunk;  // mostly that of many
      size_t end = first;
      for (; end < some.size() && some[end].chunk == chunk; ++end) {
        bytes += some[end].bytes;
        redelivered += some[end].again;
      }
      log_.release(chunk, end - first);
      first = end;
    }
    i += some.size();
  }
  if (messages > 0 && share.waiting[messages - 1].is_behind(share.latest)) share.latest = share.waiting[messages - 1];
  share.bytes -= bytes;
  account_of(receiver).redelivered += redelivered;
  queued_ -= messages;
  share.waiting.pop_front(messages);
  share.waiting.fit(busy_kept_bytes);
}

/// Whole messages that the kernel took are handed over. The one that it took in part is offered anew; `for_good`: to nobody.
void LoadBalancer::give_up_batch(uint32_t receiver, bool for_good) {
  Batch& batch = batch_of(receiver);
  if (!batch.under_way()) return;
  Share& share = share_of(receiver);
  Ring<Assigned>& waiting = share.waiting;
  size_t written = batch.records_written();
  uint64_t whole = 0;
  while (whole < batch.messages && waiting[whole].bytes <= written) written -= waiting[whole++].bytes;
  account_of(receiver).handed_over += whole;
  hand_over_first(receiver, whole);
  batch.record_bytes = 0;
  size_t rest = batch.messages - whole;
  if (written > 0 && for_good) {
    const Assigned& partly = waiting.front();
    skip(receiver, SkipReason::cut_off, wire::record_sender(record_of(partly)), wire::record_index(record_of(partly)));
    add_to(of(total_.skipped, SkipReason::cut_off), partly);
    share.bytes -= partly.bytes;
    remove(partly);
    waiting.pop_front();
    --rest;
  } else if (written > 0) {
    flag_as_redelivered(waiting.front());
  }
  merge(waiting, 0, rest, waiting.size());
}

size_t LoadBalancer::backlog_bytes(uint32_t receiver) const {
  const Batch& under_way = batch(receiver);
  return shares_[receiver - 1].bytes - (under_way.under_way() ? under_way.records_written() : 0);
}

bool LoadBalancer::drained(uint32_t receiver) const {
  return !account(receiver).expected() || drained();
}

// --- leaving the queue ---

void LoadBalancer::remove(const Assigned& assigned) {
  log_.release(assigned.chunk);
  --queued_;
}

void LoadBalancer::add_to(SenderSets& sets, const Assigned& assigned) const {
  sets.add(wire::record_sender(record_of(assigned)), wire::record_index(record_of(assigned)));
}

void LoadBalancer::expire(int64_t now_ns) {
  pass_on();
  Ring<Assigned>& waiting = unassigned_.waiting;
  while (!waiting.empty() && is_expired(record_of(waiting.front()), now_ns)) {
    add_to(of(total_.skipped, SkipReason::expired), waiting.front());
    unassigned_.bytes -= waiting.front().bytes;
    remove(waiting.front());
    waiting.pop_front();
  }
  for (const uint32_t receiver : connected_) expire_share(receiver, now_ns);
}

void LoadBalancer::expire_share(uint32_t receiver, int64_t now_ns) {
  Share& share = share_of(receiver);
  const size_t first = batch(receiver).under_way() ? batch(receiver).messages : 0;
  size_t count = 0;
  SenderSets expired;
  while (first + count < share.waiting.size() && is_expired(record_of(share.waiting[first + count]), now_ns)) {
    const Assigned& assigned = share.waiting[first + count++];
    add_to(expired, assigned);
    share.bytes -= assigned.bytes;
    remove(assigned);
  }
  share.waiting.erase(first, count);
  skip(receiver, SkipReason::expired, expired);
  of(total_.skipped, SkipReason::expired) += expired;
}

int64_t LoadBalancer::next_expiry_ns() const {
  int64_t soonest_ns = 0;
  const auto look_at = [&](const Ring<Assigned>& waiting, size_t first) {
    if (first >= waiting.size()) return;
    const int64_t at_ns = wire::record_taken_in_ns(record_of(waiting[first])) + options_.retention_ns;
    if (soonest_ns == 0 || at_ns < soonest_ns) soonest_ns = at_ns;
  };
  look_at(unassigned_.waiting, 0);
  for (const uint32_t receiver : connected_)
    look_at(shares_[receiver - 1].waiting, batch(receiver).under_way() ? batch(receiver).messages : 0);
  return soonest_ns;
}

void LoadBalancer::fit() {
  Queue::fit();
  for (Share& share : shares_) share.waiting.fit(idle_kept_bytes);
  unassigned_.waiting.fit(idle_kept_bytes);
  left_behind_.waiting.fit(idle_kept_bytes);
}

void LoadBalancer::finish() {
  pass_on();
  const auto keep = [this](const Ring<Assigned>& waiting) {
    for (size_t i = 0; i < waiting.size(); ++i) add_to(total_.still_queued, waiting[i]);
  };
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    give_up_batch(receiver);
    keep(share_of(receiver).waiting);
  }
  keep(unassigned_.waiting);
}

}  // namespace n2nq
