// SPDX-License-Identifier: GPL-3.0-or-later
// The lines about clocks that logs need before their next line. A log that is written to has each of them; one that is silent for so long
// that `kept_max` and more have come meanwhile is spared the oldest, which later ones have replaced. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "workers/recorder/clock_note.h"

namespace n2nq::worker {

class ClockLines {
 public:
  static constexpr std::size_t kept_max = 100'000;

  void add(const ClockNote& note) {
    lines_.push_back({end_++, note.whose == ClockNote::Whose::own, note.text()});
    if (lines_.size() > kept_max) forget_one();
  }
  /// How many have ever come: what a log that has them all is to ask from next time.
  std::uint64_t end() const { return end_; }
  /// Those from the `from`-th on, as far as they are kept: of each clock the last always is.
  template <class Each>
  void each_from(std::uint64_t from, Each&& each) const {
    if (from >= end_) return;
    const auto is_before = [](const Line& line, std::uint64_t at) { return line.number < at; };
    const auto first = std::lower_bound(lines_.begin(), lines_.end(), from, is_before);
    std::for_each(first, lines_.end(), [&each](const Line& line) { each(line.text); });
  }

 private:
  struct Line {
    std::uint64_t number;
    bool own;
    std::string text;
  };

  /// The oldest that a later one of the same clock replaces: one of the two oldest of different clocks, or any of a longer run.
  void forget_one() {
    const bool own = lines_.front().own;
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      if (lines_[i].own == own) return lines_.pop_front();
      if (i + 1 < lines_.size() && lines_[i + 1].own == lines_[i].own) {
        lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
    }
  }

  std::deque<Line> lines_;
  std::uint64_t end_ = 0;
};

}  // namespace n2nq::worker
