// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>

namespace n2nq::worker {

/// A count that one thread writes and any thread reads: no lock and no locked instruction on the writing side.
class Counter {
 public:
  void add(std::uint64_t more = 1) { value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }
  void take(std::uint64_t less) { value_.store(value_.load(std::memory_order_relaxed) - less, std::memory_order_relaxed); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace n2nq::worker
