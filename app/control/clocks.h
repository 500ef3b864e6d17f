// SPDX-License-Identifier: GPL-3.0-or-later
// Which clocks a run's figures were taken with, and how wrong that makes them at most. Pure: from hellos and clock reports to values.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/control/live_figures.h"
#include "app/control/run_record.h"
#include "workers/measure/clock_report.h"

namespace n2nq::app {

/// One boot of one kernel, and one time namespace. False where either does not say so.
bool share_a_clock(const HelloMessage& a, const HelloMessage& b);

/// A worker process's clock and N2NQ's.
struct ClockRelation {
  enum class Kind { untold, shared, probed } kind = Kind::untold;
  measure::ClockReport report;  // with probed
};
/// By what both have said so far: a report tells, and without one the hellos do.
ClockRelation relation(const ProcessRecord& worker, const ProcessRecord& broker);

/// Whether the two groups' clocks are one, so that a latency is exact whatever is known of N2NQ's: as far as is known now.
bool groups_share_a_clock(const RunRecord& record);

/// How far the run's figures may be off, because of clocks: they are of the whole run so far, and so is this.
ClockBounds clock_bounds(const RunRecord& record);

/// The median echo over loopback of the slower host, as both groups measured it before the run; unknown before that.
double floor_us(const RunRecord& record);

/// The `clock` message for the receivers, from what is known: null while nothing has to be told, or not everything is known yet.
nlohmann::json senders_clock_message(const RunRecord& record);

/// What the summary says of them: environment.offsets.
nlohmann::ordered_json offsets_json(const RunRecord& record, std::int64_t start_at_broker_ns);

}  // namespace n2nq::app
