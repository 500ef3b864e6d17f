// SPDX-License-Identifier: GPL-3.0-or-later
// What one lab machine is while the program runs: its two connections, made when they are first needed and made anew when they were lost,
// and the programs that are known to run there. Shared by all launchers and checks of that machine; HostPool gives it.
//
// Control goes over one connection, files over the other, so that what a run says never waits for a file. Lives on one thread, never blocks
// it.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "app/host/host.h"
#include "app/host/needed_there.h"
#include "app/host/open_questions.h"
#include "app/host/program_trial.h"
#include "app/host/ssh_command.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_files.h"
#include "app/host/ssh_session.h"
#include "app/host/ssh_tasks.h"
#include "app/host/start_deadline.h"

namespace n2nq::app {

/// A program that stands on the host, is what its name says, and was seen to run there.
struct PlacedProgram {
  QString path;          // there
  QString version;       // what it says of itself
  qint64 changed_s = 0;  // when the file was last touched, in seconds of some clock
};

class LabHost : public QObject {
  Q_OBJECT
 public:
  /// `patient`: one that a person was asked for is not made anew.
  using GiveHop = std::function<std::shared_ptr<SshSession>(const QStringList& jumps, SshUse use, bool patient)>;

  LabHost(Host host, SshHostConfig config, OpenQuestions& questions, std::shared_ptr<SshSecrets> secrets,
          std::shared_ptr<NeededThere> needed, GiveHop hop);
  ~LabHost() override;

  const Host& host() const { return host_; }
  const QString& name() const { return name_; }
  const SshHostConfig& config() const { return config_; }
  /// [A-Za-z0-9._/-]; absolute, or below the home folder there.
  const QString& folder() const { return folder_; }
  /// Numeric address at which the other hosts of a run reach this one: what was set, else what SSH connected to. Empty: not known (yet).
  QString data_address() const;
  /// Why it is not known although SSH connected.
  SshProblem no_data_address() const;
  /// What is not swept there, nor on any other host of its pool.
  NeededThere& needed() const { return *needed_; }

  /// Connects first, where that is needed. Not called any more once `context` is destroyed. The pointer is good until the event loop turns.
  /// A connection that is being made, which may be asking for something, is given up when everybody who waits for it is gone.
  void with_control(QObject* context, std::function<void(const SshProblem&, SshSession*)> then);
  void with_files(QObject* context, std::function<void(const SshProblem&, SshFiles*)> then);
  /// As long as anybody has it, connections are patient with the host (SshSession::be_patient).
  std::shared_ptr<void> patience() { return patience_; }
  /// As long as anybody has one of these, or until that connection is over, something runs over it that log_in_anew() does not disturb.
  std::shared_ptr<void> use_of_control() const { return control_use_; }
  std::shared_ptr<void> use_of_files() const { return files_use_; }
  /// For who failed by `why` and will try again: a host settles at each log-in, for all that is done behind it, whether there is a shell,
  /// and SFTP, and which disk the home folder is on. Closes connections, so that a later try is made over new ones: both where shell or SFTP
  /// was not there, the one for files where a folder was `missing`. None where `why` is anything else, while one of those is in use, or while
  /// somebody waits for one or for a program; nor one for which the person was asked, who would be asked for each try. May be called from any
  /// answer: they end later, as if they were lost.
  void log_in_anew(const SshProblem& why);
  /// A start there begins, whose steps have no more time than that has (StartDeadline), until what is given is destroyed.
  std::shared_ptr<void> begin_start() { return starts_->begin(); }
  int step_ms(int limit_ms) const { return starts_->step_ms(limit_ms); }
  void note_answer(int took_ms) { starts_->note_answer(took_ms); }
  /// OpenQuestions::since_answer_ms(), for any host.
  std::optional<qint64> since_answer_ms() const { return questions_.since_answer_ms(); }
  /// Whether a connection asks the person for something.
  bool asks() const { return (control_ && control_->asks()) || (files_session_ && files_session_->asks()); }
  /// Null: it is not connected. Nothing is begun.
  SshSession* control() const;
  SshFiles* files() const { return files_.get(); }

