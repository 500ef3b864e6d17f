// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/index_set.h"

#include <algorithm>
#include <charconv>

namespace n2nq::wire {

namespace {

/// The first run that ends at or behind `index`.
template <typename Runs>
auto first_ending_from(Runs& runs, uint64_t index) {
  return std::lower_bound(runs.begin(), runs.end(), index, [](const IndexSet::Run& run, uint64_t value) { return run.to < value; });
}

uint64_t length(const IndexSet::Run& run) {
  return run.to - run.from + 1;
}

bool take_number(std::string_view& text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_letter(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

bool IndexSet::add(uint64_t index) {
  if (!runs_.empty() && index == runs_.back().to + 1 && index != 0) {  // by far the most frequent: the next one
    runs_.back().to = index;
    ++count_;
    return true;
  }
  return add_range(index, index) == 1;
}

uint64_t IndexSet::add_range(uint64_t from, uint64_t to) {
  if (from > to) return 0;
  if (runs_.empty() || (from > runs_.back().to && from - 1 > runs_.back().to)) {
    runs_.push_back({from, to});
    count_ += to - from + 1;
    return to - from + 1;
  }
  // The runs that overlap or touch the range become one with it.
  const auto first = first_ending_from(runs_, from == 0 ? 0 : from - 1);
  auto last = first;
  Run joined{from, to};
  uint64_t held = 0;
  for (; last != runs_.end() && (last->from <= to || last->from - 1 <= to); ++last) {
    joined.from = std::min(joined.from, last->from);
    joined.to = std::max(joined.to, last->to);
    held += length(*last);
  }
  if (first == last) {
    runs_.insert(first, joined);
  } else {
    *first = joined;
    runs_.erase(first + 1, last);
  }
  const uint64_t added = length(joined) - held;
  count_ += added;
  return added;
}

bool IndexSet::remove(uint64_t index) {
  const auto run = first_ending_from(runs_, index);
  if (run == runs_.end() || run->from > index) return false;
  --count_;
  if (run->from == run->to) {
    runs_.erase(run);
  } else if (run->from == index) {
    ++run->from;
  } else if (run->to == index) {
    --run->to;
  } else {
    const Run behind{index + 1, run->to};
    run->to = index - 1;
    runs_.insert(run + 1, behind);
  }
  return true;
}

void IndexSet::clear() {
  runs_.clear();
  count_ = 0;
}

bool IndexSet::contains(uint64_t index) const {
  const auto run = first_ending_from(runs_, index);
  return run != runs_.end() && run->from <= index;
}

IndexSet& IndexSet::operator+=(const IndexSet& other) {
  if (&other == this) return *this;
  for (const Run& run : other.runs_) add_range(run.from, run.to);
  return *this;
}

IndexSet& IndexSet::operator-=(const IndexSet& other) {
  IndexSet left;
  auto taken = other.runs_.begin();
  for (Run run : runs_) {
    while (taken != other.runs_.end() && taken->to < run.from) ++taken;
    bool used_up = false;
    for (auto it = taken; it != other.runs_.end() && it->from <= run.to; ++it) {
      if (it->from > run.from) left.add_range(run.from, it->from - 1);
      used_up = it->to >= run.to;
      if (used_up) break;
      run.from = it->to + 1;
    }
    if (!used_up) left.add_range(run.from, run.to);
  }
  *this = std::move(left);
  return *this;
}

std::string IndexSet::text() const {
  std::string out;
  for (const Run& run : runs_) {
    if (!out.empty()) out += ',';
    out += std::to_string(run.from);
    if (run.to != run.from) out += '-' + std::to_string(run.to);
  }
  return out;
}

std::optional<IndexSet> IndexSet::parse(std::string_view text) {
  IndexSet set;
  while (!text.empty()) {
    Run run;
    if (!take_number(text, run.from)) return std::nullopt;
    run.to = run.from;
    if (take_letter(text, '-') && !take_number(text, run.to)) return std::nullopt;
    const bool rising = set.runs_.empty() || run.from > set.runs_.back().to;
    if (!rising || run.from > run.to) return std::nullopt;
    set.add_range(run.from, run.to);
    if (!text.empty() && (!take_letter(text, ',') || text.empty())) return std::nullopt;
  }
  return set;
}

IndexSet operator+(IndexSet left, const IndexSet& right) {
  left += right;
  return left;
}

IndexSet operator-(IndexSet left, const IndexSet& right) {
  left -= right;
  return left;
}

IndexSet below(const IndexSet& set, uint64_t border) {
  IndexSet found;
  for (const IndexSet::Run& run : set.runs()) {
    if (run.from >= border) break;
    found.add_range(run.from, std::min(run.to, border - 1));
  }
  return found;
}

IndexSet from_on(const IndexSet& set, uint64_t border) {
  IndexSet found;
  for (const IndexSet::Run& run : set.runs()) {
    if (run.to >= border) found.add_range(std::max(run.from, border) - border, run.to - border);
  }
  return found;
}

}  // namespace n2nq::wire
