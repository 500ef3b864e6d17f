// SPDX-License-Identifier: GPL-3.0-or-later
// Two to eight results beside each other: what differs in what was asked, where it ran, and what came out. Any thread.
//
// A side is a folder: a run, or anything that holds run folders (repeats of one run, a test case). Within a side, runs that agree in all
// settings that vary on any side are repeats of one point; points of the sides are aligned by those settings, or by their places in a case.
#pragma once

#include <QString>
#include <QStringList>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "app/control/live_figures.h"
#include "app/results/statistics.h"
#include "app/results/stored_run.h"

namespace n2nq::app {

/// Where a run stands in its test case.
struct PlaceInCase {
  int order = 0;                                // among the case's points
  QString label;                                // "broadcaster, 0.1 s, services 50"
  std::vector<std::pair<QString, QString>> at;  // what its point differs in: an axis' title and a value each
};

struct ComparedSide {
  QString name;    // the folder's last part, or more of it where that is not unique
  QString folder;  // absolute
  std::vector<StoredRun> runs;
  QStringList left_out;   // folders below it that are no finished runs, and why
  bool is_group = false;  // repeats that were named one by one: the folder is that of the first
  /// Of its runs by their folders; where all runs have one, points are told by it. One that several points share has more.
  std::map<QString, std::vector<PlaceInCase>> places{};
};

/// A setting or a fact of the environment, by its path; one text per side, "several: a, b" where a side's own runs differ.
struct ComparedText {
  QString path;
  QStringList texts;
};

struct ComparedFigure {
  std::string path;  // in the summary
  std::string unit;
  std::vector<std::vector<double>> samples;  // per side: one per run that gave it
  std::vector<double> values;                // per side: trimmed mean; NaN: none
  std::vector<double> clock_bounds;          // per side, ± in µs: the largest of its runs'; NaN: stamps of one clock, infinite: not known
  std::vector<double> floors_us;             // per side, of a latency: the largest of its runs'; NaN: no latency, or not known
  std::vector<bool> few_samples;             // per side: a percentile with few samples above it, in each of its runs
  std::vector<Difference> differences;       // per side, against the first; the first one's own is of no meaning
  bool is_near_floor(std::size_t side) const { return app::is_near_floor(floors_us[side], values[side]); }
  bool is_time() const { return unit == "µs" || unit == "ms" || unit == "s" || unit == "ns"; }
};

struct ComparedPoint {
  QString label;                                // "senders.amount 50, queue.mode broadcaster", or its place; empty: there is only one
  std::vector<std::pair<QString, QString>> at;  // the same as setting (or axis) and value
  std::vector<QStringList> folders;             // per side, of its runs
  std::vector<int> repeats;                     // per side
  std::vector<std::map<QString, int>> verdicts;  // per side: how many of its runs have each
  std::vector<int> disturbed;                    // per side: how many of its runs others disturbed
  std::vector<ComparedFigure> figures;
  /// "clean" where all of the side's runs have it, else "1 broken, 4 clean", and " · 2 disturbed" behind it; "–": it has no run here.
  QString verdict_text(std::size_t side) const;
};

struct Comparison {
  static constexpr int sides_min = 2, sides_max = 8;
  std::vector<ComparedSide> sides;
  std::vector<ComparedText> settings, environment;  // what differs between sides; not what the points differ in
  std::vector<ComparedPoint> points;
};

/// Runs named one by one as sides: those with the same settings, of one build and of one test case (or of none) are repeats of one side.
/// Where all are repeats of one another each is a side of its own. In the order of the first run of each. Empty: `error` says why (too many
/// sides).
std::vector<ComparedSide> sides_of_runs(std::vector<StoredRun> runs, QString& error);
/// Empty result: `error` says why (no run there, an unreadable one, too many).
std::optional<ComparedSide> read_side(const QString& folder, QString& error);
Comparison compare(std::vector<ComparedSide> sides);

/// The figures that a comparison shows, by their paths.
const std::vector<std::string>& compared_figures();

}  // namespace n2nq::app
