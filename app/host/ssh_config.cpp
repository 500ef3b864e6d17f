// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_config.h"

#include <sys/types.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QSet>
#include <algorithm>
#include <iterator>
#include <utility>

#include "app/host/shell_quoted.h"
#include "app/host/ssh_config_databases.h"
#include "app/host/ssh_config_text.h"

namespace n2nq::app {

bool ssh_pattern_matches(const QString& pattern, const QString& text) {
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

namespace {

constexpr int include_depth_max = 16;
constexpr qsizetype lines_max = 100'000;

/// One of them matches, and none that begins with ! does.
bool list_matches(const QStringList& patterns, const QString& text) {
  bool matched = false;
  for (const QString& pattern : patterns) {
    if (pattern.startsWith('!')) {
      if (ssh_pattern_matches(pattern.mid(1), text)) return false;
    } else if (ssh_pattern_matches(pattern, text)) {
      matched = true;
    }
  }
  return matched;
}

/// Of "Match host": names of machines, which ssh takes in lower case, patterns included. (Those of "Host" it takes as they are.)
bool list_matches_name(const QStringList& patterns, const QString& name) {
  QStringList lower;
  for (const QString& pattern : patterns) lower += pattern.toLower();
  return list_matches(lower, name.toLower());
}

/// None: neither yes nor no.
std::optional<bool> is_yes(const QString& text) {
  const QString word = text.toLower();
  if (word == "yes" || word == "true") return true;
  if (word == "no" || word == "false") return false;
  return {};
}

bool is_none(const QString& text) {
  return text.compare("none", Qt::CaseInsensitive) == 0;
}

/// What ssh refuses in a value of this key, as the end of a sentence; empty: nothing.
QString what_is_wrong(const QString& key, const QString& value) {
  if (key == "port" && ssh_port(value) == 0) return QString("must be from 1 to 65535, not %1").arg(value);
  if (key == "identitiesonly" && !is_yes(value)) return QString("must be yes or no, not %1").arg(value);
  if (key != "proxyjump" || is_none(value)) return {};
  for (const QString& jump : value.split(',')) {
    if (!SshDestination::parse(jump))
      return QString("must be [user@]host[:port] of each jump host, with commas in between, not %1").arg(value);
  }
  return {};
}

/// The system is asked for one group at most, and for all of its users never: where these are in a directory elsewhere that takes long.
bool is_own_group(gid_t id) {
  if (id != ::getgid()) return false;
  const auto group = ask_database(Database::own_group);
  return group && !group->isEmpty() && is_users_own(group->front(), group->mid(1), local_user());
}

/// `wrong`, unless that is so only because the system does not say what it was asked for meanwhile.
QString unless_unanswered(const QString& wrong, const UnansweredQuestions& unanswered) {
  return wrong.isEmpty() || unanswered.told().isEmpty() ? wrong : unanswered.told().front();
}

struct ReadFile {
  uid_t owner = 0;
  gid_t group = 0;
  mode_t mode = 0;
  QByteArray text;  // with more than ssh_config_file_bytes_max it goes on
};

/// None: there is no such file, or the answer `is_late`, as UnansweredQuestions have noted.
std::optional<ReadFile> read_in_time(const QString& path, bool& is_late) {
  const auto found = ask_database_bytes(Database::file, QFile::encodeName(path));
  is_late = !found;
  if (!found || found->size() != 4) return {};
  return ReadFile{found->at(0).toUInt(), found->at(1).toUInt(), found->at(2).toUInt(), found->at(3)};
}

/// What it says may run a program as this user (ProxyCommand), so ssh does not obey a file that others may change. Empty: nobody else may.
QString who_else_writes(const QString& path, const ReadFile& file) {
  if (file.owner != 0 && file.owner != ::getuid())
    return QString("%1 belongs to another user, so ssh does not obey it, nor does the bench: chown it").arg(path);
  if ((file.mode & 002) != 0)
    return QString("others may write to %1, so ssh does not obey it, nor does the bench: chmod go-w %2").arg(path, shell_quoted(path));
  if ((file.mode & 020) != 0 && !is_own_group(file.group))
    return QString("a group may write to %1 that is not your own, of your name and with nobody else in it, so the bench does not obey it: "
                   "chmod g-w %2")
        .arg(path, shell_quoted(path));
  return {};
}

bool is_plain_name(const QString& pattern) {
  return !pattern.contains('*') && !pattern.contains('?') && !pattern.startsWith('!');
}

const QStringList algorithm_keys = {"ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms"};
/// The others that are read, of one value as those are, and of more. What is wrong with the rest is for ssh to say.
const QStringList one_value_keys = {"hostname",       "port",          "user",         "identityfile",          "certificatefile",
                                    "identitiesonly", "identityagent", "hostkeyalias", "revokedhostkeys",       "pubkeyacceptedkeytypes"};
const QStringList other_keys = {"host", "match", "include", "userknownhostsfile", "globalknownhostsfile", "proxyjump", "proxycommand"};

bool has_one_value(const QString& key) {
  return one_value_keys.contains(key) || algorithm_keys.contains(key);
}

/// The names that a look-up is about, as far as they are known so far.
struct Subject {
  QString name, host_name, user;
};

/// "user root", "user=root" and "user = root" are the same. `at`: the word; then the last argument that belongs to it.
QString behind_word(const QStringList& arguments, qsizetype& at) {
  QString text = arguments[at].section('=', 1);
  if (!arguments[at].contains('=') && at + 1 < arguments.size() && arguments[at + 1].startsWith('=')) text = arguments[++at].mid(1);
  return text.isEmpty() && at + 1 < arguments.size() ? arguments[++at] : text;
}

bool match_holds(const QStringList& arguments, const Subject& subject) {
  bool all = true;
  for (qsizetype at = 0; at < arguments.size(); ++at) {
    QString word = arguments[at].section('=', 0, 0).toLower();
    const bool negated = word.startsWith('!');
    if (negated) word.remove(0, 1);
    bool holds = false;
    if (word == "all") {
      holds = true;
    } else if (word == "canonical" || word == "final") {
      holds = false;
    } else {
      const QStringList patterns = behind_word(arguments, at).split(',', Qt::SkipEmptyParts);
      if (word == "host") holds = list_matches_name(patterns, subject.host_name.isEmpty() ? subject.name : subject.host_name);
      if (word == "originalhost") holds = list_matches_name(patterns, subject.name);
      if (word == "user") holds = list_matches(patterns, subject.user.isEmpty() ? local_user() : subject.user);
      if (word == "localuser") holds = list_matches(patterns, local_user());
      if (word == "exec" || word == "localnetwork" || word == "tagged") return false;  // not evaluated, negated or not
    }
    all = all && (negated ? !holds : holds);
  }
  return all;
}

}  // namespace

std::optional<SshDestination> SshDestination::parse(QString text) {
  SshDestination out;
  const bool is_uri = text.startsWith("ssh://");
  if (is_uri) text.remove(0, 6);
  if (is_uri && text.endsWith('/')) text.chop(1);
  if (const qsizetype at = text.lastIndexOf('@'); at >= 0) {
    out.user = is_uri ? text.left(at).section(';', 0, 0) : text.left(at);
    if (out.user.isEmpty()) return {};
    text.remove(0, at + 1);
  }
  QString port;
  if (text.startsWith('[')) {
    const qsizetype end = text.indexOf(']');
    port = text.mid(end + 1);
    if (end < 0 || !(port.isEmpty() || port.startsWith(':'))) return {};
    out.name = text.mid(1, end - 1);
    port.remove(0, 1);
  } else {
    out.name = text.section(':', 0, 0);
    port = text.section(':', 1);
  }
  if (!port.isEmpty()) out.port = ssh_port(port);
  if (out.name.isEmpty() || (out.port == 0 && !port.isEmpty())) return {};
  return out;
}

SshConfig SshConfig::of_user() {
  const QString home = QDir::homePath();
  return read(home, home + "/.ssh/config", "/etc/ssh/ssh_config");
}

void SshConfig::ask_ahead(std::chrono::milliseconds patience) {
  set_database_patience(patience);
  const SshConfig config = of_user();  // what it includes is known only when it is read
  set_database_patience(std::chrono::milliseconds::zero());
  for (const QString& name : config.names()) config.look_up(name);
  local_user();
  set_database_patience(patience);
}

SshConfig SshConfig::read(const QString& home, const QString& user_file, const QString& system_file) {
  SshConfig out;
  out.home_ = home;
  out.user_file_ = user_file;
  out.read_file(user_file, {}, 0, true);
  out.read_file(system_file, {}, 0, false);
  out.sort_lines();
  return out;
}

/// Files of thousands of machines are looked up name by name: not every line for each of them.
void SshConfig::sort_lines() {
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const auto& conditions = lines_[at].conditions;
    const auto names = std::find_if(conditions.begin(), conditions.end(), [](const Condition& condition) {
      return condition.keyword == "host" && std::all_of(condition.arguments.begin(), condition.arguments.end(), is_plain_name);
    });
    if (names == conditions.end()) {
      lines_of_any_.push_back(at);
      continue;
    }
    for (const QString& name : QSet<QString>(names->arguments.begin(), names->arguments.end())) lines_of_name_[name].push_back(at);
  }
}

std::vector<std::size_t> SshConfig::lines_about(const QString& name) const {
  const auto of_name = lines_of_name_.value(name);
  std::vector<std::size_t> out;
  std::merge(of_name.begin(), of_name.end(), lines_of_any_.begin(), lines_of_any_.end(), std::back_inserter(out));
  return out;
}

void SshConfig::read_file(const QString& path, std::vector<Condition> conditions, int depth, bool checks) {
  if (path.isEmpty()) return;
  const UnansweredQuestions unread;
  bool is_late = false;
  const auto file = read_in_time(path, is_late);
  if (is_late) return add_problem(conditions, "include", unread.told().join("; "));
  if (!file) return;
  if (checks) {
    const UnansweredQuestions of_owner;
    const QString wrong = unless_unanswered(who_else_writes(path, *file), of_owner);
    if (!wrong.isEmpty()) return add_problem({}, "include", wrong);
  }
  const QStringList text = QString::fromUtf8(file->text.left(ssh_config_file_bytes_max)).split('\n');
  if (file->text.size() > ssh_config_file_bytes_max)
    add_problem({}, "include", QString("%1 is larger than %2 MiB: what is behind that is not read").arg(path, QString::number(ssh_config_file_bytes_max >> 20)));
  const std::size_t outer = conditions.size();
  int number = 0;
  for (const QString& raw : text) {
    ++number;
    const QString line = raw.trimmed();
    if (line.isEmpty() || line.startsWith('#')) continue;
    if (static_cast<qsizetype>(lines_.size()) >= lines_max) {
      if (std::exchange(told_too_many_, true)) return;
      return add_problem({}, "include", QString("%1:%2: more than %3 lines in all: what is behind that is not read")
                                            .arg(path, QString::number(number), QString::number(lines_max)));
    }
    qsizetype key_end = 0;
    while (key_end < line.size() && !line[key_end].isSpace() && line[key_end] != '=') ++key_end;
    const QString key = line.left(key_end).toLower();
    QString rest = line.mid(key_end).trimmed();
    if (rest.startsWith('=')) rest = rest.mid(1).trimmed();
    const QString where = QString("%1:%2").arg(path, QString::number(number));
    const std::optional<QStringList> words = ssh_words(rest);
    // ProxyCommand is for a shell, whose quotes are others.
    const QStringList arguments = words || key != "proxycommand" ? words.value_or(QStringList()) : QStringList(rest);
    if (arguments.isEmpty()) {
      // Without it nobody knows for whom the lines behind it are.
      if (key == "host" || key == "match") conditions.resize(outer);
      add_problem(conditions, key, QString(words ? "%1: %2 without a value" : "%1: %2: a quote has no end").arg(where, line.left(key_end)));
      continue;
    }
    if (key == "host" || key == "match") {
      conditions.resize(outer);
      conditions.push_back({key, arguments});
      if (key == "host" && path != "/etc/ssh/ssh_config") {
        names_.emplace_back();
        std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(names_.back()), is_plain_name);
      }
    } else if (key == "include") {
      include(arguments, path, conditions, depth);
    } else {
      const UnansweredQuestions unanswered;
      const bool too_many = arguments.size() > 1 && has_one_value(key);
      const QString wrong = too_many ? QString("must be one value, in quotes where it has blanks, not %1").arg(arguments.join(' '))
                                     : what_is_wrong(key, arguments[0]);
      const QString said = wrong.isEmpty() ? QString() : line.left(key_end) + ' ' + wrong;
      if (!said.isEmpty()) add_problem(conditions, key, where + ": " + unless_unanswered(said, unanswered));
      lines_.push_back({conditions, key, arguments, rest, where, {}});
    }
  }
}

