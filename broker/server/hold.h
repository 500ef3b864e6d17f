// SPDX-License-Identifier: GPL-3.0-or-later
// Why no sender is read, and when that begins and ends. One thread.
//
// At the memory budget nobody is read until an eighth of it is free. For the receivers' sake that begins when most of them are behind: then it
// is the load that is too high, not a receiver that is too slow, and nobody is to be cut off for it; the last of them are waited for too, for a
// while. (docs/decisions/0002-holding-senders-back.md)
#pragma once

#include <cstddef>
#include <cstdint>

#include "broker/net/clock.h"

namespace n2nq {

enum class Hold {
  none,
  memory,     // the memory budget is used up
  receivers,  // most receivers are behind
};

class HoldRule {
 public:
  explicit HoldRule(size_t memory_bytes_max) : memory_bytes_max_(memory_bytes_max) {}

  /// What senders are held back for from now on, who are for `present`. `behind` of `connected` receivers are. What is held for the receivers'
  /// sake may lie close to the budget, and is no shortage of memory.
  Hold next(Hold present, size_t memory_bytes, uint32_t behind, uint32_t connected, int64_t now_ns) {
    waits_for_receivers_ = is_to_wait(behind, connected, now_ns);
    const size_t bytes_max = present == Hold::memory ? memory_bytes_max_ / 8 * resume_eighths : memory_bytes_max_;
    if (memory_bytes >= bytes_max) return Hold::memory;
    return waits_for_receivers_ ? Hold::receivers : Hold::none;
  }

  /// Since most were behind, shortage of memory or not.
  bool waits_for_receivers() const { return waits_for_receivers_; }

 private:
  static constexpr size_t resume_eighths = 7;  // a gap, so that they are not stopped and started for each message
  static constexpr int64_t last_ones_ns = 2 * net::ns_per_s;

  bool is_to_wait(uint32_t behind, uint32_t connected, int64_t now_ns) {
    if (2 * behind > connected) {
      few_behind_since_ns_ = 0;
      return true;
    }
    if (!waits_for_receivers_ || behind == 0) return false;
    if (few_behind_since_ns_ == 0) few_behind_since_ns_ = now_ns;
    return now_ns - few_behind_since_ns_ < last_ones_ns;
  }

  size_t memory_bytes_max_;
  bool waits_for_receivers_ = false;  // when it was asked last
  int64_t few_behind_since_ns_ = 0;   // 0: most were then
};

}  // namespace n2nq
