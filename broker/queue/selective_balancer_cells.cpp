// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting messages in their cells.
#include <algorithm>
#include <set>
#include <utility>

#include "broker/queue/selective_balancer.h"
#include "broker/wire/record.h"

namespace n2nq {

SelectiveBalancer::Waiting SelectiveBalancer::first_of(uint32_t number) const {
  const Cell& cell = cells_[number];
  if (cell.fresh.empty()) return cell.returned.front();
  if (cell.returned.empty()) return cell.fresh.front();
  return cell.fresh.front().number < cell.returned.front().number ? cell.fresh.front() : cell.returned.front();
}

void SelectiveBalancer::pop_first(uint32_t number) {
  Cell& cell = cells_[number];
  const bool is_fresh = !cell.fresh.empty() && (cell.returned.empty() || cell.fresh.front().number < cell.returned.front().number);
  if (is_fresh) {
    cell.fresh.pop_front();
  } else {
    std::pop_heap(cell.returned.begin(), cell.returned.end(), higher);
    cell.returned.pop_back();
  }
  --waiting_;
  cell.fresh.fit(busy_kept_bytes);
  if (cell.empty()) grid_.note_empty(number);
}

void SelectiveBalancer::wait(uint32_t handle) {
  QueuedMessage& message = messages_[handle];
  Cell& cell = cells_[message.cell];
  const Waiting waiting{message.number, handle};
  const bool comes_first = cell.empty() || message.number < first_of(message.cell).number;
  if (cell.fresh.empty() || cell.fresh.back().number < message.number) {
    cell.fresh.push_back(waiting);
  } else {
    cell.returned.push_back(waiting);
    std::push_heap(cell.returned.begin(), cell.returned.end(), higher);
  }
  message.place = Place::waiting;
  ++waiting_;
  drained_.reset();
  if (!comes_first) return;
  for (const uint32_t interest : grid_.interests_of(message.cell)) announce(interest, message.cell);
}

/// What is first in this cell is new to the interest.
void SelectiveBalancer::announce(uint32_t number, uint32_t cell) {
  Interest& interest = interests_[number];
  if (interest.cells.size() >= 2 * grid_.marks_of(number) + 64) take_out_stale(number);
  interest.cells.push_back({first_of(cell).number, cell});
  std::push_heap(interest.cells.begin(), interest.cells.end(), higher);
}

/// One entry for each cell stays.
void SelectiveBalancer::take_out_stale(uint32_t number) {
  std::vector<Waiting>& heap = interests_[number].cells;
  std::sort(heap.begin(), heap.end(), [](const Waiting& a, const Waiting& b) { return a.of < b.of; });
  heap.erase(std::unique(heap.begin(), heap.end(), [](const Waiting& a, const Waiting& b) { return a.of == b.of; }), heap.end());
  std::erase_if(heap, [&](const Waiting& entry) {
    return !grid_.exists(entry.of) || cells_[entry.of].empty() || !grid_.covers(number, entry.of);
  });
  for (Waiting& entry : heap) entry.number = first_of(entry.of).number;
  std::make_heap(heap.begin(), heap.end(), higher);
}

/// The oldest waiting message that the list matches, taken out of its cell; none when there is none.
uint32_t SelectiveBalancer::take_lowest(uint32_t number) {
  std::vector<Waiting>& heap = interests_[number].cells;
  while (!heap.empty()) {
    const Waiting top = heap.front();
    const bool exists = grid_.exists(top.of) && !cells_[top.of].empty() && grid_.covers(number, top.of);
    std::pop_heap(heap.begin(), heap.end(), higher);
    if (exists && first_of(top.of).number == top.number) {
      const uint32_t handle = first_of(top.of).of;
      heap.pop_back();
      pop_first(top.of);
      if (grid_.exists(top.of) && !cells_[top.of].empty()) {
        heap.push_back({first_of(top.of).number, top.of});
        std::push_heap(heap.begin(), heap.end(), higher);
      }
      return handle;
    }
    // Stale: others took it. Another entry of the same cell may stand there already; then this one is not needed.
    if (exists && first_of(top.of).number > top.number) {
      heap.back().number = first_of(top.of).number;
      std::push_heap(heap.begin(), heap.end(), higher);
    } else {
      heap.pop_back();
    }
  }
  return MessageTable::none;
}

void SelectiveBalancer::on_cell_made(uint32_t cell) {
  if (cell >= cells_.size()) cells_.resize(cell + 1);
}

bool SelectiveBalancer::has_room_for_part(uint32_t from) const {
  return noted_bytes() + bytes_per_cell + grid_.interests_of(from).size() * bytes_per_mark <= options_.notes_bytes_max;
}

size_t SelectiveBalancer::move_parts(uint32_t from, size_t units) {
  const size_t per_part = 1 + grid_.interests_of(from).size();
  size_t done = 0;
  std::set<uint32_t> parts;
  const auto move_one = [&](Waiting waiting, bool is_fresh) {  // a copy: cells may be made
    const uint8_t* record = record_of(waiting.of);
    const GridIndex::Part part = grid_.part_of(from, wire::record_sender(record), wire::record_size(record));
    if (part.cell == GridIndex::none) return false;
    on_cell_made(part.cell);
    if (part.is_new) done += per_part;
    if (part.is_new || !is_fresh) parts.insert(part.cell);  // its first one is another now
    messages_[waiting.of].cell = part.cell;
    if (is_fresh) {
      cells_[part.cell].fresh.push_back(waiting);
    } else {
      cells_[part.cell].returned.push_back(waiting);
      std::push_heap(cells_[part.cell].returned.begin(), cells_[part.cell].returned.end(), higher);
    }
    ++done;
    return true;
  };
  while (!cells_[from].fresh.empty() && (done < units || done == 0) && move_one(cells_[from].fresh.front(), true)) {
    cells_[from].fresh.pop_front();
  }
  // The last one of a heap can go at any time.
  while (cells_[from].fresh.empty() && !cells_[from].returned.empty() && (done < units || done == 0) &&
         move_one(cells_[from].returned.back(), false)) {
    cells_[from].returned.pop_back();
  }
  cells_[from].fresh.fit(busy_kept_bytes);
  // Entries of the interests for `from` may be too low now, which does no harm.
  for (const uint32_t part : parts) {
    for (const uint32_t interest : grid_.interests_of(part)) announce(interest, part);
  }
  return done;
}

}  // namespace n2nq
