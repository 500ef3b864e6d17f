// SPDX-License-Identifier: GPL-3.0-or-later
// What comes of trying out a program that was put on a host: whether it is the one that was put, and whether it runs there. Values only.
#pragma once

#include <QByteArray>
#include <QString>

#include "app/host/ssh_problem.h"

namespace n2nq::app {

class ProgramTrial {
 public:
  /// Fixed text around a path of this program's own making: says its process id, the machine and the file's SHA-256, and has the program say
  /// its version if that is `sha256` (in hex); what is not what its name says is not run. Empty: it was compared before.
  static QByteArray command(const QString& path, const QByteArray& sha256);
  /// Begins a command with that path; an absolute one does without the home folder, which may be missing there.
  static QByteArray into_home_for(const QString& path) { return path.startsWith('/') ? QByteArray() : QByteArray("cd && "); }
  /// The same without a program: whether there is a shell.
  static QByteArray shell_command();
  /// Of what that said so far; 0: it has not begun, or not said it.
  static int pid(const QByteArray& out);
  /// Of what that said, login scripts' noise before it and all, and how it ended.
  ProgramTrial(const QByteArray& out, const QByteArray& error_out, int code, bool killed);

  /// Whether a shell there did what it was told.
  bool has_shell() const { return shell_; }
  /// Of the file there, in hex; empty: that host has no command that says it.
  const QByteArray& sha256() const { return sha256_; }
  /// Whether `program` said its version, and ended as it should.
  bool ran(const QString& program) const;
  /// What it said is its version.
  QString version() const { return said_.section(' ', 1); }
  /// Why it did not run, as a person has to hear it. `folder`: where it was put.
  SshProblem problem(const QString& host, const QString& user, const QString& folder, const QString& program) const;

 private:
  QByteArray machine_, sha256_;
  QString said_;   // the program
  QString noise_;  // all that came where the shell did not run; else what it complained of
  int code_ = 0;
  bool shell_ = false, killed_ = false;
};

}  // namespace n2nq::app
