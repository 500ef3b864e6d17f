// SPDX-License-Identifier: GPL-3.0-or-later
// What receivers that are away miss together: noted once, and for each of them only when it comes back or its books are closed. To note it
// for each of them each time would cost (receivers) x (senders), a hundred times a second, while the others wait.
//
//   parts:   | from when A came | from when B came | from when C came |   A misses all three, B the last two, C the last
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "broker/queue/sender_sets.h"

namespace n2nq {

class SharedBooks {
 public:
  /// Their numbers are 1 to `receivers`.
  explicit SharedBooks(uint32_t receivers) : begins_(receivers, 0) {}

  /// From now on it misses what the others miss. Nothing where that is so already.
  void add(uint32_t receiver) {
    size_t& begin = begins_[receiver - 1];
    if (begin != 0) return;
    if (parts_.empty() || !parts_.back().empty()) parts_.emplace_back();
    begin = parts_.size();
    ++members_;
  }
  /// All of them miss it.
  void note(const SenderSets& sets) {
    if (members_ > 0) parts_.back() += sets;
  }
  /// It misses nothing of this any more, but for what it has missed so far: `take` gets that, in sets that do not overlap. O(receivers), and
  /// what is in these.
  template <class Take>
  void remove(uint32_t receiver, Take&& take) {
    const size_t begin = std::exchange(begins_[receiver - 1], 0);
    if (begin == 0) return;
    for (size_t part = begin; part <= parts_.size(); ++part) take(std::as_const(parts_[part - 1]));
    if (--members_ == 0) return parts_.clear();
    if (std::find(begins_.begin(), begins_.end(), begin) != begins_.end()) return;
    // Nobody else begins there: as many parts as begins, at most.
    if (begin > 1) parts_[begin - 2] += parts_[begin - 1];
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(begin) - 1);
    for (size_t& other : begins_) other -= other > begin;
  }

  /// What it would take in memory, and as text, if each had its own. O(receivers).
  size_t bytes() const { return of_each(&SenderSets::bytes); }
  size_t text_bytes() const { return of_each(&SenderSets::text_bytes); }

 private:
  size_t of_each(size_t (SenderSets::*size)() const) const {
    std::vector<size_t> from(parts_.size() + 1, 0);  // from a part to the last
    for (size_t part = parts_.size(); part > 0; --part) from[part - 1] = from[part] + (parts_[part - 1].*size)();
    size_t sum = 0;
    for (const size_t begin : begins_) sum += begin == 0 ? 0 : from[begin - 1];
    return sum;
  }

  std::vector<SenderSets> parts_;
  std::vector<size_t> begins_;  // by receiver: its first part, from 1; 0: it is none of them
  size_t members_ = 0;
};

}  // namespace n2nq
