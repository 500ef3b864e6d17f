// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_sftp_writes.h"

#include <QtEndian>
#include <algorithm>

namespace n2nq::app {

namespace {

constexpr qsizetype write_piece_bytes = 32 << 10;  // what every server takes
constexpr std::size_t writes_under_way_max = 32;    // half of the window that OpenSSH gives a channel
constexpr std::uint32_t answer_bytes_max = 64 << 10;
constexpr qsizetype answer_bytes_min = 9;  // its kind, its id, and a code

void append_to(QByteArray& packet, std::uint32_t number) {
  char bytes[sizeof number];
  qToBigEndian(number, bytes);
  packet.append(bytes, sizeof bytes);
}

void append_to(QByteArray& packet, QByteArrayView text) {
  append_to(packet, static_cast<std::uint32_t>(text.size()));
  packet.append(text);
}

}  // namespace

SftpWrites::SftpWrites(SshLink& link, sftp_file file, std::function<void()> begin_piece)
    : link_(link), file_(file), begin_piece_(std::move(begin_piece)) {}

std::uint32_t SftpWrites::write(const QByteArray& bytes) {
  code_ = SSH_FX_OK;
  for (qsizetype at = 0; at < bytes.size() && code_ == SSH_FX_OK; at += write_piece_bytes) {
    if (asked_.size() >= writes_under_way_max) take_answer();
    ask(QByteArrayView(bytes).sliced(at, std::min(write_piece_bytes, bytes.size() - at)));
  }
  while (!asked_.empty()) take_answer();
  return code_;
}

void SftpWrites::ask(QByteArrayView piece) {
  QByteArray request(1, static_cast<char>(SSH_FXP_WRITE));
  append_to(request, next_id_);
  append_to(request, QByteArrayView(static_cast<const char*>(ssh_string_data(file_->handle)),
                                 static_cast<qsizetype>(ssh_string_len(file_->handle))));
  append_to(request, static_cast<std::uint32_t>(file_->offset >> 32));
  append_to(request, static_cast<std::uint32_t>(file_->offset));
  append_to(request, piece);
  QByteArray packet;
  append_to(packet, QByteArrayView(request));
  begin_piece_();
  send(packet);
  asked_.insert(next_id_++);
  file_->offset += static_cast<std::uint64_t>(piece.size());
}

void SftpWrites::take_answer() {
  begin_piece_();
  const auto size = qFromBigEndian<std::uint32_t>(receive(sizeof(std::uint32_t)).constData());
  const QByteArray answer = receive(std::min(size, answer_bytes_max));
  const auto number_at = [&](qsizetype at) { return qFromBigEndian<std::uint32_t>(answer.constData() + at); };
  if (size > answer_bytes_max || answer.size() < answer_bytes_min || answer[0] != static_cast<char>(SSH_FXP_STATUS) ||
      asked_.erase(number_at(1)) == 0) {
    // Nothing that comes behind it can be told apart.
    throw SshError(SshProblem::Kind::lost, QString("%1 says by SFTP what is no answer to what was written").arg(link_.target().name),
                   "Does sftp work there by hand?");
  }
  if (const std::uint32_t code = number_at(5); code_ == SSH_FX_OK) code_ = code;
}

void SftpWrites::send(const QByteArray& bytes) {
  for (qsizetype at = 0; at < bytes.size();) {
    const int sent = ssh_channel_write(file_->sftp->channel, bytes.constData() + at, static_cast<std::uint32_t>(bytes.size() - at));
    link_.shared().check();
    if (sent < 0 || !ssh_is_connected(link_.session())) link_.throw_lost("writing");
    at += sent;  // less where the host took no more for as long as libssh waits
  }
}

QByteArray SftpWrites::receive(std::uint32_t size) {
  QByteArray bytes(static_cast<qsizetype>(size), Qt::Uninitialized);
  for (std::uint32_t at = 0; at < size;) {
    const int got = ssh_channel_read(file_->sftp->channel, bytes.data() + at, size - at, 0);
    link_.shared().check();
    if (got == SSH_AGAIN && ssh_is_connected(link_.session())) continue;
    if (got < 0 || !ssh_is_connected(link_.session()) || (got == 0 && ssh_channel_is_eof(file_->sftp->channel)))
      link_.throw_lost("writing");
    at += static_cast<std::uint32_t>(got);
  }
  return bytes;
}

}  // namespace n2nq::app