void SshConfig::include(const QStringList& patterns, const QString& from, const std::vector<Condition>& conditions, int depth) {
  if (depth >= include_depth_max) {
    return add_problem(conditions, "include",
                       QString("%1: files that include each other more than %2 deep").arg(from, QString::number(include_depth_max)));
  }
  for (QString pattern : patterns) {
    const UnansweredQuestions unanswered;
    if (pattern.startsWith('~')) pattern = with_home_folder(pattern, without_wildcards(home_)).value_or(pattern);
    if (!unanswered.told().isEmpty()) {
      add_problem(conditions, "include", from + ": " + unanswered.told().front());
      continue;
    }
    if (!pattern.startsWith('/')) {
      const bool of_system = from.startsWith("/etc/ssh/");
      pattern = (of_system ? QString("/etc/ssh") : without_wildcards(home_) + "/.ssh") + '/' + pattern;
    }
    const auto files = files_of_pattern(pattern);
    if (!files) add_problem(conditions, "include", from + ": " + unanswered.told().join("; "));
    for (const QString& file : files.value_or(QStringList())) read_file(file, conditions, depth + 1, true);
  }
}

void SshConfig::add_problem(const std::vector<Condition>& conditions, const QString& key, const QString& problem) {
  problems_ += problem;
  if (has_one_value(key) || other_keys.contains(key)) lines_.push_back({conditions, key, {}, {}, {}, problem});
}

