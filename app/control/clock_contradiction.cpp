// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/clock_contradiction.h"

#include <algorithm>
#include <cstdlib>

#include "app/control/run_record.h"

namespace n2nq::app {

namespace {

constexpr double drift_max = 1e-3;  // clocks differ in pace by half of it at most, and each line says what it is
/// Of both together, half a minute at most: one alone may still be of before a jump.
constexpr int agreeing_reports = 6;

std::int64_t drift_ns(std::int64_t over_ns) {
  return static_cast<std::int64_t>(drift_max * static_cast<double>(std::abs(over_ns)));
}

/// Not told by what comes behind a jump, which both notice, one after the other.
bool has_jumped(const ProcessRecord& worker) {
  return (worker.clock && worker.clock->jumps > 0) || (worker.clock_before_restart && worker.clock_before_restart->jumps > 0);
}

}  // namespace

ClockContradiction::Apart ClockContradiction::apart_of(const measure::ClockReport& one, const measure::ClockReport& other) {
  const std::int64_t at_ns = std::max(one.line.at_ns, other.line.at_ns);
  return {.at_ns = at_ns,
          .apart_ns = std::abs(one.line.offset_at(at_ns) - other.line.offset_at(at_ns)),
          .bounds_ns = one.bound.total_ns() + other.bound.total_ns() + drift_ns(one.line.at_ns - other.line.at_ns)};
}

void ClockContradiction::look(const ProcessRecord& senders, const ProcessRecord& receivers) {
  if (!apart_) {
    if (!senders.clock_first || !receivers.clock_first || has_jumped(senders) || has_jumped(receivers)) return;
    const Lines lines(senders.clock_first->line, receivers.clock_first->line);
    const Apart first = apart_of(*senders.clock_first, *receivers.clock_first);
    if (first.apart_ns <= first.bounds_ns || judged_ == lines) return;
    judged_ = lines;
    apart_ = first;
    ever_ = true;
    agreed_ = 0;
    return;
  }
  if (!senders.clock || !receivers.clock) {
    agreed_ = 0;
    return;
  }
  // Clocks that are two may drift past each other, and bounds grow: that they are one is only told where no drift explains how they met.
  const Apart last = apart_of(*senders.clock, *receivers.clock);
  const bool met_by_a_jump = apart_->apart_ns - last.apart_ns > apart_->bounds_ns + last.bounds_ns + drift_ns(last.at_ns - apart_->at_ns);
  agreed_ = last.apart_ns <= last.bounds_ns && met_by_a_jump ? agreed_ + 1 : 0;
  if (agreed_ >= agreeing_reports) apart_.reset();
}

}  // namespace n2nq::app
