// SPDX-License-Identifier: GPL-3.0-or-later
// Every run and test case ever made below one folder, without reading all summaries each time: what the list shows of them is kept in
// .index.sqlite there. The folders are the truth: an index that is missing, damaged or of another format is made anew, and a run whose
// files changed is read again.
//
// Runs lie directly below the folder, or below a test case's folder (<case>/runs/<run>, where <case> has a case.yaml). A test case is an
// entry of its own, told by what its runs came to. What is deleted is none: deleted_results.h.
#pragma once

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <atomic>
#include <cmath>
#include <vector>

namespace n2nq::app {

struct ResultEntry {
  bool is_case = false;
  QString folder;     // absolute
  QString name;       // its last part
  QString test_case;  // name of the case's folder it belongs to; empty: of none
  QString title;      // of the settings, or of the case
  QString scale;      // of a case: "quick", "thesis", "stress"
  QDateTime started;
  QDateTime newest;                // of a case: when its last run was started; else the same as `started`
  QString mode;                    // "broadcaster", "load-balancer"; of a case also both: "broadcaster, load-balancer"
  int senders = 0, receivers = 0;  // of a case: the most of any run
  QString machines;                // "local", or of N2NQ, senders, receivers: "lab-1, lab-2, lab-3"; of a case each of its runs' once
  int runs_done = 0;               // of a case: different ones that are finished; of those made more than once the last one counts
  int runs_planned = 0;            // of a case; 0: not known yet, for what is measured decides
  QString verdict;                 // "unfinished": there is no summary. Of a case: the worst of its runs, or that some are to come
  bool is_being_made = false;      // a bench works on it: on a run that is unfinished, or on a case, whatever its runs came to
  QString reason;                  // the first one; of a case: how many runs had which verdict
  QString disturbed;               // what others did to the machine meanwhile, the first of it; of a case: to how many runs; empty: nothing
  double p50_us, p99_us, mean_lowest_95_us;  // NaN: none
  double clock_bound_us = std::nan("");      // ± of these; NaN: stamps of one clock, infinite: not known
  double floor_us = std::nan("");            // an echo over loopback before the run; NaN: not known, or of a case
  qint64 deliveries = 0;                     // the ledger's delivered: without duplicates; of a case those of all its runs
  qint64 samples = 0;                        // behind the latencies: deliveries and duplicates; of a case 0
  QString note;
  QStringList tags;
  QString build;     // version of the bench
  QString settings;  // of a run: a hash that runs with the same settings share; empty: it sent nothing, and counts for no case

  /// There is something to be opened.
  bool finished() const { return is_case ? runs_done > 0 : verdict != QLatin1String("unfinished"); }
};

/// What is asked for in the list; empty parts ask for nothing.
struct ResultFilter {
  enum class Kind { all, cases, runs_of_cases, single_runs };
  Kind kind = Kind::all;
  QString text;  // all of its words, in name, title, case, machines, note or tags
  QString tag, mode, verdict;
  QDate from, to;  // days, inclusive
  bool matches(const ResultEntry& entry) const;
};

/// Whether a folder is that of a run or of a test case: begun at least.
bool holds_a_result(const QString& folder);

class ResultIndex {
 public:
  static constexpr int results_max = 100'000;

  explicit ResultIndex(QString folder) : folder_(std::move(folder)) {}

  /// All results, newest first and a case above its runs, after bringing the index up to date. What is wrong but does not prevent a list
  /// stands in `remark`. Takes a moment for 5,000 runs, seconds when the index has to be made anew. Any one thread at a time.
  std::vector<ResultEntry> list(QString& remark, const std::atomic<bool>* cancelled = nullptr);

 private:
  QString folder_;
};

}  // namespace n2nq::app
