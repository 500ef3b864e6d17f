// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's protocol: a length of four bytes, a kind of one, and what belongs to it (draft-miller-ssh-agent).
#include "app/host/ssh_agent_view.h"

#include <errno.h>
#include <sys/socket.h>

#include <QtEndian>
#include <algorithm>
#include <utility>

namespace n2nq::app {

namespace {

constexpr quint32 message_bytes_max = 256 << 10;  // as OpenSSH's own agent has it
constexpr quint32 keys_max = 2048;
constexpr char failure = 5, request_identities = 11, identities_answer = 12, sign_request = 13;

bool read_whole(int fd, char* bytes, std::size_t size) {
  while (size > 0) {
    const auto got = ::recv(fd, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_whole(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto written = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void add_number(QByteArray& to, quint32 number) {
  char bytes[4];
  qToBigEndian(number, bytes);
  to.append(bytes, sizeof bytes);
}

void add_string(QByteArray& to, const QByteArray& text) {
  add_number(to, static_cast<quint32>(text.size()));
  to += text;
}

/// None: not whole, or beyond all measure.
std::optional<quint32> take_number(const QByteArray& from, qsizetype& at) {
  if (from.size() - at < 4) return std::nullopt;
  at += 4;
  return qFromBigEndian<quint32>(from.constData() + at - 4);
}

std::optional<QByteArray> take_string(const QByteArray& from, qsizetype& at) {
  const auto size = take_number(from, at);
  if (!size || static_cast<qsizetype>(*size) > from.size() - at) return std::nullopt;
  at += static_cast<qsizetype>(*size);
  return from.mid(at - static_cast<qsizetype>(*size), static_cast<qsizetype>(*size));
}

bool send_message(int fd, const QByteArray& message) {
  QByteArray framed;
  add_string(framed, message);
  return write_whole(fd, framed.constData(), static_cast<std::size_t>(framed.size()));
}

std::optional<QByteArray> receive_message(int fd) {
  char head[4];
  if (!read_whole(fd, head, sizeof head)) return std::nullopt;
  const quint32 size = qFromBigEndian<quint32>(head);
  if (size == 0 || size > message_bytes_max) return std::nullopt;
  QByteArray message(static_cast<qsizetype>(size), Qt::Uninitialized);
  if (!read_whole(fd, message.data(), size)) return std::nullopt;
  return message;
}

}  // namespace

SshAgentView::~SshAgentView() {
  ::shutdown(near_.get(), SHUT_RDWR);
  ::shutdown(agent_.get(), SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
}

std::optional<QByteArray> SshAgentView::ask(const QByteArray& request) {
  if (!begin_()) return std::nullopt;
  auto answer = send_message(agent_.get(), request) ? receive_message(agent_.get()) : std::nullopt;
  end_();
  return answer;
}

std::optional<std::vector<QByteArray>> SshAgentView::keys() {
  const auto answer = ask(QByteArray(1, request_identities));
  if (!answer || answer->at(0) != identities_answer) return std::nullopt;
  qsizetype at = 1;
  const auto count = take_number(*answer, at);
  if (!count || *count > keys_max) return std::nullopt;
  std::vector<QByteArray> keys;
  for (quint32 i = 0; i < *count; ++i) {
    const auto key = take_string(*answer, at);
    if (!key || !take_string(*answer, at)) return std::nullopt;  // behind it a comment
    keys.push_back(*key);
  }
  return keys;
}

OwnedFd SshAgentView::open(std::vector<Offer> offers) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return OwnedFd();
  near_.reset(ends[0]);
  offers_ = std::move(offers);
  thread_ = std::thread(&SshAgentView::serve, this);
  return OwnedFd(ends[1]);
}

void SshAgentView::serve() {
  while (const auto request = receive_message(near_.get())) {
    if (!send_message(near_.get(), answer_to(*request))) return;
  }
}

QByteArray SshAgentView::answer_to(const QByteArray& request) {
  if (request.at(0) == request_identities) {
    QByteArray answer(1, identities_answer);
    add_number(answer, static_cast<quint32>(offers_.size()));
    for (const Offer& offer : offers_) {
      add_string(answer, offer.key);
      add_string(answer, "key");
    }
    return answer;
  }
  if (request.at(0) == sign_request) {
    qsizetype at = 1;
    const auto key = take_string(request, at);
    const auto offer = std::find_if(offers_.begin(), offers_.end(), [&](const Offer& each) { return key && each.key == *key; });
    if (offer != offers_.end()) {
      QByteArray asked(1, sign_request);
      add_string(asked, offer->sign_with);
      asked += request.mid(at);
      if (auto answer = ask(asked)) {
        if (answer->at(0) == failure) refused_to_sign_ = true;
        return *answer;
      }
    }
  }
  return QByteArray(1, failure);
}

}  // namespace n2nq::app
