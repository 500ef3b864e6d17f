// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/turns.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <thread>

#include "broker/net/clock.h"
#include "broker/net/host_facts.h"

namespace n2nq::net {
namespace {

/// Of the calling thread, as the kernel has it; 0 where it knows none.
int64_t turn_ns() {
  struct {
    uint32_t bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    int64_t runtime_ns, deadline_ns, period_ns;
  } got{};
  got.bytes = sizeof got;
  return syscall(SYS_sched_getattr, 0, &got, sizeof got, 0) == 0 ? got.runtime_ns : 0;
}

struct Turns : testing::Test {
  int64_t before_ns = 0, own_ns = 0, of_its_child_ns = 0;

  /// In a thread of its own: nobody else's turns change.
  void ask(bool (*for_turns)()) {
    std::thread([&] {
      before_ns = turn_ns();
      EXPECT_TRUE(for_turns());
      own_ns = turn_ns();
      std::thread([&] { of_its_child_ns = turn_ns(); }).join();
    }).join();
  }
};

TEST_F(Turns, short_ones_are_those_of_what_is_started_too) {
  ask(ask_for_short_turns);
  if (before_ns == 0) GTEST_SKIP() << "this kernel knows no turns of one's own";
  EXPECT_EQ(own_ns, short_turn_ns);
  EXPECT_EQ(of_its_child_ns, short_turn_ns);
}

TEST_F(Turns, long_ones_are_ones_own_alone) {
  ask(ask_for_long_turns);
  if (before_ns == 0) GTEST_SKIP() << "this kernel knows no turns of one's own";
  EXPECT_EQ(own_ns, long_turn_ns);
  EXPECT_EQ(of_its_child_ns, before_ns);
}

TEST(CoreTimes, leave_out_who_gives_way_to_the_others) {
  if (!std::ifstream("/proc/self/schedstat").good()) {
    EXPECT_EQ(core_times(), "unknown") << "where the kernel does not count";
    return;
  }
  const auto ran_ns = [] { return core_times().at("ran_ns").get<int64_t>(); };
  const int usual = getpriority(PRIO_PROCESS, 0);
  constexpr int64_t busy_ns = 100 * ns_per_ms;
  const auto run = [&](int nice) {
    int64_t now_ran_ns = 0;
    std::thread([&] {
      EXPECT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), nice), 0);
      timespec used{};
      while (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), used.tv_sec * ns_per_s + used.tv_nsec < busy_ns) {
      }
      now_ran_ns = ran_ns();
    }).join();
    return now_ran_ns;
  };
  const int64_t before_ns = ran_ns(), given_way_ns = run(usual + 1), as_usual_ns = run(usual);
  EXPECT_GE(as_usual_ns, before_ns + busy_ns);
  if (usual < 19) {  // from there on there is nothing left to give way by
    EXPECT_LT(given_way_ns, before_ns + busy_ns / 2);
  }
}

}  // namespace
}  // namespace n2nq::net
