// SPDX-License-Identifier: GPL-3.0-or-later
// A test case made out: its points with all their settings, and the runs it takes, in order. Pure; nothing is run here.
//
// What tells one run from another is the SHA-256 of its canonical settings (all of them, except title and description, which only name
// it) and its repeat. Points with the same settings share their runs.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "app/cases/case_file.h"

namespace n2nq::app {

/// What is chosen for a case when it is run; the rest stands in its file.
struct CaseChoice {
  Scale scale = Scale::quick;
  std::optional<int> repeats{};
  std::optional<double> warm_up_s{};
  std::optional<CaseHosts> hosts{};  // for external sets
  bool operator==(const CaseChoice&) const = default;
};

struct CasePoint {
  std::vector<CaseValue> values;  // by axis
  QString label;                  // "broadcaster, external, 0.1 s, 50"; where it runs here for want of hosts "external (here)"
  QString curve;                  // the same without the load, at scale stress
  Settings settings;              // of repeat 1
  std::string key;                // of the settings of repeat 1; empty: it cannot be run
  QString not_run;                // why it cannot be run; empty: it can
  bool runs_here = false;         // an external set for which there are no hosts
};

struct CaseRun {
  std::size_t point = 0;  // the first one of those that share it
  int repeat = 1;
  Settings settings;
  std::string sha256;  // of these settings
};

/// Lower-case hex.
std::string settings_sha256(Settings settings);
/// Of one of a point's repeats: its own seed, so that random choices are drawn anew.
Settings settings_of_repeat(const Settings& settings, int repeat);

class CasePlan {
 public:
  /// Empty result: `errors` say which point's settings cannot be run, and why.
  static std::optional<CasePlan> make(const CaseFile& file, const CaseChoice& choice, QStringList& errors);

  const CaseFile& file() const { return file_; }
  const CaseChoice& choice() const { return choice_; }
  const CaseRules& rules() const { return rules_; }
  bool seeks_knee() const { return choice_.scale == Scale::stress; }
  /// How many runs it takes is known only when all are there.
  bool decides_by_what_it_measures() const { return seeks_knee() || rules().interval_percent > 0; }
  /// Every combination of values; at scale stress without the axis of the load: one for each curve, at the first load.
  const std::vector<CasePoint>& points() const { return points_; }
  /// The point of a curve at another load. `problem`: such settings cannot be run.
  CasePoint at_load(const CasePoint& curve, double load, QString& problem) const;
  CaseRun run_of(std::size_t point, int repeat) const;
  /// All runs of `repeats` blocks, each point once in a block; not at scale stress.
  std::vector<CaseRun> runs(int repeats) const;
  /// Points that have runs of their own; at scale stress, whose curve shares all its loads with none before.
  std::vector<std::size_t> distinct_points() const;

  int runs_expected() const;
  /// From the plan alone; `overhead_s`: what a run takes beyond its planned time.
  double seconds_expected(double overhead_s = overhead_first_s) const;
  static constexpr double overhead_first_s = 0.7;
  /// One run of these settings, as planned.
  static double seconds_of(const Settings& settings, double overhead_s);

 private:
  CasePlan(const CaseFile& file, const CaseChoice& choice);
  void add_points(std::vector<CaseValue>& values, QStringList& errors);
  CasePoint point_of(const std::vector<CaseValue>& values, QString& problem) const;
  /// True: services that the value places outside run here, as no hosts were given.
  bool place(CasePoint& point, const CaseValue& value) const;
  std::size_t axis_of_load() const;
  std::string key_of_curve(const CasePoint& first) const;

  CaseFile file_;
  CaseChoice choice_;
  CaseRules rules_;
  std::vector<CasePoint> points_;
  std::vector<std::string> distinct_keys_;  // of each point
};

}  // namespace n2nq::app
