// SPDX-License-Identifier: GPL-3.0-or-later
// Whether senders are to be held back for the receivers' sake. One thread.
//
// That begins when most of the receivers are behind: then it is the load that is too high, not a receiver that is too slow, and nobody is to
// be cut off for it. Once that is so, the last of them are waited for too, for a while.
#pragma once

#include <cstdint>

#include "broker/net/clock.h"

namespace n2nq {

class ReceiverHold {
 public:
  /// `held`: senders are held back already, whatever for. `behind` of `connected` receivers are.
  bool is_wanted(bool held, uint32_t behind, uint32_t connected, int64_t now_ns) {
    if (2 * behind > connected) {
      few_behind_since_ns_ = 0;
      return true;
    }
    if (!held || behind == 0) return false;
    if (few_behind_since_ns_ == 0) few_behind_since_ns_ = now_ns;
    return now_ns - few_behind_since_ns_ < last_ones_ns;
  }

 private:
  static constexpr int64_t last_ones_ns = 2 * net::ns_per_s;

  int64_t few_behind_since_ns_ = 0;  // 0: most were, when it was asked last
};

}  // namespace n2nq
