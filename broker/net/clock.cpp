// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/clock.h"

#include <algorithm>
#include <atomic>
#include <ctime>

namespace n2nq::net {

namespace {

constexpr int64_t ppb = 1'000'000'000;

std::atomic<bool> test_clock_is_set{false};
// Written once, before test_clock_is_set.
TestClock test_clock;
int64_t test_clock_since_ns = 0;

int64_t kernel_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * ns_per_s + now.tv_nsec;
}

__extension__ using Wide = __int128;

/// Nanoseconds times billionths may be more than 64 bits hold.
int64_t scaled(int64_t ns, int64_t numerator, int64_t denominator) {
  return static_cast<int64_t>(Wide{ns} * numerator / denominator);
}

int64_t by_test_clock(int64_t kernel_ns) {
  const int64_t since_ns = kernel_ns - test_clock_since_ns;
  const bool stepped = since_ns >= test_clock.step_after_ns;
  return kernel_ns + test_clock.offset_ns + scaled(since_ns, test_clock.drift_ppb, ppb) + (stepped ? test_clock.step_ns : 0);
}

}  // namespace

int64_t now_ns() {
  const int64_t now = kernel_now_ns();
  if (has_test_clock()) [[unlikely]]
    return by_test_clock(now);
  return now;
}

void set_test_clock(const TestClock& clock) {
  test_clock = clock;
  test_clock_since_ns = kernel_now_ns();
  test_clock_is_set.store(true, std::memory_order_release);
}

bool has_test_clock() {
  return test_clock_is_set.load(std::memory_order_acquire);
}

int64_t kernel_timer_ns(int64_t at_ns) {
  if (!has_test_clock()) [[likely]]
    return at_ns;
  const bool step_to_come = test_clock.step_ns != 0 && kernel_now_ns() - test_clock_since_ns < test_clock.step_after_ns;
  const int64_t stepped_ns = test_clock.step_ns != 0 && !step_to_come ? test_clock.step_ns : 0;
  const int64_t since_ns = scaled(at_ns - test_clock.offset_ns - stepped_ns - test_clock_since_ns, ppb, ppb + test_clock.drift_ppb);
  const int64_t kernel_ns = test_clock_since_ns + since_ns;
  // Whatever is due behind a step may be due at once when it comes.
  return step_to_come ? std::min(kernel_ns, test_clock_since_ns + test_clock.step_after_ns) : kernel_ns;
}

}  // namespace n2nq::net
