// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace n2nq::net {

constexpr int64_t ns_per_ms = 1'000'000;
constexpr int64_t ns_per_s = 1'000'000'000;

/// CLOCK_MONOTONIC in nanoseconds: the clock of every stamp. Any thread.
int64_t now_ns();

/// A clock that is wrong on purpose, so that what deals with the clocks of other hosts can be tested on one: `offset_ns` ahead, running
/// `drift_ppb` billionths too fast, and stepping by `step_ns` once, `step_after_ns` after it was set.
struct TestClock {
  int64_t offset_ns = 0;
  int64_t drift_ppb = 0;
  int64_t step_ns = 0;  // 0: never
  int64_t step_after_ns = 0;
};

/// From now on now_ns() says what this clock does. Any thread, once.
void set_test_clock(const TestClock& clock);
/// True once it was set: stamps are comparable with those of no other process.
bool has_test_clock();
/// What to tell the kernel's timers so that they ring when now_ns() says `at_ns`, or earlier. The same number without a test clock.
int64_t kernel_timer_ns(int64_t at_ns);

}  // namespace n2nq::net
