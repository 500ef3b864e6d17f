// SPDX-License-Identifier: GPL-3.0-or-later
// When a thread that was woken lets those go first whose core it has got (sched_yield).
//
// Who writes to a socket is often taken off its core for whom that wakes, in the middle of its system call: it then waits, runnable, while the
// woken one works and wakes others, who find that core taken. It needs some 10 us to finish and to sleep; let it. Somebody else who computes
// would take a millisecond and more each time: after a yield that took long there is none for a while, each time for longer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace n2nq::net {

class Courtesy {
 public:
  static constexpr int64_t long_ns = 100'000;
  static constexpr int64_t pause_min_ns = 2'000'000'000, pause_max_ns = 64'000'000'000;
  /// So many yields in a row that were not long: the next pause is a short one again.
  static constexpr int short_ones_min = 1000;

  bool due(int64_t now_ns) const { return now_ns >= again_ns_; }
  void yielded(int64_t from_ns, int64_t to_ns) {
    if (to_ns - from_ns <= long_ns) {
      if (++short_ones_ >= short_ones_min) pause_ns_ = pause_min_ns;
      return;
    }
    short_ones_ = 0;
    again_ns_ = to_ns + pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, pause_max_ns);
  }

 private:
  int64_t again_ns_ = 0;
  int64_t pause_ns_ = pause_min_ns;
  int short_ones_ = 0;
};

}  // namespace n2nq::net
