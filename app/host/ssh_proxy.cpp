// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_proxy.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "app/host/ssh_secret.h"
#include "app/host/ssh_threads.h"

namespace n2nq::app {

namespace {

constexpr auto end_looks_every = std::chrono::milliseconds(20);
constexpr int end_looks = 50;  // a second to end in order

/// In the child: nothing but calls that are safe between fork and exec.
[[noreturn]] void become(const char* shell, const char* command, int in_and_out, int errors) {
  ::setsid();  // of a terminal it would be the bench's, which asks there itself
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  let_child_leave_core();
  if (::dup2(in_and_out, STDIN_FILENO) >= 0 && ::dup2(in_and_out, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0)
    ::execl(shell, shell, "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

/// Until the process is no more, nor anything of its group; what does not obey within the second is killed. The group keeps its number as
/// long as anything is in it.
void see_to_its_end(pid_t pid) {
  ::kill(-pid, SIGTERM);
  bool ended = false;
  for (int i = 0; i < end_looks; ++i) {
    std::this_thread::sleep_for(end_looks_every);
    ended = ended || ::waitpid(pid, nullptr, WNOHANG) != 0;
    if (ended && ::kill(-pid, 0) != 0) return;
  }
  ::kill(-pid, SIGKILL);
  if (!ended) ::waitpid(pid, nullptr, 0);
}

}  // namespace

SshProxy::SshProxy(const QString& command) {
  int ends[2], errors[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  OwnedFd near(ends[0]), far(ends[1]);
  if (::pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) return;
  stderr_.reset(errors[0]);
  const OwnedFd errors_far(errors[1]);
  ::fcntl(errors[1], F_SETFL, 0);  // the program's end is one as any other
  const QByteArray shell = qEnvironmentVariableIsEmpty("SHELL") ? QByteArray("/bin/sh") : qgetenv("SHELL");
  const QByteArray text = "exec " + command.toLocal8Bit();
  const pid_t pid = ::fork();
  if (pid == 0) become(shell.constData(), text.constData(), far.get(), errors_far.get());
  if (pid < 0) return;
  pid_ = pid;
  socket_ = std::make_shared<OwnedFd>(std::move(near));
  listens_ = std::make_unique<QSocketNotifier>(stderr_.get(), QSocketNotifier::Read);
  QObject::connect(listens_.get(), &QSocketNotifier::activated, listens_.get(), [this] { listen(); });
}

SshProxy::~SshProxy() {
  if (pid_ <= 0 || SshThreads::start([pid = pid_] { see_to_its_end(pid); })) return;
  // No thread is to be had: it gets no time to end by itself.
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void SshProxy::listen() {
  char bytes[4096];
  for (;;) {
    const auto got = ::read(stderr_.get(), bytes, sizeof bytes);
    if (got == 0) listens_->setEnabled(false);  // it has ended
    if (got <= 0) return;
    stderr_tail_.add(QByteArray(bytes, static_cast<qsizetype>(got)));
  }
}

QString SshProxy::said() {
  if (!listens_) return {};
  listen();
  const QStringList lines = stderr_tail_.lines();
  return lines.isEmpty() ? QString() : lines.back();
}

}  // namespace n2nq::app
