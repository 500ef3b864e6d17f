// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace n2nq::net {

constexpr int64_t ns_per_ms = 1'000'000;
constexpr int64_t ns_per_s = 1'000'000'000;

/// CLOCK_MONOTONIC in nanoseconds: the clock of every stamp. Any thread.
int64_t now_ns();

}  // namespace n2nq::net