QStringList SshConfig::names() const {
  QStringList out;
  QSet<QString> offered;
  for (const QStringList& of_line : names_) {
    QSet<QStringList> machines;
    for (const QString& name : of_line) {
      if (of_line.size() > 1) {
        const SshHostConfig host = look_up(name);
        const QStringList machine = {host.jumps.join(','), host.proxy_command, host.user, host.host_name, QString::number(host.port)};
        const bool is_another = !machines.contains(machine);
        machines += machine;
        if (!is_another) continue;
      }
      if (offered.contains(name)) continue;
      offered += name;
      out += name;
    }
  }
  return out;
}

SshHostConfig SshConfig::look_up(const QString& name, const QString& user, int port) const {
  const UnansweredQuestions unanswered;
  SshHostConfig out;
  QMap<QString, const Line*> lines;  // the first one of each key
  std::vector<const Line*> identity_files, certificate_files;
  const auto first = [&lines](const QString& key) { return lines.contains(key) ? lines[key]->arguments[0] : QString(); };
  for (const std::size_t at : lines_about(name)) {
    const Line& line = lines_[at];
    const bool holds = std::all_of(line.conditions.begin(), line.conditions.end(), [&](const Condition& condition) {
      if (condition.keyword == "host") return list_matches(condition.arguments, name);
      return match_holds(condition.arguments, {name, first("hostname").replace("%h", name), user.isEmpty() ? first("user") : user});
    });
    if (!holds) continue;
    if (!line.problem.isEmpty()) {
      out.problems += line.problem;
      continue;
    }
    // One of them alone says how the host is reached: the first. "ProxyJump none" is a word about jumps only, to ssh, too.
    const bool no_jump = is_none(first("proxyjump"));
    if (line.key == "proxyjump" && lines.contains("proxycommand")) continue;
    if (line.key == "proxycommand" && lines.contains("proxyjump") && !no_jump) continue;
    if (line.key == "identityfile") {
      identity_files.push_back(&line);
    } else if (line.key == "certificatefile") {
      certificate_files.push_back(&line);
    } else if (!lines.contains(line.key)) {
      lines[line.key] = &line;
    }
  }

  out.name = name;
  out.host_name = name;  // for %h in HostName itself
  if (lines.contains("hostname")) out.host_name = with_ssh_tokens(first("hostname"), out, home_);
  out.port = port > 0 ? port : ssh_port(first("port"));
  if (out.port == 0) out.port = 22;
  out.user = !user.isEmpty() ? user : first("user").isEmpty() ? local_user() : first("user");
  out.host_key_alias = first("hostkeyalias");
  out.identities_only = is_yes(first("identitiesonly")).value_or(false);

  const auto path = [&](const Line& line, const QString& text) {
    const SshPath found = ssh_path(text, out, home_);
    if (!found.problem.isEmpty()) out.problems += QString("%1: %2: %3").arg(line.where, text, found.problem);
    return found.path;
  };
  const auto paths = [&](const std::vector<const Line*>& of) {
    QStringList all, texts;
    for (const Line* line : of) {
      const QString& text = line->arguments[0];
      if (texts.contains(text) || is_none(text)) continue;
      texts += text;
      if (const QString file = path(*line, text); !file.isEmpty()) all += file;
    }
    return all;
  };
  out.identity_files = paths(identity_files);
  out.default_keys = identity_files.empty();
  out.certificate_files = paths(certificate_files);
  const QString agent = first("identityagent");
  if (agent.isEmpty() || agent == "SSH_AUTH_SOCK") {
    out.identity_agent = qEnvironmentVariable("SSH_AUTH_SOCK");
  } else if (agent.startsWith('$') && !agent.startsWith("${")) {
    out.identity_agent = qEnvironmentVariable(agent.mid(1).toLocal8Bit().constData());
  } else if (agent != "none") {
    out.identity_agent = path(*lines["identityagent"], agent);
  }
  if (const Line* said = lines.value("userknownhostsfile")) {
    for (const QString& file : said->arguments) {
      if (const QString found = file == "none" ? QString() : path(*said, file); !found.isEmpty()) out.known_hosts_files += found;
    }
  } else {
    out.known_hosts_files = {home_ + "/.ssh/known_hosts", home_ + "/.ssh/known_hosts2"};
  }
  const Line* global = lines.value("globalknownhostsfile");
  for (const QString& file : global ? global->arguments : QStringList{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}) {
    if (file != "none") out.global_known_hosts_files += ssh_path_without_variables(file, out, home_);
  }
  if (const QString file = first("revokedhostkeys"); !file.isEmpty() && !is_none(file))
    out.revoked_keys_file = path(*lines["revokedhostkeys"], file);
  const QString jumps = first("proxyjump");
  if (!is_none(jumps) && what_is_wrong("proxyjump", jumps).isEmpty()) out.jumps = jumps.split(',', Qt::SkipEmptyParts);
  const QString command = lines.contains("proxycommand") ? lines["proxycommand"]->rest : QString();
  if (!is_none(command)) out.proxy_command = with_ssh_tokens(command, out, home_);
  if (lines.contains("pubkeyacceptedkeytypes") && !lines.contains("pubkeyacceptedalgorithms"))
    lines["pubkeyacceptedalgorithms"] = lines["pubkeyacceptedkeytypes"];  // its name before OpenSSH 8.5
  for (const QString& key : algorithm_keys) {
    if (const Line* said = lines.value(key)) out.algorithms[key] = {said->arguments[0], said->where};
  }
  out.problems = unanswered.told() + out.problems;  // of which the others may come
  return out;
}

}  // namespace n2nq::app
