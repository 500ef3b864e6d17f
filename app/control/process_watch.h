// SPDX-License-Identifier: GPL-3.0-or-later
// One supervised process, from launch to end: its messages, its lease, its deadlines, and the ladder that ends it.
//
//   start() ── file there ── launched ── configure written ── hello ── messages … ── bye ── exit 0
//
// Whatever else happens ends in gone() as well, exactly once, with a sentence. A process that does not answer, or answers nonsense, is
// killed. Lives on its owner's thread and never blocks it; lines are parsed on the given thread.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "app/control/control_message.h"
#include "app/control/deadlines.h"
#include "app/control/message_reader.h"
#include "app/control/sleep_watch.h"
#include "app/host/launcher.h"
#include "app/host/step_timer.h"

class QThread;

namespace n2nq::app {

class ProcessWatch : public QObject {
  Q_OBJECT
 public:
  /// `name` stands in sentences ("N2NQ", "Senders"). `reader_thread` must not end before the process has, nor `sleep_watch` before this.
  ProcessWatch(QString name, std::unique_ptr<Launcher> launcher, QThread& reader_thread, ProcessDeadlines deadlines,
               const SleepWatch& sleep_watch);
  /// Kills what still runs.
  ~ProcessWatch() override;

  /// `configure` is made when the program stands on its host: only then its addresses and folders are known.
  void start(const QString& program, std::function<nlohmann::json()> configure);
  /// While it is being launched, kept for behind the configure. Without effect before start() and after the end.
  void send(const nlohmann::json& object);
  /// Asks for stats, unless the question before is not answered yet; false then.
  bool ask_stats(const nlohmann::json& question);
  /// SIGTERM, and SIGKILL when that does not help. What is not started yet is given up at once. Where it has ended, and what it said last
  /// is still on its way, that is waited for; kill() waits no longer.
  void terminate();
  /// What does not even end by that within its deadline, because the kernel waits for something on its behalf, is gone as may_run_on().
  void kill();
  /// The same; gone() says why.
  void give_up(const QString& why);
  /// Harm: where its host does not carry it out, not_killed says so, and it runs on. What kill() is not carried out for, hears nothing any
  /// more, and is given up when it has not ended by that.
  void try_to_kill();
  /// While placing: it is not launched any more; gone() says whether it could have been. What the person would have to be asked for is not
  /// found out.
  void only_place();
  /// While placing, and in place of kill(): gone() names a host that has not answered yet.
  void give_up_placing();
  /// Lets it stand still, and go on. What stands still is not held to answer.
  void pause();
  void resume();
  bool alive() const { return phase_ == Phase::placing || phase_ == Phase::launching || phase_ == Phase::running; }
  /// Its host is being connected to, or its program copied: there is no process yet.
  bool placing() const { return phase_ == Phase::placing; }
  /// There is, or was, a process: it may have left files.
  bool ran() const { return ran_; }
  bool answered() const { return hello_.has_value(); }
  const HelloMessage& hello() const { return *hello_; }
  /// From the first question for stats to its answer; 0: none was answered yet.
  std::int64_t round_trip_ns() const { return round_trip_ns_; }
  /// Since the last question for stats was asked that it has answered; before the first: since it was launched. What it said behind that
  /// answer was said in this time. Once it runs.
  std::int64_t ns_since_answered_question() const { return since_answered_question_.nsecsElapsed(); }
  /// To end, by this bench, before it had ended.
  bool was_signalled() const { return cancelled_; }
  /// When the last bytes came from its host, where it is gone because the link to that is; none: it was seen to end.
  std::optional<std::chrono::steady_clock::time_point> last_heard() const { return exit_ && !exited_ ? exit_->last_heard : std::nullopt; }
  /// Gone, but as far as this bench knows it may run until it misses the lease.
  bool may_run_on() const { return !exited_ && (!not_ended_because_.isEmpty() || (exit_ && !exit_->lost.isEmpty())); }
  const std::shared_ptr<const nlohmann::json>& bye() const { return bye_; }
  /// Of the last error it said; empty: it said none.
  const std::string& error_code() const { return error_code_; }
  /// Why what was to end it did not, in half a sentence; empty: it did, or was not asked.
  const QString& not_ended_because() const { return not_ended_because_; }
  const QStringList& last_lines() const { return last_lines_; }
  Launcher& launcher() { return *launcher_; }

 signals:
  void said_hello();
  void said_state(const n2nq::app::StateMessage& state);
  void said_clock(const n2nq::app::ClockMessage& clock);
  void said_senders_stats(const n2nq::app::SendersStats& stats);
  void said_receivers_stats(const n2nq::app::ReceiversStats& stats);
  void said_fault(const n2nq::app::FaultMessage& fault);
  void said_error(const n2nq::app::ErrorMessage& error);
  /// It could not be made to stand still; or it did, and went on though nobody said so. Why, in half a sentence.
  void not_paused(const QString& why);
  void went_on(const QString& why);
  /// It runs on; why, in half a sentence.
  void not_killed(const QString& why);
  /// No process any more. `trouble` is empty when it ended as asked; otherwise what happened, e.g. "N2NQ died: signal 9 (Killed)".
  void gone(const QString& trouble);

 private:
  enum class Phase { not_started, placing, launching, running, gone };

  void answered_stats();
  void on_message(const SharedMessage& message);
  void on_hello(const HelloMessage& hello);
  void on_exited();
  void on_exit(const ProcessExit& how);
  void on_drained();
  void on_not_killed(const QString& why);
  void leave();
  void finish(const QString& trouble);
  QString not_started(const QString& why) const;
  QString exit_sentence() const;
  void renew_lease();

  QString name_;
  std::unique_ptr<Launcher> launcher_;
  QPointer<MessageReader> reader_;  // lives on the reader thread and is gone with it
  ProcessDeadlines deadlines_;
  const SleepWatch& sleep_watch_;
  Phase phase_ = Phase::not_started;
  StepTimer hello_timer_;
  QTimer lease_timer_, answer_timer_, kill_timer_, left_timer_;
  std::optional<HelloMessage> hello_;
  QElapsedTimer since_asked_, since_answered_question_;
  std::int64_t round_trip_ns_ = 0;
  std::shared_ptr<const nlohmann::json> bye_;
  std::optional<ProcessExit> exit_;
  QString given_up_;  // why it was killed by this watch
  QString not_ended_because_;
  QString last_error_;  // the last error it said
  std::string error_code_;
  QStringList last_lines_;
  QByteArray unsent_;  // said to it before it runs
  bool ran_ = false;
  bool asked_ = false;  // for stats, and not answered yet
  bool paused_ = false;
  bool only_placed_ = false;
  bool cancelled_ = false;  // to be ended although it may not run yet
  bool looked_again_ = false;
  bool exited_ = false;  // what it said last may still be on its way
};

}  // namespace n2nq::app
