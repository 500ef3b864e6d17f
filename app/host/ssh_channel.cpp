// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_channel.h"

#include <string.h>

#include <utility>

#include "app/host/ssh_link.h"
#include "broker/net/control_channel.h"

namespace n2nq::app {

namespace {

constexpr uint32_t read_bytes = 64 << 10;
constexpr qsizetype unsent_bytes_max = 128 << 20;
constexpr qint64 unread_bytes_max = 128 << 20;

}  // namespace

SshChannel::SshChannel(SshLink& link, quint64 id, QByteArray command, SshExec::Late late, SshChannelEvents events,
                       std::shared_ptr<std::atomic<qint64>> unread)
    : link_(link),
      id_(id),
      command_(std::move(command)),
      late_(late),
      events_(std::move(events)),
      unread_(std::move(unread)),
      attempts_left_(ssh_channel_attempts) {
  callbacks_.userdata = this;
  callbacks_.channel_exit_status_function = [](ssh_session, ssh_channel, int status, void* self) {
    static_cast<SshChannel*>(self)->exit_.code = status;
    static_cast<SshChannel*>(self)->take_exit();
  };
  callbacks_.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* signal, int, const char*, const char*, void* self) {
    static_cast<SshChannel*>(self)->exit_.signal = QString::fromLatin1(signal).left(20);
    static_cast<SshChannel*>(self)->take_exit();
  };
  // Nothing is taken here, so that a slow owner holds the host back; it is only noted that there is something.
  callbacks_.channel_data_function = [](ssh_session, ssh_channel, void*, uint32_t, int, void* self) {
    static_cast<SshChannel*>(self)->touched_ = true;
    return 0;
  };
  callbacks_.channel_eof_function = [](ssh_session, ssh_channel, void* self) { static_cast<SshChannel*>(self)->touched_ = true; };
  callbacks_.channel_close_function = [](ssh_session, ssh_channel, void* self) { static_cast<SshChannel*>(self)->touched_ = true; };
  ssh_callbacks_init(&callbacks_);
  make();
}

SshChannel::~SshChannel() {
  // libssh keeps a channel that is freed before its host has closed it, and goes on calling back for it.
  if (channel_) ssh_remove_channel_callbacks(channel_.get(), &callbacks_);
}

void SshChannel::make() {
  if (channel_) ssh_remove_channel_callbacks(channel_.get(), &callbacks_);
  channel_.reset(ssh_channel_new(link_.session()));
  if (channel_) ssh_set_channel_callbacks(channel_.get(), &callbacks_);
}

void SshChannel::write(const QByteArray& bytes) {
  if (end_wanted_ || !told_ || state_ == State::over) return;
  to_write_ += bytes;
  // The host takes nothing: its process hangs. Whoever wrote will notice that no answer comes.
  if (to_write_.size() > unsent_bytes_max) close();
}

void SshChannel::close() {
  told_ = false;
  to_write_.clear();
  // Its host opens it all the same, and would keep it as long as the connection: go_on() closes it then.
  if (open_asked_) return;
  if (channel_ && state_ == State::running) {
    if (!end_sent_) ssh_channel_send_eof(channel_.get());
    ssh_channel_close(channel_.get());
  }
  state_ = State::over;
}

bool SshChannel::go_on() {
  if (state_ == State::opening || state_ == State::requesting) open();
  if (state_ == State::running) {
    write_on();
    held_back_ = touched_ = false;
    read_on(false);
    read_on(true);
    if (has_exit_ && !std::exchange(exit_told_, true) && told_) events_.exited(exit_);
    // A channel that went with the connection is told of by the session, which knows why.
    const bool is_closed = ssh_channel_is_closed(channel_.get()) && (has_exit_ || ssh_is_connected(link_.session()));
    if (!held_back_ && (is_closed || has_lingered())) {
      read_on(false);  // what came while stderr was read
      read_on(true);
      if (!is_closed) ssh_channel_close(channel_.get());
      state_ = State::over;
      if (!has_exit_) {
        exit_.lost = {SshProblem::Kind::lost, QString("%1 did not say how it ended").arg(link_.target().name), {}};
        exit_.lost.last_heard = std::chrono::steady_clock::now();
      }
      if (told_) events_.ended(exit_);
    }
  }
  return state_ != State::over;
}

