// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_forward.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <QRegularExpression>
#include <algorithm>

#include "app/host/ssh_link.h"

namespace n2nq::app {

namespace {

constexpr uint32_t forwarded_piece_bytes = 32 << 10;

/// SSH_OPEN_ADMINISTRATIVELY_PROHIBITED (RFC 4254, section 5.1), as libssh tells it: the text behind it is the server's own.
bool is_prohibited(const QString& error) {
  return error.contains(QStringLiteral(" error (1) "));
}

/// Of "Channel opening failure: channel 44 error (2) Connection refused": the number counts attempts, and the same is told once.
QString without_count(const QString& error) {
  static const QRegularExpression count("^Channel opening failure: channel [0-9]+ error \\([0-9]+\\) ");
  return QString(error).remove(count);
}

}  // namespace

SshForward::SshForward(SshLink& link, OwnedFd socket, QByteArray host, int port, std::function<void(const SshProblem&)> answer)
    : link_(link),
      socket_(std::move(socket)),
      host_(std::move(host)),
      port_(port),
      answer_(std::move(answer)),
      channel_(ssh_channel_new(link.session())) {
  callbacks_.userdata = this;
  callbacks_.channel_data_function = [](ssh_session, ssh_channel, void*, uint32_t, int, void* self) {
    static_cast<SshForward*>(self)->touched_ = true;
    return 0;
  };
  callbacks_.channel_eof_function = [](ssh_session, ssh_channel, void* self) { static_cast<SshForward*>(self)->touched_ = true; };
  callbacks_.channel_close_function = [](ssh_session, ssh_channel, void* self) { static_cast<SshForward*>(self)->touched_ = true; };
  ssh_callbacks_init(&callbacks_);
  if (channel_) ssh_set_channel_callbacks(channel_.get(), &callbacks_);
}

SshForward::~SshForward() {
  if (answer_) answer_({SshProblem::Kind::lost, QString("the connection to %1 was lost").arg(link_.target().name), {}});
  ::shutdown(socket_.get(), SHUT_RDWR);
  // libssh keeps a channel that is freed before its host has closed it, and goes on calling back for it.
  if (channel_) ssh_remove_channel_callbacks(channel_.get(), &callbacks_);
}

bool SshForward::go_on() {
  if (!channel_ || (!is_open_ && !open())) return false;
  if (!is_open_) return true;
  events_ = 0;
  touched_ = false;
  if (!from_channel() || !from_socket()) return false;
  return !(ssh_channel_is_closed(channel_.get()) && to_socket_.isEmpty());
}

int SshForward::patience_ms() const {
  if (!is_open_) return ssh_soon_ms;
  // A socket that is full wakes the loop itself.
  if (touched_ && to_socket_.isEmpty()) return 0;
  return !to_channel_.isEmpty() && ssh_channel_window_size(channel_.get()) > 0 ? ssh_soon_ms : ssh_tick_ms;
}

/// False: it failed. True: it stands, or will, or ends with the connection.
bool SshForward::open() {
  const int code = ssh_channel_open_forward(channel_.get(), host_.constData(), port_, "127.0.0.1", 0);
  if (code == SSH_AGAIN || (code != SSH_OK && !ssh_is_connected(link_.session()))) return true;
  const auto answer = std::exchange(answer_, nullptr);
  if (code != SSH_OK) {
    const QString error = link_.error();
    SshProblem why{SshProblem::Kind::unreachable,
                   QString("%1 cannot be reached from the jump host %2: %3").arg(QString::fromUtf8(host_), link_.target().name, without_count(error)),
                   "Does the jump host know that name, and does its sshd allow forwarding (AllowTcpForwarding)?"};
    why.lets_nobody_through = is_prohibited(error);
    answer(why);
    return false;
  }
  is_open_ = true;
  answer({});
  return true;
}

bool SshForward::from_channel() {
  for (;;) {
    if (to_socket_.isEmpty()) {
      QByteArray bytes(forwarded_piece_bytes, Qt::Uninitialized);
      const int got = ssh_channel_read_nonblocking(channel_.get(), bytes.data(), forwarded_piece_bytes, 0);
      if (got <= 0) {
        if (ssh_channel_is_eof(channel_.get())) ::shutdown(socket_.get(), SHUT_WR);
        return true;
      }
      bytes.resize(got);
      to_socket_ = bytes;
    }
    const auto written =
        ::send(socket_.get(), to_socket_.constData(), static_cast<std::size_t>(to_socket_.size()), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) {
      events_ |= POLLOUT;
      return true;
    }
    if (written < 0) return false;
    to_socket_.remove(0, written);
  }
}

bool SshForward::from_socket() {
  for (;;) {
    if (!to_channel_.isEmpty()) {
      if (ssh_channel_window_size(channel_.get()) == 0) return true;  // goes on when the host has said that it takes more
      const int written = ssh_channel_write(channel_.get(), to_channel_.constData(), static_cast<uint32_t>(to_channel_.size()));
      if (written <= 0) return !ssh_channel_is_closed(channel_.get());
      to_channel_.remove(0, written);
      continue;
    }
    if (socket_ended_) return true;
    QByteArray bytes(forwarded_piece_bytes, Qt::Uninitialized);
    const auto got = ::recv(socket_.get(), bytes.data(), forwarded_piece_bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      events_ |= POLLIN;
      return true;
    }
    if (got <= 0) {
      socket_ended_ = true;
      ssh_channel_send_eof(channel_.get());
      return got == 0 && !ssh_channel_is_eof(channel_.get());
    }
    bytes.resize(got);
    to_channel_ = bytes;
  }
}

}  // namespace n2nq::app
