// SPDX-License-Identifier: GPL-3.0-or-later
// How single texts of an ssh_config are read, as ssh reads them: words with their quotes, names of files with ~, %x and ${NAME}. What the
// system was asked for in vain meanwhile, UnansweredQuestions have noted.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

namespace n2nq::app {

struct SshHostConfig;

/// Words by blanks and tabs, up to a # that begins one. Within '…' and "…" blanks belong to the word; a backslash takes from a quote, a
/// backslash or (outside of quotes) a blank its meaning, and is itself before all else. None: a quote has no end.
std::optional<QStringList> ssh_words(const QString& text);

/// %h and the like become what is known of `host` by now, in small letters where ssh makes them so.
QString with_ssh_tokens(const QString& text, const SshHostConfig& host, const QString& home);

/// ~ and ~user become home folders, of which the first is `home`. None: there is no such user, or the system does not say.
std::optional<QString> with_home_folder(const QString& text, const QString& home);

struct SshPath {
  QString path;     // absolute
  QString problem;  // why there is none: what ssh refuses to connect for
};
/// ~ counts in what stands there only, not in what a variable brings.
SshPath ssh_path(const QString& text, const SshHostConfig& host, const QString& home);
/// For keys whose texts have no variables.
QString ssh_path_without_variables(const QString& text, const SshHostConfig& host, const QString& home);

/// A number from 1 to 65535 or the name of a service; 0: neither, or the system does not say.
int ssh_port(const QString& text);

/// The files that a pattern of Include names, by name. Wildcards count in folders, too. None: the system does not say in time.
std::optional<QStringList> files_of_pattern(const QString& pattern);
/// `text` as part of such a pattern, in which nothing is a wildcard.
QString without_wildcards(const QString& text);

/// Who runs this program. Empty: the system does not say.
QString local_user();

/// Whether a group that has these members beside those whose first group it is, is the user's own, as useradd makes one for who works with
/// umask 002: it has their name, by which pam_umask goes, too. Whose first group it is besides, all of the system's users would tell.
/// Debian's ssh obeys what a group with nobody else may write to, of whatever name; others obey nothing that a group may write to.
bool is_users_own(const QString& group, const QStringList& members, const QString& user);

}  // namespace n2nq::app
