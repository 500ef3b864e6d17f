// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/local_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <QTimer>
#include <cerrno>

#include "app/host/ssh_secret.h"

namespace n2nq::app {

namespace {

constexpr int killed_wait_ms = 20;

/// Runs in the child between fork and exec: only what is safe there.
void leave_with_parent(pid_t parent) {
  // Ctrl+C in a terminal is for the bench, which then stops its processes in order.
  ::setpgid(0, 0);
  // Beside the end of stdin. TERM lets the process flush its files and tidy its staging; the lease ends one that does not listen.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(3);  // the bench died before the line above
  ::signal(SIGINT, SIG_DFL);
  let_child_leave_core();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// As many as a pipe takes.
bool has_descriptors() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno != EMFILE && errno != ENFILE;
  for (const int end : ends) ::close(end);
  return true;
}

/// In on_error(): what was opened for the process is closed only then. Where its pipes cannot be made, QProcess tells what errno is a little
/// later, mostly that there is no such file.
QString why_not_started(const QProcess& process) {
  const QString why = process.errorString();
  if (!QFileInfo::exists(process.program())) return why;
  const bool no_descriptors = !has_descriptors() || why.contains(qt_error_string(EMFILE));
  if (no_descriptors) return "this system allows no more open files: raise the limit (ulimit -n)";
  if (why.contains(qt_error_string(EAGAIN))) return "this system allows no more processes: raise the limit (ulimit -u)";
  return why;
}

/// It was killed, and may take the kernel longer than a window may stand still. At the end of the program nobody waits for it either: ~QProcess
/// would, for half a minute.
void let_end(std::unique_ptr<QProcess> process) {
  if (process->state() == QProcess::NotRunning || process->waitForFinished(killed_wait_ms) || process->state() == QProcess::NotRunning) return;
  static auto* const slow = new QSet<QProcess*>;
  QProcess* const left = process.release();
  slow->insert(left);
  QObject::connect(left, &QProcess::finished, left, [left] {
    slow->remove(left);
    left->deleteLater();
  });
}

}  // namespace

LocalLauncher::LocalLauncher(QString folder, QString data_address)
    : folder_(std::move(folder)), data_address_(std::move(data_address)) {
  const pid_t bench = ::getpid();
  process_->setChildProcessModifier([bench] { leave_with_parent(bench); });
  connect(process_.get(), &QProcess::started, this, &Launcher::started);
  connect(process_.get(), &QProcess::readyReadStandardOutput, this, [this] { emit output(process_->readAllStandardOutput()); });
  connect(process_.get(), &QProcess::readyReadStandardError, this, [this] { stderr_tail_.add(process_->readAllStandardError()); });
  connect(process_.get(), &QProcess::errorOccurred, this, &LocalLauncher::on_error);
  connect(process_.get(), &QProcess::finished, this, &LocalLauncher::on_finished);
}

LocalLauncher::~LocalLauncher() {
  process_->disconnect(this);
  if (process_->state() != QProcess::NotRunning) process_->kill();
  end_watch();
  let_end(std::move(process_));
}

void LocalLauncher::touch(const QString& path) {
  ::utimensat(AT_FDCWD, QFile::encodeName(path).constData(), nullptr, AT_SYMLINK_NOFOLLOW);
}

QString LocalLauncher::data_address() const {
  return data_address_.isEmpty() ? QStringLiteral("127.0.0.1") : data_address_;
}

QString LocalLauncher::folder_there(const QString& local_folder) const {
  return local_folder;
}

void LocalLauncher::put_file(const QString& program) {
  // Nothing to copy; whether it is there is found out now, so that the answer names the place.
  const QFileInfo file(folder_ + '/' + program);
  QTimer::singleShot(0, this, [this, file] {
    if (file.isFile() && file.isExecutable()) {
      emit file_put();
    } else {
      emit failed(QString("%1 is not there or cannot be run: build it, or put it beside n2nq-bench").arg(file.filePath()));
    }
  });
}

void LocalLauncher::start(const QString& program) {
  process_->start(folder_ + '/' + program, QStringList{});
}

void LocalLauncher::write(const QByteArray& bytes) {
  if (process_->state() != QProcess::NotRunning) process_->write(bytes);
}

void LocalLauncher::terminate() {
  process_->terminate();
}

void LocalLauncher::kill() {
  process_->kill();
}

void LocalLauncher::pause() {
  if (process_->processId() > 0 && watch_over_pause()) send(SIGSTOP);
}

void LocalLauncher::send(int signal) {
  if (process_->processId() > 0) ::kill(static_cast<pid_t>(process_->processId()), signal);
}

/// What stands still takes neither a signal nor the end of its input, nor does its lease end. Where the bench dies the kernel lets it go on,
/// but not if whoever becomes its parent is of the bench's session, as in a container. False: nobody watches, and it is told.
bool LocalLauncher::watch_over_pause() {
  if (watch_ && watch_->state() != QProcess::NotRunning) return true;
  watch_ = std::make_unique<QProcess>();
  watch_->setChildProcessModifier([] { ::setpgid(0, 0); });  // Ctrl+C is for the bench
  connect(watch_.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    send(SIGCONT);
    emit not_paused("what would let it go on, should this bench die, cannot be started: " + why_not_started(*watch_));
  });
  watch_->start("/bin/sh", {"-c", "read -r nothing || kill -s CONT \"$0\"", QString::number(process_->processId())});
  return watch_->state() != QProcess::NotRunning;
}

/// By force: told by the end of its input it might undo the next pause.
void LocalLauncher::end_watch() {
  if (!watch_) return;
  watch_->disconnect(this);
  watch_->kill();
  let_end(std::move(watch_));
}

void LocalLauncher::resume() {
  if (watch_) watch_->kill();
  send(SIGCONT);  // at once: the shell's end may take a moment
  end_watch();
}

void LocalLauncher::bring_back(const QString&) {
  // folder_there() is the folder itself.
  QTimer::singleShot(0, this, [this] { emit brought_back(QString(), true); });
}

void LocalLauncher::on_error(QProcess::ProcessError error) {
  // Crashes are told by finished(); a failed write by the process's end.
  if (error != QProcess::FailedToStart) return;
  emit failed(QString("%1 cannot be started: %2").arg(process_->program(), why_not_started(*process_)));
}

void LocalLauncher::on_finished(int code, QProcess::ExitStatus status) {
  end_watch();
  const QByteArray rest = process_->readAllStandardOutput();
  if (!rest.isEmpty()) emit output(rest);
  stderr_tail_.add(process_->readAllStandardError());
  // For a process that a signal ended, QProcess gives the signal's number as the code.
  if (status == QProcess::CrashExit) {
    emit gone({0, code, stderr_tail_.lines()});
  } else {
    emit gone({code, 0, stderr_tail_.lines()});
  }
}

LocalLauncherFactory::LocalLauncherFactory(const QString& folder)
    : folder_(folder_or_own(folder)) {}

QString LocalLauncherFactory::folder_or_own(const QString& folder) {
  return folder.isEmpty() ? QCoreApplication::applicationDirPath() : folder;
}

MakeLauncher LocalLauncherFactory::launchers_of(const QString&) {
  return [this] { return std::make_unique<LocalLauncher>(folder_); };
}

}  // namespace n2nq::app