void SshChannel::take_exit() {
  has_exit_ = true;
  exited_ = std::chrono::steady_clock::now();
  came_since_ = ssh_linger_bytes;
  linger_on(0);
}

void SshChannel::linger_on(int came) {
  came_since_ += came;
  const auto now = std::chrono::steady_clock::now();
  if (came_since_ < ssh_linger_bytes || now - exited_ > std::chrono::milliseconds(late_.ms_max)) return;
  lingers_from_ = now;
  bytes_when_over_.reset();
  came_since_ = 0;
}

/// Only while the host says something else meanwhile, if only that it is there: what it still has may be under way over a link that stands.
bool SshChannel::has_lingered() {
  if (!has_exit_) return false;
  if (!waits_) return true;
  if (std::chrono::steady_clock::now() - lingers_from_ < std::chrono::milliseconds(ssh_linger_ms)) return false;
  if (!bytes_when_over_) bytes_when_over_ = link_.bytes_in();
  return link_.bytes_in() != *bytes_when_over_;
}

int SshChannel::patience_ms() const {
  if (held_back_ || state_ != State::running) return ssh_soon_ms;
  if (touched_) return 0;
  return !to_write_.isEmpty() && ssh_channel_window_size(channel_.get()) > 0 ? ssh_soon_ms : ssh_tick_ms;
}

void SshChannel::open() {
  if (!channel_) return fail("not enough memory");
  if (state_ == State::opening) {
    if (std::chrono::steady_clock::now() < not_before_) return;
    const int code = ssh_channel_open_session(channel_.get());
    open_asked_ = code == SSH_AGAIN;
    if (open_asked_) return;
    if (code != SSH_OK) {
      if (told_ && may_try_again()) return make();
      return fail(link_.error() + "; does MaxSessions in its sshd_config allow 10 on one connection, as it does by default?");
    }
    state_ = State::requesting;
    if (!told_) return close();  // an open one is closed when it is freed
  }
  const int code = ssh_channel_request_exec(channel_.get(), command_.constData());
  if (code == SSH_AGAIN) return;
  if (code != SSH_OK) return fail(link_.error());
  state_ = State::running;
  if (told_) events_.started();
}

bool SshChannel::may_try_again() {
  not_before_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(ssh_channel_pause_ms);
  return --attempts_left_ > 0 && ssh_is_connected(link_.session());
}

/// What failed with the connection is told of by the session, which knows why.
void SshChannel::fail(const QString& why) {
  if (!ssh_is_connected(link_.session())) return;
  state_ = State::over;
  if (told_) events_.failed(QString("%1 does not run a command: %2").arg(link_.target().name, why));
}

void SshChannel::write_on() {
  while (!to_write_.isEmpty() && ssh_channel_window_size(channel_.get()) > 0) {
    const int written = ssh_channel_write(channel_.get(), to_write_.constData(), static_cast<uint32_t>(to_write_.size()));
    if (written <= 0) break;  // a new key exchange is on, or the channel is being closed: read_on and the state tell
    to_write_.remove(0, written);
  }
  if (to_write_.isEmpty() && end_wanted_ && !end_sent_) {
    end_sent_ = true;
    ssh_channel_send_eof(channel_.get());
  }
}

void SshChannel::read_on(bool is_stderr) {
  for (;;) {
    if (unread_->load() > unread_bytes_max) {
      held_back_ = true;
      return;
    }
    QByteArray bytes(read_bytes, Qt::Uninitialized);
    const int got = ssh_channel_read_nonblocking(channel_.get(), bytes.data(), read_bytes, is_stderr ? 1 : 0);
    if (got <= 0) return;
    bytes.resize(got);
    if (has_exit_ && (!late_.marked || bytes.contains(net::part_begin))) linger_on(got);
    if (!told_) continue;
    unread_->fetch_add(got);
    events_.output(bytes, is_stderr);
  }
}

}  // namespace n2nq::app
