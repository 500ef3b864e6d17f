// SPDX-License-Identifier: GPL-3.0-or-later
// One connection to one host: looked up, connected, its key checked, logged in, kept alive, lost.
//
//   idle ─ open() ─► connecting ─► ready() ─► ended(why)
//                        └──────────────────────┘
//
// Lives on its owner's thread and never blocks it: everything that may block happens on a thread of the session's own. ended comes exactly
// once after open(), unless the session is destroyed before. A lost link is noticed within 10 s. Not to be used again after its end.
#pragma once

#include <QObject>
#include <QTimer>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "app/host/name_answer.h"
#include "app/host/session_questions.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_exec.h"
#include "app/host/ssh_problem.h"
#include "app/host/ssh_proxy.h"
#include "app/host/ssh_worker.h"
#include "app/host/step_timer.h"

namespace n2nq::app {

class SshSession : public QObject {
  Q_OBJECT
 public:
  enum class State { idle, connecting, ready, ended };

  /// `name` stands in sentences. `questions` lives longer. `via`: the jump host to go through, or null.
  SshSession(QString name, SshHostConfig config, SshUse use, SshQuestions& questions, std::shared_ptr<SshSecrets> secrets,
             std::shared_ptr<SshSession> via = nullptr);
  ~SshSession() override;

  /// Of several addresses of its name this one is tried first.
  void prefer(const QString& address) { preferred_ = address; }
  /// What was right there before is not thrown away where it is refused now, and nobody is asked in its place: it may be booting. Before
  /// open().
  void be_patient() { patient_ = true; }
  /// What it does from now on has no more time than a start there, nor has the way through its jump host.
  void hurry_by(std::shared_ptr<StartDeadline> starts, OnTheWay on_the_way = OnTheWay::no);
  void open();
  /// Ended, with `closed` as its problem, as soon as the event loop turns.
  void close();
  State state() const { return state_; }
  /// Whether the person is asked for something, by it or a jump host on the way.
  bool asks() const { return questions_.any() || (via_ && via_->asks()); }
  const QString& name() const { return name_; }
  /// Why it ended; none before.
  const SshProblem& problem() const { return problem_; }
  /// False: as a jump host, it has refused to. What its sshd allows is settled at the log-in, so another connection may be let through.
  bool lets_through() const { return lets_through_; }
  /// The person was asked for something on the way there, since it was opened.
  bool person_asked() const { return person_asked_; }
  /// Numeric address that was connected to; empty before, and through a jump host.
  const QString& address() const { return address_; }

  /// Runs on the session's thread, in order; may block only with SshUse::files. Without effect before ready and after the end; the job is
  /// then destroyed without having run.
  void run(SshShared::Job job);
  /// From a job to this object's thread; not called any more once the session is destroyed.
  std::shared_ptr<SshShared> shared() const { return shared_; }
  /// A socket that leads from this host on to another one. Null: the problem says why. Not called any more once `context` is destroyed.
  using Dialled = std::function<void(const SshProblem&, std::shared_ptr<OwnedFd>)>;
  void dial(const QString& host, int port, QObject* context, Dialled answer);

 signals:
  /// It, or a jump host on the way, is about to ask the person for something. If it is closed because of that, nobody is asked.
  void asking();
  void ready();
  void ended(const n2nq::app::SshProblem& why);

 private:
  friend class SshExec;
  quint64 begin_exec(SshExec* exec, const QByteArray& command, SshExec::Late late);
  void forget_exec(quint64 id);
  void look_up();
  void on_looked_up(const NameAnswer& answer);
  void go_via();
  void leave_via();
  SshProblem blame_jump(const SshProblem& given) const;
  SshProblem jump_failed(const QString& what) const;
  void connect_now();
  void run_proxy();
  void start(const QStringList& addresses, std::shared_ptr<OwnedFd> socket);
  void on_connected(const QString& address);
  void on_ended(const SshProblem& why);
  void end_later(const SshProblem& why);
  void end_without_thread();
  void leave_shared();
  void end_unheard();
  /// Unless start() is called within `limit_ms`.
  void end_unless_started(int limit_ms, const SshProblem& why);
  void on_agent_waits(bool waits);

  const QString name_;
  const SshHostConfig config_;
  const SshUse use_;
  SessionQuestions questions_;
  std::shared_ptr<SshSecrets> secrets_;
  std::shared_ptr<SshSession> via_;     // the jump host
  bool waits_for_jump_ = false;         // or has waited, to know whether that one is lost, too
  bool lets_through_ = true;
  bool person_asked_ = false;  // on the way there, since it was opened
  bool patient_ = false;
  std::set<const SshSession*> behind_;  // those that wait for this one as their jump host
  std::shared_ptr<SshShared> shared_;
  std::shared_ptr<StartDeadline> starts_;
  OnTheWay on_the_way_ = OnTheWay::no;
  State state_ = State::idle;
  SshProblem problem_;
  QString address_, preferred_;
  QTimer deadline_timer_;
  StepTimer reach_timer_;
  int looks_behind_end_ = 0;  // of the deadline timer, since its thread was to end
  SshProblem reach_problem_;
  int reach_ms_ = ssh_reach_ms_max;  // what the way through its jump host has left of that
  QTimer agent_timer_;  // an agent that takes longer is believed to ask the person
  bool agent_asks_ = false;
  std::unique_ptr<SshProxy> proxy_;  // of a host that has a ProxyCommand
  int attempts_left_ = 0;
  int declines_before_ = 0;  // of the person, when it was opened
  std::map<quint64, SshExec*> execs_;
  quint64 next_exec_ = 1;
  std::shared_ptr<std::atomic<qint64>> unread_ = std::make_shared<std::atomic<qint64>>(0);
};

}  // namespace n2nq::app
