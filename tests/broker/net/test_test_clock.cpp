// SPDX-License-Identifier: GPL-3.0-or-later
// A clock that is set is set for good, so that each of these has a process of its own; and another one where a timer rang late, as on a busy
// machine: a clock that is wrong is so each time.
#include "broker/net/test_clock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/net/host_facts.h"

namespace n2nq::net {
namespace {

int64_t kernel_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * ns_per_s + now.tv_nsec;
}

/// How far the clock is ahead of the kernel's, to what one look costs.
int64_t ahead_ns() {
  const int64_t before = kernel_ns();
  const int64_t now = now_ns();
  return now - (before + kernel_ns()) / 2;
}

bool about(int64_t value, int64_t wanted) {
  const bool is = std::abs(value - wanted) < 20 * ns_per_ms;
  if (!is) std::fprintf(stderr, "%lld in place of %lld\n", static_cast<long long>(value), static_cast<long long>(wanted));
  return is;
}

/// Runs the loop until a timer at `at_ns` has rung; how late it was.
int64_t wait_until(int64_t at_ns) {
  EventLoop loop;
  int64_t rang_ns = 0;
  Timer timer(loop, [&] {
    rang_ns = now_ns();
    loop.stop();
  });
  timer.arm(at_ns);
  loop.run();
  return rang_ns - at_ns;
}

/// What it says in a process of its own, of up to twenty.
bool comes_true(bool (*is_so)()) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const pid_t child = fork();
    if (child == 0) _exit(is_so() ? 0 : 1);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (status == 0) return true;
  }
  return false;
}

TEST(TestClock, IsAheadAndStillRingsInTime) {
  EXPECT_TRUE(comes_true([] {
    set_test_clock({.offset_ns = -3600 * ns_per_s, .drift_ppb = 1'000'000});
    const int64_t begun = kernel_ns();
    const bool late = !about(wait_until(now_ns() + 100 * ns_per_ms), 0);
    return !late && about(ahead_ns(), -3600 * ns_per_s) && about(kernel_ns() - begun, 100 * ns_per_ms);
  }));
}

TEST(TestClock, StepsAndWakesWhoIsDueThen) {
  EXPECT_TRUE(comes_true([] {
    set_test_clock({.step_ns = ns_per_s, .step_after_ns = 100 * ns_per_ms});
    const int64_t begun = kernel_ns();
    // Due in one second by this clock, which is over as soon as it steps.
    wait_until(now_ns() + ns_per_s);
    return about(kernel_ns() - begun, 100 * ns_per_ms) && about(ahead_ns(), ns_per_s);
  }));
}

TEST(TestClock, StepsBackAndMakesWhoIsDueWait) {
  EXPECT_TRUE(comes_true([] {
    set_test_clock({.step_ns = -200 * ns_per_ms, .step_after_ns = 50 * ns_per_ms});
    const int64_t begun = kernel_ns();
    const bool late = !about(wait_until(now_ns() + 100 * ns_per_ms), 0);
    return !late && about(kernel_ns() - begun, 300 * ns_per_ms);
  }));
}

TEST(TestClock, IsNoClockThatIsSharedWithAnybody) {
  EXPECT_TRUE(comes_true([] {
    const nlohmann::json before = host_facts();
    set_test_clock({});
    return before["time_namespace"] != host_facts()["time_namespace"];
  }));
}

TEST(TestClock, IsReadStrictly) {
  EXPECT_TRUE(comes_true([] {
    const auto refused = [](const char* text) {
      const nlohmann::json json = nlohmann::json::parse(text);
      Section configure(json, "");
      try {
        take_test_clock(configure);
      } catch (const SectionError& error) {
        return error.key();
      }
      return std::string("nothing");
    };
    return refused("{}") == "nothing" && !has_test_clock() && refused(R"({"test_clock":{"ppm":5}})") == "test_clock.ppm" &&
                       refused(R"({"test_clock":{"drift_ppb":1e9}})") == "test_clock.drift_ppb" &&
                       refused(R"({"test_clock":{"offset_ns":250000000}})") == "nothing" && has_test_clock();
  }));
}

}  // namespace
}  // namespace n2nq::net
