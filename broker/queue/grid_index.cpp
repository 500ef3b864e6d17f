// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/grid_index.h"

#include <algorithm>
#include <tuple>

namespace n2nq {

namespace {

auto in_order(const wire::Rule& rule) {
  return std::tie(rule.sender_first, rule.sender_last, rule.size_min, rule.size_max);
}

}  // namespace

// --- one axis ---

size_t GridIndex::Axis::at(uint64_t border) const {
  return static_cast<size_t>(std::lower_bound(lines.begin(), lines.end(), border) - lines.begin());
}

bool GridIndex::Axis::has(uint64_t border) const {
  const size_t place = at(border);
  return place < lines.size() && lines[place] == border;
}

bool GridIndex::Axis::use(uint64_t border) {
  const size_t place = at(border);
  const bool is_new = place == lines.size() || lines[place] != border;
  if (is_new) {
    lines.insert(lines.begin() + static_cast<ptrdiff_t>(place), border);
    users.insert(users.begin() + static_cast<ptrdiff_t>(place), 0);
  }
  ++users[place];
  return is_new;
}

void GridIndex::Axis::give_back(uint64_t border) {
  --users[at(border)];
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

GridIndex::GridIndex(uint32_t senders, Contents& contents) : contents_(contents) {
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

bool GridIndex::covers(const Interest& interest, const Area& area) {
  // No border of the list runs through the cell: one corner speaks for all of it.
  return std::any_of(interest.list.begin(), interest.list.end(), [&area](const wire::Rule& rule) {
    return area.sender_begin >= rule.sender_first && area.sender_begin <= rule.sender_last && area.size_begin >= rule.size_min &&
           area.size_begin <= rule.size_max;
  });
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

/// Says why there is none; empty when there is.
std::string GridIndex::make_room(Axis& axis, const std::vector<uint64_t>& wanted, const char* name) {
  const auto lines_then = [&] {
    return axis.lines.size() +
           static_cast<size_t>(std::count_if(wanted.begin(), wanted.end(), [&axis](uint64_t border) { return !axis.has(border); }));
  };
  if (lines_then() <= lines_max) return {};
  const size_t lines_before = axis.lines.size();
  axis.drop_unused();
  if (axis.lines.size() < lines_before) retire_all();
  const size_t lines = lines_then();
  if (lines <= lines_max) return {};
  return "with this list all lists in force would have " + std::to_string(lines) + " borders between " + name + ", the limit is " +
         std::to_string(lines_max);
}

GridIndex::Taken GridIndex::take(List list) {
  if (std::string refusal = refusal_of(list); !refusal.empty()) return {none, std::move(refusal)};
  std::sort(list.begin(), list.end(), [](const wire::Rule& x, const wire::Rule& y) { return in_order(x) < in_order(y); });
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (const auto known = by_list_.find(list); known != by_list_.end()) {
    ++interests_[known->second].holders;
    return {known->second, {}};
  }
  const auto sender_borders = borders(list, senders_, true);
  const auto size_borders = borders(list, sizes_, false);
  for (std::string refusal : {make_room(senders_, sender_borders, "senders"), make_room(sizes_, size_borders, "sizes")}) {
    if (!refusal.empty()) return {none, std::move(refusal)};
  }
  for (const uint64_t border : sender_borders) {
    if (senders_.use(border)) draw(border, true);
  }
  for (const uint64_t border : size_borders) {
    if (sizes_.use(border)) draw(border, false);
  }
  uint32_t interest = static_cast<uint32_t>(interests_.size());
  if (free_interests_.empty()) {
    interests_.emplace_back();
  } else {
    interest = free_interests_.back();
    free_interests_.pop_back();
  }
  rules_held_ += list.size();
  by_list_.emplace(list, interest);
  interests_[interest] = {std::move(list), 1};
  for (Cell& cell : cells_) {
    if (cell.exists && covers(interests_[interest], cell.area)) cell.interests.push_back(interest);
  }
  return {interest, {}};
}

void GridIndex::release(uint32_t number) {
  Interest& interest = interests_[number];
  if (--interest.holders > 0) return;
  for (const uint64_t border : borders(interest.list, senders_, true)) senders_.give_back(border);
  for (const uint64_t border : borders(interest.list, sizes_, false)) sizes_.give_back(border);
  for (Cell& cell : cells_) {
    if (cell.exists) std::erase(cell.interests, number);
  }
  rules_held_ -= interest.list.size();
  by_list_.erase(interest.list);
  interest.list = {};
  free_interests_.push_back(number);
}

// --- cells ---

void GridIndex::draw(uint64_t border, bool on_senders) {
  const uint32_t end = cells_end();  // what is split off begins at the border
  for (uint32_t cell = 0; cell < end; ++cell) {
    if (!cells_[cell].exists) continue;
    const Area& area = cells_[cell].area;
    const bool crosses =
        on_senders ? area.sender_begin < border && border < area.sender_end : area.size_begin < border && border < area.size_end;
    if (!crosses) continue;
    // Of what is empty nothing stays: else there would be a cell for each pair of lines.
    if (contents_.is_empty(cell)) {
      drop(cell);
      continue;
    }
    const uint32_t into = split(cell, border, on_senders);
    for (const uint32_t half : {cell, into}) {
      if (contents_.is_empty(half)) drop(half);
    }
  }
}

uint32_t GridIndex::split(uint32_t from, uint64_t border, bool on_senders) {
  Area upper = cells_[from].area;
  (on_senders ? upper.sender_begin : upper.size_begin) = border;
  const uint32_t into = new_cell(upper);
  Area& lower = cells_[from].area;
  (on_senders ? lower.sender_end : lower.size_end) = border;
  cells_[into].interests = cells_[from].interests;
  cells_[into].retired = cells_[from].retired;
  if (!cells_[into].retired) arrivals_[key_of(upper)] = into;
  last_cell_ = none;
  contents_.on_cell_split(from, into);
  return into;
}

uint32_t GridIndex::new_cell(const Area& area) {
  uint32_t cell = static_cast<uint32_t>(cells_.size());
  if (free_cells_.empty()) {
    cells_.emplace_back();
  } else {
    cell = free_cells_.back();
    free_cells_.pop_back();
  }
  cells_[cell] = {area, {}, true, false};
  return cell;
}

uint32_t GridIndex::cell_of(uint32_t sender, uint32_t size) {
  if (last_cell_ != none && cells_[last_cell_].area.contains(sender, size)) return last_cell_;
  Area area;
  senders_.around(sender, area.sender_begin, area.sender_end);
  sizes_.around(size, area.size_begin, area.size_end);
  const auto [place, is_new] = arrivals_.try_emplace(key_of(area), none);
  if (is_new) {
    const uint32_t cell = new_cell(area);
    place->second = cell;
    for (const auto& [list, interest] : by_list_) {
      if (covers(interests_[interest], area)) cells_[cell].interests.push_back(interest);
    }
    contents_.on_cell_made(cell);
  }
  return last_cell_ = place->second;
}

void GridIndex::note_empty(uint32_t cell) {
  if (cells_[cell].retired || !contents_.keeps_empty()) drop(cell);
}

void GridIndex::drop(uint32_t cell) {
  if (!cells_[cell].retired) arrivals_.erase(key_of(cells_[cell].area));
  last_cell_ = none;
  contents_.on_cell_dropped(cell);
  cells_[cell] = Cell();
  free_cells_.push_back(cell);
}

void GridIndex::retire_all() {
  arrivals_.clear();
  last_cell_ = none;
  for (uint32_t cell = 0; cell < cells_end(); ++cell) {
    if (!cells_[cell].exists) continue;
    cells_[cell].retired = true;
    if (contents_.is_empty(cell)) note_empty(cell);
  }
}

size_t GridIndex::bytes_held() const {
  return cells() * (sizeof(Cell) + 64) + 2 * rules_held_ * sizeof(wire::Rule);
}

}  // namespace n2nq
