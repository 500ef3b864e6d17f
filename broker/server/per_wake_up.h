// SPDX-License-Identifier: GPL-3.0-or-later
// So many of something in each wake-up, and not one more. One thread.
#pragma once

#include <cstdint>
#include <utility>

namespace n2nq {

class PerWakeUp {
 public:
  explicit PerWakeUp(int in_each) : in_each_(in_each) {}
  /// True when there is one left in the wake-up that began at `woke_ns`; it is taken then.
  bool take(int64_t woke_ns) {
    if (std::exchange(woke_ns_, woke_ns) != woke_ns) taken_ = 0;
    return taken_ < in_each_ && ++taken_ > 0;
  }

 private:
  int in_each_;
  int taken_ = 0;
  int64_t woke_ns_ = 0;
};

}  // namespace n2nq
