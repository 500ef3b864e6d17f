// SPDX-License-Identifier: GPL-3.0-or-later
// To which of several receivers a message goes.
//
// random: each with the same probability, from a seed, so that a run can be repeated.
// round robin: in the order of their numbers, whoever comes and goes.
// next free: the one with the least load (bytes that the kernel has not taken yet; with responses, unconfirmed deliveries); among equals,
// in the order of their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace n2nq {

enum class DispatchRule { random, round_robin, next_free };

class Dispatcher {
 public:
  Dispatcher(DispatchRule rule, uint64_t seed) : rule_(rule), random_state_(seed) {}

  /// One of `receivers` (rising numbers, not empty). `waiting_bytes(receiver)` is asked by next free only.
  template <typename WaitingBytes>
  uint32_t choose(std::span<const uint32_t> receivers, const WaitingBytes& waiting_bytes) {
    if (rule_ == DispatchRule::random) return receivers[random_below(receivers.size())];
    const size_t next = next_in_turn(receivers);
    last_ = receivers[rule_ == DispatchRule::round_robin ? next : least(receivers, next, waiting_bytes)];
    return last_;
  }

  /// Round robin only: `messages` (not 0) at once, one after the other to who comes next. The place of the first one's receiver in
  /// `receivers`.
  size_t take_turns(std::span<const uint32_t> receivers, size_t messages) {
    const size_t first = next_in_turn(receivers);
    last_place_ = (first + messages - 1) % receivers.size();
    last_ = receivers[last_place_];
    return first;
  }

  DispatchRule rule() const { return rule_; }

  using Group = std::span<const uint32_t>;
  /// One of several groups that have no number in common (each rising and not empty; at least one group).
  template <typename Load>
  uint32_t choose_among(std::span<const Group> groups, const Load& load) {
    if (groups.size() == 1) return choose(groups.front(), load);
    if (rule_ == DispatchRule::random) return random_of(groups);
    uint32_t best = groups.front().front();
    uint64_t best_rank = UINT64_MAX;
    uint64_t best_load = UINT64_MAX;
    const auto consider = [&](uint32_t receiver) {
      const uint64_t receivers_load = rule_ == DispatchRule::next_free ? load(receiver) : 0;
      const uint64_t rank = receiver - last_ - 1;  // how far behind the last one, going round
      if (receivers_load > best_load || (receivers_load == best_load && (rank & UINT32_MAX) >= best_rank)) return;
      best = receiver;
      best_load = receivers_load;
      best_rank = rank & UINT32_MAX;
    };
    for (const Group& group : groups) {
      const size_t next = next_in_turn(group);
      consider(group[rule_ == DispatchRule::round_robin ? next : least(group, next, load)]);
    }
    return last_ = best;
  }

 private:
  uint32_t random_of(std::span<const Group> groups);
  uint64_t random_below(uint64_t bound);
  size_t next_in_turn(std::span<const uint32_t> receivers) {
    // Mostly they are those of the last time, and the last one stands where it stood.
    if (last_place_ >= receivers.size() || receivers[last_place_] != last_) return next_in_other_turn(receivers);
    last_place_ = last_place_ + 1 < receivers.size() ? last_place_ + 1 : 0;
    return last_place_;
  }
  size_t next_in_other_turn(std::span<const uint32_t> receivers);

  template <typename WaitingBytes>
  static size_t least(std::span<const uint32_t> receivers, size_t begin, const WaitingBytes& waiting_bytes) {
    size_t best = begin;
    size_t best_bytes = waiting_bytes(receivers[begin]);
    for (size_t i = 1; i < receivers.size() && best_bytes > 0; ++i) {
      const size_t candidate = (begin + i) % receivers.size();
      const size_t bytes = waiting_bytes(receivers[candidate]);
      if (bytes >= best_bytes) continue;
      best = candidate;
      best_bytes = bytes;
    }
    return best;
  }

  DispatchRule rule_;
  uint64_t random_state_;
  uint32_t last_ = 0;
  size_t last_place_ = 0;  // where next_in_turn() found one last: a guess
};

}  // namespace n2nq
