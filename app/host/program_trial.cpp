// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/program_trial.h"

#include <QByteArrayList>
#include <QRegularExpression>

#include "broker/wire/printable.h"

namespace n2nq::app {

namespace {

// In their line something may stand before them: what a login script left in the background says it at any time.
const QByteArray pid_mark = "n2nq-pid ", machine_mark = "n2nq-machine ", sha256_mark = "n2nq-sha256 ", tries_mark = "n2nq-tries\n";
constexpr int cannot_execute = 126;  // POSIX sh
constexpr qsizetype said_chars_max = 300;

}  // namespace

QByteArray ProgramTrial::command(const QString& path, const QByteArray& sha256) {
  const QByteArray there = (path.startsWith('/') ? path : "./" + path).toLatin1();
  // The mark on stderr ends what login scripts have said there; what the shell complains of is read below, in one language.
  return "exec /bin/sh -c 'LC_ALL=C; export LC_ALL; echo; echo n2nq-pid $$; echo n2nq-machine $(uname -m); " + into_home_for(path) +
         "s=$(sha256sum " + there + " 2>/dev/null); echo n2nq-sha256 $s; case $s in " + sha256 + "*) echo n2nq-tries >&2; exec " + there +
         " --version;; esac'";
}

ProgramTrial::ProgramTrial(const QByteArray& out, const QByteArray& error_out, int code, bool killed) : code_(code), killed_(killed) {
  qsizetype at = out.lastIndexOf(machine_mark);
  // What is forced on an account may repeat the command that was asked for: no shell has read that.
  while (at >= 0 && out.mid(at + machine_mark.size(), 1) == "$") at = at == 0 ? -1 : out.lastIndexOf(machine_mark, at - 1);
  shell_ = at >= 0;
  const QByteArrayList lines = shell_ ? out.mid(at + machine_mark.size()).split('\n') : QByteArrayList();
  machine_ = lines.value(0).trimmed();
  // Between them may lie lines of what a login script began in the background.
  static const QRegularExpression name_and_version("n2nq-[a-z]+ [0-9].*");
  for (const QByteArray& line : lines.mid(1)) {
    if (const qsizetype begin = line.indexOf(sha256_mark); begin >= 0) {
      sha256_ = line.mid(begin).simplified().split(' ').value(1);
    } else if (const auto found = name_and_version.match(QString::fromUtf8(line)); found.hasMatch()) {
      said_ = found.captured().trimmed();
    }
  }
  const qsizetype tries = error_out.lastIndexOf(tries_mark);
  const QByteArray complaint = tries < 0 ? error_out : error_out.mid(tries + tries_mark.size());
  // It may be printed to a terminal, which obeys escapes.
  const QByteArray noise = QString::fromUtf8(shell_ ? complaint : out + '\n' + error_out).simplified().left(said_chars_max).toUtf8();
  noise_ = QString::fromStdString(wire::printable({noise.constData(), static_cast<std::size_t>(noise.size())}));
}

QByteArray ProgramTrial::shell_command() {
  return "exec /bin/sh -c 'echo; echo n2nq-machine $(uname -m)'";
}

int ProgramTrial::pid(const QByteArray& out) {
  const qsizetype at = out.lastIndexOf(pid_mark);
  return at < 0 ? 0 : out.mid(at + pid_mark.size()).split('\n').front().trimmed().toInt();
}

bool ProgramTrial::ran(const QString& program) const {
  return code_ == 0 && !killed_ && said_.startsWith(program + ' ');
}

SshProblem ProgramTrial::problem(const QString& host, const QString& user, const QString& folder, const QString& program) const {
  if (!shell_) {
    QString noise = noise_;
    while (noise.endsWith('.')) noise.chop(1);  // what follows begins a sentence
    const bool is_expired = noise.contains("assword change required") || noise.contains("assword has expired");
    return {SshProblem::Kind::no_shell,
            QString("%1 lets %2 in, but runs no command for it%3").arg(host, user, noise.isEmpty() ? QString() : ": it says " + noise),
            is_expired ? "Log in there by hand once and give that account a new password"
                       : "Give that account a shell there (chsh -s /bin/sh), take away what sshd_config forces on it (ForceCommand) or what "
                         "ends the shell at each login (.bashrc), or choose another user"};
  }
  if (machine_ != "x86_64") {
    return {SshProblem::Kind::architecture,
            QString("%1 has the architecture %2: the programs are built for x86_64")
                .arg(host, QString::fromUtf8(machine_.isEmpty() ? "unknown" : machine_)),
            "Choose another machine, or build the programs for that one"};
  }
  if (code_ == cannot_execute && noise_.contains("ermission denied")) {
    return {SshProblem::Kind::noexec,
            QString("%1: nothing in the folder %2 can be run: its file system is mounted with noexec").arg(host, folder),
            other_folder()};
  }
  if (noise_.contains("xec format error")) {
    return {SshProblem::Kind::architecture,
            QString("%1: %2 does not run there: it is built for another architecture than x86_64, or is damaged").arg(host, program),
            "Build the programs anew, for x86_64 as that machine is, or put such beside n2nq-bench"};
  }
  return {
      SshProblem::Kind::program,
      QString("%1: %2 does not run there: exit code %3%4").arg(host, program).arg(code_).arg(noise_.isEmpty() ? QString() : ": " + noise_),
      QString("Try by hand what it does there with --version, in the folder %1/bin").arg(folder)};
}

}  // namespace n2nq::app
