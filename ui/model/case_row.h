// SPDX-License-Identifier: GPL-3.0-or-later
// A test case as the window lists it: its file, how far it is, and what was loaded of it.
#pragma once

#include <QString>
#include <array>
#include <memory>

#include "app/cases/case_library.h"
#include "app/cases/case_runner.h"
#include "ui/model/background_job.h"

namespace n2nq::ui {

struct CaseRow {
  /// How a case is begun.
  enum class Begin { anew, go_on };
  /// paused: by a person, since this window was opened and its scale was chosen; whatever else ended before its last run is stopped.
  enum class State { unreadable, not_begun, queued, running, paused, stopped, done };
  struct Estimate {
    int runs = 0;
    double seconds = 0;
    QString problem;  // why it cannot be run at this scale; empty: it can
  };

  /// What there is of it in the runs folder, by its files alone; takes a moment. Any thread.
  static CaseRow read(app::LibraryCase file, const app::CaseChoice& choice, const QString& runs_folder,
                      const BackgroundJob::Cancelled& cancelled);

  app::LibraryCase file;
  bool ticked = false;
  State state = State::not_begun;
  bool is_elsewhere = false;  // another bench worked on it when it was read: nothing of it is begun here then
  Begin how = Begin::anew;  // while it is queued
  int runs_done = 0, runs_all = 0, marked = 0;
  std::array<Estimate, app::all_scales.size()> estimates;
  QString folder;                                   // the newest at the chosen scale; empty: there is none
  std::shared_ptr<const app::PlannedCase> planned;  // once it was opened
  std::shared_ptr<app::CaseRunner> runner;          // likewise, where there is a folder
  /// Will be begun anew, by the choice: what was counted is of a folder of before.
  bool waits_to_begin() const { return state == State::queued && how == Begin::anew; }
  /// Was begun, and not finished, and nobody is at work on it.
  bool can_go_on() const { return !is_elsewhere && (state == State::paused || state == State::stopped); }
  /// While it neither runs nor waits to.
  State at_rest() const;
  /// By which a session remembers whether it is ticked; a file of one's own is "own/name".
  QString tick_name() const;
  /// It was opened, and none of what was read then was deleted since.
  bool has_all_its_runs() const;
  /// Nothing of what was begun at another scale is left in it: the list that is read next tells what there is at this one.
  void forget_begun(app::Scale scale);
};

}  // namespace n2nq::ui
