// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/grid_index.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "broker/queue/ring.h"

namespace n2nq {

namespace {

/// Taking one away takes some 10 ns, and as much in the owner's list.
constexpr size_t slots_given_back_at_once = 8192;
/// More than one, so that what is too much comes to its end; and few, as a message waits for it.
constexpr size_t looks_for_empty_at_once = 16;

auto in_order(const wire::Rule& rule) {
  return std::tie(rule.sender_first, rule.sender_last, rule.size_min, rule.size_max);
}

}  // namespace

// --- one axis ---

size_t GridIndex::Axis::at(uint64_t border) const {
  return static_cast<size_t>(std::lower_bound(lines.begin(), lines.end(), border) - lines.begin());
}

void GridIndex::Axis::use(const std::vector<uint64_t>& borders, size_t share) {
  beyond_shares += borders.size() - std::min(borders.size(), share);
  std::vector<uint64_t> all;
  std::vector<uint32_t> all_users;
  size_t line = 0;
  for (const uint64_t border : borders) {
    for (; line < lines.size() && lines[line] < border; ++line) {
      all.push_back(lines[line]);
      all_users.push_back(users[line]);
    }
    all.push_back(border);
    const bool is_there = line < lines.size() && lines[line] == border;
    all_users.push_back(is_there ? users[line++] + 1 : 1);
  }
  all.insert(all.end(), lines.begin() + static_cast<ptrdiff_t>(line), lines.end());
  all_users.insert(all_users.end(), users.begin() + static_cast<ptrdiff_t>(line), users.end());
  lines = std::move(all);
  users = std::move(all_users);
}

void GridIndex::Axis::give_back(const std::vector<uint64_t>& borders, size_t share) {
  beyond_shares -= borders.size() - std::min(borders.size(), share);
  for (const uint64_t border : borders) --users[at(border)];
}

size_t GridIndex::Axis::unused() const {
  return static_cast<size_t>(std::count(users.begin(), users.end(), 0u));
}

bool GridIndex::Axis::crosses(uint64_t interval_begin, uint64_t interval_end) const {
  const auto above = std::upper_bound(lines.begin(), lines.end(), interval_begin);
  return above != lines.end() && *above < interval_end;
}

void GridIndex::Axis::drop_unused() {
  size_t kept = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (users[i] == 0) continue;
    lines[kept] = lines[i];
    users[kept++] = users[i];
  }
  lines.resize(kept);
  users.resize(kept);
}

void GridIndex::Axis::around(uint64_t value, uint64_t& interval_begin, uint64_t& interval_end) const {
  const auto above = std::upper_bound(lines.begin(), lines.end(), value);
  interval_begin = above == lines.begin() ? begin : *std::prev(above);
  interval_end = above == lines.end() ? end : *above;
}

// --- lists ---

bool GridIndex::Earlier::operator()(const List& a, const List& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const wire::Rule& x, const wire::Rule& y) { return in_order(x) < in_order(y); });
}

GridIndex::GridIndex(uint32_t senders, uint32_t receivers, Contents& contents)
    : contents_(contents), share_(std::max(borders_share_min, borders_shared_out / receivers)) {
  senders_.begin = 1;
  senders_.end = uint64_t{senders} + 1;
  sizes_.end = uint64_t{1} << 32;
}

std::string GridIndex::refusal_of(const List& list) {
  if (list.size() > rules_max) {
    return "a list of " + std::to_string(list.size()) + " rules is over the limit of " + std::to_string(rules_max);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const wire::Rule& rule = list[i];
    const bool upside_down = rule.sender_first > rule.sender_last || rule.size_min > rule.size_max;
    if (!upside_down) continue;
    return "rule " + std::to_string(i + 1) + " has senders " + std::to_string(rule.sender_first) + " to " +
           std::to_string(rule.sender_last) + " and sizes " + std::to_string(rule.size_min) + " to " + std::to_string(rule.size_max) +
           "; the first must not be above the last";
  }
  return {};
}

bool GridIndex::covers(const List& list, const Area& area) {
  // No border of the list runs through the cell: one corner speaks for all of it.
  return std::any_of(list.begin(), list.end(), [&area](const wire::Rule& rule) {
    return area.sender_begin >= rule.sender_first && area.sender_begin <= rule.sender_last && area.size_begin >= rule.size_min &&
           area.size_begin <= rule.size_max;
  });
}

