// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/core_keeper.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "broker/net/host_facts.h"

namespace n2nq::net {
namespace {

/// Of this process, those that run only where nobody else wants to.
std::vector<int> idle_threads() {
  std::vector<int> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::atoi(task.path().filename().c_str());
    if (sched_getscheduler(thread) == SCHED_IDLE) found.push_back(thread);
  }
  return found;
}

/// Until the thread has got as far as that.
int keeper_thread() {
  while (idle_threads().empty()) sched_yield();
  return idle_threads().front();
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// How often the thread has been on a core.
int64_t turns_of(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
  int64_t ran_ns = 0, waited_ns = 0, turns = 0;
  file >> ran_ns >> waited_ns >> turns;
  return turns;
}

TEST(CoreKeeper, StandsByOnTheCoreOfItsCallerAndNowhereElse) {
  CoreKeeper keeper;
  const int thread = keeper_thread();
  cpu_set_t mine{}, before{};
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before)) continue;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    ASSERT_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
    keeper.keep();
    cpu_set_t its{};
    ASSERT_EQ(sched_getaffinity(thread, sizeof its, &its), 0);
    EXPECT_TRUE(CPU_EQUAL(&its, &mine)) << core;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(CoreKeeper, IsReadyAfterEachCallAndSleepsAgain) {
  if (text_of("/proc/self/schedstat").empty()) GTEST_SKIP() << "this kernel does not count turns";
  CoreKeeper keeper;
  const int thread = keeper_thread();
  for (int i = 0; i < 100; ++i) {
    const int64_t turns = turns_of(thread);
    keeper.keep();
    while (turns_of(thread) == turns) sched_yield();
  }
}

TEST(CoreKeeper, ItsWaitingIsNotCountedAsWaitingForACore) {
  CoreKeeper keeper;
  keeper_thread();
  const nlohmann::json before = core_times();
  if (!before.is_object()) GTEST_SKIP() << "this kernel does not count how long threads wait";
  cpu_set_t cores{}, all{};
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &cores);
  ASSERT_EQ(sched_setaffinity(0, sizeof cores, &cores), 0);
  keeper.keep();
  const int64_t ran_ns = before["ran_ns"].get<int64_t>();
  int64_t more_ns = 0;
  nlohmann::json now;
  while (more_ns < 100'000'000) {  // it is ready all that time, and gets next to nothing
    now = core_times();
    more_ns = now["ran_ns"].get<int64_t>() - ran_ns;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  // The main thread alone is counted, so what is counted cannot be more than its own file says now.
  std::ifstream own("/proc/thread-self/schedstat");
  int64_t own_ran_ns = 0, own_waited_ns = 0;
  own >> own_ran_ns >> own_waited_ns;
  EXPECT_LE(now["waited_ns"].get<int64_t>(), own_waited_ns);
}

TEST(CoreKeeper, EndsWithoutEverHavingBeenCalled) {
  CoreKeeper keeper;
}

}  // namespace
}  // namespace n2nq::net
