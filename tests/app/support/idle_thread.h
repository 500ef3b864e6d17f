// SPDX-License-Identifier: GPL-3.0-or-later
// A thread that does nothing but sleep: when even that takes too long, it is the doing of the machine (which had no core to spare, or is a
// virtual one that was not run), or this process was stopped. What is timed beside it is not at fault.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <thread>

namespace n2nq::app::testing {

class IdleThread {
 public:
  /// A sleep that lasted for `held_up_min` or longer counts, as a whole.
  IdleThread(std::chrono::milliseconds sleep, std::chrono::milliseconds held_up_min)
      : sleep_(sleep),
        held_up_min_(held_up_min),
        began_(std::chrono::steady_clock::now()),
        thread_([this](const std::stop_token& over) { run(over); }) {}

  /// For how long it was held up so far, the sleep that it is in included. For any thread; waits for nothing.
  std::int64_t held_up_ms() const {
    const Seen seen = seen_.load();
    return seen.held_up_ms + counted_ms(now_ms() - seen.woke_ms);
  }

 private:
  /// Since it began. Small enough to be read in one piece, without a lock that a thread without a core would keep.
  struct Seen {
    std::int32_t woke_ms, held_up_ms;
  };
  static_assert(std::atomic<Seen>::is_always_lock_free);

  std::int32_t now_ms() const {
    return static_cast<std::int32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_).count());
  }
  std::int32_t counted_ms(std::int32_t slept_ms) const { return slept_ms >= held_up_min_.count() ? slept_ms : 0; }
  void run(const std::stop_token& over) {
    for (Seen seen{0, 0}; !over.stop_requested(); seen_ = seen) {
      std::this_thread::sleep_for(sleep_);
      const std::int32_t woke_ms = now_ms();
      seen = {woke_ms, seen.held_up_ms + counted_ms(woke_ms - seen.woke_ms)};
    }
  }

  const std::chrono::milliseconds sleep_, held_up_min_;
  const std::chrono::steady_clock::time_point began_;
  std::atomic<Seen> seen_{Seen{0, 0}};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace n2nq::app::testing
