// SPDX-License-Identifier: GPL-3.0-or-later
// The books: what is in the queue for a receiver, or not for it, when it goes, comes back, or the run ends.
#include <memory>
#include <utility>

#include "broker/queue/selective_broadcaster.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::SkipReason;

/// What is in the queue and was not begun for this receiver: what its list matches, or the rest.
SenderSets SelectiveBroadcaster::queued_for(uint32_t number, bool matched) {
  SenderSets found;
  const Receiver& receiver = receivers_[number - 1];
  for (uint32_t cell_number = 0; cell_number < grid_.cells_end(); ++cell_number) {
    if (!grid_.exists(cell_number)) continue;
    const auto place = receiver.places.find(cell_number);
    const bool matches = place != receiver.places.end();  // an interest without a place: it is not expected, or changing over
    if (matches != matched) continue;
    Cell& cell = cells_[cell_number];
    if (cell.entries.empty()) continue;
    const auto passed = cell.passed.find(number);
    uint64_t at = cell.first;
    if (place != receiver.places.end()) {
      at = place->second.at;
    } else if (passed != cell.passed.end()) {
      at = find(cell, passed->second);
    }
    add_waiting_from(cell, at, found);
  }
  return found;
}

void SelectiveBroadcaster::add_waiting_from(Cell& cell, uint64_t at, SenderSets& found) {
  constexpr uint64_t few = 256;  // to gather them would take longer, and there may be very many cells
  const auto each = [&](uint64_t from, uint64_t to, auto&& visit) {
    for (; from < to; ++from) {
      const uint32_t handle = cell.entries[from - cell.first].message;
      if (handle != MessageTable::none) visit(wire::record_sender(record_of(handle)), wire::record_index(record_of(handle)));
    }
  };
  if (cell.end() - at < few) {
    each(at, cell.end(), [&](uint32_t sender, uint64_t index) { found.add(sender, index); });
  } else if (at - cell.first > cell.end() - at) {
    GatheredRuns runs(found);
    each(at, cell.end(), [&](uint32_t sender, uint64_t index) { runs.add(sender, index); });
  } else if (at == cell.first) {
    found += waiting_in(cell);
  } else {
    SenderSets rest = waiting_in(cell);
    each(cell.first, at, [&](uint32_t sender, uint64_t index) { rest.remove(sender, index); });
    found += rest;
  }
}

/// All that has not left the queue.
const SenderSets& SelectiveBroadcaster::waiting_in(Cell& cell) {
  if (!cell.waiting) cell.waiting = std::make_unique<SenderSets>(), cell.waiting_below = 0;
  cell.waiting_used_on = fits_;
  waiting_bytes_ -= cell.waiting->bytes();
  for (uint64_t at = find(cell, cell.waiting_below); at < cell.end(); ++at) {
    const uint32_t handle = cell.entries[at - cell.first].message;
    if (handle != MessageTable::none) cell.waiting->add(wire::record_sender(record_of(handle)), wire::record_index(record_of(handle)));
  }
  cell.waiting_below = log_.tail().message;
  waiting_bytes_ += cell.waiting->bytes();
  return *cell.waiting;
}

void SelectiveBroadcaster::forget_waiting(Cell& cell) {
  if (!cell.waiting) return;
  waiting_bytes_ -= cell.waiting->bytes();
  cell.waiting.reset();
}

/// What is in the queue for a receiver that will not get it any more; the rest of the queue is unrequested.
SenderSets SelectiveBroadcaster::missed_by(uint32_t number) {
  skip(number, SkipReason::unrequested, queued_for(number, false));
  return queued_for(number, true);
}

SenderSets SelectiveBroadcaster::drop_owed(uint32_t number) {
  SenderSets dropped;
  const std::vector<Delivery> owed = std::exchange(receiver_of(number).owed, {});
  owed_ -= owed.size();
  for (const Delivery& delivery : owed) {
    dropped.add(wire::record_sender(record_of(delivery.message)), wire::record_index(record_of(delivery.message)));
    release(delivery.message);
  }
  return dropped;
}

/// A receiver that had left is back, and may have what is in the queue still.
void SelectiveBroadcaster::take_back(uint32_t number) {
  note_foreign(number);
  SenderSets& still_queued = still_queued_[number - 1];
  still_queued += taken_in_.since(*std::exchange(receiver_of(number).gone_at, nullptr));
  for (const bool matched : {true, false}) {
    const SenderSets queued = queued_for(number, matched);
    still_queued -= queued;
    of(account_of(number).skipped, SkipReason::unrequested) -= queued;
    of(account_of(number).untold, SkipReason::unrequested) -= queued;
  }
}

void SelectiveBroadcaster::finish() {
  closing_ = true;
  // First of all, as what is handed over by that may leave.
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    if (account(number).expected()) interrupt(number);
    if (account(number).state == State::leaving) leave(number);
  }
  settle_all();
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    switch (account(number).state) {
      case State::absent:
      case State::connected:
        still_queued_[number - 1] += missed_by(number);
        for (const Delivery& delivery : receiver_of(number).owed) {
          const uint8_t* record = record_of(delivery.message);
          still_queued_[number - 1].add(wire::record_sender(record), wire::record_index(record));
        }
        break;
      case State::leaving:
      case State::left:
        still_queued_[number - 1] += taken_in_.since(*receiver_of(number).gone_at);
        break;
      case State::cut_off:
        skip(number, SkipReason::cut_off, taken_in_.since(*receiver_of(number).gone_at));
        break;
    }
  }
}

}  // namespace n2nq
