// SPDX-License-Identifier: GPL-3.0-or-later
// Whether two groups whose hosts say that they share a clock do: machines that were cloned while they ran say so, too. What the groups
// find of N2NQ's clock tells, and a jump of that one between two looks may tell it wrongly: so it is taken back when later reports do not
// bear it out. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "workers/measure/clock_report.h"

namespace n2nq::app {

struct ProcessRecord;

class ClockContradiction {
 public:
  /// To be called with each report of one of the two, which stands in its record.
  void look(const ProcessRecord& senders, const ProcessRecord& receivers);
  /// Their clocks are two, as far as is known now.
  bool now() const { return apart_.has_value(); }
  /// They were taken for two at some time, so that some figures are as exact as both comparisons with N2NQ's clock only.
  bool ever() const { return ever_; }

 private:
  struct Apart {
    std::int64_t at_ns = 0, apart_ns = 0, bounds_ns = 0;
  };
  using Lines = std::pair<measure::ClockLine, measure::ClockLine>;

  static Apart apart_of(const measure::ClockReport& one, const measure::ClockReport& other);

  std::optional<Apart> apart_;   // by what both found first
  std::optional<Lines> judged_;  // the last two that contradicted each other: not a second time by the same
  int agreed_ = 0;               // reports in succession
  bool ever_ = false;
};

}  // namespace n2nq::app
