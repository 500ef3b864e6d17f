// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <QFileInfo>
#include <algorithm>

#include "app/host/ssh_sftp_start.h"

namespace n2nq::app {

namespace {

// A dead link is known to the kernel within 9 s, whether something was being sent or not.
constexpr int keepalive_idle_s = 3, keepalive_every_s = 2, keepalive_probes = 3, unacknowledged_ms_max = 8'000;

void set_option(int fd, int level, int option, int value) {
  // Best effort: a system without one of them notices a dead link later.
  ::setsockopt(fd, level, option, &value, sizeof value);
}

struct AddressFree {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

/// errno's words, or empty: connected.
QString connect_to(const QString& address, int port, int limit_ms, SshShared& shared, OwnedFd& out) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (::getaddrinfo(address.toLatin1().constData(), QByteArray::number(port).constData(), &hints, &list) != 0)
    return "not a numeric address";
  const std::unique_ptr<addrinfo, AddressFree> owned(list);
  OwnedFd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return QString::fromLocal8Bit(::strerror(errno));
  int error = 0;
  if (::connect(fd.get(), list->ai_addr, list->ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) {
    pollfd waits[] = {{fd.get(), POLLOUT, 0}, {shared.wake_fd(), POLLIN, 0}};
    const auto until = SshShared::Clock::now() + std::chrono::milliseconds(limit_ms);
    while ((waits[0].revents & (POLLOUT | POLLERR | POLLHUP)) == 0) {
      shared.check();
      shared.clear_wake();
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SshShared::Clock::now()).count();
      if (left <= 0) return QString("no answer within %1 s").arg(limit_ms / 1000.0, 0, 'g', 2);
      ::poll(waits, 2, static_cast<int>(left) + 1);
    }
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return QString::fromLocal8Bit(::strerror(error));
  out = std::move(fd);
  return {};
}

}  // namespace

int ssh_connect_share_ms(int reach_left_ms, qsizetype addresses_left) {
  // Where a name has taken most of it, the address gets a part of what is left all the same.
  const int kept_ms = std::min(ssh_log_in_ms_kept, reach_left_ms / 3 * 2);
  return std::min(ssh_connect_ms_max, (reach_left_ms - kept_ms) / static_cast<int>(addresses_left));
}

SshLink::SshLink(SshTarget target, SshShared& shared) : target_(std::move(target)), shared_(shared), session_(ssh_new()) {
  if (!session_) throw SshError(SshProblem::Kind::lost, "not enough memory for an SSH session");
}

SshLink::~SshLink() {
  // A host that hears nothing any more is not told of the end of its files: their handles are freed with the session.
  for (const auto& file : files_) {
    if (*file && ssh_is_connected(session_.get())) sftp_close(*file);
    *file = nullptr;
  }
  if (sftp_) sftp_free(sftp_);
  if (ssh_is_connected(session_.get())) ssh_disconnect(session_.get());
}

QString SshLink::place() const {
  return QString("%1 port %2").arg(address_.isEmpty() ? target_.config.host_name : address_, QString::number(target_.config.port));
}

QString SshLink::error() const {
  return QString::fromUtf8(ssh_get_error(session_.get()));
}

void SshLink::connect() {
  connect_socket();
  set_options();
  exchange_keys();
  check_host_key(*this);
  log_in(*this);
  shared_.end_step();
  shared_.note_reached();
}

void SshLink::connect_socket() {
  if (target_.socket) {
    socket_ = std::move(*target_.socket);
  } else {
    QStringList refusals;
    for (const QString& address : target_.addresses) {
      const int limit_ms = ssh_connect_share_ms(shared_.reach_step_ms(), target_.addresses.size() - refusals.size());
      const QString refusal = connect_to(address, target_.config.port, limit_ms, shared_, socket_);
      if (refusal.isEmpty()) {
        address_ = address;
        break;
      }
      refusals += QString("%1 port %2: %3").arg(address, QString::number(target_.config.port), refusal);
    }
    if (socket_.get() < 0) {
      throw SshError(SshProblem::Kind::unreachable, QString("%1 cannot be reached (%2)").arg(target_.name, refusals.join("; ")),
                     "Is it switched on, is its address right, and does sshd listen on that port?");
    }
    const int fd = socket_.get();
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_every_s);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_ms_max);
  }
  shared_.watch_socket(socket_.get());
}

