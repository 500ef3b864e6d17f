// SPDX-License-Identifier: GPL-3.0-or-later
// Why something with a host did not work, in words for a person, and what would help.
#pragma once

#include <QMetaType>
#include <QString>
#include <chrono>
#include <optional>
#include <stdexcept>

namespace n2nq::app {

struct SshProblem {
  enum class Kind {
    none,
    closed,            // by this program; nothing is wrong
    settings,          // something is missing or not supported in what is known of the host
    name,              // no address for the name
    unreachable,       // nobody answers there, or who answers does not speak SSH
    host_key_unknown,  // and nobody said that it is right
    host_key_changed,
    login,
    no_shell,      // it lets in, and runs no command
    no_sftp,       // nor is there that
    silent,        // SSH answers there, SFTP does not
    lost,          // it worked, and does no longer
    files,         // the disk, the folder or a file there
    architecture,  // the machine is built for other programs, or the program for other machines
    noexec,        // nothing that is in the folder there can be run
    program,       // it cannot be brought there, or cannot be run for another reason
    missing,       // what was there before is not, or not yet: its disk may be mounted later
  };
  Kind kind = Kind::none;
  QString why;         // a sentence that names the host
  QString what_to_do;  // a sentence, or empty
  bool again = false;  // the host did not wait for the person, or for their agent: another attempt finds what was answered
  std::optional<std::chrono::steady_clock::time_point> last_heard = {};  // when the last bytes came over it; none: it was not logged in
  bool person_asked = false;  // on the way to it, for what a log-in or a host key needs
  bool lets_nobody_through = false;  // unreachable: a jump host's sshd allows that to nobody who logged in as this bench did
  bool of_jump_host = false;  // the kind is that of a jump host on the way; nobody got as far as this one
  bool own_files_away = false;  // settings: a file of this machine was not read in time, whose server may come back
  bool key_revoked = false;  // host_key_changed: because it is revoked, not because another one is known
  bool none() const { return kind == Kind::none; }
  /// Both, as one text.
  QString text() const { return what_to_do.isEmpty() ? why : why + (why.endsWith('?') ? " " : ". ") + what_to_do; }
};

/// Advice to give the host another folder, and how. `first`: what else would do, as "Make room there".
inline QString other_folder(const QString& first = {}) {
  const QString how = "ive the host another folder (Edit on the page Hosts, or folder in the hosts file)";
  return first.isEmpty() ? "G" + how : first + ", or g" + how;
}

/// Of a machine that was there a moment ago.
inline constexpr const char* still_there = "Is it still switched on, and is the network in order?";

/// Thrown on the thread of a session only; its owner gets the problem as a value.
class SshError : public std::runtime_error {
 public:
  explicit SshError(SshProblem given) : std::runtime_error(given.why.toStdString()), problem(std::move(given)) {}
  SshError(SshProblem::Kind kind, const QString& why, const QString& what_to_do = {}) : SshError(SshProblem{kind, why, what_to_do}) {}
  SshProblem problem;
};

}  // namespace n2nq::app

Q_DECLARE_METATYPE(n2nq::app::SshProblem)
