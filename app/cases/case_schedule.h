// SPDX-License-Identifier: GPL-3.0-or-later
// Which run of a test case comes next, given those that are there. Pure: after a pause, a crash or another day it follows from the same
// results, so nothing is run twice and nothing is left out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/cases/case_plan.h"
#include "app/cases/case_results.h"
#include "app/cases/knee.h"
#include "app/results/statistics.h"

namespace n2nq::app {

struct ScheduledRun {
  QString label;  // of its point: "broadcaster, external, 0.1 s, 50"
  int repeat = 1;
  Settings settings;
  std::string sha256;
};

/// A point with what was measured at it, by repeat.
struct MeasuredPoint {
  CasePoint point;
  std::vector<const CaseRunResult*> repeats = {};  // those that are there
  std::vector<int> numbers = {};                   // of these, among all repeats, from 1
};

/// What the search came to on one curve.
struct MeasuredCurve {
  CasePoint first;  // at the first load; `first.curve` names it
  KneeSearch::State knee;
  std::vector<MeasuredPoint> tried;  // by load
};

class CaseSchedule {
 public:
  /// `plan` lives longer.
  explicit CaseSchedule(const CasePlan& plan);

  /// Empty: all is done.
  std::optional<ScheduledRun> next(const CaseResults& results) const;
  /// Runs that are there, and all that it takes: with a stop rule, and where the knee is looked for, as far as is known yet.
  int done(const CaseResults& results) const;
  int total(const CaseResults& results) const;
  double seconds_left(const CaseResults& results) const;

  /// Each point of the plan with its runs; where the knee is looked for, each load that was tried.
  std::vector<MeasuredPoint> points(const CaseResults& results) const;
  /// Only where the knee is looked for: of each point that can be run. Curves that share their settings share what was tried.
  std::vector<MeasuredCurve> curves(const CaseResults& results) const;
  /// Of its points' repeats, whoever asks.
  KnownIntervals& intervals() const { return intervals_; }

 private:
  /// The planned runs that are not there and that the stop rule does not spare, in order, until `visit` says false.
  void each_missing(const CaseResults& results, const std::function<bool(const CaseRun&)>& visit) const;
  bool is_tight(std::size_t point, const CaseResults& results) const;
  std::optional<ScheduledRun> next_load(const CaseResults& results) const;
  MeasuredPoint measured(const CasePoint& point, const CaseResults& results) const;
  MeasuredCurve curve(const CasePoint& first, const CaseResults& results) const;
  struct Load {
    CasePoint point;  // without its settings
    QString problem;  // why it cannot be run; empty: it can
    std::vector<std::string> ids;  // of its repeats, from the first
  };
  /// Worked out once: hashes of long settings take long, and are asked for after each run.
  std::shared_ptr<const Load> load_of(const CasePoint& first, double load) const;
  MeasuredPoint measured(const Load& load, const CaseResults& results) const;
  /// Each that is not another one's, too.
  std::vector<MeasuredCurve> distinct_curves(const CaseResults& results) const;

  const CasePlan& plan_;
  std::vector<CaseRun> planned_;  // up to the most repeats there may be; empty where the knee is looked for
  std::map<std::string, std::map<int, std::string>> planned_ids_;  // by a point's key and repeat: they take long to work out
  mutable KnownIntervals intervals_;
  mutable std::mutex loads_mutex_;
  mutable std::map<std::pair<std::vector<std::string>, double>, std::shared_ptr<const Load>> loads_;  // by the curve's values and the load
};

/// A plan with its schedule, which takes a moment to be worked out. Shared by whoever runs, shows and draws the case; any thread.
struct PlannedCase {
  explicit PlannedCase(CasePlan made) : plan(std::move(made)), schedule(plan) {}
  PlannedCase(const PlannedCase&) = delete;
  PlannedCase& operator=(const PlannedCase&) = delete;
  const CasePlan plan;
  const CaseSchedule schedule;
};

}  // namespace n2nq::app
