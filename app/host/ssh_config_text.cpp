// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_config_text.h"

#include <unistd.h>

#include <QCryptographicHash>
#include <QDir>
#include <QHostInfo>
#include <algorithm>

#include "app/host/ssh_config.h"
#include "app/host/ssh_config_databases.h"

namespace n2nq::app {

namespace {

bool is_blank(QChar c) {
  return c == ' ' || c == '\t';
}

/// Of %C: it names this machine, the host, its port and the user in few letters.
QString connection_hash(const SshHostConfig& host) {
  const QString text = QHostInfo::localHostName() + host.host_name.toLower() + QString::number(host.port) + host.user;
  return QString::fromLatin1(QCryptographicHash::hash(text.toUtf8(), QCryptographicHash::Sha1).toHex());
}

std::optional<QString> token_text(QChar token, const SshHostConfig& host, const QString& home) {
  switch (token.toLatin1()) {
    case '%':
      return "%";
    case 'C':
      return connection_hash(host);
    case 'h':
      return host.host_name.toLower();
    case 'n':
      return host.name;
    case 'k':
      return host.host_key_alias.isEmpty() ? host.name : host.host_key_alias.toLower();
    case 'p':
      return QString::number(host.port);
    case 'r':
      return host.user;
    case 'u':
      return local_user();
    case 'd':
      return home;
    case 'i':
      return QString::number(::getuid());
    case 'L':
      return QHostInfo::localHostName().section('.', 0, 0);
    case 'l':
      return QHostInfo::localHostName();
    default:
      return {};
  }
}

/// With `problem`, ${NAME} counts, too, and that says of which there is none.
QString expanded(const QString& text, const SshHostConfig& host, const QString& home, QString* problem) {
  QString out;
  for (qsizetype at = 0; at < text.size(); ++at) {
    if (problem && text[at] == '$' && text.mid(at + 1, 1) == "{") {
      const qsizetype end = text.indexOf('}', at);
      const QByteArray name = text.mid(at + 2, end - at - 2).toLocal8Bit();
      if (end < 0 || name.isEmpty()) {
        *problem = end < 0 ? "${ has no } behind it" : "${} names no variable";
        return {};
      }
      if (!qEnvironmentVariableIsSet(name.constData()))
        *problem = QString("the environment has no ${%1}").arg(QString::fromLocal8Bit(name));
      out += qEnvironmentVariable(name.constData());
      at = end;
      continue;
    }
    const std::optional<QString> token = text[at] == '%' && at + 1 < text.size() ? token_text(text[at + 1], host, home) : std::nullopt;
    out += token ? *token : QString(text[at]);
    if (token) ++at;
  }
  return out;
}

QString absolute(const QString& path) {
  return path.startsWith('/') ? path : QDir::current().absoluteFilePath(path);
}

}  // namespace

std::optional<QStringList> ssh_words(const QString& text) {
  QStringList words;
  QString word;
  bool open = false;
  QChar quote;  // null: outside
  for (qsizetype at = 0; at < text.size(); ++at) {
    const QChar c = text[at], next = at + 1 < text.size() ? text[at + 1] : QChar();
    if (quote.isNull() && is_blank(c)) {
      if (open) words += word;
      word.clear();
      open = false;
      continue;
    }
    if (!open && c == '#') break;
    open = true;
    if (c == '\\' && (next == '\'' || next == '"' || next == '\\' || (quote.isNull() && next == ' '))) {
      word += next, ++at;
    } else if (quote.isNull() && (c == '"' || c == '\'')) {
      quote = c;
    } else if (!quote.isNull() && c == quote) {
      quote = QChar();
    } else {
      word += c;
    }
  }
  if (!quote.isNull()) return {};
  if (open) words += word;
  return words;
}

QString with_ssh_tokens(const QString& text, const SshHostConfig& host, const QString& home) {
  return expanded(text, host, home, nullptr);
}

std::optional<QString> with_home_folder(const QString& text, const QString& home) {
  if (!text.startsWith('~')) return text;
  const QString user = text.section('/', 0, 0).mid(1), rest = text.mid(1 + user.size());
  if (user.isEmpty()) return home + rest;
  const auto found = ask_database(Database::user, user);
  if (!found || found->isEmpty()) return {};
  return found->front() + rest;
}

SshPath ssh_path(const QString& text, const SshHostConfig& host, const QString& home) {
  const std::optional<QString> begun = with_home_folder(text, home);
  if (!begun) return {{}, QString("there is no user %1 here").arg(text.section('/', 0, 0).mid(1))};
  QString problem;
  const QString path = expanded(*begun, host, home, &problem);
  return problem.isEmpty() ? SshPath{absolute(path), {}} : SshPath{{}, problem};
}

QString ssh_path_without_variables(const QString& text, const SshHostConfig& host, const QString& home) {
  return absolute(with_ssh_tokens(with_home_folder(text, home).value_or(text), host, home));
}

int ssh_port(const QString& text) {
  constexpr int port_max = 65'535;
  bool is_number = false;
  const int port = text.toInt(&is_number);
  if (is_number) return port > 0 && port <= port_max ? port : 0;
  if (text.isEmpty()) return 0;
  const auto found = ask_database(Database::service, text);
  return found && !found->isEmpty() ? found->front().toInt() : 0;
}

std::optional<QStringList> files_of_pattern(const QString& pattern) {
  auto files = ask_database(Database::files, pattern);
  if (files) std::sort(files->begin(), files->end());
  return files;
}

QString without_wildcards(const QString& text) {
  QString out;
  for (const QChar c : text) {
    if (QStringLiteral("*?[\\").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

QString local_user() {
  const auto found = ask_database(Database::own_user);
  if (!found) return {};
  return found->isEmpty() ? qEnvironmentVariable("USER") : found->front();
}

bool is_users_own(const QString& group, const QStringList& members, const QString& user) {
  return group == user && std::all_of(members.begin(), members.end(), [&user](const QString& member) { return member == user; });
}

}  // namespace n2nq::app
