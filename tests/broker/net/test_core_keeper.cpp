// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/core_keeper.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "broker/net/host_facts.h"

namespace n2nq::net {
namespace {

const std::filesystem::path tasks = "/proc/self/task";

/// 0: there is none (yet).
int keeper_thread() {
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    const int thread = std::atoi(task.path().filename().c_str());
    if (name == CoreKeeper::thread_name && sched_getscheduler(thread) == SCHED_IDLE) return thread;
  }
  return 0;
}

/// Of this thread and of what a sanitizer has running.
int64_t waited_ns_of_all_but(int thread) {
  int64_t sum_ns = 0;
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    int64_t ran_ns = 0, waited_ns = 0;
    std::ifstream(task.path() / "schedstat") >> ran_ns >> waited_ns;
    if (std::atoi(task.path().filename().c_str()) != thread) sum_ns += waited_ns;
  }
  return sum_ns;
}

/// Moves it to this core, which it can be when it says who it is.
void keep_until_it_is_here(CoreKeeper& keeper, int thread, const cpu_set_t& here) {
  cpu_set_t its{};
  do {
    keeper.keep();
    ASSERT_EQ(sched_getaffinity(thread, sizeof its, &its), 0);
    sched_yield();
  } while (!CPU_EQUAL(&its, &here));
}

TEST(CoreKeeper, StandsByOnTheCoreOfItsCallerWithoutDescriptorsAndIsNotCounted) {
  cpu_set_t before{};
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  {
    CoreKeeper keeper;
    int thread = 0;
    while ((thread = keeper_thread()) == 0) sched_yield();
    for (size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &before)) continue;
      cpu_set_t here{};
      CPU_SET(core, &here);
      ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
      keep_until_it_is_here(keeper, thread, here);
    }
    EXPECT_TRUE(std::filesystem::is_empty(tasks / std::to_string(thread) / "fd"));
    // It is ready on this core, and waits for this thread: no part of what the process says to have waited.
    const nlohmann::json times = core_times();
    if (times.is_object()) {
      EXPECT_LE(times["waited_ns"].get<int64_t>(), waited_ns_of_all_but(thread));
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(CoreKeeper, EndsWithoutWaitingForAThreadThatGetsNoTurn) {
  CoreKeeper keeper;
}

}  // namespace
}  // namespace n2nq::net
