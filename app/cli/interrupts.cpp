// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupts.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace n2nq::app {

namespace {

sigset_t taken_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  return set;
}

int open_signal_fd() {
  const sigset_t set = taken_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

Interrupts::Interrupts() : fd_(open_signal_fd()), notifier_(fd_, QSocketNotifier::Read) {
  connect(&notifier_, &QSocketNotifier::activated, this, [this] {
    signalfd_siginfo info;
    while (::read(fd_, &info, sizeof info) == sizeof info) emit interrupted();
  });
}

Interrupts::~Interrupts() {
  notifier_.setEnabled(false);
  ::close(fd_);
}

}  // namespace n2nq::app
