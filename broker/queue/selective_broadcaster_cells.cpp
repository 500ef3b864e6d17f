// SPDX-License-Identifier: GPL-3.0-or-later
// Places in cells, and how messages leave the queue.
#include <algorithm>
#include <optional>
#include <utility>

#include "broker/queue/connected.h"
#include "broker/queue/selective_broadcaster.h"

namespace n2nq {

using wire::SkipReason;

namespace {

constexpr size_t list_kept_bytes = 256 * 1024;
/// What a receiver is told is more work than the sets are: it goes over the wire as runs, which the receiver adds to its own. Receivers in one
/// process that are all told at once would keep it from taking messages for 0.2 s (50 of them, 40,000 messages a second).
constexpr size_t bytes_per_byte_told = 16;

}  // namespace

// --- places ---

/// The first message of the cell that is not below this number.
uint64_t SelectiveBroadcaster::find(const Cell& cell, uint64_t number) {
  size_t low = 0;
  size_t high = cell.entries.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    (cell.entries[middle].number < number ? low : high) = cell.entries[middle].number < number ? middle + 1 : middle;
  }
  return cell.first + low;
}

/// Behind the last message: above all numbers so far.
uint64_t SelectiveBroadcaster::number_at(const Cell& cell, uint64_t at) const {
  return at == cell.end() ? log_.tail().message : cell.entries[at - cell.first].number;
}

void SelectiveBroadcaster::leave_place(Cell& cell, uint64_t at) {
  --(at == cell.end() ? cell.at_end : cell.entries[at - cell.first].here);
}

void SelectiveBroadcaster::put_place(Cell& cell, uint64_t at) {
  ++(at == cell.end() ? cell.at_end : cell.entries[at - cell.first].here);
}

/// From `at` on, the first message that has not left.
uint64_t SelectiveBroadcaster::step(const Cell& cell, uint64_t at) const {
  while (at < cell.end() && cell.entries[at - cell.first].message == MessageTable::none) ++at;
  return at;
}

/// Puts a place that is nowhere on the first message that is not below the number.
void SelectiveBroadcaster::set_place(uint32_t number, uint32_t cell_number, Place& place, uint64_t from_number) {
  Cell& cell = cells_[cell_number];
  place.at = step(cell, find(cell, from_number));
  put_place(cell, place.at);
  if (place.at == cell.end()) {
    go_idle(number, cell_number, place);
    return;
  }
  place.idle = false;
  Receiver& receiver = receiver_of(number);
  receiver.next.push_back({number_at(cell, place.at), cell_number});
  std::push_heap(receiver.next.begin(), receiver.next.end(), higher);
}

void SelectiveBroadcaster::go_idle(uint32_t number, uint32_t cell_number, Place& place) {
  Cell& cell = cells_[cell_number];
  place.idle = true;
  cell.idle.push_back(number);
  forget_idle(cell_number);
}

/// Who stands there more than once, or no more, once they are most: places came and went without a message.
void SelectiveBroadcaster::forget_idle(uint32_t cell_number) {
  Cell& cell = cells_[cell_number];
  if (cell.idle.size() <= 2 * size_t{cell.places} + 64) return;
  std::sort(cell.idle.begin(), cell.idle.end());
  cell.idle.erase(std::unique(cell.idle.begin(), cell.idle.end()), cell.idle.end());
  std::erase_if(cell.idle, [this, cell_number](uint32_t one) { return !receiver_of(one).places.contains(cell_number); });
}

size_t SelectiveBroadcaster::cover(uint32_t number, uint32_t cell_number, size_t most) {
  Cell& cell = cells_[cell_number];
  uint64_t from_number = 0;
  if (const auto passed = cell.passed.find(number); passed != cell.passed.end()) {
    from_number = passed->second;
    cell.passed.erase(passed);
    --passed_;
  }
  if (cell.places++ == 0) cell.least = cell.first;
  ++places_;
  Place& place = receiver_of(number).places[cell_number];
  set_place(number, cell_number, place, from_number);
  cell.least = std::min(cell.least, place.at);
  return move_least(cell_number, most);
}

