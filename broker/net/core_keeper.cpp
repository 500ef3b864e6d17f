// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/core_keeper.h"

#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace n2nq::net {

bool CoreKeeper::is_of_use() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) > 1;
}

CoreKeeper::CoreKeeper() : shared_(std::make_shared<Shared>()) {
  std::thread([shared = shared_] { stand_by(shared); }).detach();
}

CoreKeeper::~CoreKeeper() {
  shared_->ending.store(true);
  shared_->times.fetch_add(1);
  shared_->times.notify_one();
}

void CoreKeeper::keep() {
  const int thread = shared_->thread.load();
  if (const int core = sched_getcpu(); thread != 0 && core != core_) {
    core_ = core;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<size_t>(core), &here);
    // Where it may not be moved it stands by somewhere else, in vain.
    sched_setaffinity(thread, sizeof here, &here);
  }
  shared_->times.fetch_add(1);
  shared_->times.notify_one();
}

void CoreKeeper::stand_by(const std::shared_ptr<Shared>& shared) {
  prctl(PR_SET_NAME, thread_name);
  // It needs no descriptors, and whoever shares a table of them makes each call of the others dearer. (Linux 5.9; before, it is shared.)
  syscall(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE);
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
  shared->thread.store(static_cast<int>(syscall(SYS_gettid)));
  for (uint32_t seen = 0; !shared->ending.load(); seen = shared->times.load()) shared->times.wait(seen);
}

}  // namespace n2nq::net
