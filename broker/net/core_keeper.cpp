// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/core_keeper.h"

#include <pthread.h>

namespace n2nq::net {

bool CoreKeeper::is_of_use() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) > 1;
}

CoreKeeper::CoreKeeper() : thread_([this] { stand_by(); }) {}

CoreKeeper::~CoreKeeper() {
  ending_.store(true);
  times_.fetch_add(1);
  times_.notify_one();
  thread_.join();
}

void CoreKeeper::keep() {
  if (const int core = sched_getcpu(); core != core_) {
    core_ = core;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<size_t>(core), &here);
    // Where it may not be moved it stands by somewhere else, in vain.
    pthread_setaffinity_np(thread_.native_handle(), sizeof here, &here);
  }
  times_.fetch_add(1, std::memory_order_relaxed);
  times_.notify_one();
}

void CoreKeeper::stand_by() {
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
  for (uint32_t seen = 0; !ending_.load(); seen = times_.load(std::memory_order_relaxed)) times_.wait(seen, std::memory_order_relaxed);
}

}  // namespace n2nq::net