/// The receiver's heap may name the cell still; fix_next() is to follow.
size_t SelectiveBroadcaster::uncover(uint32_t number, uint32_t cell_number, size_t most) {
  Cell& cell = cells_[cell_number];
  Receiver& receiver = receiver_of(number);
  const auto place = receiver.places.find(cell_number);
  if (place->second.at > cell.first) {
    const uint64_t passed = number_at(cell, place->second.at);
    cell.passed[number] = passed;
    ++passed_;
    const auto cut = std::lower_bound(cell.cuts.begin(), cell.cuts.end(), passed);
    if (cut == cell.cuts.end() || *cut != passed) cell.cuts.insert(cut, passed);
    forget_cuts(cell);
  }
  leave_place(cell, place->second.at);
  receiver.places.erase(place);
  --places_;
  --cell.places;
  return move_least(cell_number, most);
}

/// Those that nobody's place among the passed needs any more, once they are most. (What left above one of them was noted under it, and stays so.)
void SelectiveBroadcaster::forget_cuts(Cell& cell) {
  if (cell.cuts.size() <= 2 * cell.passed.size() + 64) return;
  cell.cuts.clear();
  for (const auto& [receiver, below] : cell.passed) cell.cuts.push_back(below);
  std::sort(cell.cuts.begin(), cell.cuts.end());
  cell.cuts.erase(std::unique(cell.cuts.begin(), cell.cuts.end()), cell.cuts.end());
}

void SelectiveBroadcaster::cover_all(uint32_t number) {
  const uint32_t interest = receiver_of(number).interest;
  if (number != changing_) add_number(expected_[interest], number);
  size_t most = options_.passed_at_once;
  for (uint32_t cell = 0; cell < grid_.cells_end(); ++cell) {
    if (grid_.exists(cell) && grid_.covers(interest, cell)) most -= cover(number, cell, most);
  }
}

void SelectiveBroadcaster::uncover_all(uint32_t number) {
  Receiver& receiver = receiver_of(number);
  remove_number(expected_[receiver.interest], number);
  for (size_t most = options_.passed_at_once; !receiver.places.empty();) most -= uncover(number, receiver.places.begin()->first, most);
  // It may not be back, and tables and lists keep the memory that they had.
  receiver.places = std::unordered_map<uint32_t, Place>();
  receiver.next = std::vector<Next>();
}

/// Takes stale ones off the top of the heap.
void SelectiveBroadcaster::fix_next(uint32_t number) {
  Receiver& receiver = receiver_of(number);
  std::vector<Next>& heap = receiver.next;
  if (heap.size() > 2 * receiver.places.size() + 64) {  // cells were split: most of it says the same twice
    heap.clear();
    for (const auto& [cell, place] : receiver.places) {
      if (!place.idle) heap.push_back({number_at(cells_[cell], place.at), cell});
    }
    std::make_heap(heap.begin(), heap.end(), higher);
  }
  while (!heap.empty()) {
    const Next top = heap.front();
    const auto place = receiver.places.find(top.cell);
    const bool there = place != receiver.places.end() && !place->second.idle;
    const uint64_t now = there && place->second.at < cells_[top.cell].end() ? number_at(cells_[top.cell], place->second.at) : UINT64_MAX;
    if (now == top.number) return;
    std::pop_heap(heap.begin(), heap.end(), higher);
    if (now == UINT64_MAX || now < top.number) {  // lower: another entry of this cell says so
      if (there && now == UINT64_MAX) go_idle(number, top.cell, place->second);
      heap.pop_back();
    } else {
      heap.back().number = now;
      std::push_heap(heap.begin(), heap.end(), higher);
    }
  }
}

/// Expected receivers whose list matches the cell.
const std::vector<uint32_t>& SelectiveBroadcaster::coverers(uint32_t cell) {
  std::vector<uint32_t>& found = coverers_;
  found.clear();
  for (const uint32_t interest : grid_.interests_of(cell)) {
    if (interest < expected_.size()) found.insert(found.end(), expected_[interest].begin(), expected_[interest].end());
  }
  if (changing_ != 0 && receivers_[changing_ - 1].places.contains(cell)) found.push_back(changing_);
  return found;
}

// --- cells ---

void SelectiveBroadcaster::on_cell_made(uint32_t cell) {
  if (cell >= cells_.size()) cells_.resize(cell + 1);
  const std::vector<uint32_t>& numbers = coverers(cell);
  places_made_ += numbers.size();
  for (const uint32_t number : numbers) cover(number, cell, 0);
  if (changing_ != 0 && account(changing_).expected() && grid_.covers(receiver_of(changing_).interest, cell)) cover(changing_, cell, 0);
}

