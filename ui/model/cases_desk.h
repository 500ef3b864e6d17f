// SPDX-License-Identifier: GPL-3.0-or-later
// Test cases as the window works on them: which there are, how far each is, and the one that runs; several are run one after the other.
// Files are read and plans worked out beside the window's thread. Knows no widget.
#pragma once

#include <QObject>
#include <QStringList>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/cases/runs_again.h"
#include "app/figure/figure.h"
#include "app/host/host_book.h"
#include "ui/model/background_job.h"
#include "ui/model/case_row.h"

namespace n2nq::ui {

class CasesDesk : public QObject {
  Q_OBJECT
 public:
  struct Parts {
    QString runs_folder, cases_folder, programs_folder;
    app::HostBook* hosts = nullptr;  // lives longer
    app::CaseRunner::MakeLaunchers launchers;
    /// Why no case can begin now; empty: one can.
    std::function<QString()> busy;
  };
  using Row = CaseRow;
  using Begin = CaseRow::Begin;
  using State = CaseRow::State;
  using Estimate = CaseRow::Estimate;
  /// What to do with a case of another build.
  enum class Answer { go_on, anew, leave };

  explicit CasesDesk(Parts parts, QObject* parent = nullptr);
  ~CasesDesk() override;

  /// Reads all files anew; ticks and what runs stay.
  void reload();
  bool is_loaded() const { return loaded_; }
  /// Something is read or worked out.
  bool is_busy() const { return listing_.is_on() || opening_.is_on(); }
  const std::vector<Row>& rows() const { return rows_; }
  void set_ticked(int row, bool ticked);
  std::vector<int> ticked_rows() const;
  /// By name; files of one's own as "own/name".
  QStringList ticked_names() const;
  /// What an earlier session left; before the first reload(). Without it none is ticked: a person says what is to take hours.
  void restore(const QStringList& ticked_names, std::optional<app::Scale> scale);

  const app::CaseChoice& choice() const { return choice_; }
  /// For cases that are begun from now on; not while one runs. What waits to be begun waits no longer. At another scale no row has a folder until the list is read again.
  void choose(const app::CaseChoice& choice);

  /// Loads what there is of it, for being shown; not beside a run, whose machine that would load.
  void open(int row);
  /// Without those that another bench works on.
  void run(std::vector<int> rows, Begin how);
  /// Why no case can begin now, beside one that runs; empty: one can.
  const QString& hold() const { return hold_; }
  /// Asks for it anew.
  void refresh_hold();
  /// Why neither a case's file nor its runs are touched now; empty: they may be.
  QString why_not_changed(const Row& row) const;
  /// After the run in progress; what is queued waits.
  void pause();
  void stop_now();
  /// Those of its runs that are marked and in `folders`, one after the other.
  void run_again(int row, const QStringList& folders);
  void answer(Answer answer);

  bool is_on() const { return active_ >= 0; }
  bool is_pausing() const;
  int active_row() const { return active_; }
  /// Rows that resume() would go on with, in order: ticked, and begun or queued.
  std::vector<int> resumable() const;
  /// Of the cases asked for together; while none runs, of the ticked ones that were begun or are queued.
  struct Progress {
    int runs_done = 0, runs_all = 0;
    double seconds_left = 0;  // without that of the run in progress
    int runs_left() const { return runs_all - runs_done; }
  };
  Progress progress() const;
  /// The same with the run in progress, 0 to 1.
  double share() const;
  /// Of the run in progress: which one, then what tells it from the others, then its case.
  QString progress_text() const;
  /// "run 3 of 12", or "preparing".
  QString run_text() const;
  /// Null: none is in progress, as between two of a case.
  const app::RunControl* run() const;
  QString time_text() const;
  /// Empty curves where nothing was run yet; without points before open() is done.
  app::Figure figure(int row, std::size_t which) const;

 signals:
  void rows_changed();        // which there are
  void row_changed(int row);  // its state or counts
  void ticks_changed();
  void choice_changed();
  void on_changed();  // something began, or nothing runs any more
  void progressed();
  void figures_changed(int row);
  void opened(int row);
  /// A case was begun with another build: answer() says what to do.
  void build_asked(const QString& text);
  void told(const QString& text, bool bad);
  /// By a case's runs, or what was read of them: each text once for the cases that were asked for together.
  void remarked(const QString& text);
  /// Others were asked for: what those before remarked is not so of these.
  void asked_anew();
  /// Which are not listed; empty: all are again.
  void not_all_listed(const QString& remark);
  void hold_changed();
  /// Nothing was begun because of what goes on: no more than that, and not for longer.
  void refused(const QString& why);

 private:
  struct Prepared {
    std::shared_ptr<const app::PlannedCase> planned;
    std::optional<app::CaseFolder> folder;
    bool other_build = false;
    QString problem;
  };
  QString unknown_host(const std::vector<int>& rows) const;
  /// What is worked out beside the window's thread: by value, and without the row's runner, which belongs to this one.
  struct Wanted {
    app::CaseFile file;
    std::string name;
    QString own_path;  // empty: it comes with the program
    QString folder, runs_folder, build;
    app::CaseChoice choice;
    Begin how = Begin::anew;
    bool only_show = false;
  };
  Wanted wanted(int row, Begin how, bool only_show) const;
  static Prepared prepare(const Wanted& wanted);
  void prepare_and_start(int row, Begin how);
  bool go_on_with_runner(int row);
  struct Listed {
    std::vector<Row> rows;
    QString build, remark;
  };
  void take_rows(std::vector<Row> rows);
  void begin_next();
  void take_prepared(int row, Prepared prepared);
  void start(int row, Prepared prepared);
  void watch(int row);
  void watch_run(const app::CaseRunner& runner);
  void use(int row, Prepared prepared);
  void on_stood_still(int row);
  void remark(const QString& text);
  void forget_said();
  void halt();
  void refresh_counts(int row);
  void set_state(int row, State state);
  QString why_not_now();
  State state_when_left(const Row& row) const;
  bool is_in_progress(const Row& row) const;
  double seconds_left(const Row& row) const;

  Parts parts_;
  QString build_;  // of the programs; known once the list is
  QString remark_;  // as it was said last
  app::CaseChoice choice_;
  std::vector<Row> rows_;
  bool loaded_ = false;
  std::optional<QStringList> restored_;
  bool scale_is_read_ = true;  // what was begun at the chosen one is known
  BackgroundJob listing_, opening_;
  std::vector<int> queue_;  // without the active one
  QStringList together_;    // the tick_name() of what was asked for together last
  QStringList said_;        // what that has remarked, the latest of it
  int active_ = -1;
  app::RunsAgain again_;    // of what was asked for together last; none: runs are made for the first time
  enum class Halt { none, pause, stop };
  Halt halting_ = Halt::none;
  QString hold_;
  int asked_row_ = -1;
  std::optional<Prepared> asked_;
};

}  // namespace n2nq::ui
