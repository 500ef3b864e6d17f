// SPDX-License-Identifier: GPL-3.0-or-later
// A connection from a jump host onwards (direct-tcpip), joined to a socket here: what one end says, the other hears. As the session's
// thread of the jump host sees it. Never blocks.
#pragma once

#include <QByteArray>
#include <functional>

#include "app/host/owned_fd.h"
#include "app/host/ssh_channel.h"
#include "app/host/ssh_problem.h"

namespace n2nq::app {

class SshForward {
 public:
  /// `answer` is called once, on the session's thread: it stands, or why it does not.
  SshForward(SshLink& link, OwnedFd socket, QByteArray host, int port, std::function<void(const SshProblem&)> answer);
  ~SshForward();

  /// False: it is over, and the socket is shut down.
  bool go_on();
  int fd() const { return socket_.get(); }
  /// For poll(); 0: nothing to wait for.
  short poll_events() const { return events_; }
  /// As of SshChannel.
  int patience_ms() const;

 private:
  bool open();
  bool from_channel();
  bool from_socket();

  SshLink& link_;
  OwnedFd socket_;
  const QByteArray host_;
  const int port_;
  std::function<void(const SshProblem&)> answer_;
  ssh_channel_callbacks_struct callbacks_{};
  SshChannelHandle channel_;
  bool is_open_ = false, socket_ended_ = false, touched_ = false;
  QByteArray to_socket_, to_channel_;
  short events_ = 0;
};

}  // namespace n2nq::app
