// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of a test case: what was asked for, and a run folder for each of its runs.
//
//   2026-11-20T14-02-11-case-3-delay-quick/
//     case.yaml    the case's file, as it was when the case was begun
//     base.yaml    what its `base` came to then, if it names one
//     case.json    what was chosen for it, and by which build
//     case.lock    while a bench works in it
//     runs/0001-broadcaster-external-0.1-s-50-r1/   an ordinary run folder each, in the order in which they ran
//
// Which runs are finished is read from the run folders alone, so that nothing has to be written in the moment of a crash.
#pragma once

#include <QDateTime>
#include <QString>
#include <atomic>
#include <memory>
#include <optional>

#include "app/cases/case_results.h"
#include "app/cases/case_schedule.h"
#include "app/results/folder_lock.h"

namespace n2nq::app {

/// Version and a hash over the programs that make up a run: results of another build are not to be mixed in unasked.
QString build_of_programs(const QString& programs_folder);

class CaseFolder {
 public:
  /// Makes `exact` (must not exist or be empty), or a folder of its own below `parent`. Empty result: `error` says why.
  static std::optional<CaseFolder> make(const QString& parent, const QString& exact, const std::string& name, const CasePlan& plan,
                                        const QString& build, const QDateTime& now, QString& error);
  /// Opens one that is there. Empty result: `error` says what is wrong with it.
  static std::optional<CaseFolder> open(const QString& folder, QString& error);
  /// The newest folder below `parent` of this case, at this scale or at any; empty: there is none. `denied`: newer ones, by their names,
  /// which this user may not read.
  static QString newest(const QString& parent, const std::string& name, std::optional<Scale> scale, QStringList* denied = nullptr);
  /// The case of such a folder, with its base as it was.
  static ReadCase read_case(const QString& folder);
  /// Whether it is a test case's folder at all.
  static bool is_one(const QString& folder);

  const QString& path() const { return path_; }
  /// Of the case: "3-delay".
  const std::string& name() const { return name_; }
  const CaseFile& file() const { return file_; }
  const CaseChoice& choice() const { return choice_; }
  const QString& build() const { return build_; }
  /// How many different runs it takes; empty: what is measured decides, and that has not ended yet.
  const std::optional<int>& runs_planned() const { return runs_planned_; }

  /// From then on runs are of this build too. Empty result: done.
  QString accept_build(const QString& build);
  /// Empty: it is ours now, until unlock(), or until this is gone; else which bench works in it (then `by_others`, if given, is true), or
  /// why it cannot be.
  QString lock(bool* by_others = nullptr);
  void unlock() { lock_.reset(); }
  /// That it took so many, for who does not know what was measured. While it is ours. Empty result: done.
  QString note_runs(int runs);
  /// Where the next run goes, whatever it is.
  QString next_run_folder(const ScheduledRun& run) const;
  /// How many different runs in `folder` are finished and count, by what their files say of them alone; a few ms for each. Any thread.
  static int runs_that_count(const QString& folder, const std::atomic<bool>* cancelled = nullptr);
  /// All runs in `folder` that are finished; takes a moment for each. `unreadable` are told. Any thread.
  static CaseResults read_results(const QString& folder, const CasePlan& plan, QStringList* unreadable = nullptr,
                                  const std::atomic<bool>* cancelled = nullptr);

 private:
  QString write_state() const;

  QString path_;
  std::string name_;
  CaseFile file_;
  CaseChoice choice_;
  QString build_;
  QDateTime begun_;
  std::optional<int> runs_planned_;
  std::unique_ptr<FolderLock> lock_;  // never in a copy: it is to end when unlock() says so
};

}  // namespace n2nq::app