void SelectiveBroadcaster::on_cell_dropped(uint32_t cell) {
  settle_cell(cell);
  for (const uint32_t number : coverers(cell)) places_ -= receiver_of(number).places.erase(cell);
  passed_ -= cells_[cell].passed.size();
  forget_waiting(cells_[cell]);
  cells_[cell] = Cell();
}

bool SelectiveBroadcaster::has_room_for_part(uint32_t from) const {
  const size_t more = cells_[from].places * bytes_per_place + cells_[from].passed.size() * bytes_per_passed + bytes_per_cell +
                      grid_.interests_of(from).size() * bytes_per_mark;
  return noted_bytes() + more <= options_.notes_bytes_max;
}

/// A part has what `from` has: receivers that passed it, and places, at the same number.
size_t SelectiveBroadcaster::move_parts(uint32_t from, size_t units) {
  const std::vector<uint32_t> receivers = coverers(from);
  forget_waiting(cells_[from]);
  std::vector<uint64_t> from_numbers;
  for (const uint32_t number : receivers) from_numbers.push_back(number_at(cells_[from], receiver_of(number).places[from].at));
  const size_t per_part = 1 + receivers.size() + cells_[from].passed.size() + cells_[from].cuts.size();
  size_t done = receivers.size();
  std::vector<uint32_t> parts;
  bool is_first = true;
  for (; !cells_[from].entries.empty() && (done < units || is_first); is_first = false, ++done) {
    const Entry entry = cells_[from].entries.front();
    if (entry.message != MessageTable::none) {
      const uint8_t* record = record_of(entry.message);
      const GridIndex::Part part = grid_.part_of(from, wire::record_sender(record), wire::record_size(record));
      if (part.cell == GridIndex::none) break;
      if (part.cell >= cells_.size()) cells_.resize(part.cell + 1);
      if (part.is_new) {
        parts.push_back(part.cell);
        done += per_part;
        // Counted at once, as has_room_for_part() looks at it.
        places_ += receivers.size();
        passed_ += cells_[from].passed.size();
      }
      messages_[entry.message].cell = part.cell;
      cells_[part.cell].entries.push_back({entry.number, entry.message, 0});
      cells_[part.cell].bytes += messages_[entry.message].bytes;
      cells_[from].bytes -= messages_[entry.message].bytes;
      ++entries_;
    }
    pop_entry(cells_[from]);
  }
  for (const uint32_t part : parts) put_into_part(part, cells_[from], receivers, from_numbers);
  // Who was at what has moved is at the first of the rest now.
  Cell& rest = cells_[from];
  tidy(rest);
  for (size_t i = 0; i < receivers.size(); ++i) {
    Place& place = receiver_of(receivers[i]).places[from];
    if (place.at < rest.first) set_place(receivers[i], from, place, from_numbers[i]);
  }
  move_least(from);
  for (const uint32_t number : receivers) fix_next(number);
  return done;
}

void SelectiveBroadcaster::put_into_part(uint32_t part, const Cell& from, const std::vector<uint32_t>& receivers,
                                         const std::vector<uint64_t>& from_numbers) {
  Cell& cell = cells_[part];
  cell.passed = from.passed;
  cell.cuts = from.cuts;
  cell.places = from.places;
  for (size_t i = 0; i < receivers.size(); ++i) set_place(receivers[i], part, receiver_of(receivers[i]).places[part], from_numbers[i]);
  move_least(part);
}

// --- leaving the queue ---

/// One holder less.
void SelectiveBroadcaster::release(uint32_t handle) {
  QueuedMessage& message = messages_[handle];
  if (--message.holders > 0) return;
  if (message.place == Place_::gone) {
    remove(handle);
    return;
  }
  Cell& cell = cells_[message.cell];
  const bool all_have_it = options_.removal == RemovalRule::when_all_have_it && cell.places > 0 &&
                           (cell.least == cell.end() || message.number < number_at(cell, cell.least));
  if (all_have_it) take_out(handle);
}

