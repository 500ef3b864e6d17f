// SPDX-License-Identifier: GPL-3.0-or-later
// What ~/.ssh/config and /etc/ssh/ssh_config say for a host's name, as ssh reads them: the first value of a key counts, identity files add
// up.
//
// Understood: Host (with *, ? and !), Match all/host/originalhost/user/localuser, Include, and the keys of SshHostConfig. Match exec is not
// evaluated and does not match; Match canonical and final do not match. All other keys are passed over. Any thread; asks the system for files,
// users, services and ${NAME}, for which it waits as long as the thread has time (ssh_config_databases.h). A file that is not read in time
// counts as it was when it was read last, or is a problem of each host that it may speak of.
#pragma once

#include <QHash>
#include <QMap>
#include <QString>
#include <QStringList>
#include <chrono>
#include <optional>
#include <vector>

namespace n2nq::app {

/// As in ssh_config(5) and known_hosts files: * and ?, nothing else is special.
bool ssh_pattern_matches(const QString& pattern, const QString& text);

/// Everything that is needed to connect to one host. Paths are absolute, tokens and ~ are expanded.
struct SshHostConfig {
  QString name;       // as it was asked for
  QString host_name;  // to be looked up and connected to
  int port = 22;
  QString user;
  QStringList identity_files;     // said in a file, in order
  bool default_keys = true;       // nothing was said of identity files, not even "none"
  QStringList certificate_files;  // beside those that lie next to their key
  bool identities_only = false;   // offer nothing else, not even what the agent has
  QString identity_agent;         // socket; empty: no agent
  QStringList known_hosts_files;  // the first is where new keys are added
  QStringList global_known_hosts_files;
  QString revoked_keys_file;  // keys that are refused of every host; empty: none
  QString host_key_alias;  // empty: none
  QStringList jumps;       // each of them an SshDestination; the first is connected to from here
  QString proxy_command;   // to be run in place of a connection; empty: none
  struct Algorithms {
    QString names, where;  // as they stand there; "/home/a/.ssh/config:7"
    bool operator==(const Algorithms&) const = default;
  };
  QMap<QString, Algorithms> algorithms;  // by key in lower case: ciphers, macs, kexalgorithms, hostkeyalgorithms, pubkeyacceptedalgorithms
  // First what the system does not say in time, then lines that hold for it and cannot be used, as those of SshConfig: ssh refuses to
  // connect then.
  QStringList problems;
  bool operator==(const SshHostConfig&) const = default;
};

/// Of "[user@]name[:port]", "[user@][address]:port" or "ssh://[user@]name[:port]".
struct SshDestination {
  QString user;  // empty: not said
  QString name;
  int port = 0;  // 0: not said
  /// None: ssh refuses it.
  static std::optional<SshDestination> parse(QString text);
};

class SshConfig {
 public:
  /// Files that are not there say nothing. `home`: for ~ and relative names.
  static SshConfig read(const QString& home, const QString& user_file, const QString& system_file);
  /// Of the user who runs this program; $HOME says where.
  static SshConfig of_user();
  /// For a thread that must not stand: reads the files of this user and asks the system what they need, and waits for that, as from then on,
  /// for so long at most, all in all until nothing was asked for a second.
  static void ask_ahead(std::chrono::milliseconds patience);

  /// `user` and `port` as said elsewhere win over the files; empty and 0: not said.
  SshHostConfig look_up(const QString& name, const QString& user = {}, int port = 0) const;
  /// The names that Host lines offer, in their order, without patterns. Of those of one line that lead to the same machine, such as a name
  /// and its address, the first.
  QStringList names() const;
  /// Lines that could not be understood, e.g. "/home/a/.ssh/config:7: Host without a name".
  QStringList problems() const { return problems_; }

 private:
  struct Condition {
    QString keyword;  // "host", "match", or "" for always
    QStringList arguments;
  };
  struct Line {
    std::vector<Condition> conditions;  // all of them have to hold: those of the files that include this one, too
    QString key;                        // lower case
    QStringList arguments;
    QString rest;     // behind the key, as it stands there
    QString where;    // "/home/a/.ssh/config:7"
    QString problem;  // why the line cannot be used; empty: it can
  };
  /// `checks` that nobody else may write to it, as ssh does of the user's file and of all that are included.
  void read_file(const QString& path, std::vector<Condition> conditions, int depth, bool checks);
  void add_problem(const std::vector<Condition>& conditions, const QString& key, const QString& problem);
  void include(const QStringList& patterns, const QString& from, const std::vector<Condition>& conditions, int depth);

  void sort_lines();
  /// Those that may hold for it, in their order.
  std::vector<std::size_t> lines_about(const QString& name) const;

  QString home_, user_file_;
  std::vector<Line> lines_;
  QHash<QString, std::vector<std::size_t>> lines_of_name_;  // those below a Host line without patterns hold for nobody else
  std::vector<std::size_t> lines_of_any_;                   // the rest
  std::vector<QStringList> names_;  // of one Host line each
  QStringList problems_;
  bool told_too_many_ = false;  // lines
};

}  // namespace n2nq::app
