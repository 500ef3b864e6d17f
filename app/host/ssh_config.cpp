// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_config.h"

#include <pwd.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHostInfo>

namespace n2nq::app {

namespace {

constexpr int include_depth_max = 16;
constexpr qint64 file_bytes_max = 4 << 20;
constexpr qsizetype lines_max = 100'000;

QString local_user() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry ? QString::fromLocal8Bit(entry->pw_name) : qEnvironmentVariable("USER");
}

/// Words by white space; "quoted words" are one. The key may be parted by = instead.
QStringList words_of(const QString& text) {
  QStringList words;
  QString word;
  bool quoted = false, open = false;
  for (const QChar c : text) {
    if (c == '"') {
      quoted = !quoted;
      open = true;
    } else if (!quoted && c.isSpace()) {
      if (open) words += word;
      word.clear();
      open = false;
    } else if (!quoted && !open && c == '#') {
      break;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words += word;
  return words;
}

/// * and ?, nothing else is special.
bool glob_matches(const QString& pattern, const QString& text) {
  qsizetype p = 0, t = 0, star = -1, star_at = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_at = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star >= 0) {
      p = star + 1;
      t = ++star_at;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// One of them matches, and none that begins with ! does.
bool list_matches(const QStringList& patterns, const QString& text) {
  bool matched = false;
  for (const QString& pattern : patterns) {
    if (pattern.startsWith('!')) {
      if (glob_matches(pattern.mid(1), text)) return false;
    } else if (glob_matches(pattern, text)) {
      matched = true;
    }
  }
  return matched;
}

bool is_yes(const QString& text) {
  return text.compare("yes", Qt::CaseInsensitive) == 0 || text.compare("true", Qt::CaseInsensitive) == 0;
}

bool is_plain_name(const QString& pattern) {
  return !pattern.contains('*') && !pattern.contains('?') && !pattern.startsWith('!');
}

const QStringList algorithm_keys = {"ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms"};

/// The names that a look-up is about, as far as they are known so far.
struct Subject {
  QString name, host_name, user;
};

bool match_holds(const QStringList& arguments, const Subject& subject) {
  bool all = true;
  for (qsizetype at = 0; at < arguments.size(); ++at) {
    QString word = arguments[at].toLower();
    const bool negated = word.startsWith('!');
    if (negated) word.remove(0, 1);
    bool holds = false;
    if (word == "all") {
      holds = true;
    } else if (word == "canonical" || word == "final") {
      holds = false;
    } else {
      const QStringList patterns = at + 1 < arguments.size() ? arguments[++at].split(',', Qt::SkipEmptyParts) : QStringList();
      if (word == "host") holds = list_matches(patterns, subject.host_name.isEmpty() ? subject.name : subject.host_name);
      if (word == "originalhost") holds = list_matches(patterns, subject.name);
      if (word == "user") holds = list_matches(patterns, subject.user.isEmpty() ? local_user() : subject.user);
      if (word == "localuser") holds = list_matches(patterns, local_user());
      if (word == "exec" || word == "localnetwork" || word == "tagged") return false;  // not evaluated, negated or not
    }
    all = all && (negated ? !holds : holds);
  }
  return all;
}

QString with_tokens(const QString& text, const SshHostConfig& host, const QString& home) {
  QString out;
  for (qsizetype at = 0; at < text.size(); ++at) {
    if (text[at] != '%' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    switch (text[++at].toLatin1()) {
      case '%':
        out += '%';
        break;
      case 'h':
        out += host.host_name;
        break;
      case 'n':
        out += host.name;
        break;
      case 'k':
        out += host.host_key_alias.isEmpty() ? host.name : host.host_key_alias;
        break;
      case 'p':
        out += QString::number(host.port);
        break;
      case 'r':
        out += host.user;
        break;
      case 'u':
        out += local_user();
        break;
      case 'd':
        out += home;
        break;
      case 'i':
        out += QString::number(::getuid());
        break;
      case 'L':
        out += QHostInfo::localHostName().section('.', 0, 0);
        break;
      case 'l':
        out += QHostInfo::localHostName();
        break;
      default:
        out += '%', out += text[at];
    }
  }
  return out;
}

QString path_of(const QString& text, const SshHostConfig& host, const QString& home) {
  QString path = with_tokens(text, host, home);
  if (path == "~" || path.startsWith("~/")) return home + path.mid(1);
  return path.startsWith('/') ? path : QDir::current().absoluteFilePath(path);
}

}  // namespace

SshDestination SshDestination::parse(QString text) {
  SshDestination out;
  if (text.startsWith("ssh://")) text.remove(0, 6);
  const qsizetype at = text.lastIndexOf('@');
  if (at >= 0) {
    out.user = text.left(at);
    text.remove(0, at + 1);
  }
  if (text.startsWith('[')) {
    const qsizetype end = text.indexOf(']');
    out.name = text.mid(1, end - 1);
    if (end >= 0 && text.mid(end + 1).startsWith(':')) out.port = text.mid(end + 2).toInt();
  } else if (text.count(':') == 1) {
    out.name = text.section(':', 0, 0);
    out.port = text.section(':', 1).toInt();
  } else {
    out.name = text;
  }
  return out;
}

SshConfig SshConfig::of_user() {
  const QString home = QDir::homePath();
  return read(home, home + "/.ssh/config", "/etc/ssh/ssh_config");
}

SshConfig SshConfig::read(const QString& home, const QString& user_file, const QString& system_file) {
  SshConfig out;
  out.home_ = home;
  out.user_file_ = user_file;
  out.read_file(user_file, {}, 0);
  out.read_file(system_file, {}, 0);
  return out;
}

void SshConfig::read_file(const QString& path, std::vector<Condition> conditions, int depth) {
  QFile file(path);
  if (path.isEmpty() || !QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly)) return;
  const QStringList text = QString::fromUtf8(file.read(file_bytes_max)).split('\n');
  const std::size_t outer = conditions.size();
  int number = 0;
  for (const QString& raw : text) {
    ++number;
    const QString line = raw.trimmed();
    if (line.isEmpty() || line.startsWith('#') || static_cast<qsizetype>(lines_.size()) >= lines_max) continue;
    qsizetype key_end = 0;
    while (key_end < line.size() && !line[key_end].isSpace() && line[key_end] != '=') ++key_end;
    const QString key = line.left(key_end).toLower();
    QString rest = line.mid(key_end).trimmed();
    if (rest.startsWith('=')) rest = rest.mid(1).trimmed();
    const QStringList arguments = words_of(rest);
    if (arguments.isEmpty()) {
      problems_ += QString("%1:%2: %3 without a value").arg(path).arg(number).arg(line.left(key_end));
      continue;
    }
    if (key == "host" || key == "match") {
      conditions.resize(outer);
      conditions.push_back({key, arguments});
      if (key == "host" && path != "/etc/ssh/ssh_config") {
        for (const QString& pattern : arguments) {
          if (is_plain_name(pattern) && !names_.contains(pattern)) names_ += pattern;
        }
      }
    } else if (key == "include") {
      include(arguments, path, conditions, depth);
    } else {
      lines_.push_back({conditions, key, arguments, rest});
    }
  }
}

void SshConfig::include(const QStringList& patterns, const QString& from, const std::vector<Condition>& conditions, int depth) {
  if (depth >= include_depth_max) {
    problems_ += QString("%1: files that include each other more than %2 deep").arg(from).arg(include_depth_max);
    return;
  }
  for (QString pattern : patterns) {
    if (pattern.startsWith("~/")) pattern = home_ + pattern.mid(1);
    if (!pattern.startsWith('/')) pattern = (from.startsWith("/etc/ssh/") ? QString("/etc/ssh") : home_ + "/.ssh") + '/' + pattern;
    const QFileInfo info(pattern);
    const QStringList names = info.dir().entryList({info.fileName()}, QDir::Files | QDir::Hidden, QDir::Name);
    for (const QString& name : names) read_file(info.dir().filePath(name), conditions, depth + 1);
  }
}

SshHostConfig SshConfig::look_up(const QString& name, const QString& user, int port) const {
  QMap<QString, QStringList> values;  // the first one of each key
  QMap<QString, QString> rests;
  QStringList identity_files, certificate_files;
  const auto first = [&values](const QString& key) { return values.value(key).value(0); };
  for (const Line& line : lines_) {
    const Subject subject{name, first("hostname").replace("%h", name), user.isEmpty() ? first("user") : user};
    const bool holds = std::all_of(line.conditions.begin(), line.conditions.end(), [&](const Condition& condition) {
      return condition.keyword == "host" ? list_matches(condition.arguments, name) : match_holds(condition.arguments, subject);
    });
    if (!holds) continue;
    if (line.key == "identityfile") {
      if (!identity_files.contains(line.arguments[0])) identity_files += line.arguments[0];
    } else if (line.key == "certificatefile") {
      if (!certificate_files.contains(line.arguments[0])) certificate_files += line.arguments[0];
    } else if (!values.contains(line.key)) {
      values[line.key] = line.arguments;
      rests[line.key] = line.rest;
    }
  }

  SshHostConfig out;
  out.name = name;
  out.host_name = name;  // for %h in HostName itself
  if (values.contains("hostname")) out.host_name = with_tokens(first("hostname"), out, home_);
  out.port = port > 0 ? port : first("port").toInt();
  if (out.port <= 0 || out.port > 65535) out.port = 22;
  out.user = !user.isEmpty() ? user : first("user").isEmpty() ? local_user() : first("user");
  out.host_key_alias = first("hostkeyalias");
  out.identities_only = is_yes(first("identitiesonly"));
  for (const QString& file : identity_files) {
    if (file.compare("none", Qt::CaseInsensitive) != 0) out.identity_files += path_of(file, out, home_);
  }
  for (const QString& file : certificate_files) {
    if (file.compare("none", Qt::CaseInsensitive) != 0) out.certificate_files += path_of(file, out, home_);
  }
  const QString agent = first("identityagent");
  if (agent.isEmpty() || agent == "SSH_AUTH_SOCK") {
    out.identity_agent = qEnvironmentVariable("SSH_AUTH_SOCK");
  } else if (agent.startsWith('$')) {
    out.identity_agent = qEnvironmentVariable(agent.mid(1).toLocal8Bit().constData());
  } else if (agent != "none") {
    out.identity_agent = path_of(agent, out, home_);
  }
  for (const QString& file : values.value("userknownhostsfile", {"~/.ssh/known_hosts", "~/.ssh/known_hosts2"})) {
    if (file != "none") out.known_hosts_files += path_of(file, out, home_);
  }
  for (const QString& file : values.value("globalknownhostsfile", {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"})) {
    if (file != "none") out.global_known_hosts_files += path_of(file, out, home_);
  }
  const QString jumps = first("proxyjump");
  if (jumps.compare("none", Qt::CaseInsensitive) != 0) out.jumps = jumps.split(',', Qt::SkipEmptyParts);
  if (out.jumps.isEmpty() && first("proxycommand").compare("none", Qt::CaseInsensitive) != 0)
    out.proxy_command = with_tokens(rests.value("proxycommand"), out, home_);
  if (values.contains("pubkeyacceptedkeytypes") && !values.contains("pubkeyacceptedalgorithms"))
    values["pubkeyacceptedalgorithms"] = values["pubkeyacceptedkeytypes"];  // its name before OpenSSH 8.5
  for (const QString& key : algorithm_keys) {
    if (values.contains(key)) out.algorithms[key] = first(key);
  }
  return out;
}

}  // namespace n2nq::app
