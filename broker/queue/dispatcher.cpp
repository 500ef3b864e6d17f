// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/dispatcher.h"

#include <algorithm>

namespace n2nq {

uint64_t Dispatcher::random_below(uint64_t bound) {
  // SplitMix64 (Steele, Lea, Flood 2014); the few values that would favour low numbers are thrown away.
  const uint64_t unfair = (0 - bound) % bound;
  while (true) {
    random_state_ += 0x9E3779B97F4A7C15;
    uint64_t value = random_state_;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    value ^= value >> 31;
    if (value >= unfair) return value % bound;
  }
}

uint32_t Dispatcher::random_of(std::span<const Group> groups) {
  size_t all = 0;
  for (const Group& group : groups) all += group.size();
  size_t chosen = random_below(all);
  for (const Group& group : groups) {
    if (chosen < group.size()) return group[chosen];
    chosen -= group.size();
  }
  return groups.front().front();  // not reached: `chosen` is below the sum
}

size_t Dispatcher::next_in_other_turn(std::span<const uint32_t> receivers) {
  const auto next = std::upper_bound(receivers.begin(), receivers.end(), last_);
  last_place_ = next == receivers.end() ? 0 : static_cast<size_t>(next - receivers.begin());
  return last_place_;
}

}  // namespace n2nq
