// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker process tells about its clock and the broker's: the `clock` object of docs/control-protocol.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "workers/measure/clock_fit.h"
#include "workers/measure/clock_line.h"

namespace n2nq::measure {

/// A time in which the estimate was not right, because one of the clocks had jumped: from the last probe before that, by the broker's
/// clock.
struct ClockSpan {
  std::int64_t from_broker_ns = 0, to_broker_ns = 0;
  std::int64_t jump_ns = 0;  // of the broker's clock against this one

  /// It ends when the broker's clock says that. Where that one went back so far that it began later, both are told by what it says since.
  void end(std::int64_t broker_ns);
};

struct ClockReport {
  static constexpr std::size_t spans_max = 20;
  static constexpr std::int64_t later_after_ns = 60'000'000'000;

  ClockLine line;          // the broker's clock over this process's: in force from then on
  std::int64_t at_ns = 0;  // of this process's clock: when the line was looked at last
  ClockBound bound;        // of the line then
  ClockBound worst;        // the largest of all lines while they were in force, since traffic began; not in the spans
  ClockPast past;          // of the line, for what was before
  std::optional<ClockBound> later;  // of the line later_after_ns from then, should nothing more be heard; none: it is the last report
  std::int64_t round_trip_min_ns = 0;
  std::uint64_t probes = 0;  // answered so far
  std::uint64_t jumps = 0;
  /// The first spans_max. The last one may not be over yet: then it is told as if it ended in a second, as it does where N2NQ answers.
  std::vector<ClockSpan> spans;

  /// How wrong the line can be so long after this was said, at most, as far as the probes until then tell; below 0 ns: as it is now. Where
  /// nothing was said of later, as it was then.
  ClockBound bound_after(std::int64_t ns) const;
  /// The broker's clock minus this one, then.
  std::int64_t offset_ns() const { return line.offset_at(at_ns); }
};

void to_json(nlohmann::json& json, const ClockBound& bound);
void to_json(nlohmann::json& json, const ClockPast& past);
void to_json(nlohmann::json& json, const ClockReport& report);
/// These throw std::exception with what is wrong.
void from_json(const nlohmann::json& json, ClockBound& bound);
void from_json(const nlohmann::json& json, ClockPast& past);
void from_json(const nlohmann::json& json, ClockReport& report);

}  // namespace n2nq::measure
