// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/clock.h"

#include <ctime>

namespace n2nq::net {

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * ns_per_s + now.tv_nsec;
}

}  // namespace n2nq::net