void SshLink::set_options() {
  const SshHostConfig& config = target_.config;
  ssh_session session = session_.get();
  const auto set = [session, this](ssh_options_e option, const void* value, const QString& what,
                                   const QString& else_do = "Is there memory left on this machine?") {
    if (ssh_options_set(session, option, value) != 0)
      throw SshError(SshProblem::Kind::settings, QString("%1: %2 cannot be used: %3").arg(target_.name, what, error()), else_do);
  };
  const bool process_config = false;  // read already, by SshConfig
  set(SSH_OPTIONS_PROCESS_CONFIG, &process_config, "PROCESS_CONFIG");
  if (config.user.isEmpty()) {
    throw SshError(SshProblem::Kind::settings, QString("%1: nobody knows as whom to log in").arg(target_.name),
                   "Name the user (Edit on the page Hosts, user in the hosts file, or User in ~/.ssh/config)");
  }
  // libssh refuses hosts with an underscore, and users with what a shell could understand; ssh takes both. It needs neither: the socket is
  // there, known_keys_ is for all hosts, and each step of a log-in says its user.
  set(SSH_OPTIONS_HOST, "host", "HOST");
  set(SSH_OPTIONS_USER, "user", "USER");
  // Beyond any of SshShared's, and what this bench stands still in them: no wait of libssh's own is for ever.
  const long timeout_s = 120;
  set(SSH_OPTIONS_TIMEOUT, &timeout_s, "TIMEOUT");
  // Which key types the host is asked for first depends on what is known of it.
  begin_files(config.known_hosts_files + config.global_known_hosts_files);
  known_keys_ = known_keys_file(config);
  const QByteArray known_keys = "/proc/self/fd/" + QByteArray::number(known_keys_.get());
  set(SSH_OPTIONS_KNOWNHOSTS, known_keys.constData(), "what is known of its keys");
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null", "/dev/null");
  const struct {
    const char* key;
    std::vector<ssh_options_e> options;
  } algorithms[] = {{"ciphers", {SSH_OPTIONS_CIPHERS_C_S, SSH_OPTIONS_CIPHERS_S_C}},
                    {"macs", {SSH_OPTIONS_HMAC_C_S, SSH_OPTIONS_HMAC_S_C}},
                    {"kexalgorithms", {SSH_OPTIONS_KEY_EXCHANGE}},
                    {"hostkeyalgorithms", {SSH_OPTIONS_HOSTKEYS}},
                    {"pubkeyacceptedalgorithms", {SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES}}};
  for (const auto& [key, options] : algorithms) {
    const auto [names, where] = config.algorithms.value(key);
    if (names.isEmpty()) continue;
    for (const ssh_options_e option : options)
      set(option, names.toUtf8().constData(), QString("%1: %2 %3").arg(where, key, names),
          "Name others there that libssh knows, or take that line out");
  }
  int fd = socket_.get();
  set(SSH_OPTIONS_FD, &fd, "the connection");
  ssh_set_counters(session, nullptr, &counter_);
}

void SshLink::exchange_keys() {
  const int limit_ms = shared_.reach_step_ms();
  shared_.begin_step(
      limit_ms,
      {SshProblem::Kind::unreachable,
       QString("%1 (%2) did not answer as an SSH server within %3 s").arg(target_.name, place(), QString::number(limit_ms / 1000.0, 'g', 2)),
       shared_.reach_advice("Is the port the one of sshd?", limit_ms)});
  socket_.release();  // libssh closes it from here on, whatever happens
  if (ssh_connect(session_.get()) != SSH_OK) {
    shared_.check();
    // As libssh says it of algorithms.
    const bool nothing_in_common = error().contains("no match for method");
    throw SshError(SshProblem::Kind::unreachable, QString("%1 (%2) cannot be spoken with: %3").arg(target_.name, place(), error()),
                   !nothing_in_common ? "Does sshd listen on that port?"
                   : target_.config.algorithms.isEmpty()
                       ? "Its sshd and libssh here have no algorithm in common: one of them is very old"
                       : "It takes none of what ~/.ssh/config allows (Ciphers, MACs, KexAlgorithms, HostKeyAlgorithms): "
                         "take such lines away for it, or add what it offers");
  }
}

sftp_session SshLink::sftp() {
  if (sftp_) return sftp_;
  QString why, said;
  sftp_session opened = start_sftp(session(), why, said);
  if (!opened) {
    if (!said.isEmpty()) said = QString("; it says \"%1\"").arg(said);
    if (shared_.closed()) {
      SshProblem problem = shared_.why_closed();
      if (problem.kind == SshProblem::Kind::silent) problem.why += said;
      throw SshError(problem);
    }
    // libssh has one error code for both, and words.
    if (why.startsWith("Channel opening failure")) {
      throw SshError(SshProblem::Kind::no_sftp, QString("%1 opens no session for SFTP: %2").arg(target_.name, why),
                     "Does MaxSessions in its sshd_config allow 10 on one connection, as it does by default?");
    }
    throw SshError(SshProblem::Kind::no_sftp, QString("%1 offers no SFTP: %2%3").arg(target_.name, why, said),
                   "sshd_config there needs a line \"Subsystem sftp …\"");
  }
  return sftp_ = opened;
}

std::shared_ptr<sftp_file> SshLink::keep(sftp_file file) {
  std::erase_if(files_, [](const auto& kept) { return !*kept; });
  return files_.emplace_back(std::make_shared<sftp_file>(file));
}

bool SshLink::has_hung_up() const {
  pollfd looked_at{ssh_get_fd(session_.get()), POLLRDHUP, 0};
  return ::poll(&looked_at, 1, 0) == 1;
}

SshProblem SshLink::did_not_wait() const {
  SshProblem problem{SshProblem::Kind::login, QString("%1 hung up before the answer was there").arg(target_.name),
                     "Its sshd waits for LoginGraceTime, two minutes as a rule. Try again: what was answered is remembered"};
  problem.again = true;
  return problem;
}

void SshLink::check_that_it_waited() const {
  shared_.check();
  if (has_hung_up()) throw SshError(did_not_wait());
}

void SshLink::begin_files(const QStringList& files) const {
  SshProblem problem{SshProblem::Kind::settings, QString("%1: it takes too long to read %2").arg(target_.name, files.join(", ")),
                     "Is the file server that it lies on away? Try again when it answers"};
  problem.own_files_away = true;
  shared_.begin_step(shared_.reach_step_ms(), problem);
}

void SshLink::throw_lost(const QString& doing) const {
  shared_.check();
  const QString said = error();
  throw SshError(SshProblem::Kind::lost,
                 QString("the connection to %1 was lost%2%3")
                     .arg(target_.name, doing.isEmpty() ? QString() : " while " + doing, said.isEmpty() ? QString() : ": " + said),
                 still_there);
}

}  // namespace n2nq::app