/// The lowest place is where it was or further on: what all have passed leaves. Where the last one who held back very much has gone,
/// `most` entries of it at once, and work() goes on. Returns how many it passed.
size_t SelectiveBroadcaster::move_least(uint32_t cell_number, size_t most) {
  Cell& cell = cells_[cell_number];
  if (options_.removal != RemovalRule::when_all_have_it || cell.places == 0) return 0;
  for (size_t passed = 0;; ++passed) {
    cell.least = std::max(cell.least, cell.first);  // taking one out may free others before it
    if (cell.least == cell.end() || cell.entries[cell.least - cell.first].here > 0) return passed;
    if (passed >= most) {
      if (!std::exchange(cell.holds_passed, true)) holding_passed_.push_back(cell_number);
      return passed;
    }
    const uint32_t handle = cell.entries[cell.least++ - cell.first].message;
    if (handle != MessageTable::none && messages_[handle].holders == 0) take_out(handle);
  }
}

size_t SelectiveBroadcaster::work(size_t units) {
  size_t done = 0;
  while (done <= units / 2 && !holding_passed_.empty()) {  // lists that change over and over do not keep it waiting
    const uint32_t cell = holding_passed_.back();
    holding_passed_.pop_back();
    ++done;
    if (!grid_.exists(cell) || !std::exchange(cells_[cell].holds_passed, false)) continue;
    done += move_least(cell);
  }
  return done + (done < units ? changes_.work(units - done) : 0);
}

/// The message leaves the queue; whoever holds it keeps it.
void SelectiveBroadcaster::take_out(uint32_t handle) {
  QueuedMessage& message = messages_[handle];
  Cell& cell = cells_[message.cell];
  cell.entries[find(cell, message.number) - cell.first].message = MessageTable::none;
  cell.bytes -= message.bytes;
  ++cell.gone;
  if (cell.places < expected_receivers_) {
    if (cell.left.empty()) dirty_.push_back(message.cell);
    const auto cut = std::upper_bound(cell.cuts.begin(), cell.cuts.end(), message.number);
    const uint64_t lower = cut == cell.cuts.begin() ? 0 : *std::prev(cut);
    cell.left[lower].add(wire::record_sender(record_of(handle)), wire::record_index(record_of(handle)));
  }
  note_waiting_gone(cell, message);
  messages_.stop_aging(handle);
  message.place = Place_::gone;
  tidy(cell);
  if (cell.entries.empty()) emptied_.push_back(message.cell);
  if (is_sparse(cell) && (sparse_.empty() || sparse_.back() != message.cell)) sparse_.push_back(message.cell);
  if (message.holders == 0) remove(handle);
}

void SelectiveBroadcaster::remove(uint32_t handle) {
  log_.release(messages_[handle].chunk);
  messages_.remove(handle);
}

void SelectiveBroadcaster::tidy(Cell& cell) {
  while (!cell.entries.empty() && cell.entries.front().message == MessageTable::none) pop_entry(cell);
  cell.entries.fit(busy_kept_bytes);
}

void SelectiveBroadcaster::pop_entry(Cell& cell) {
  cell.gone -= cell.entries.front().message == MessageTable::none;
  cell.entries.pop_front();
  ++cell.first;
  --entries_;
}

/// Closing it up is work for each entry and place, and is worth it.
bool SelectiveBroadcaster::is_sparse(const Cell& cell) const {
  return cell.gone > cell.entries.size() - cell.gone && cell.gone > cell.places + options_.gone_listed_max;
}

/// What has left behind an entry that somebody holds leaves the list, too. No place is on it.
void SelectiveBroadcaster::close_up(uint32_t cell_number) {
  Cell& cell = cells_[cell_number];
  const std::vector<uint32_t>& receivers = coverers(cell_number);
  std::vector<uint64_t> numbers;
  for (const uint32_t number : receivers) numbers.push_back(number_at(cell, receiver_of(number).places[cell_number].at));
  const uint64_t least = number_at(cell, std::max(cell.least, cell.first));
  size_t to = cell.entries.size();
  for (size_t from = to; from-- > 0;) {
    if (cell.entries[from].message != MessageTable::none) cell.entries[--to] = cell.entries[from];
  }
  cell.entries.pop_front(to);
  entries_ -= to;
  cell.gone = 0;
  cell.entries.fit(busy_kept_bytes);
  for (size_t i = 0; i < receivers.size(); ++i) receiver_of(receivers[i]).places[cell_number].at = find(cell, numbers[i]);
  cell.least = find(cell, least);
}

