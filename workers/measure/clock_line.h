// SPDX-License-Identifier: GPL-3.0-or-later
// How far another clock is ahead of this one, as a straight line over time. In the logs, the control protocol and the latencies it means
// the same to the nanosecond.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "broker/wire/record.h"

namespace n2nq::measure {

using wire::is_stamp;
using wire::stamp_ns_max;

struct ClockLine {
  /// A hundredth: no clock that anybody would measure with.
  static constexpr std::int64_t drift_ppt_max = 10'000'000'000;
  std::int64_t at_ns = 0;      // an instant of this clock
  std::int64_t offset_ns = 0;  // the other clock minus this one, then
  std::int64_t drift_ppt = 0;  // by how much that grows: trillionths (picoseconds per second)

  /// The other clock minus this one when this one says `ns`. The part of a nanosecond is cut off, towards zero.
  std::int64_t offset_at(std::int64_t ns) const {
    return offset_ns + static_cast<std::int64_t>(static_cast<double>(ns - at_ns) * (static_cast<double>(drift_ppt) * 1e-12));
  }
  /// What this clock says when the other one says `other_ns`.
  std::int64_t when(std::int64_t other_ns) const { return other_ns - offset_at(other_ns - offset_at(other_ns - offset_ns)); }
  /// Nothing that is made of it and of stamps overflows.
  bool is_sane() const {
    return is_stamp(at_ns) && is_stamp(offset_ns) && drift_ppt >= -drift_ppt_max && drift_ppt <= drift_ppt_max;
  }
  bool operator==(const ClockLine&) const = default;
};

/// {"at_ns":…,"offset_ns":…,"drift_ppt":…}
void to_json(nlohmann::json& json, const ClockLine& line);
/// Throws std::exception when it is not that, or not sane.
void from_json(const nlohmann::json& json, ClockLine& line);

}  // namespace n2nq::measure
