// SPDX-License-Identifier: GPL-3.0-or-later
// Answers to `stats` added up to one picture of the run. Counts are the groups' own totals; histograms are merged, percentiles never
// averaged.
#pragma once

#include "app/control/control_message.h"
#include "app/control/live_figures.h"
#include "app/settings/settings.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {

class LiveAccumulator {
 public:
  explicit LiveAccumulator(const Settings& settings);

  void add(const SendersStats& stats);
  void add(const ReceiversStats& stats);
  /// The picture at `t_s`; latency_now covers what came since the call before.
  LiveFigures snapshot(double t_s);

 private:
  int copies_;
  LiveFigures figures_;
  std::int64_t senders_id_ = 0;                                        // of the newest answer
  measure::Histogram delay_, lag_;                                     // at the senders, per message
  measure::Histogram latency_, latency_from_plan_, latency_now_;       // at the receivers, per delivery
  measure::Histogram lag_stage_, to_broker_, in_queue_, to_receiver_;  // at the receivers, per delivery
  std::uint64_t senders_lines_dropped_ = 0, receivers_lines_dropped_ = 0;
};

/// In µs; all unknown while the histogram is empty.
Percentiles percentiles_us(const measure::Histogram& histogram);
double mean_us(const measure::Histogram& histogram);

}  // namespace n2nq::app
