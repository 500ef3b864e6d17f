// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the kernel from placing on this thread's core whom this thread wakes.
//
// Linux takes a write to a socket of the same host for a handover: where the writer is the only one who is ready on its core, it places the
// reader there, though another core is idle, because a writer usually goes to sleep behind its write (wake_affine_idle() in the kernel's
// sched/fair.c, for "sync" wake-ups). Who writes to many does not: the reader would wait until the last one is written to, and read
// everything then. While a second thread is ready on the core the kernel looks for another one. That is all this one is for; it has the
// policy SCHED_IDLE, runs when the writer sleeps, and finds nothing to do.
// By what this was found, and with figures: docs/decisions/0003-what-a-message-costs.md.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace n2nq::net {

class CoreKeeper {
 public:
  /// Whether this process may use two cores; on one there is nowhere else to place anybody.
  static bool is_of_use();

  /// Throws std::system_error where no thread can be made.
  CoreKeeper();
  ~CoreKeeper();
  CoreKeeper(const CoreKeeper&) = delete;
  CoreKeeper& operator=(const CoreKeeper&) = delete;

  /// From now until the calling thread sleeps. Costs a system call, and two on another core than the last time. One thread.
  void keep();

 private:
  void stand_by();

  std::atomic<bool> ending_{false};
  std::atomic<uint32_t> times_{0};  // the thread waits for it to change
  int core_ = -1;                   // where that is
  std::thread thread_;
};

}  // namespace n2nq::net
