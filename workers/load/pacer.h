// SPDX-License-Identifier: GPL-3.0-or-later
// When each message of a sender is due: an open loop. Message i is due at phase + floor(i * num / den) after the start, whatever became of
// the ones before it; warm-up messages have the indexes below 0. Exact rational arithmetic: 3,000 a second stays 3,000 a second for ever.
// Pure: knows no clock.
#pragma once

#include <cstdint>
#include <optional>

namespace n2nq::worker {

/// An exact fraction of nanoseconds between two sends; num 0: as fast as the socket takes.
struct Interval {
  std::int64_t num_ns = 0;
  std::int64_t den = 1;
};

enum class StartPhase { spread, in_phase };

class Pacer {
 public:
  /// Largest num_ns and den, longest interval, and most messages: within these every product fits into 128 bits.
  static constexpr std::int64_t term_max = 1'000'000'000'000'000'000;
  static constexpr std::int64_t interval_ns_max = 86'400'000'000'000;
  static constexpr std::uint64_t messages_max = 1'000'000'000'000;

  /// `number` of `total` senders (from 1): with `spread` sender n starts (n - 1) / total of an interval late.
  Pacer(Interval interval, StartPhase start, std::uint32_t number, std::uint32_t total);

  bool as_fast_as_it_goes() const { return interval_.num_ns == 0; }
  /// Nanoseconds after the start, which must be within the 292 years that 63 bits hold. Only with a plan.
  std::int64_t due_ns(std::int64_t index) const;
  /// How many messages are due before `duration_ns` is over. Only with a plan.
  std::uint64_t messages_within(std::int64_t duration_ns) const;

 private:
  Interval interval_;
  std::int64_t phase_ns_;
};

}  // namespace n2nq::worker
