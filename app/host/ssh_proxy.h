// SPDX-License-Identifier: GPL-3.0-or-later
// The ProxyCommand of ~/.ssh/config: a program of the person's own that leads to the host, with its stdin and stdout in place of a
// connection. As ssh does, it is run by the person's shell. It has no terminal, so it cannot ask there; what it says of trouble is kept.
// Lives on one thread, with an event loop.
#pragma once

#include <sys/types.h>

#include <QSocketNotifier>
#include <QString>
#include <memory>

#include "app/host/line_tail.h"
#include "app/host/owned_fd.h"

namespace n2nq::app {

class SshProxy {
 public:
  /// `command`: with its tokens replaced. Runs it at once.
  explicit SshProxy(const QString& command);
  /// Ends it and what it has started, without waiting.
  ~SshProxy();
  SshProxy(const SshProxy&) = delete;
  SshProxy& operator=(const SshProxy&) = delete;

  /// What leads through it; to be taken once. Null: it could not be started.
  std::shared_ptr<OwnedFd> take_socket() { return std::move(socket_); }
  /// The last line of its stderr so far; empty: none.
  QString said();

 private:
  static constexpr int line_chars_max = 300;
  void listen();
  std::shared_ptr<OwnedFd> socket_;
  OwnedFd stderr_;
  LineTail stderr_tail_{1, line_chars_max};
  std::unique_ptr<QSocketNotifier> listens_;  // or it would stand still once the pipe is full
  pid_t pid_ = -1;
};

}  // namespace n2nq::app
