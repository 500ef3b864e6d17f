// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_threads.h"

#include <libssh/libssh.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace n2nq::app {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds end_wait_max{5};  // a proxy has one of them to end in order
constexpr std::chrono::milliseconds end_look_every{5};

struct Running {
  std::thread thread;
  std::shared_ptr<std::atomic<bool>> over;
  SshThreads::AtEnd at_end;
};

/// Joined at the end of the program, but for what hangs.
struct Left {
  /// Exit handlers run in the reverse order of their making. The cryptographic library makes its own when it is first used, and a thread
  /// that still says goodbye to its host would find the library gone: it has to be used before this is made.
  Left() {
    char unused;
    ssh_get_random(&unused, 1, 0);
  }
  ~Left() { join(); }
  /// Whether all have ended.
  bool join() {
    std::list<Running> last;
    {
      const std::lock_guard lock(mutex);
      last.swap(threads);
    }
    const auto until = Clock::now() + end_wait_max;
    bool all = true;
    for (Running& running : last) {
      const bool waits = running.at_end == SshThreads::AtEnd::waits;
      while (waits && !running.over->load() && Clock::now() < until) std::this_thread::sleep_for(end_look_every);
      const bool is_over = running.over->load();
      is_over ? running.thread.join() : running.thread.detach();
      all = all && is_over;
    }
    return all;
  }
  std::mutex mutex;
  std::list<Running> threads;
};

std::atomic<bool> any_begun = false;

Left& left() {
  static Left threads;
  return threads;
}

}  // namespace

bool SshThreads::start(std::function<void()> body, AtEnd at_end) {
  any_begun = true;
  const std::lock_guard lock(left().mutex);
  auto& threads = left().threads;
  for (auto at = threads.begin(); at != threads.end();) {
    if (at->over->load()) {
      at->thread.join();
      at = threads.erase(at);
    } else {
      ++at;
    }
  }
  auto over = std::make_shared<std::atomic<bool>>(false);
  // Signals are for the main thread; a write to a socket that is gone is an error and no signal.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  bool begun = true;
  try {
    threads.push_back({std::thread([body = std::move(body), over] {
                         body();
                         over->store(true);
                       }),
                       over, at_end});
  } catch (const std::system_error&) {
    begun = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return begun;
}

void SshThreads::exit_if_any_is_left(int code) {
  if (!any_begun || left().join()) return;
  ::fflush(nullptr);
  ::_exit(code);
}

}  // namespace n2nq::app
