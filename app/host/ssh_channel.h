// SPDX-License-Identifier: GPL-3.0-or-later
// A command's channel as the session's thread sees it. Never blocks; go_on() takes it as far as it can go now.
//
//   opening ─► requesting ─► running ─► (the host closes it, or says that the command has ended and nothing more comes) ─► over
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <QByteArray>
#include <QString>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "app/host/ssh_exec.h"

namespace n2nq::app {

class SshLink;

/// Waits of a session's loop, in ms. A turn is taken earlier when its socket has something, or a job is given.
inline constexpr int ssh_tick_ms = 500;
inline constexpr int ssh_soon_ms = 10;  // for what libssh does not tell of
/// A host that takes few sessions on one connection may take one when it has seen that another is closed.
inline constexpr int ssh_channel_attempts = 5, ssh_channel_pause_ms = 200;
/// A command that has ended may have left a child that holds its output open (what a login script began in the background): sshd does not
/// close the channel before that child has ended, too. So much longer what the command said may be under way, and so much longer again
/// with each of so many bytes, as half of a link of 64 kbit/s brings them, but not later than SshExec::Late says: a child that goes on
/// saying something puts a command's end off until then, and a program's, whose lines are marked, not at all.
inline constexpr int ssh_linger_ms = 2'000, ssh_linger_bytes = 8 << 10;

struct SshChannelFree {
  void operator()(ssh_channel channel) const { ssh_channel_free(channel); }
};
using SshChannelHandle = std::unique_ptr<ssh_channel_struct, SshChannelFree>;

/// What a channel tells, on the session's thread.
struct SshChannelEvents {
  std::function<void()> started;
  std::function<void(const QString&)> failed;
  std::function<void(const QByteArray&, bool is_stderr)> output;
  std::function<void(const SshExit&)> exited;
  std::function<void(const SshExit&)> ended;
};

class SshChannel {
 public:
  /// `unread`: bytes that were told and that the owner has not taken yet; added to here. `late`: as SshExec has it.
  SshChannel(SshLink& link, quint64 id, QByteArray command, SshExec::Late late, SshChannelEvents events,
             std::shared_ptr<std::atomic<qint64>> unread);
  ~SshChannel();
  SshChannel(const SshChannel&) = delete;
  SshChannel& operator=(const SshChannel&) = delete;

  quint64 id() const { return id_; }
  void write(const QByteArray& bytes);
  void end_stdin() { end_wanted_ = true; }
  void wait_no_longer() { waits_ = false; }
  /// Ends its stdin and forgets it; nothing is told any more.
  void close();
  /// False: it is over, and that was told.
  bool go_on();
  /// How long it can wait for its next turn, in ms. What came for it while another channel was read wakes nobody.
  int patience_ms() const;

 private:
  enum class State { opening, requesting, running, over };
  void make();
  void open();
  bool may_try_again();
  void write_on();
  void read_on(bool is_stderr);
  void take_exit();
  void linger_on(int came);
  bool has_lingered();
  void fail(const QString& why);

  SshLink& link_;
  const quint64 id_;
  const QByteArray command_;
  const SshExec::Late late_;
  SshChannelEvents events_;
  std::shared_ptr<std::atomic<qint64>> unread_;
  ssh_channel_callbacks_struct callbacks_{};
  SshChannelHandle channel_;
  State state_ = State::opening;
  bool open_asked_ = false;  // and the host has not answered yet
  int attempts_left_;
  std::chrono::steady_clock::time_point not_before_{};  // the next attempt
  std::chrono::steady_clock::time_point exited_{}, lingers_from_{};
  int came_since_ = 0;  // bytes, since then
  std::optional<quint64> bytes_when_over_;  // of the link, when that time was over
  QByteArray to_write_;
  SshExit exit_;
  bool has_exit_ = false, exit_told_ = false;
  bool waits_ = true;  // behind its end, for what is under way
  bool end_wanted_ = false, end_sent_ = false, told_ = true;
  bool held_back_ = false;  // the owner has to take something first
  bool touched_ = false;    // something came for it since it was read
};

}  // namespace n2nq::app
