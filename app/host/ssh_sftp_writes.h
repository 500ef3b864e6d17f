// SPDX-License-Identifier: GPL-3.0-or-later
// Many pieces written to a file on a host at once, so that a long way costs its round trip once, and not for each piece: libssh 0.10 can
// read so, but waits for the answer to each write before it sends the next one.
//
// What is sent are plain SSH_FXP_WRITE requests over the channel of libssh's own SFTP. Between two calls nothing is under way, so libssh
// finds its channel as it left it.
#pragma once

#include <libssh/sftp.h>

#include <QByteArray>
#include <cstdint>
#include <functional>
#include <set>

#include "app/host/ssh_link.h"

namespace n2nq::app {

/// On the thread of the session; blocks.
class SftpWrites {
 public:
  /// `begin_piece`: called before each piece and each answer, whose time begins then; throws when the session was closed.
  SftpWrites(SshLink& link, sftp_file file, std::function<void()> begin_piece);

  /// Behind what was written before. SSH_FX_OK: all of it was, else the code of the first piece that was not: then where it ends is not
  /// known. Throws SshError when the connection is lost, or the host answers what was not asked.
  std::uint32_t write(const QByteArray& bytes);

 private:
  void ask(QByteArrayView piece);
  void take_answer();
  void send(const QByteArray& bytes);
  QByteArray receive(std::uint32_t size);

  SshLink& link_;
  const sftp_file file_;
  const std::function<void()> begin_piece_;
  std::set<std::uint32_t> asked_;  // ids of what was not answered yet
  std::uint32_t next_id_ = 0, code_ = SSH_FX_OK;
};

}  // namespace n2nq::app
