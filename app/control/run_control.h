// SPDX-License-Identifier: GPL-3.0-or-later
// One run's life: which processes there are, in which state each is, and what comes next.
//
// The only state machine of a run. It talks to processes through a Launcher (app/host/launcher.h), so that it can be tested with a
// pretend one and needs no change for SSH. Lives on one thread (the GUI's or the command line's); never blocks it.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <memory>
#include <string>
#include <vector>

#include "app/control/deadlines.h"
#include "app/control/live_figures.h"
#include "app/settings/settings.h"

namespace n2nq::app {

class LauncherFactory;
struct Fault;
struct PlannedStep;
struct RunEvent;

enum class Role { broker, senders, receivers };
enum class ProcessState { not_started, starting, waiting, running, ending, ended, died };
enum class RunState { idle, preparing, running, ending, finished };
enum class Verdict { clean, stopped, degraded, broken };

struct ProcessStatus {
  /// What it waits for, and what was in the way when that was tried last.
  QString waiting_words() const { return in_the_way.isEmpty() ? waiting_for : QString("%1; last: %2").arg(waiting_for, in_the_way); }

  ProcessState state = ProcessState::not_started;
  bool paused = false;       // stands still, on purpose
  int copied_percent = -1;   // with starting: of its program, to its host; -1: nothing has to be
  QString waiting_for;       // with waiting: "N2NQ", "38 of 50 receivers connected", …
  QString in_the_way;        // with waiting for N2NQ: of the last attempt to connect; empty: nothing yet
  QString advice;            // with waiting for N2NQ, for long: what may keep it from there, in a sentence
  QString error;             // with died: what happened, in a sentence
  bool may_be_back = false;  // with died: killed on purpose, in a run that goes on
  bool never_ran = false;    // with died: it could not be started
  bool lost = false;         // with died: the link to its host was; it ends by itself there
  QStringList last_lines;    // with died: the last lines of its stderr
};

struct RunOutcome {
  Verdict verdict = Verdict::broken;
  bool stopped_by_user = false;  // whatever the verdict
  QStringList reasons;           // sentences, what made the verdict first
  QStringList disturbances;      // sentences beside the verdict: who had to wait for a core
  QString folder;                // absolute path of the run folder
  std::string summary;           // the text of summary.json, also where no disk took it
};

class RunControl : public QObject {
  Q_OBJECT
 public:
  struct Options {
    QString runs_folder;   // the parent of run folders (the user's data directory by default)
    QString exact_folder;  // --out: use exactly this folder instead (must not exist or be empty)
    // Headless: nobody mends anything by hand, and a group whose process runs is waited for no longer than limits.connect_deadline_s, at
    // the start and while messages flow: then once more behind each in which a fault was made or mended, or this bench stood still, and
    // for as long as a process is paused or dead on purpose. What comes before, on its host, has limits of its own.
    bool unattended = false;
    RunDeadlines deadlines = {};
  };
  RunControl(Options options, std::unique_ptr<LauncherFactory> launchers, QObject* parent = nullptr);
  ~RunControl() override;

  /// Settings for processes that are started from now on; a running process keeps what it was started with. A key that a process of
  /// this run was started with keeps its value until the run is over (lock_reason says so).
  void set_settings(const Settings& settings);
  const Settings& settings() const;
  /// What the present run, or the one that is over, was started with: the figures, counts and verdict belong to these.
  const Settings& run_settings() const;

  /// Why no run can begin with settings(), as far as that is known before anything of it is made; empty: nothing is in the way.
  QString refusal() const;
  void start_all();
  void start(Role role);
  /// Senders: they end early, the run drains and finishes (verdict stopped). Receivers or broker while traffic runs: the whole run stops in
  /// order. Before traffic: just this process ends.
  void stop(Role role);
  /// In order (senders, drain, receivers, broker), all gone in 10 s; a second call asks for what all know by now and kills who does not say
  /// it in a second, a third kills at once. While files are brought back: leaves the rest of them on their hosts.
  void stop_all();

  /// What is to be done by itself; for the next run that is started. check_step() has nothing against it.
  void plan(std::vector<PlannedStep> steps);
  /// Why this fault cannot be made now, in a sentence; empty: it can.
  QString fault_problem(const Fault& fault) const;
  /// Makes it. Without effect when fault_problem() says why.
  void make_fault(const Fault& fault);
  /// From now on these receivers ask for this, in place of what they asked before. While requests are on in a run.
  void request(const NumberRanges& receivers, const RequestRules& rules);
  /// By receiver, from R001: what each asks for now; empty while requests are off.
  const std::vector<RequestRules>& rules_in_force() const;
  /// What was done in this run, in order.
  const std::vector<RunEvent>& events() const;

  /// Why this key cannot change now, e.g. "N2NQ runs with it"; empty when it can.
  QString lock_reason(std::string_view key) const;

  RunState state() const;
  ProcessStatus process(Role role) const;
  bool can_start(Role role) const;
  bool can_stop(Role role) const;
  /// Absolute path of a service's log file; empty before the run folder exists.
  QString log_path(Role role, int number) const;
  QString broker_log_path() const;
  QString folder() const;
  /// The present run, or the one that is over, came as far as the word to begin: before it there is nothing to count.
  bool traffic_started() const;
  /// Warm-up is sent, and nothing is measured yet.
  bool warming_up() const;
  /// All is sent, and N2NQ still has something for the receivers: they get it, and what is dead or misbehaves can still be mended.
  bool draining() const;
  /// 0…1, and seconds left, warm-up included; negative when unknown (until stopped). While draining(): until it is given up, at most.
  double progress() const;
  double seconds_left() const;

  /// While what processes wrote on other hosts is brought into the run's folder: 0…1, never less than before; negative: it is not.
  double brought_back() const;
  /// Keeps the log of a service (the broker's: number 0) at its log_path() up to date, where it is written on another host, or does no
  /// more: as long as the run lasts, whenever its process starts, and starts again. Forgotten with the run.
  void follow_log(Role role, int number, bool follow);

  /// Only these services' rows are pulled (keeps 1,000 services cheap). Empty range: first > last.
  void set_visible_rows(Role role, int first, int last);
  /// While it runs, of the last pull; once it is finished, the final figures with the rows of all services.
  const LiveFigures& figures() const;
  /// Valid once state() is finished.
  const RunOutcome& outcome() const;

 signals:
  void process_changed(n2nq::app::Role role);
  void state_changed();
  void figures_changed();             // 10 times a second while it runs, and once at the end
  void events_changed();              // one more of events(), or one has recovered
  void bringing_back_changed();       // of brought_back()
  void rules_changed();               // of rules_in_force()
  /// Why this role's logs are not being fetched though it is their turn, in a sentence; empty: they are again, or it is over.
  void fetching_waits(n2nq::app::Role role, const QString& why);
  void message(const QString& text);  // a remark or an error for the page, not a dialog
  void finished();

 private:
  struct Private;
  std::unique_ptr<Private> d;
};

}  // namespace n2nq::app
