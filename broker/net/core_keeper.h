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

#include <atomic>
#include <cstdint>
#include <memory>

namespace n2nq::net {

class CoreKeeper {
 public:
  /// What the thread is called in proc(5).
  static constexpr const char* thread_name = "core-keeper";

  /// This process may use two cores or more; with one there is nowhere else to place anybody.
  static bool is_of_use();

  /// Throws std::system_error where no thread can be made.
  CoreKeeper();
  /// Does not wait for the thread, which may get no turn for long.
  ~CoreKeeper();
  CoreKeeper(const CoreKeeper&) = delete;
  CoreKeeper& operator=(const CoreKeeper&) = delete;

  /// From now until the calling thread sleeps. Costs a system call, and two on another core than the last time. One thread.
  void keep();

 private:
  /// The thread's, too, as long as it is there.
  struct Shared {
    std::atomic<bool> ending{false};
    std::atomic<uint32_t> times{0};  // the thread waits for it to change
    std::atomic<int> thread{0};      // its number, once it is known
  };

  static void stand_by(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
  int core_ = -1;  // where the thread is
};

}  // namespace n2nq::net
