// SPDX-License-Identifier: GPL-3.0-or-later
// How messages leave the queue: handed over for good, skipped, or expired wherever they are.
#include <algorithm>

#include "broker/queue/selective_balancer.h"
#include "broker/wire/record.h"

namespace n2nq {

using wire::SkipReason;

namespace {

constexpr size_t gone_in_share_max = 64;

}  // namespace

void SelectiveBalancer::add_to(SenderSets& sets, uint32_t handle) const {
  sets.add(wire::record_sender(record_of(handle)), wire::record_index(record_of(handle)));
}

/// From under way.
void SelectiveBalancer::remove(uint32_t handle) {
  log_.release(messages_[handle].chunk);
  messages_.remove(handle);
  --under_way_;
  drained_.reset();
}

/// The same, and it counts as skipped for the receiver it was meant for.
void SelectiveBalancer::skip_and_remove(uint32_t handle, SkipReason reason) {
  const uint8_t* record = record_of(handle);
  skip(messages_[handle].last_receiver, reason, wire::record_sender(record), wire::record_index(record));
  add_to(of(total_.skipped, reason), handle);
  remove(handle);
}

/// An expected receiver's list matches what is in this cell, or of one that changes over the list before, where the cell has that still.
bool SelectiveBalancer::is_wanted(uint32_t cell) const {
  if (!options_.requests) return true;
  const std::vector<uint32_t>& interests = grid_.interests_of(cell);
  return std::any_of(interests.begin(), interests.end(), [this](uint32_t interest) { return interests_[interest].expected > 0; });
}

void SelectiveBalancer::expire_waiting(uint32_t handle) {
  const QueuedMessage& message = messages_[handle];
  add_to(of(total_.skipped, is_wanted(message.cell) ? SkipReason::expired : SkipReason::unrequested), handle);
  log_.release(message.chunk);
  pop_first(message.cell);  // the oldest of all is the first in its cell
  messages_.remove(handle);
  drained_.reset();
}

void SelectiveBalancer::expire(int64_t now_ns) {
  std::vector<uint32_t> got_room;
  while (messages_.oldest() != MessageTable::none && is_expired(record_of(messages_.oldest()), now_ns)) {
    const uint32_t handle = messages_.oldest();
    QueuedMessage& message = messages_[handle];
    if (message.place == Place::waiting) {
      expire_waiting(handle);
    } else if (message.place == Place::assigned) {
      const uint32_t number = message.last_receiver;
      Receiver& receiver = receiver_of(number);
      const uint8_t* record = record_of(handle);
      skip(number, SkipReason::expired, wire::record_sender(record), wire::record_index(record));
      add_to(of(total_.skipped, SkipReason::expired), handle);
      receiver.share_bytes -= message.bytes;
      --receiver.assigned;
      receiver.allowance.take_back();
      log_.release(message.chunk);
      message.place = Place::gone;  // the share still names it
      messages_.stop_aging(handle);
      --under_way_;
      drained_.reset();
      if (got_room.empty() || got_room.back() != number) got_room.push_back(number);
    } else {
      messages_.stop_aging(handle);  // what becomes of it depends on the answer
    }
  }
  for (const uint32_t number : got_room) {
    drop_gone(receiver_of(number));
    refill(number);
  }
}

/// Takes out of its share what expired there: from its front, and everywhere when that is most of it.
void SelectiveBalancer::drop_gone(Receiver& receiver) {
  const bool everywhere = receiver.share.size() > 2 * receiver.assigned + gone_in_share_max;
  for (size_t left = receiver.share.size(); left > 0; --left) {
    const uint32_t handle = receiver.share.front();
    const bool gone = messages_[handle].place == Place::gone;
    if (!gone && !everywhere) break;
    receiver.share.pop_front();
    if (gone) {
      messages_.remove(handle);
    } else {
      receiver.share.push_back(handle);
    }
  }
  receiver.share.fit(busy_kept_bytes);
}

int64_t SelectiveBalancer::next_expiry_ns() const {
  if (messages_.oldest() == MessageTable::none) return 0;
  return wire::record_taken_in_ns(record_of(messages_.oldest())) + options_.retention_ns;
}

}  // namespace n2nq
