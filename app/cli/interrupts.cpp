// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupts.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace n2nq::app {

namespace {

/// One press may arrive twice: from the terminal and again from a wrapper that passes it on.
constexpr int same_press_ms = 100;

sigset_t taken_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&set, signal);
  // Under nohup a closed terminal is to change nothing.
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);
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
    bool any = false;
    while (::read(fd_, &info, sizeof info) == sizeof info) any = true;
    if (!any || (since_last_.isValid() && since_last_.elapsed() < same_press_ms)) return;
    since_last_.start();
    emit interrupted();
  });
}

Interrupts::~Interrupts() {
  notifier_.setEnabled(false);
  ::close(fd_);
}

const char* words_of_interrupt(int times) {
  if (times <= 1) return "stopping in order; once more waits for nothing";
  if (times == 2) return "not waiting: who does not say within a second what it knows is killed; once more kills at once";
  return "whoever still runs is killed at once";
}

}  // namespace n2nq::app
