// SPDX-License-Identifier: GPL-3.0-or-later
// What probes say about another clock: how far it is ahead, how fast that changes, and how wrong this can be at most.
//
// Each probe proves two things, whatever the network did: when it left, the other clock was at most t2 - t1 ahead, and when the answer
// came, at least t3 - t4. Kept are those of the last half a minute; every straight line that contradicts none of them may be the truth. The
// estimate goes through their middle, and the bound is how far the outermost one is away. So a probe that was held up proves little and
// moves nothing, and a path that is slower in one direction shifts the estimate by no more than the bound. What is relied on: both clocks
// run evenly, but for half a millionth, and differ in pace by at most 500 millionths. Where that does not hold the lines contradict: then
// older probes are dropped, and where the newest contradicts even those of the last second the clock has stepped.
//
// Pure: no I/O, and time only as it stands in the probes. Allocates in its constructor only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workers/measure/clock_line.h"

namespace n2nq::measure {

/// One probe: sent and answer read by this clock, read and answered by the other one.
struct ClockProbe {
  std::int64_t t1_ns = 0, t2_ns = 0, t3_ns = 0, t4_ns = 0;
  std::int64_t round_trip_ns() const { return (t4_ns - t1_ns) - (t3_ns - t2_ns); }
};

/// By how much the pace that a line says may be off at most: clocks differ by 500 millionths either way, and a pace itself changes.
inline constexpr double line_pace_apart_max = 1.001e-3;

/// What is rounded in bounds, and in a line, which is cut off to whole nanoseconds.
inline constexpr double bound_rounded_ns = 4;

/// How wrong a line can be at most. Both parts are to be added; they are told apart because more probes make only the second one smaller.
struct ClockBound {
  std::int64_t asymmetry_ns = 0;   // half of the smallest round trip: nobody can tell which way took how much of it
  std::int64_t estimation_ns = 0;  // what held-up probes, drift and the time since the last probe add
  std::int64_t total_ns() const { return asymmetry_ns + estimation_ns; }
};

/// How wrong a line can be for what was before the newest of the probes that it was made of: what waits is corrected by a line that did not
/// see it leave.
struct ClockPast {
  std::int64_t span_ns = 0;   // the oldest of these probes is so much older than the newest
  std::int64_t bound_ns = 0;  // how wrong the line can be as long ago as that
  std::int64_t pace_ppt = 0;  // by how much more for all time before that: trillionths

  /// How wrong it can be `ns` before the newest probe, when it can be wrong by `bound` at that one.
  ClockBound bound_before(const ClockBound& bound, std::int64_t ns) const;
};

/// One of the clocks has jumped, between two probes.
struct ClockStep {
  std::int64_t after_ns = 0, before_ns = 0;  // of this clock: the last instant that a probe shows to be before it (else the oldest that counts), and the first probe that did not fit
  std::int64_t jump_ns = 0;                  // of the offset; as exact as one probe is
};

class ClockFit {
 public:
  ClockFit();

  /// Takes a probe in; they come in the order of time. A step makes everything from before it forgotten.
  std::optional<ClockStep> add(const ClockProbe& probe);

  /// Probes that count now.
  std::size_t probes() const { return count_; }
  /// The estimate, best for the newest probe and the seconds after it. At least one probe is there.
  ClockLine line() const;
  /// How wrong `line` can be at an instant of this clock, as far as the probes so far tell. At least one probe is there.
  ClockBound bound(const ClockLine& line, std::int64_t at_ns) const;
  /// How wrong `line`, which is line() of now, can be for what was before. At least one probe is there.
  ClockPast past(const ClockLine& line) const;
  /// The smallest round trip among those that count.
  std::int64_t round_trip_min_ns() const;

 private:
  static constexpr std::size_t probes_max = 512;

  struct Corner {  // a line: `ahead` at the newest probe, growing by `pace` per second
    double ahead_ns, pace_ns_per_s;
  };
  const ClockProbe& at(std::size_t from_oldest) const { return probes_[(first_ + from_oldest) % probes_max]; }
  const ClockProbe& newest() const { return at(count_ - 1); }
  void forget(std::size_t oldest);
  void forget_before(std::int64_t t4_ns);
  std::int64_t surely_before(const ClockProbe& probe) const;
  bool find_lines();
  bool is_bent() const;
  void cut(double seconds, double bound_ns, double sign);
  std::pair<double, double> range_at(double seconds) const;

  std::vector<ClockProbe> probes_;  // a ring
  std::size_t first_ = 0, count_ = 0;
  bool was_uneven_ = false;   // older probes were dropped because no line fitted all of them: before them the pace was another one
  std::int64_t base_ns_ = 0;  // corners are relative to it: what the newest probe alone says
  std::vector<Corner> corners_, cut_corners_;
};

}  // namespace n2nq::measure
