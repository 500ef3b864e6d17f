// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/load_balancer.h"

#include <algorithm>
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
  // Nobody else is there. There may be very much of it, which is not to be copied for each who comes and goes.
  std::swap(share_of(receiver).waiting, unassigned_.waiting);
  std::swap(share_of(receiver).bytes, unassigned_.bytes);
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
  const size_t written = give_up_batch(receiver);
  Share& share = share_of(receiver);
  if (written > 0) {
    const Assigned& partly = share.waiting.front();
    skip(receiver, SkipReason::cut_off, wire::record_sender(record_of(partly)), wire::record_index(record_of(partly)));
    add_to(of(total_.skipped, SkipReason::cut_off), partly);
    share.bytes -= partly.bytes;
    remove(partly);
    share.waiting.pop_front();
  }
  disconnect(receiver, State::cut_off);
}

void LoadBalancer::disconnect(uint32_t receiver, State state) {
  account_of(receiver).state = state;
  remove_number(connected_, receiver);
  Share& share = share_of(receiver);
  Ring<Assigned> left;
  std::swap(left, share.waiting);
  share.bytes = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    left[i].again = 1;
    // Nobody else reads this record, so it is marked in place.
    uint8_t* record = log_.at(left[i].chunk, left[i].offset);
    wire::set_record_flags(record, wire::record_flags(record) | wire::flag_redelivered);
    wire::set_record_attempt(record, wire::next_attempt(wire::record_attempt(record)));
  }
  if (left.empty()) return;
  if (left_behind_.empty()) {
    left_behind_ = std::move(left);
  } else {
    const size_t before = left_behind_.size();
    for (size_t i = 0; i < left.size(); ++i) left_behind_.push_back(left[i]);
    left_behind_parts_.push_back(before);
  }
}

/// What was left behind since the last time, perhaps by very many at once: each message goes to whom the dispatch rule chooses now, in its
/// place in the order of taking in.
void LoadBalancer::pass_on() {
  if (left_behind_.empty()) return;
  // Each part is in order: two beside each other become one, then two of these.
  while (!left_behind_parts_.empty()) {
    std::vector<size_t> parts;
    size_t begin = 0;
    for (size_t i = 0; i < left_behind_parts_.size(); i += 2) {
      const size_t end = i + 1 < left_behind_parts_.size() ? left_behind_parts_[i + 1] : left_behind_.size();
      merge(left_behind_, begin, left_behind_parts_[i], end);
      if (end < left_behind_.size()) parts.push_back(end);
      begin = end;
    }
    left_behind_parts_ = std::move(parts);
  }
  Ring<Assigned> messages;
  std::swap(messages, left_behind_);
  if (connected_.empty()) {  // what came since the last one went is behind it, or between
    const size_t before = unassigned_.waiting.size();
    for (size_t i = 0; i < messages.size(); ++i) {
      unassigned_.bytes += messages[i].bytes;
      if (before > 0) unassigned_.waiting.push_back(messages[i]);
    }
    if (before > 0) {
      merge(unassigned_.waiting, 0, before, unassigned_.waiting.size());
    } else {
      std::swap(unassigned_.waiting, messages);
    }
    return;
  }
  std::vector<size_t> before;
  for (const Share& share : shares_) before.push_back(share.waiting.size());
  // For each of very many messages next free would look at all receivers: here at those alone that have least, in a heap.
  using Load = std::pair<size_t, uint32_t>;
  std::vector<Load> loads;
  if (dispatcher_.rule() == DispatchRule::next_free) {
    for (const uint32_t receiver : connected_) loads.emplace_back(backlog_bytes(receiver), receiver);
    std::make_heap(loads.begin(), loads.end(), std::greater<>());
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!loads.empty()) std::pop_heap(loads.begin(), loads.end(), std::greater<>());
    Share& chosen = share_of(loads.empty() ? choose_receiver() : loads.back().second);
    chosen.bytes += messages[i].bytes;
    chosen.waiting.push_back(messages[i]);
    if (loads.empty()) continue;
    loads.back().first += messages[i].bytes;
    std::push_heap(loads.begin(), loads.end(), std::greater<>());
  }
  for (const uint32_t receiver : connected_) {
    Ring<Assigned>& waiting = share_of(receiver).waiting;
    if (waiting.size() == before[receiver - 1]) continue;
    merge(waiting, batch(receiver).under_way() ? batch(receiver).messages : 0, before[receiver - 1], waiting.size());
    mark_ready(receiver);
  }
}

/// What stands from `first` on is in order up to `middle`, and from there up to `end`; then as a whole.
void LoadBalancer::merge(Ring<Assigned>& list, size_t first, size_t middle, size_t end) {
  std::vector<Assigned> more;  // a copy of the second half alone: there may be much, and memory may be short
  more.reserve(end - middle);
  for (size_t i = middle; i < end; ++i) more.push_back(list[i]);
  for (size_t to = end; !more.empty();) {
    if (middle > first && list[middle - 1].is_behind(more.back())) {
      list[--to] = list[--middle];
    } else {
      list[--to] = more.back();
      more.pop_back();
    }
  }
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

void LoadBalancer::on_taken_in(const MessageLog::Appended& appended) {
  queued_ += appended.messages;
  const auto assign = [chunk = appended.chunk](Share& share, uint32_t offset, size_t bytes) {
    Assigned& assigned = share.waiting.grow_back();
    assigned.chunk = chunk;
    assigned.offset = offset;
    assigned.bytes = static_cast<uint32_t>(bytes) & bytes_mask;
    assigned.again = 0;
    share.bytes += bytes;
  };
  if (connected_.empty()) {
    appended.for_each([&](const uint8_t*, size_t bytes, uint32_t offset) { assign(unassigned_, offset, bytes); });
    return;
  }
  appended.for_each([&, this](const uint8_t*, size_t bytes, uint32_t offset) {
    const uint32_t chosen = choose_receiver();
    assign(share_of(chosen), offset, bytes);
    mark_ready(chosen);
  });
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
  share.bytes -= bytes;
  account_of(receiver).redelivered += redelivered;
  queued_ -= messages;
  share.waiting.pop_front(messages);
  share.waiting.fit(busy_kept_bytes);
}

/// Returns how many bytes of the first message that is not handed over the kernel took.
size_t LoadBalancer::give_up_batch(uint32_t receiver) {
  Batch& batch = batch_of(receiver);
  if (!batch.under_way()) return 0;
  const Ring<Assigned>& waiting = share_of(receiver).waiting;
  size_t written = batch.records_written();
  uint64_t whole = 0;
  while (whole < batch.messages && waiting[whole].bytes <= written) written -= waiting[whole++].bytes;
  account_of(receiver).handed_over += whole;
  hand_over_first(receiver, whole);
  batch.record_bytes = 0;
  return written;
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
  left_behind_.fit(idle_kept_bytes);
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
