// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a test case, run by run, each from a clean state, until all are there. Can be paused after the run in progress, stopped at once, and
// gone on with, also by another process: what is finished is read from the folder. Lives on one thread and never blocks it; run folders
// are read on another.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>

#include "app/cases/case_folder.h"
#include "app/cases/case_plan.h"
#include "app/cases/case_schedule.h"
#include "app/control/run_control.h"
#include "app/host/launcher.h"

namespace n2nq::app {

class CaseRunner : public QObject {
  Q_OBJECT
 public:
  enum class State { reading, idle, running, pausing, stopping, done };
  Q_ENUM(State)
  using MakeLaunchers = std::function<std::unique_ptr<LauncherFactory>()>;
  struct Options {
    RunDeadlines deadlines = {};
    int failed_starts_max = 3;  // in a row, also of one that is made again: then something is wrong that more runs do not mend
  };

  /// Reads what is finished first (state reading). The folder is locked while anything is run.
  CaseRunner(std::shared_ptr<const PlannedCase> planned, CaseFolder folder, MakeLaunchers launchers, Options options,
             QObject* parent = nullptr);
  CaseRunner(std::shared_ptr<const PlannedCase> planned, CaseFolder folder, MakeLaunchers launchers, QObject* parent = nullptr);
  /// A run in progress is killed.
  ~CaseRunner() override;

  /// Goes on, from idle; while it is still reading, as soon as it can. A pause that was asked for is taken back.
  void start();
  /// After the run in progress.
  void pause();
  /// In order; a second call waits for nothing, a third kills at once. The run in progress counts as not run.
  void stop_now();
  /// One run once more, whatever it came to; the one that is there stays. Only from idle or done.
  void run_again(const QString& folder);

  State state() const { return state_; }
  /// Why it went no further by itself; empty: it did not, or all is done.
  const QString& problem() const { return problem_; }
  const CasePlan& plan() const { return planned_->plan; }
  const CaseFolder& folder() const { return folder_; }
  const CaseSchedule& schedule() const { return planned_->schedule; }
  const CaseResults& results() const { return results_; }
  /// The run in progress; null: none.
  RunControl* run() const { return run_.get(); }
  const std::optional<ScheduledRun>& scheduled() const { return scheduled_; }
  int runs_done() const { return runs_done_; }
  int runs_total() const { return runs_total_; }
  /// The run in progress is one that was there already: it is none of runs_total() that are missing.
  bool makes_again() const { return once_; }
  /// From what was measured so far; with what the run in progress still takes.
  double seconds_left() const;
  /// Of the one that is made again alone, without those that are missing; 0: none is.
  double again_seconds_left() const;

 signals:
  void state_changed();
  void run_started();
  void progressed();                         // of the run in progress, ten times a second
  void run_finished(const QString& folder);  // results() has it, if it counts
  void message(const QString& text);
  void stood_still();  // state became idle or done

 private:
  void read();
  void next();
  void begin(const ScheduledRun& run);
  void on_run_finished();
  void take(const QString& folder, std::optional<CaseRunResult> result, const QString& problem);
  void count();
  double spent_s() const;
  void come_to_rest();
  bool lock();
  void rest();
  void set_state(State state);

  std::shared_ptr<const PlannedCase> planned_;
  CaseFolder folder_;
  MakeLaunchers launchers_;
  Options options_;
  CaseResults results_;
  State state_ = State::reading;
  bool start_wanted_ = false;
  QString problem_;
  std::unique_ptr<RunControl> run_;
  std::optional<ScheduledRun> scheduled_;
  bool once_ = false;  // only this run
  QElapsedTimer since_begin_;
  int failed_starts_ = 0;
  int runs_done_ = 0, runs_total_ = 0;
  double left_s_ = 0, again_s_ = 0;
  std::atomic<bool> ended_ = false;  // what is still read is of no use
  QThreadPool reader_;
};

}  // namespace n2nq::app
