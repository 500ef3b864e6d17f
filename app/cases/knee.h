// SPDX-License-Identifier: GPL-3.0-or-later
// Up to which load does a system keep up? Found by doubling until it does not, then by bisection. Pure: what to try next follows from what
// was tried, so that a search goes on where it was broken off.
//
// A run keeps up when latency from plan and copies in flight show no upward trend, the plan was kept, nothing was lost to time, and the
// 99th percentile of the latency from plan stays under a bound. One bad run may be an accident: a load counts as too much when two were
// bad and no more were good.
#pragma once

#include <QString>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace n2nq::app {

/// Whether values over time rise: Mann-Kendall's test (one-sided, 1 %), and the last third's median at least half above the first
/// third's and `slack` on top. NaN are left out; fewer than 6 values show nothing.
bool rises(std::span<const double> values, double slack);

/// What one run says about its load.
struct LoadSigns {
  std::vector<double> from_plan_us{}, in_flight{};  // over the run's time, in order
  double from_plan_p99_us = 0;
  bool plan_kept = true;
  bool copies_given_up = false;  // expired, parked or cut off
};
struct LoadVerdict {
  bool keeps_up = true;
  QString why{};  // what says it does not
};
LoadVerdict judge_load(const LoadSigns& signs, double p99_max_us);

struct LoadTrials {
  int good = 0, bad = 0;
  bool decided() const { return good > 0 || bad > 1; }
  bool keeps_up() const { return good >= bad; }
};

class KneeSearch {
 public:
  /// Loads are whole numbers from `from` to `to`.
  KneeSearch(double from, double to, double within_percent) : from_(from), to_(to), within_percent_(within_percent) {}

  struct State {
    std::optional<double> next;  // the load to be tried; none: found
    double low = 0, high = 0;    // it keeps up at `low` (0: not even at the first), not at `high` (0: no load was too much)
    QString limit{};             // why settings allow no load beyond `low`; empty: they do
    /// Loads over `divide` are in `unit`; empty: none.
    QString words(const QString& unit, double divide = 1) const;
  };
  State state(const std::map<double, LoadTrials>& tried) const;
  /// How many runs it takes, about.
  int runs_expected() const;

 private:
  double from_, to_, within_percent_;
};

}  // namespace n2nq::app
