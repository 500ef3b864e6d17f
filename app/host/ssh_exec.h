// SPDX-License-Identifier: GPL-3.0-or-later
// One command on a host, through a channel of a session: its stdin, stdout, stderr and how it ended. (The command is fixed text around what
// this program has made up; of what a person typed it holds a host's folder at most, in whose letters no shell sees more than a path.)
//
// Lives on its session's owner's thread; calls return at once. started or failed comes first; after started, ended comes exactly once, also
// when the connection is lost, and exited before it where the host has told how the command ended. Destroying it ends the command's stdin
// and closes the channel.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <memory>

#include "app/host/ssh_problem.h"

namespace n2nq::app {

class SshSession;

struct SshExit {
  int code = 0;
  QString signal;   // "KILL"; empty: it ended by itself, with `code`
  SshProblem lost;  // the connection was: how it ended is not known, but where exited came before
};

class SshExec : public QObject {
  Q_OBJECT
 public:
  /// For how long at most behind a command's end, and by what of it, it is seen that what it said is still under way.
  struct Late {
    int ms_max;
    bool marked;  // only by lines with the mark of the programs (broker/net/control_channel.h): whatever else comes was said by others
  };
  /// A command's few lines, within SshCommand::limit_ms; and what a program of a run says last, which may be megabytes, within
  /// RunDeadlines::bye.
  static constexpr Late late_of_command{4'000, false}, late_of_program{16'000, true};

  /// The session is ready, and lives longer or says that it has ended.
  SshExec(SshSession& session, const QByteArray& command, Late late = late_of_command);
  ~SshExec() override;
  void write(const QByteArray& bytes);
  void end_stdin();
  /// What it said and is still under way when it has ended is not waited for.
  void wait_no_longer();

 signals:
  void started();
  void failed(const QString& why);
  void output(const QByteArray& bytes);
  void error_output(const QByteArray& bytes);
  void exited();  // what it said may still be under way
  void ended(const n2nq::app::SshExit& how);

 private:
  friend class SshSession;
  void on_failed(const QString& why);
  void on_exited(const SshExit& how);
  void on_ended(const SshExit& how);
  void on_lost(const SshProblem& why);
  void leave_session();

  SshSession* session_;  // null: there is nothing to talk to (any more)
  quint64 id_;
  SshExit exit_;
  bool started_ = false;
};

}  // namespace n2nq::app

Q_DECLARE_METATYPE(n2nq::app::SshExit)