bool GridIndex::covers(uint32_t interest, uint32_t cell) const {
  const Interest& one = interests_[interest];
  const std::vector<uint32_t>& marked = cells_[cell].interests;
  if (one.entering || one.list.size() < marked.size()) return covers(one.list, cells_[cell].area);
  return std::find(marked.begin(), marked.end(), interest) != marked.end();
}

/// Rising, each once: what this list asks of one axis.
std::vector<uint64_t> GridIndex::borders(const List& list, const Axis& axis, bool senders) const {
  std::vector<uint64_t> found;
  for (const wire::Rule& rule : list) {
    const uint64_t begin = senders ? rule.sender_first : rule.size_min;
    const uint64_t end = (senders ? uint64_t{rule.sender_last} : uint64_t{rule.size_max}) + 1;
    if (axis.within(begin)) found.push_back(begin);
    if (axis.within(end)) found.push_back(end);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string GridIndex::refusal_of(const std::vector<uint64_t>& borders, const Axis& axis, const char* name) const {
  if (borders.size() > borders_max) {
    return "this list has " + std::to_string(borders.size()) + " borders between " + name + ", the limit is " + std::to_string(borders_max);
  }
  const size_t beyond = axis.beyond_shares + borders.size() - std::min(borders.size(), share_);
  if (beyond <= borders_for_all || borders.size() <= share_) return {};
  return "this list has " + std::to_string(borders.size()) + " borders between " + name + ", " + std::to_string(share_) +
         " are its receiver's share, and with the rest all lists in force would have " + std::to_string(beyond) +
         " beyond their shares; the limit is " + std::to_string(borders_for_all);
}

GridIndex::List GridIndex::ordered(List list) {
  std::sort(list.begin(), list.end(), [](const wire::Rule& x, const wire::Rule& y) { return in_order(x) < in_order(y); });
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::string GridIndex::begin(List list) {
  if (std::string refusal = refusal_of(list); !refusal.empty()) return refusal;
  list = ordered(std::move(list));
  beginning_ = {};
  if (const auto known = by_list_.find(list); known != by_list_.end()) {
    beginning_.known = known->second;
    return {};
  }
  beginning_.sender_borders = borders(list, senders_, true);
  beginning_.size_borders = borders(list, sizes_, false);
  beginning_.list = std::move(list);
  for (std::string refusal :
       {refusal_of(beginning_.sender_borders, senders_, "senders"), refusal_of(beginning_.size_borders, sizes_, "sizes")}) {
    if (!refusal.empty()) return refusal;
  }
  // Now and then, so that what lists of long ago asked for does not part the messages of today.
  if (senders_.unused() + sizes_.unused() > borders_max) {
    senders_.drop_unused();
    sizes_.drop_unused();
    retire_all();
  }
  senders_.use(beginning_.sender_borders, share_);
  sizes_.use(beginning_.size_borders, share_);
  beginning_.cells_end = cells_end();
  return {};
}

bool GridIndex::parted() const {
  return beginning_.next_cell == beginning_.cells_end;
}

size_t GridIndex::part(size_t units, std::string& refusal) {
  size_t done = 0;
  for (; done < units && !parted(); ++done) {
    const uint32_t number = beginning_.next_cell;
    const Cell& cell = cells_[number];
    const bool is_crossed = cell.exists && (senders_.crosses(cell.area.sender_begin, cell.area.sender_end) ||
                                            sizes_.crosses(cell.area.size_begin, cell.area.size_end));
    if (is_crossed && !contents_.is_empty(number)) {
      // Its parts are for new messages, too, where it was that.
      if (!is_retired(cell)) {
        retire(number);
        cells_[number].is_being_parted = true;
      }
      part_retired_ = !cells_[number].is_being_parted;
      done += contents_.move_parts(number, units - done);
      if (!contents_.parts_may_grow()) parts_.clear();
      // What comes in until the next time would be ahead of what is still to be moved: from now on such parts are for new messages alone.
      for (const uint64_t key : std::exchange(arrivals_made_, {})) parts_.erase(key);
      if (std::exchange(no_room_, false)) {
        abandon();
        refusal =
            "with this list the messages that wait now would be of too many different kinds; ask for fewer different senders and sizes, or "
            "when "
            "fewer messages wait";
        return done;
      }
      if (!contents_.is_empty(number)) continue;
    }
    // Of what is empty nothing stays: else there would be a cell for each pair of lines.
    if (is_crossed) drop(number);
    parts_.clear();
    ++beginning_.next_cell;
  }
  return done;
}

GridIndex::Part GridIndex::part_of(uint32_t from, uint32_t sender, uint32_t size) {
  Area area = area_of(sender, size);
  // What was retired before has another shape than today's lines give.
  const Area& whole = cells_[from].area;
  area = {std::max(area.sender_begin, whole.sender_begin), std::min(area.sender_end, whole.sender_end),
          std::max(area.size_begin, whole.size_begin), std::min(area.size_end, whole.size_end)};
  if (const auto part = parts_.find(key_of(area)); part != parts_.end()) return {part->second, false};
  if (!contents_.has_room_for_part(from)) {
    no_room_ = true;
    return {};
  }
  const uint32_t part = new_cell(area);
  cells_[part].interests = cells_[from].interests;
  count_marks(cells_[part].interests, 1);
  if (part_retired_ || !arrivals_.try_emplace(key_of(area), part).second) {
    cells_[part].era = 0;
  } else {
    arrivals_made_.push_back(key_of(area));
  }
  parts_.emplace(key_of(area), part);
  return {part, true};
}

/// The list is not to be in force after all.
void GridIndex::abandon() {
  senders_.give_back(beginning_.sender_borders, share_);
  sizes_.give_back(beginning_.size_borders, share_);
  senders_.drop_unused();
  sizes_.drop_unused();
  cells_[beginning_.next_cell].is_being_parted = false;
  parts_.clear();
  retire_all();
  beginning_ = {};
}

uint32_t GridIndex::enter() {
  if (beginning_.known != none) {
    ++interests_[beginning_.known].holders;
    return beginning_.known;
  }
  uint32_t interest = static_cast<uint32_t>(interests_.size());
  if (free_interests_.empty()) {
    interests_.emplace_back();
  } else {
    interest = free_interests_.back();
    free_interests_.pop_back();
  }
  by_list_.emplace(beginning_.list, interest);
  interests_[interest] = {std::move(beginning_.list), 1, true};
  beginning_ = {};
  return interest;
}

bool GridIndex::mark(uint32_t interest, uint32_t number) {
  Cell& cell = cells_[number];
  if (std::find(cell.interests.begin(), cell.interests.end(), interest) != cell.interests.end()) return true;
  if (!interests_[interest].entering || !covers(interests_[interest].list, cell.area)) return false;
  cell.interests.push_back(interest);
  count_marks({&interest, 1}, 1);
  return true;
}

bool GridIndex::leave(uint32_t number) {
  Interest& interest = interests_[number];
  if (--interest.holders > 0) return false;
  senders_.give_back(borders(interest.list, senders_, true), share_);
  sizes_.give_back(borders(interest.list, sizes_, false), share_);
  by_list_.erase(interest.list);
  return true;
}

void GridIndex::unmark(uint32_t interest, uint32_t cell) {
  std::vector<uint32_t>& interests = cells_[cell].interests;
  if (std::erase(interests, interest) == 0) return;
  count_marks({&interest, 1}, -1);
  n2nq::fit(interests, 0);
}

void GridIndex::forget(uint32_t interest) {
  interests_[interest] = {};
  free_interests_.push_back(interest);
}

GridIndex::Taken GridIndex::take(List list) {
  std::string refusal = begin(std::move(list));
  tidy(SIZE_MAX);
  while (refusal.empty() && !parted()) part(SIZE_MAX, refusal);
  tidy(SIZE_MAX);
  if (!refusal.empty()) return {none, std::move(refusal)};
  const uint32_t interest = enter();
  for (uint32_t cell = 0; cell < cells_end(); ++cell) {
    if (cells_[cell].exists) mark(interest, cell);
  }
  entered(interest);
  return {interest, {}};
}

void GridIndex::release(uint32_t interest) {
  if (!leave(interest)) return;
  for (uint32_t cell = 0; cell < cells_end(); ++cell) {
    if (cells_[cell].exists) unmark(interest, cell);
  }
  forget(interest);
}

// --- cells ---

void GridIndex::count_marks(std::span<const uint32_t> interests, ptrdiff_t more) {
  for (const uint32_t interest : interests) interests_[interest].marks += static_cast<size_t>(more);
  marks_ += static_cast<size_t>(more) * interests.size();
}

uint32_t GridIndex::new_cell(const Area& area) {
  uint32_t cell = static_cast<uint32_t>(cells_.size());
  if (existing_ == cells_.size()) {
    free_cells_.clear();  // those behind the end
    cells_.emplace_back();
  } else {
    std::pop_heap(free_cells_.begin(), free_cells_.end(), std::greater());
    cell = free_cells_.back();
    free_cells_.pop_back();
  }
  ++existing_;
  cells_[cell] = {area, {}, true, era_, false};
  return cell;
}

GridIndex::Area GridIndex::area_of(uint32_t sender, uint32_t size) const {
  Area area;
  senders_.around(sender, area.sender_begin, area.sender_end);
  sizes_.around(size, area.size_begin, area.size_end);
  return area;
}

uint32_t GridIndex::cell_of(uint32_t sender, uint32_t size) {
  if (last_cell_ != none && cells_[last_cell_].area.contains(sender, size)) return last_cell_;
  const Area area = area_of(sender, size);
  const auto [place, is_new] = arrivals_.try_emplace(key_of(area), none);
  if (is_new) {
    const uint32_t cell = new_cell(area);
    place->second = cell;
    for (const auto& [list, interest] : by_list_) {
      rules_looked_at_ += list.size();
      if (covers(list, area)) cells_[cell].interests.push_back(interest);
    }
    count_marks(cells_[cell].interests, 1);
    contents_.on_cell_made(cell);
  }
  return last_cell_ = place->second;
}

void GridIndex::note_empty(uint32_t cell) {
  if (is_retired(cells_[cell]) || !contents_.keeps_empty()) drop(cell);
}

void GridIndex::make_way_for(uint32_t cell) {
  for (size_t looks = looks_for_empty_at_once; looks > 0 && !contents_.keeps_empty(); --looks) {
    const uint32_t other = next_to_make_way_ < cells_end() ? next_to_make_way_ : 0;
    next_to_make_way_ = other + 1;
    if (other != cell && cells_[other].exists && contents_.is_empty(other)) drop(other);
  }
}

void GridIndex::drop(uint32_t cell) {
  const uint64_t key = key_of(cells_[cell].area);
  if (!is_retired(cells_[cell])) arrivals_.erase(key);
  if (const auto part = parts_.find(key); part != parts_.end() && part->second == cell) parts_.erase(part);
  last_cell_ = none;
  contents_.on_cell_dropped(cell);
  count_marks(cells_[cell].interests, -1);
  cells_[cell] = Cell();
  --existing_;
  free_cells_.push_back(cell);
  std::push_heap(free_cells_.begin(), free_cells_.end(), std::greater());
}

void GridIndex::fit() {
  if (!tidied()) return;
  for (size_t slots = slots_given_back_at_once; slots > 0 && !cells_.empty() && !cells_.back().exists; --slots) cells_.pop_back();
  n2nq::fit(cells_, idle_kept_bytes);
  if (free_cells_.size() > 2 * (cells_.size() - existing_) + 64) {
    std::erase_if(free_cells_, [this](uint32_t cell) { return cell >= cells_.size(); });
    std::make_heap(free_cells_.begin(), free_cells_.end(), std::greater());
    n2nq::fit(free_cells_, idle_kept_bytes);
  }
  n2nq::fit(arrivals_);
  n2nq::fit(former_arrivals_);
  n2nq::fit(parts_);
}

void GridIndex::retire(uint32_t cell) {
  arrivals_.erase(key_of(cells_[cell].area));
  last_cell_ = none;
  cells_[cell].era = 0;
}

void GridIndex::retire_all() {
  ++era_;
  last_cell_ = none;
  former_arrivals_.clear();
  former_arrivals_.swap(arrivals_);
  next_to_tidy_ = 0;
  tidy_end_ = cells_end();
}

size_t GridIndex::tidy(size_t units) {
  size_t done = 0;
  for (; done < units && !former_arrivals_.empty(); ++done) former_arrivals_.erase(former_arrivals_.begin());
  for (; done < units && next_to_tidy_ < tidy_end_; ++done) {
    const uint32_t cell = next_to_tidy_++;
    if (cells_[cell].exists && is_retired(cells_[cell]) && contents_.is_empty(cell)) drop(cell);
  }
  return done;
}

}  // namespace n2nq
