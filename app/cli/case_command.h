// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench case` and `n2nq-bench cases`: test cases without a window.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <memory>
#include <optional>

#include "app/cases/case_library.h"
#include "app/cases/case_runner.h"
#include "app/cases/runs_again.h"
#include "app/cli/arguments.h"
#include "app/cli/terminal.h"
#include "app/host/host_book.h"

namespace n2nq::app {

/// A line for each case, with its runs and the time they take at each scale.
QString cases_page(const CaseLibrary& library);

class CaseCommand : public QObject {
  Q_OBJECT
 public:
  CaseCommand(Arguments arguments, Terminal& terminal);
  /// Runs the application's event loop; returns the exit code.
  int execute();

 private:
  struct Opened {
    std::shared_ptr<const PlannedCase> planned;
    CaseFolder folder;
  };

  std::vector<LibraryCase> asked();
  std::optional<CasePlan> plan_of(const LibraryCase& asked);
  std::optional<Opened> open(const LibraryCase& asked);
  std::optional<Opened> resume(const QString& folder, const LibraryCase& asked);
  /// `denied`: of --resume without --out, newer ones that may not be read.
  QString folder_to_resume(const LibraryCase& asked, QStringList* denied = nullptr) const;
  QString folder_of_all(const std::string& name, const CaseChoice& choice);
  QString words_to_go_on(const CaseFolder& folder) const;
  bool is_readable(const LibraryCase& asked);
  /// For who then returns that it has no folder.
  std::nullopt_t not_written(const QString& error);
  /// Whether the folder's case is the one that was asked for; where that reads otherwise by now, it says so.
  bool is_of(const CaseFolder& folder, const LibraryCase& asked);
  bool can_be_asserted(const CasePlan& plan, const std::string& name);
  /// False: it was interrupted, or could not go on.
  bool run(Opened opened);
  bool report();
  void check_assertions(nlohmann::ordered_json& out);
  void interrupt();
  void show_progress();
  void say(const QString& text) { terminal_.say("n2nq-bench: " + text); }

  Arguments arguments_;
  Terminal& terminal_;
  std::unique_ptr<HostBook> book_;
  CaseRunner::MakeLaunchers launchers_;
  std::unique_ptr<CaseRunner> runner_;
  QString begun_;      // of `all` without --out: the time in the name of the first case's folder
  RunsAgain again_;    // of the case that runs
  QElapsedTimer since_progress_;
  int code_ = 0;
  bool unwritten_ = false;  // what is to be written for a case before its first run could not be
  int interrupted_ = 0;  // so often
  bool asking_ = false;
};

}  // namespace n2nq::app
