// SPDX-License-Identifier: GPL-3.0-or-later
// Which line between two clocks the lines of the logs are written by, from an instant of our clock on. It lies among the records that
// follow it, so that whoever reads back what a killed process had noted finds it, too; in the logs it is a `#` line.
#pragma once

#include <cstddef>
#include <string>

#include "workers/measure/clock_fit.h"
#include "workers/recorder/record.h"

namespace n2nq::worker {

struct ClockNote {
  enum class Whose : std::int64_t { own, senders, senders_same } whose = Whose::own;
  std::int64_t from_ns = 0;
  measure::ClockLine line;    // not with senders_same: there it is what `own` says
  measure::ClockBound bound;  // then

  static ClockNote of(const Record& record);
  Record record() const;
  /// "clock: own from_ns=… at_ns=… …", without the "# " before it.
  std::string text() const;
};

/// How the lines of text() begin in a log.
inline constexpr const char* clock_line_begins = "# clock: ";

}  // namespace n2nq::worker