  /// Puts a program there and sees that it runs. A file there that is the same is not sent again: its name and size say so, and, once per
  /// connection and when its time has changed, its SHA-256. What is being sent stops when everybody who waits for it is gone.
  void place(const QString& local_file, PutProgram::Room room, QObject* context,
             std::function<void(const SshProblem&, const PlacedProgram&)> then);
  /// It did not run after all: the next place() looks again.
  void forget_placed(const QString& local_file) { placed_.erase(local_file); }
  /// "TERM", "KILL", "CONT" to a process there, by a command of its own: sshd takes no signals where root logs in. `then`: why that was not
  /// done, in half a sentence; empty: it was. Not called any more once `context` is destroyed; nor where it is not connected.
  void send_signal(
      int pid, const char* name, QObject* context = nullptr, std::function<void(const QString& why)> then = [](const QString&) {});
  /// How a program there is run: fixed text around its path, of which a person typed the host's folder alone. Says "n2nq-pid N" first.
  QByteArray command_for(const QString& path) const;

 signals:
  /// One of the connections was lost, or could not be made.
  void trouble(const n2nq::app::SshProblem& why);
  /// One of them is about to ask the person for something, as SshSession says it.
  void asking();
  /// From time to time, of a program that is not there yet.
  void sending(const QString& local_file, qint64 done_bytes, qint64 all_bytes);

 private:
  template <class Found>
  struct Waiting {
    QPointer<QObject> context;
    std::function<void(const SshProblem&, Found*)> then;
  };
  struct Placing {
    QPointer<QObject> context;
    std::function<void(const SshProblem&, const PlacedProgram&)> then;
  };
  std::unique_ptr<SshSession> make_session(SshUse use);
  void notice_end_of(QObject* context);
  void leave(std::unique_ptr<SshSession>& session);
  bool is_waited_for() const;
  /// Whether anybody still waits for that program.
  bool is_wanted(const QString& local_file) const;
  void let_go_unwanted();
  void open_files();
  void on_control_over(const SshProblem& why);
  void on_files_over(const SshProblem& why);
  void sweep_versions();
  void put(const QString& local_file, PutProgram::If when, PutProgram::Room room);
  void look_for_shell(const QString& local_file, const SshProblem& no_sftp);
  /// `sha256`: run only what that is of; empty: it was compared.
  void try_out(const QString& local_file, const std::shared_ptr<PutProgram>& put, const QByteArray& sha256);
  void on_tried(const QString& local_file, const std::shared_ptr<PutProgram>& put, const SshCommand::Result& result, bool compared);
  void on_let_go(const QString& local_file, const SshCommand::Result& result);
  void send_anew(const QString& local_file, const std::shared_ptr<PutProgram>& put);
  void judge(const QString& local_file, const std::shared_ptr<PutProgram>& put, const ProgramTrial& trial);
  void answer_placing(const QString& local_file, const SshProblem& problem, const PlacedProgram& placed);

  const Host host_;
  const QString name_, folder_;
  const SshHostConfig config_;
  OpenQuestions& questions_;
  std::shared_ptr<SshSecrets> secrets_;
  const std::shared_ptr<NeededThere> needed_;
  GiveHop hop_;
  const std::shared_ptr<StartDeadline> starts_ = std::make_shared<StartDeadline>();
  const std::shared_ptr<void> patience_ = std::make_shared<char>();  // who else has it is counted
  std::shared_ptr<void> control_use_ = std::make_shared<char>(), files_use_ = std::make_shared<char>();  // likewise, of the present one
  std::set<SshUse> asked_for_;  // those of the present ones for which the person was asked
  std::unique_ptr<SshSession> control_, files_session_;
  std::unique_ptr<SshFiles> files_;
  QString address_;
  std::vector<Waiting<SshSession>> wait_for_control_;
  std::vector<Waiting<SshFiles>> wait_for_files_;
  std::map<QString, PlacedProgram> placed_;
  std::map<QString, std::vector<Placing>> placing_;
  std::map<QString, std::shared_ptr<PutProgram>> uploads_;  // of those, what is being sent, or looked for there
  QTimer sweep_timer_;
};

}  // namespace n2nq::app
