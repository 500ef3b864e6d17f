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

inline uint32_t LoadBalancer::choose_among(std::span<const uint32_t> receivers) {
  return dispatcher_.choose(receivers, [this](uint32_t receiver) { return backlog_bytes(receiver); });
}

inline void LoadBalancer::mark_ready(uint32_t receiver) {
  if (std::exchange(share_of(receiver).marked_ready, true)) return;
  marked_.push_back(receiver);
}

// --- receivers come and go ---

void LoadBalancer::join(uint32_t receiver) {
  account_of(receiver).state = State::connected;
  add_number(connected_, receiver);
}

void LoadBalancer::lose(uint32_t receiver) {
  give_up_batch(receiver);
  disconnect(receiver, State::absent);
}

void LoadBalancer::replace(uint32_t receiver) {
  give_up_batch(receiver);
  mark_ready(receiver);
}

void LoadBalancer::stop_giving(uint32_t receiver) {
  if (account(receiver).state != State::connected) return;
  account_of(receiver).state = State::leaving;
  remove_number(connected_, receiver);
  // What is under way stays, and is short beside what may wait behind it.
  const Batch& under_way = batch(receiver);
  const uint64_t messages = under_way.under_way() ? under_way.messages : 0;
  Share& share = share_of(receiver);
  Ring<Assigned> behind = std::exchange(share.waiting, {});
  for (uint64_t i = 0; i < messages; ++i) share.waiting.push_back(behind[i]);
  behind.pop_front(messages);
  leave_behind(share, behind);
  share.bytes = under_way.record_bytes;
  left_behind_bytes_ -= share.bytes;
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

void LoadBalancer::disconnect(uint32_t receiver, State state) {
  account_of(receiver).state = state;
  remove_number(connected_, receiver);
  Share& share = share_of(receiver);
  leave_behind(share, share.waiting);
}

/// Costs nothing for each message that it leaves: `waiting`, which is all of the share's list or the end of it, and what was passed on to it.
void LoadBalancer::leave_behind(Share& share, Ring<Assigned>& waiting) {
  share.passed.add(waiting);
  left_behind_.add(share.passed);
  left_behind_bytes_ += std::exchange(share.bytes, 0);
  share.passed_bytes = 0;
}

/// Whoever takes little is to get little of it, or it would be cut off for what others did not take.
bool LoadBalancer::has_room_for(uint32_t receiver, size_t bytes) const {
  const Share& share = shares_[receiver - 1];
  const size_t passed_max = std::min(passed_bytes_max, options_.pending_bytes_max / 4);
  return (share.passed_bytes == 0 || share.passed_bytes + bytes <= passed_max) &&
         (share.bytes == 0 || share.bytes + bytes <= options_.pending_bytes_max / 2);
}

bool LoadBalancer::has_work() const {
  if (left_behind_.empty()) return false;
  const size_t bytes = left_behind_.front().bytes;
  return std::any_of(connected_.begin(), connected_.end(), [&](uint32_t receiver) { return has_room_for(receiver, bytes); });
}

/// Of what was left behind, perhaps by very many at once, the oldest messages: each goes to whom the dispatch rule chooses now among those
/// that have room.
size_t LoadBalancer::work(size_t units) {
  // More than has come in since, or it would never come to its end.
  units += 2 * std::exchange(came_behind_, 0);
  if (left_behind_.empty()) return 0;
  std::vector<uint32_t> with_room;
  for (const uint32_t receiver : connected_) {
    if (has_room_for(receiver, left_behind_.front().bytes)) with_room.push_back(receiver);
  }
  if (with_room.empty()) return 0;
  // For each of many messages next free would look at all receivers: here at those alone that have least, in a heap.
  using Load = std::pair<size_t, uint32_t>;
  std::vector<Load> loads;
  const bool by_load = dispatcher_.rule() == DispatchRule::next_free;
  if (by_load) {
    for (const uint32_t receiver : with_room) loads.emplace_back(backlog_bytes(receiver), receiver);
    std::make_heap(loads.begin(), loads.end(), std::greater<>());
  }
  std::vector<Ring<Assigned>> passed(options_.receivers);
  size_t messages = 0;
  while (messages < units && !left_behind_.empty() && !(by_load ? loads.empty() : with_room.empty())) {
    const Assigned one = left_behind_.front();
    if (by_load) std::pop_heap(loads.begin(), loads.end(), std::greater<>());
    const uint32_t chosen = by_load ? loads.back().second : choose_among(with_room);
    if (!has_room_for(chosen, one.bytes)) {
      by_load ? loads.pop_back() : remove_number(with_room, chosen);
      continue;
    }
    left_behind_.pop_front();
    left_behind_bytes_ -= one.bytes;
    share_of(chosen).bytes += one.bytes;
    share_of(chosen).passed_bytes += one.bytes;
    passed[chosen - 1].push_back(one);
    ++messages;
    if (!by_load) continue;
    loads.back().first += one.bytes;
    std::push_heap(loads.begin(), loads.end(), std::greater<>());
  }
  for (const uint32_t receiver : connected_) {
    if (passed[receiver - 1].empty()) continue;
    share_of(receiver).passed.add(passed[receiver - 1]);
    mark_ready(receiver);
  }
  return messages;
}

size_t LoadBalancer::bring_in_passed(Share& share) {
  Ring<Assigned>& waiting = share.waiting;
  const auto is_late = [&share](const Assigned& one) { return share.latest.is_behind(one); };
  if (waiting.empty() && !is_late(share.passed.front()) && share.passed.swap_whole(waiting)) {
    share.passed_bytes = 0;
    return waiting.size();
  }
  std::vector<Assigned> more;
  size_t own = 0, bytes = 0;
  while (own < waiting.size() || !share.passed.empty()) {
    const bool is_own = share.passed.empty() || (own < waiting.size() && share.passed.front().is_behind(waiting[own]));
    const Assigned& next = is_own ? waiting[own] : share.passed.front();
    if (bytes > 0 && wire::deliver_prefix_bytes + bytes + next.bytes > Batch::body_bytes_max) break;
    bytes += next.bytes;
    if (is_own) {
      ++own;
    } else {
      more.push_back(next);
      share.passed_bytes -= next.bytes;
      share.passed.pop_front();
    }
  }
  waiting.grow_front(more.size());
  size_t to = 0, from = more.size();
  for (Assigned& one : more) {
    while (from < more.size() + own && one.is_behind(waiting[from])) waiting[to++] = waiting[from++];
    if (is_late(one) && !one.again) flag_as_redelivered(one);
    waiting[to++] = one;
  }
  return more.size() + own;
}

/// Nobody else reads this record, so it is marked in place.
void LoadBalancer::flag_as_redelivered(Assigned& assigned) {
  assigned.again = 1;
  uint8_t* record = log_.at(assigned.chunk, assigned.offset);
  wire::set_record_flags(record, wire::record_flags(record) | wire::flag_redelivered);
  wire::set_record_attempt(record, wire::next_attempt(wire::record_attempt(record)));
}

// --- messages ---

void LoadBalancer::collect_ready(std::vector<uint32_t>& ready) {
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
  if (connected_.empty() || !left_behind_.empty()) {
    appended.for_each([&, this](const uint8_t*, size_t bytes, uint32_t offset) {
      left_behind_.push_back(assigned(appended.chunk, offset, bytes));
      left_behind_bytes_ += bytes;
    });
    came_behind_ += appended.messages;
    return;
  }
  if (dispatcher_.rule() == DispatchRule::round_robin) return assign_in_turn(appended);
  appended.for_each([&, this](const uint8_t*, size_t bytes, uint32_t offset) {
    const Assigned one = assigned(appended.chunk, offset, bytes);
    const uint32_t chosen = choose_among(connected_);
    Share& share = share_of(chosen);
    share.waiting.push_back(one);
    share.bytes += bytes;
    mark_ready(chosen);
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
  const Share& share = shares_[receiver - 1];
  return !share.waiting.empty() || !share.passed.empty();
}

void LoadBalancer::begin_batch(uint32_t receiver, int64_t now_ns) {
  Share& share = share_of(receiver);
  const Ring<Assigned>& waiting = share.waiting;
  const uint64_t messages_max = share.passed.empty() ? waiting.size() : bring_in_passed(share);
  size_t bytes = share.bytes;
  uint64_t messages = messages_max;
  if (wire::deliver_prefix_bytes + bytes > Batch::body_bytes_max) {
    bytes = waiting.front().bytes;
    messages = 1;
    while (messages < messages_max && wire::deliver_prefix_bytes + bytes + waiting[messages].bytes <= Batch::body_bytes_max) {
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
  if (written > 0 && for_good) {
    const Assigned& partly = waiting.front();
    skip(receiver, SkipReason::cut_off, wire::record_sender(record_of(partly)), wire::record_index(record_of(partly)));
    add_to(of(total_.skipped, SkipReason::cut_off), partly);
    share.bytes -= partly.bytes;
    remove(partly);
    waiting.pop_front();
  } else if (written > 0) {
    flag_as_redelivered(waiting.front());
  }
  // What was due while it was under way was kept for this receiver alone.
  expire_share(receiver, expired_ns_);
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
  expired_ns_ = now_ns;
  SenderSets expired;
  left_behind_bytes_ -= take_expired(left_behind_, now_ns, expired);
  of(total_.skipped, SkipReason::expired) += expired;
  for (const uint32_t receiver : connected_) expire_share(receiver, now_ns);
}

/// Returns how many bytes it took out.
size_t LoadBalancer::take_expired(InOrder<Assigned>& list, int64_t now_ns, SenderSets& expired) {
  GatheredRuns runs(expired);
  size_t bytes = 0;
  while (!list.empty() && is_expired(record_of(list.front()), now_ns)) {
    bytes += list.front().bytes;
    take_out(list.front(), runs);
    list.pop_front();
  }
  return bytes;
}

void LoadBalancer::expire_share(uint32_t receiver, int64_t now_ns) {
  Share& share = share_of(receiver);
  const size_t first = batch(receiver).under_way() ? batch(receiver).messages : 0;
  const auto is_due = [&](const Assigned& assigned) { return is_expired(record_of(assigned), now_ns); };
  size_t count = 0;
  SenderSets expired;
  if (first < share.waiting.size() && is_due(share.waiting[first])) {
    GatheredRuns runs(expired);
    for (; first + count < share.waiting.size() && is_due(share.waiting[first + count]); ++count) {
      share.bytes -= share.waiting[first + count].bytes;
      take_out(share.waiting[first + count], runs);
    }
    share.waiting.erase(first, count);
  }
  if (!share.passed.empty()) {
    const size_t passed_bytes = take_expired(share.passed, now_ns, expired);
    share.bytes -= passed_bytes;
    share.passed_bytes -= passed_bytes;
  }
  if (expired.empty()) return;
  skip(receiver, SkipReason::expired, expired);
  of(total_.skipped, SkipReason::expired) += expired;
}

/// Out of the queue, into the books of what expires.
void LoadBalancer::take_out(const Assigned& assigned, GatheredRuns& expired) {
  expired.add(wire::record_sender(record_of(assigned)), wire::record_index(record_of(assigned)));
  remove(assigned);
}

int64_t LoadBalancer::next_expiry_ns() const {
  int64_t soonest_ns = 0;
  const auto look_at = [&](const Assigned& first) {
    const int64_t at_ns = wire::record_taken_in_ns(record_of(first)) + options_.retention_ns;
    if (soonest_ns == 0 || at_ns < soonest_ns) soonest_ns = at_ns;
  };
  if (!left_behind_.empty()) look_at(left_behind_.front());
  for (const uint32_t receiver : connected_) {
    const Share& share = shares_[receiver - 1];
    const size_t first = batch(receiver).under_way() ? batch(receiver).messages : 0;
    if (first < share.waiting.size()) look_at(share.waiting[first]);
    if (!share.passed.empty()) look_at(share.passed.front());
  }
  return soonest_ns;
}

void LoadBalancer::fit() {
  Queue::fit();
  for (Share& share : shares_) {
    share.waiting.fit(idle_kept_bytes);
    share.passed.fit(idle_kept_bytes);
  }
  left_behind_.fit(idle_kept_bytes);
}

void LoadBalancer::finish() {
  const auto keep = [this](const Assigned& assigned) { add_to(total_.still_queued, assigned); };
  for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
    give_up_batch(receiver);
    Share& share = share_of(receiver);
    share.passed.add(share.waiting);
    share.passed.for_each(keep);
  }
  left_behind_.for_each(keep);
}

}  // namespace n2nq
