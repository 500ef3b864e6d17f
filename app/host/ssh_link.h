// SPDX-License-Identifier: GPL-3.0-or-later
// One SSH connection as its thread sees it: TCP, key exchange, host key, log-in; and libssh's handles, freed in the right order.
//
// Used by one thread only. Everything that goes wrong is thrown as SshError.
#pragma once

#include <libssh/libssh.h>
#include <libssh/sftp.h>

#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <vector>

#include "app/host/owned_fd.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_shared.h"

namespace n2nq::app {

struct SshFree {
  void operator()(ssh_session session) const { ssh_free(session); }
  void operator()(ssh_key key) const { ssh_key_free(key); }
  void operator()(ssh_event event) const { ssh_event_free(event); }
  void operator()(char* text) const { ssh_string_free_char(text); }
};
using SshSessionHandle = std::unique_ptr<ssh_session_struct, SshFree>;
using SshKeyHandle = std::unique_ptr<ssh_key_struct, SshFree>;
using SshEventHandle = std::unique_ptr<ssh_event_struct, SshFree>;
using SshText = std::unique_ptr<char, SshFree>;

/// What one connection needs to know, and who is asked.
struct SshTarget {
  SshHostConfig config;
  QString name;           // in sentences
  QStringList addresses;  // numeric, to be tried in this order; empty: `socket` leads there
  std::shared_ptr<OwnedFd> socket;
  SshQuestions* questions = nullptr;  // lives longer than the session; called on the owner's thread
  std::shared_ptr<SshSecrets> secrets;
  std::function<void(bool)> agent_waits;  // called before and after each question to the person's agent, on any thread
  int declines_before = 0;                // how much the person had declined to say when this one was begun
  bool patient = false;                   // as SshSession::be_patient() says
};

inline constexpr int ssh_connect_ms_max = 4'000;  // per address
inline constexpr int ssh_log_in_ms_kept = 3'000;  // of ssh_reach_ms_max, where addresses do not answer
inline constexpr int ssh_agent_ms_max = 60'000;   // at each question to it: it may ask the person

/// For the next address, with `reach_left_ms` left: these are shared out, but for what is kept for the log-in.
int ssh_connect_share_ms(int reach_left_ms, qsizetype addresses_left);

class SshLink {
 public:
  /// Connects and logs in. `shared` lives longer.
  SshLink(SshTarget target, SshShared& shared);
  ~SshLink();
  SshLink(const SshLink&) = delete;
  SshLink& operator=(const SshLink&) = delete;

  void connect();
  ssh_session session() const { return session_.get(); }
  SshShared& shared() const { return shared_; }
  const SshTarget& target() const { return target_; }
  /// Numeric address that was connected to; empty through a jump.
  const QString& address() const { return address_; }
  /// "10.77.0.11 port 22".
  QString place() const;
  /// What libssh says went wrong last.
  QString error() const;
  /// SFTP on this connection, opened at the first call. Blocks.
  sftp_session sftp();
  /// Closed with the connection at the latest; then, or earlier, it becomes null.
  std::shared_ptr<sftp_file> keep(sftp_file file);
  /// Bytes read from the socket so far.
  quint64 bytes_in() const { return counter_.in_bytes; }
  /// Whether the other end has closed the connection, which libssh finds out with the next packet only.
  bool has_hung_up() const;
  /// That it hung up before the person, or their agent, had answered: hosts give who logs in two minutes, as a rule. Says `again`.
  SshProblem did_not_wait() const;
  /// To be called when the person has answered. Throws that.
  void check_that_it_waited() const;
  /// What follows uses files of this machine, which may lie on a file server that is away: over within what reaching the host may still take,
  /// or the session is closed. Ends with the next step.
  void begin_files(const QStringList& files) const;
  /// Throws why the connection is gone, with what libssh knows.
  [[noreturn]] void throw_lost(const QString& doing) const;

 private:
  void connect_socket();
  void set_options();
  void exchange_keys();

  SshTarget target_;
  SshShared& shared_;
  SshSessionHandle session_;
  sftp_session sftp_ = nullptr;
  std::vector<std::shared_ptr<sftp_file>> files_;
  ssh_counter_struct counter_{};
  OwnedFd socket_;  // until libssh owns it
  OwnedFd known_keys_;
  QString address_;
};

/// What the known_hosts files have of that host, but for revoked keys, as a file without a name: of which types they are the host is asked for
/// first. libssh's own look knows two of these files, and gives up at a line that it cannot read. (ssh_host_key.cpp)
OwnedFd known_keys_file(const SshHostConfig& config);
/// Known: returns. Unknown: asks, adds it to the file. Changed, revoked, not accepted: throws. (ssh_host_key.cpp)
void check_host_key(SshLink& link);
/// Agent, key files, keyboard-interactive, password: as far as the host takes them. (ssh_login.cpp)
void log_in(SshLink& link);

}  // namespace n2nq::app