bool SelectiveBroadcaster::settle(size_t bytes_max) {
  if (settling_.empty() && settling_cell_.cell == GridIndex::none && unsettled_above_ == 0) {
    settling_.swap(dirty_);
    unsettled_above_ = options_.receivers;
  }
  for (size_t bytes = 0; bytes < bytes_max;) {
    if (settling_cell_.cell != GridIndex::none) {
      bytes += go_on(settling_cell_, bytes_max - bytes);
    } else if (!settling_.empty()) {
      if (grid_.exists(settling_.back())) begin_settling(settling_cell_, settling_.back());
      settling_.pop_back();
      bytes += options_.receivers;  // who matches it is written down for each
    } else if (unsettled_above_ > 0) {
      bytes += bytes_per_byte_told * (1 + take_unsettled(unsettled_above_));
      Receiver& receiver = receiver_of(unsettled_above_--);
      if (receiver.foreign_rounds > 0 && --receiver.foreign_rounds == 0) receiver.foreign.clear();
    } else {
      return false;
    }
  }
  return true;
}

void SelectiveBroadcaster::settle_all() {
  while (settle(SIZE_MAX)) continue;  // the rest of the parts
  while (settle(SIZE_MAX)) continue;
}

/// Of a receiver that is about to go: it is not looked at any more afterwards.
void SelectiveBroadcaster::settle_for(uint32_t number) {
  const Receiver& receiver = receiver_of(number);
  for (const auto* cells : {&settling_, &dirty_}) {
    for (const uint32_t cell : *cells) {  // one may be in both: what is added twice is there once
      if (grid_.exists(cell) && !receiver.places.contains(cell)) add_unsettled(number, cells_[cell], cells_[cell].left);
    }
  }
  const Settling& begun = settling_cell_;
  if (begun.cell != GridIndex::none && begun.next <= number && !begun.matches[number]) add_unsettled(number, cells_[begun.cell], begun.left);
  take_unsettled(number);
}

/// Of a receiver that is about to come back: what has left so far does not concern it, and for the others it may wait for its turn.
void SelectiveBroadcaster::note_foreign(uint32_t number) {
  Receiver& receiver = receiver_of(number);
  receiver.foreign.clear();
  receiver.foreign_rounds = 2;  // one may be under way, and what it has not begun with comes in the next
  // All of it, as settle() may ask for more of a cell that its list matches.
  const auto add = [&receiver](const std::map<uint64_t, SenderSets>& left) {
    for (const auto& [cut, sets] : left) receiver.foreign += sets;
  };
  for (const auto* cells : {&settling_, &dirty_}) {
    for (const uint32_t cell : *cells) {
      if (grid_.exists(cell)) add(cells_[cell].left);
    }
  }
  add(settling_cell_.left);
}

size_t SelectiveBroadcaster::take_unsettled(uint32_t number) {
  const SenderSets& foreign = receiver_of(number).foreign;
  if (!foreign.empty()) account_of(number).unsettled -= foreign;
  return foreign.bytes() + skip_unsettled(number);
}

void SelectiveBroadcaster::begin_settling(Settling& settling, uint32_t cell_number) {
  settling.left = std::exchange(cells_[cell_number].left, {});
  if (settling.left.empty()) return;
  settling.cell = cell_number;
  settling.next = 1;
  settling.matches.assign(options_.receivers + 1, 0);
  for (const uint32_t number : coverers(cell_number)) settling.matches[number] = 1;
}

/// Returns how many bytes of sets were added to those of receivers, each of which gets all or nothing, and something for each look.
size_t SelectiveBroadcaster::go_on(Settling& settling, size_t bytes_max) {
  Cell& cell = cells_[settling.cell];
  size_t added_bytes = 0;
  for (; settling.next <= options_.receivers; ++settling.next) {
    if (added_bytes >= bytes_max) return added_bytes;
    if (settling.matches[settling.next] || !account(settling.next).expected()) continue;
    added_bytes += bytes_per_look + add_unsettled(settling.next, cell, settling.left);
  }
  settling.left.clear();
  settling.cell = GridIndex::none;
  // What is passed and gone need not be remembered.
  if (cell.left.empty()) {
    const uint64_t lowest = cell.entries.empty() ? UINT64_MAX : cell.entries.front().number;
    passed_ -= std::erase_if(cell.passed, [lowest](const auto& one) { return one.second <= lowest; });
    std::erase_if(cell.cuts, [lowest](uint64_t cut) { return cut <= lowest; });
  }
  return added_bytes;
}

