// SPDX-License-Identifier: GPL-3.0-or-later
// The books: what is in the queue for a receiver, or not for it, when it goes, comes back, or the run ends.
#include <algorithm>
#include <utility>

#include "broker/queue/selective_broadcaster.h"

namespace n2nq {

using State = ReceiverAccount::State;
using wire::SkipReason;

SelectiveBroadcaster::Standing SelectiveBroadcaster::standing_in(uint32_t cell_number, uint32_t number) const {
  const Receiver& receiver = receivers_[number - 1];
  const Cell& cell = cells_[cell_number];
  const auto place = receiver.places.find(cell_number);
  if (place != receiver.places.end()) return {number, place->second.at, true};
  // An interest without a place: it is not expected, or changing over.
  const auto passed = cell.passed.find(number);
  return {number, passed == cell.passed.end() ? cell.first : find(cell, passed->second), false};
}

SelectiveBroadcaster::Queued SelectiveBroadcaster::queued_for(uint32_t number) {
  Queued queued;
  for (uint32_t cell_number = 0; cell_number < grid_.cells_end(); ++cell_number) {
    if (!grid_.exists(cell_number) || cells_[cell_number].entries.empty()) continue;
    Cell& cell = cells_[cell_number];
    const Standing standing = standing_in(cell_number, number);
    SenderSets& found = standing.matches ? queued.matched : queued.rest;
    if (cell.end() - standing.at < options_.walked_at_once) {
      walk(cell, standing.at, cell.end(), found);
    } else {
      found += waiting_from(cell, standing.at).sets;
    }
  }
  return queued;
}

/// For those who are expected. One walk over each cell for all, from those who lack least to those who lack most.
std::vector<SelectiveBroadcaster::Queued> SelectiveBroadcaster::queued_for_all() {
  std::vector<Queued> queued(options_.receivers);
  std::vector<Standing> standings;
  for (uint32_t cell_number = 0; cell_number < grid_.cells_end(); ++cell_number) {
    if (!grid_.exists(cell_number) || cells_[cell_number].entries.empty()) continue;
    const Cell& cell = cells_[cell_number];
    standings.clear();
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      if (account(number).expected()) standings.push_back(standing_in(cell_number, number));
    }
    std::sort(standings.begin(), standings.end(), [](const Standing& a, const Standing& b) { return a.at > b.at; });
    SenderSets lacking;
    uint64_t from = cell.end();
    for (const Standing& standing : standings) {
      SenderSets more;
      walk(cell, standing.at, from, more);
      lacking += more;
      from = standing.at;
      Queued& own = queued[standing.receiver - 1];
      (standing.matches ? own.matched : own.rest) += lacking;
    }
  }
  return queued;
}

/// Adds what has not left the queue between two places. Returns its bytes.
uint64_t SelectiveBroadcaster::walk(const Cell& cell, uint64_t from, uint64_t to, SenderSets& found) {
  uint64_t bytes = 0;
  const auto walk_into = [&](auto& into) {
    for (uint64_t at = from; at < to; ++at) {
      const uint32_t handle = cell.entries[at - cell.first].message;
      if (handle == MessageTable::none) continue;
      into.add(wire::record_sender(record_of(handle)), wire::record_index(record_of(handle)));
      bytes += messages_[handle].bytes;
    }
  };
  walked_over_ += to - from;
  if (to - from < options_.walked_at_once) {  // to gather them would take longer, and there may be very many cells
    walk_into(found);
  } else {
    GatheredRuns runs(found);
    walk_into(runs);
  }
  return bytes;
}

/// All that has not left the queue from this place on. Good until the next call.
const SelectiveBroadcaster::Waiting& SelectiveBroadcaster::waiting_from(Cell& cell, uint64_t at) {
  std::vector<Waiting>& known = cell.waiting;
  const auto distance = [&](const Waiting& waiting) {
    const uint64_t from = find(cell, waiting.from);
    return from < at ? at - from : from - at;
  };
  const size_t most = waiting_bytes_ < waiting_bytes_max ? waiting_kept_max : 1;
  waiting_bytes_ -= waiting_bytes(cell);
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const Waiting& a, const Waiting& b) { return distance(a) < distance(b); });
  if (nearest != known.end() && distance(*nearest) < options_.walked_at_once) {
    std::rotate(nearest, nearest + 1, known.end());
  } else {
    // Who needed the nearest one may be back for it.
    Waiting one = nearest != known.end() && distance(*nearest) < cell.end() - at ? *nearest : Waiting();
    known.push_back(std::move(one));
  }
  if (known.size() > most) known.erase(known.begin(), known.end() - static_cast<ptrdiff_t>(most));
  move_waiting(cell, known.back(), at);
  cell.waiting_used_on = fits_;
  waiting_bytes_ += waiting_bytes(cell);
  return known.back();
}

/// From there on it is, and has what came in since.
void SelectiveBroadcaster::move_waiting(const Cell& cell, Waiting& waiting, uint64_t to) {
  const uint64_t from = find(cell, waiting.from), below = find(cell, waiting.below);
  if (below <= to) {
    waiting = Waiting();
  } else if (from < to) {
    SenderSets passed;
    waiting.bytes -= walk(cell, from, to, passed);
    waiting.sets -= passed;
  } else {
    SenderSets more;
    waiting.bytes += walk(cell, to, from, more);
    waiting.sets += more;
  }
  waiting.bytes += walk(cell, std::max(below, to), cell.end(), waiting.sets);
  waiting.from = number_at(cell, to);
  waiting.below = log_.tail().message;
}

/// The message leaves the queue.
void SelectiveBroadcaster::note_waiting_gone(Cell& cell, const QueuedMessage& message) {
  for (Waiting& waiting : cell.waiting) {
    if (message.number < waiting.from || message.number >= waiting.below) continue;
    const uint8_t* const record = log_.at(message.chunk, message.offset);
    waiting_bytes_ -= waiting.sets.bytes();
    waiting.sets.remove(wire::record_sender(record), wire::record_index(record));
    waiting.bytes -= message.bytes;
    waiting_bytes_ += waiting.sets.bytes();
  }
}

size_t SelectiveBroadcaster::waiting_bytes(const Cell& cell) {
  size_t bytes = 0;
  for (const Waiting& waiting : cell.waiting) bytes += waiting.sets.bytes();
  return bytes;
}

void SelectiveBroadcaster::forget_waiting(Cell& cell) {
  waiting_bytes_ -= waiting_bytes(cell);
  cell.waiting = std::vector<Waiting>();
}

/// What is in the queue for a receiver that will not get it any more; the rest of the queue is unrequested.
SenderSets SelectiveBroadcaster::missed_by(uint32_t number) {
  Queued queued = queued_for(number);
  skip(number, SkipReason::unrequested, queued.rest);
  return std::move(queued.matched);
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
  const Queued queued = queued_for(number);
  for (const SenderSets* sets : {&queued.matched, &queued.rest}) {
    still_queued -= *sets;
    of(account_of(number).skipped, SkipReason::unrequested) -= *sets;
    of(account_of(number).untold, SkipReason::unrequested) -= *sets;
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
  std::vector<Queued> queued = queued_for_all();
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    const Queued own = std::move(queued[number - 1]);
    switch (account(number).state) {
      case State::absent:
      case State::connected:
        skip(number, SkipReason::unrequested, own.rest);
        still_queued_[number - 1] += own.matched;
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
