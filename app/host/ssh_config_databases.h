// SPDX-License-Identifier: GPL-3.0-or-later
// What the system's databases say of users, groups and services, and what the files of ssh's configuration and of the lab machines hold. Behind
// them may be a directory (LDAP, sssd) or a file server elsewhere that is away, and a question cannot be taken back: each is asked on a thread of
// its own, and waited for no longer than who asks has time.
//
// An answer that is a second old, and each of a file, is asked for anew; where that does not come at once, or of a file in time, the old one
// counts, but of the lab machines, whose file is written over. At the end of the program nobody waits for what was not answered.
#pragma once

#include <QByteArrayList>
#include <QString>
#include <QStringList>
#include <chrono>
#include <optional>

namespace n2nq::app {

enum class Database {
  own_user,    // name
  user,        // home folder
  own_group,   // name, and its members
  service,     // port by TCP
  file,        // by path: owner, group and mode in digits, and its first ssh_config_file_bytes_max + 1 bytes; only what is a regular file
  files,       // by a shell's pattern: the paths that match
  hosts_file,  // by path: find_hosts_file()
};
inline constexpr qsizetype ssh_config_file_bytes_max = 4 << 20;

/// The entry of `name`, as said above; empty: there is none. None: no answer in time, which UnansweredQuestions have noted. Any thread.
std::optional<QStringList> ask_database(Database database, const QString& name = {});
/// The same as the system has it. Waited for at least so long, also where this thread has less time.
std::optional<QByteArrayList> ask_database_bytes(Database database, const QByteArray& name, std::chrono::milliseconds at_least = {});

inline constexpr std::chrono::milliseconds database_patience_usual{10'000};
/// How long this thread may stand for such questions, all in all until there was none for a second. As usual where nothing is said.
void set_database_patience(std::chrono::milliseconds most);

/// What this thread has asked in vain as long as it lives. One within another has what was asked meanwhile for itself.
class UnansweredQuestions {
 public:
  UnansweredQuestions();
  ~UnansweredQuestions();
  UnansweredQuestions(const UnansweredQuestions&) = delete;
  UnansweredQuestions& operator=(const UnansweredQuestions&) = delete;

  /// For a person, each question once.
  const QStringList& told() const { return told_; }
  static void note(const QString& what);

 private:
  UnansweredQuestions* const outer_;
  QStringList told_;
};

}  // namespace n2nq::app
