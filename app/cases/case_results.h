// SPDX-License-Identifier: GPL-3.0-or-later
// What the finished runs of a test case came to, as far as its figures and its order need it. Any thread; reading takes a moment per run.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/cases/case_plan.h"

namespace n2nq::app {

struct CaseRunResult {
  std::string sha256;  // which run of the plan it is
  QString folder;      // absolute
  QString verdict;
  QStringList reasons;
  bool is_disturbed = false;  // by others on its machines
  QString marked;                                  // why it is not to be trusted like others; empty: nothing is wrong with it
  std::map<std::string, double> values;            // by path in the summary; NaN: the run gave none
  std::map<std::string, double> clock_limits_us;   // of those that are times between two clocks, as clock_limit_at() tells
  std::set<std::string, std::less<>> few_samples;  // paths of percentiles with few samples above them
  double floor_us = std::nan("");  // an echo over loopback, of its slower host: what its latencies are held against; NaN: not known
  double duration_s = 0, planned_s = 0;
  std::map<QString, double> echoes_ns;  // over loopback before the run, by the groups' hosts: whether floors moved; none: not known
  bool one_machine = false;             // on hosts of different names that are one machine
  QString machine;                      // N2NQ's: "2 cores, Intel …, kernel …"
  std::map<QString, QString> machines;  // the same of all its hosts, by their names in the settings; empty: not known
  std::optional<bool> keeps_up{};  // where the knee is looked for
  QString load_why{};              // what says that it does not keep up
  QString load_remark{};           // why that is told by its summary alone; empty: by its logs, too

  /// Whether it counts: somebody's stop, or that nothing was ever sent, makes it one to be run again.
  bool counts = false;

  /// Whether it is a percentile with few samples above it.
  bool has_few_samples(std::string_view path) const;
  /// How far it may be off because clocks are, as clock_limit_at() tells it: infinite: nobody knows; NaN: it is of one clock.
  double clock_limit_us_of(const std::string& path) const;
  /// The floor of a latency; NaN: it is none, or the floor is not known.
  double floor_us_of(std::string_view path) const;
};

/// Which figures are wanted of each run.
std::vector<std::string> paths_of(const CasePlan& plan);
/// Empty: the run did not finish, or its files cannot be read; `problem` says why. Goes through its logs where they tell whether it kept up,
/// which takes seconds; once `cancelled` is set what it gives is of no use.
std::optional<CaseRunResult> read_case_run(const QString& folder, const CasePlan& plan, QString& problem,
                                           const std::atomic<bool>* cancelled = nullptr);

class CaseResults {
 public:
  /// In the order of their folders: a later run takes the place of an earlier one with the same identity.
  void add(CaseRunResult result);
  /// Null: not run yet.
  const CaseRunResult* find(const std::string& sha256) const;
  int count() const { return static_cast<int>(latest_.size()); }
  /// Why the run is marked, also in comparison with the others: a floor twice the usual one of that host.
  QString why(const CaseRunResult& result) const;
  /// Seconds that a run takes beyond its plan, as measured; `otherwise` before the first.
  double overhead_s(double otherwise) const;
  std::vector<const CaseRunResult*> all() const;
  int marked() const;

 private:
  std::map<std::string, CaseRunResult, std::less<>> latest_;
  std::map<QString, std::vector<double>> echoes_ns_;  // of these, by host, the shortest first
};

}  // namespace n2nq::app