/// Whose list does not match the cell.
size_t SelectiveBroadcaster::add_unsettled(uint32_t number, const Cell& cell, const std::map<uint64_t, SenderSets>& left) {
  const auto passed = cell.passed.find(number);
  const uint64_t has_below = passed == cell.passed.end() ? 0 : passed->second;
  size_t added_bytes = 0;
  for (auto sets = left.lower_bound(has_below); sets != left.end(); ++sets) {
    account_of(number).unsettled += sets->second;
    added_bytes += sets->second.bytes();
  }
  return added_bytes;
}

/// All that left a cell so far. Returns as go_on() does.
size_t SelectiveBroadcaster::settle_cell(uint32_t cell_number) {
  size_t added_bytes = 0;
  if (settling_cell_.cell == cell_number) added_bytes += go_on(settling_cell_, SIZE_MAX);
  Settling rest;
  begin_settling(rest, cell_number);
  if (rest.cell != GridIndex::none) added_bytes += go_on(rest, SIZE_MAX);
  return added_bytes;
}

/// Keeps the memory where it is little: the next time needs it again.
void SelectiveBroadcaster::forget(std::vector<uint32_t>& list) {
  list.clear();
  n2nq::fit(list, list_kept_bytes);
}

void SelectiveBroadcaster::trim() {
  for (const uint32_t cell : emptied_) {
    if (grid_.exists(cell) && cells_[cell].entries.empty()) grid_.note_empty(cell);
  }
  forget(emptied_);
  for (const uint32_t cell : sparse_) {
    if (grid_.exists(cell) && is_sparse(cells_[cell])) close_up(cell);
  }
  forget(sparse_);
}

/// Messages below this number expire: who has its place before it will not get them.
void SelectiveBroadcaster::expire_places(uint32_t cell_number, uint64_t below, std::vector<uint32_t>& moved) {
  Cell& cell = cells_[cell_number];
  const uint64_t to = find(cell, below);
  struct Passed {
    SenderSets sets;
    uint64_t bytes = 0;
  };
  const auto passed_from = [&](uint64_t at) {
    Passed passed;
    passed.bytes = walk(cell, at, to, passed.sets);
    return passed;
  };
  std::optional<Passed> all;
  for (const uint32_t number : coverers(cell_number)) {
    Place& place = receiver_of(number).places[cell_number];
    if (place.at >= to) continue;
    // Most of those that lag have not even the first one: they share one walk.
    const bool has_none = place.at == cell.first;
    if (has_none && !all) all = passed_from(cell.first);
    const Passed own = has_none ? Passed() : passed_from(place.at);
    const Passed& passed = has_none ? *all : own;
    skip(number, SkipReason::expired, passed.sets);
    if (!options_.requests) receiver_of(number).bytes_passed += passed.bytes;
    leave_place(cell, place.at);
    place.at = step(cell, to);
    put_place(cell, place.at);
    moved.push_back(number);
  }
}

void SelectiveBroadcaster::expire(int64_t now_ns) {
  auto& [handles, touched, moved] = expiring_;
  for (uint32_t handle = messages_.oldest(); handle != MessageTable::none; handle = messages_.newer(handle)) {
    if (!is_expired(record_of(handle), now_ns)) break;
    handles.push_back(handle);
  }
  if (handles.empty()) return;
  const uint64_t below = messages_[handles.back()].number + 1;
  for (const uint32_t handle : handles) touched.push_back(messages_[handle].cell);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const uint32_t cell : touched) {
    expire_places(cell, below, moved);
    // Places that are left are behind what goes; `least` would otherwise let it go as if all had it.
    cells_[cell].least = std::max(cells_[cell].least, find(cells_[cell], below));
  }
  for (const uint32_t handle : handles) take_out(handle);
  for (const uint32_t cell : touched) move_least(cell);
  for (const uint32_t number : moved) fix_next(number);
  for (uint32_t number = 1; number <= options_.receivers; ++number) expire_owed(number);
  for (std::vector<uint32_t>& list : expiring_) forget(list);
  trim();
}

int64_t SelectiveBroadcaster::next_expiry_ns() const {
  if (messages_.oldest() == MessageTable::none) return 0;
  return wire::record_taken_in_ns(record_of(messages_.oldest())) + options_.retention_ns;
}

}  // namespace n2nq
