// SPDX-License-Identifier: GPL-3.0-or-later
// How much earlier than a message is due its timer is set, because a sleeping thread always wakes late. Learns the lateness that one
// wake-up in four stays below; that one wakes a little early and waits the rest awake, at most lead_ns_max. Pure: knows no clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace n2nq::worker {

class WakeLead {
 public:
  static constexpr std::int64_t lead_ns_max = 50'000;

  std::int64_t lead_ns() const { return lead_ns_; }

  /// A thread that was to wake at one instant woke `late_ns` after it.
  void woke(std::int64_t late_ns) {
    // Steps of these sizes balance where the lateness is below in 1 of 4 cases: a running quantile without any memory of samples.
    lead_ns_ = std::clamp<std::int64_t>(lead_ns_ + (late_ns > lead_ns_ ? step_ns : -3 * step_ns), 0, lead_ns_max);
  }

 private:
  static constexpr std::int64_t step_ns = 250;

  std::int64_t lead_ns_ = 0;
};

}  // namespace n2nq::worker
