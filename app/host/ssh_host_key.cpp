// SPDX-License-Identifier: GPL-3.0-or-later
// Is this the machine it says it is? Decided before anything that could be secret is sent.
//
// The files are read here, and not by libssh, which knows one of the user's files, passes over what is revoked, and does not
// tell the old key.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <chrono>
#include <thread>

#include "app/host/shell_quoted.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_identity.h"
#include "app/host/ssh_link.h"
#include "app/host/ssh_turn.h"

namespace n2nq::app {

namespace {

constexpr qint64 known_hosts_bytes_max = 64 << 20;
constexpr const char* ask_who_looks_after = "Ask who looks after the machine; nothing was sent to it";

struct EntryFree {
  void operator()(ssh_knownhosts_entry* entry) const { ssh_knownhosts_entry_free(entry); }
};

QString fingerprint_of(ssh_key key) {
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != SSH_OK) return "unknown";
  const SshText text(ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size));
  ssh_clean_pubkey_hash(&hash);
  return QString::fromLatin1(text.get());
}

/// "ED25519", as ssh-keygen -l says it.
QString type_of(ssh_key key) {
  QString type = QString::fromLatin1(ssh_key_type_to_char(ssh_key_type(key)));
  if (type.startsWith("ecdsa")) return "ECDSA";
  return type.remove("ssh-").toUpper();
}

/// As known_hosts files call the host.
QString known_name(const SshHostConfig& config) {
  if (!config.host_key_alias.isEmpty()) return config.host_key_alias.toLower();
  const QString host = config.host_name.toLower();
  return config.port == 22 ? host : QString("[%1]:%2").arg(host, QString::number(config.port));
}

/// A line's list of names may take some out again ("*,!lab-1"), which libssh passes over.
bool is_taken_out(const QByteArray& line, const QString& name) {
  for (const QByteArray& pattern : line.left(line.indexOf(' ')).split(',')) {
    if (pattern.startsWith('!') && ssh_pattern_matches(QString::fromUtf8(pattern.mid(1)).toLower(), name)) return true;
  }
  return false;
}

struct Finding {
  bool known = false;
  QString revoked_in;                   // file
  QString other_fingerprint, other_in;  // of a key that is known in place of this one: type and fingerprint; file:line
  QString authority_in;                 // file:line; it may have shown a certificate to who understands one
};

struct KnownLine {
  enum class Kind { known, revoked, authority };
  int number;
  Kind kind;
  QByteArray type_and_key;
  ssh_key key;
};

/// Takes the mark at its beginning away. None: one that is not known here.
std::optional<KnownLine::Kind> take_mark(QByteArray& line) {
  if (!line.startsWith('@')) return KnownLine::Kind::known;
  const qsizetype end = line.indexOf(' ');
  const QByteArray mark = line.left(end);
  line = line.mid(mark.size()).trimmed();
  if (mark == "@revoked") return KnownLine::Kind::revoked;
  return mark == "@cert-authority" ? std::optional(KnownLine::Kind::authority) : std::nullopt;
}

/// Each line of that file that has a key of `name`; a file that is not there has none. Throws where one cannot be read: a key that has changed
/// would be taken for a new one.
template <class Take>
void read_known(const QString& path, const QString& name, const Take& take) {
  QFile file(path);
  const auto refuse = [&](const QString& why) {
    throw SshError(SshProblem::Kind::settings, QString("which host keys are known cannot be told: %1 %2").arg(path, why),
                   "Mend that: what it says of a machine is looked at before anything is sent there");
  };
  struct stat found {};
  if (::stat(QFile::encodeName(path).constData(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    refuse("cannot be read: " + QString::fromLocal8Bit(::strerror(errno)));
  }
  if (!S_ISREG(found.st_mode)) return;
  if (!file.open(QIODevice::ReadOnly)) refuse("cannot be read: " + file.errorString());
  if (file.size() > known_hosts_bytes_max) refuse("is too long");
  const QByteArrayList lines = file.readAll().split('\n');
  if (file.error() != QFile::NoError) refuse("cannot be read: " + file.errorString());
  const QByteArray looked_up = name.toUtf8();
  int number = 0;
  for (QByteArray line : lines) {
    ++number;
    line = line.replace('\t', ' ').trimmed();
    const auto kind = take_mark(line);
    if (!kind || line.isEmpty() || line.startsWith('#')) continue;
    ssh_knownhosts_entry* raw = nullptr;
    if (ssh_known_hosts_parse_line(looked_up.constData(), line.constData(), &raw) != SSH_OK || !raw) continue;
    const std::unique_ptr<ssh_knownhosts_entry, EntryFree> entry(raw);
    if (is_taken_out(line, name)) continue;
    take(KnownLine{number, *kind, line.mid(line.indexOf(' ') + 1).trimmed(), entry->publickey});
  }
}

void look_into(const QString& path, const QString& name, ssh_key key, Finding& finding) {
  read_known(path, name, [&](const KnownLine& line) {
    const bool same = ssh_key_cmp(key, line.key, SSH_KEY_CMP_PUBLIC) == 0;
    const QString where = QString("%1:%2").arg(path, QString::number(line.number));
    if (line.kind == KnownLine::Kind::authority) {
      finding.authority_in = where;
    } else if (line.kind == KnownLine::Kind::revoked) {
      if (same) finding.revoked_in = path;
    } else if (same) {
      finding.known = true;
    } else if (finding.other_in.isEmpty() || ssh_key_type(key) == ssh_key_type(line.key)) {
      finding.other_fingerprint = type_of(line.key) + ' ' + fingerprint_of(line.key);
      finding.other_in = where;
    }
  });
}

/// Two seconds at most: somebody who keeps the file holds nothing up for good.
void wait_for_lock(int fd) {
  for (int tries = 0; tries < 40; ++tries) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Empty: done.
QString append_line(const QString& path, const QByteArray& line) {
  const QFileInfo info(path);
  if (!info.dir().exists()) {
    // As ssh makes it: for this user alone.
    if (!QDir().mkpath(info.dir().path())) return "the folder cannot be made";
    QFile::setPermissions(info.dir().path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  }
  const OwnedFd fd(::open(path.toLocal8Bit().constData(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (fd.get() < 0) return QString::fromLocal8Bit(::strerror(errno));
  wait_for_lock(fd.get());  // another host's key may be accepted in the same moment
  QByteArray text = line + '\n';
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(fd.get(), &last, 1, size - 1) == 1 && last != '\n') text.prepend('\n');
  if (::write(fd.get(), text.constData(), static_cast<std::size_t>(text.size())) != text.size())
    return QString::fromLocal8Bit(::strerror(errno));
  return {};
}

[[noreturn]] void throw_revoked(const SshLink& link, const QString& where, ssh_key key) {
  SshProblem problem{SshProblem::Kind::host_key_changed,
                     QString("the host key of %1 (%2) is revoked in %3: %4 %5")
                         .arg(link.target().name, link.place(), where, type_of(key), fingerprint_of(key)),
                     ask_who_looks_after};
  problem.key_revoked = true;
  throw SshError(problem);
}

/// As ssh does where RevokedHostKeys names a file: a key that stands there is refused, whoever shows it, and so is every key where the file
/// cannot be read as a whole.
void refuse_listed(const SshLink& link, const SshKeyHandle& key) {
  const SshTarget& target = link.target();
  const QString& path = target.config.revoked_keys_file;
  if (path.isEmpty() || path == "/dev/null") return;
  const auto refuse_all = [&](const QString& why) {
    throw SshError(SshProblem::Kind::settings,
                   QString("%1: whether its host key is revoked is not known: %2 (RevokedHostKeys) %3").arg(target.name, path, why),
                   "Mend that, or take the line RevokedHostKeys out of ~/.ssh/config: as it is, no machine that it is for can be used");
  };
  QFile file(path);
  if (!QFileInfo::exists(path)) refuse_all("is not there");
  if (!QFileInfo(path).isFile()) refuse_all("is no file");  // a pipe would be waited for
  if (!file.open(QIODevice::ReadOnly)) refuse_all("cannot be read: " + file.errorString());
  if (file.size() > known_hosts_bytes_max) refuse_all("is too long");
  const QByteArray text = file.readAll();
  if (file.error() != QFile::NoError) refuse_all("cannot be read: " + file.errorString());
  if (text.startsWith("SSHKRL\n"))
    refuse_all("is a key revocation list of ssh-keygen -k, which is not understood here; a list of public keys, one a line, is");
  const SshPublicKey shown = SshPublicKey::of_private(key);
  int number = 0;
  for (const QByteArray& each : text.split('\n')) {
    ++number;
    const QByteArrayList words = each.simplified().split(' ');
    if (words[0].isEmpty() || words[0].startsWith('#')) continue;
    const SshPublicKey listed = SshPublicKey::of(QByteArray::fromBase64(words.value(1)));
    // One of a kind that libssh does not know is no host's that is spoken with here.
    if (listed.kind() != words[0] || (!listed.key && ssh_key_type_from_name(words[0].constData()) != SSH_KEYTYPE_UNKNOWN))
      refuse_all(QString("has no public key at the beginning of line %1").arg(number));
    const bool is_listed = shown.is_same_key(listed) || (listed.key && ssh_key_cmp(key.get(), listed.key.get(), SSH_KEY_CMP_PUBLIC) == 0);
    if (is_listed) throw_revoked(link, QString("%1:%2").arg(path, QString::number(number)), key.get());
  }
}

/// What the files say; throws where it is not this machine's any more.
Finding look_up_known(const SshLink& link, ssh_key key, const QString& name) {
  const SshTarget& target = link.target();
  const auto find = [&](const QString& looked_up) {
    Finding finding;
    for (const QString& file : target.config.known_hosts_files + target.config.global_known_hosts_files) look_into(file, looked_up, key, finding);
    return finding;
  };
  Finding finding = find(name);
  if (!finding.known && finding.other_in.isEmpty() && finding.revoked_in.isEmpty() && name.startsWith('[')) {
    // As ssh does: the key of the same host at its usual port will do. Another key there says nothing about this port.
    const Finding without_port = find(target.config.host_name.toLower());
    finding.known = without_port.known;
    finding.revoked_in = without_port.revoked_in;
    if (finding.authority_in.isEmpty()) finding.authority_in = without_port.authority_in;
  }
  if (!finding.revoked_in.isEmpty()) throw_revoked(link, finding.revoked_in, key);
  if (finding.known || finding.other_in.isEmpty()) return finding;
  const QString shown = type_of(key) + ' ' + fingerprint_of(key);
  throw SshError(
      SshProblem::Kind::host_key_changed,
      QString("the host key of %1 (%2) has changed: it shows %3, known is %4 (%5)")
          .arg(target.name, link.place(), shown, finding.other_fingerprint, finding.other_in),
      QString("Nothing was sent to it: somebody may sit in between. If the machine was set up anew, compare the fingerprint there, then: "
              "ssh-keygen -R %1 -f %2")
          .arg(shell_quoted(name), shell_quoted(finding.other_in.section(':', 0, -2))));
}

/// UserKnownHostsFile none or /dev/null: no key is known the next time.
bool forgets_keys(const QString& file) {
  return file.isEmpty() || file == "/dev/null";
}

/// What is added behind it would go on with its last line.
bool ends_within_a_line(const QString& path) {
  QFile file(path);
  if (!QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly) || file.size() == 0) return false;
  return file.seek(file.size() - 1) && file.read(1) != "\n";
}

QString how_to_add(const QString& file, const QByteArray& line, const QString& key_type) {
  const QString compare =
      QString("Compare the fingerprint with what \"ssh-keygen -lf /etc/ssh/ssh_host_%1_key.pub\" prints on that machine")
          .arg(key_type.toLower());
  if (!forgets_keys(file)) {
    const QFileInfo folder(QFileInfo(file).absolutePath());
    const QString make = folder.exists() ? QString() : QString("mkdir -p -m 700 %1 && ").arg(shell_quoted(folder.filePath()));
    const QString print = ends_within_a_line(file) ? QString("printf '\\n%s\\n'") : QString("echo");
    return compare +
           QString(". If it is the same: %1%2 %3 >> %4").arg(make, print, shell_quoted(QString::fromUtf8(line)), shell_quoted(file));
  }
  return compare +
         QString(
             ". As UserKnownHostsFile in ~/.ssh/config remembers no key, take that line out or name a file in it, and then add there: %1")
             .arg(QString::fromUtf8(line));
}

/// `authority_in`: of a line that is for its certificate; empty: there is none.
void accept_new(SshLink& link, ssh_key key, const QString& name, const QString& authority_in) {
  const SshTarget& target = link.target();
  const QString file = target.config.known_hosts_files.value(0);
  char* raw = nullptr;
  ssh_pki_export_pubkey_base64(key, &raw);
  const SshText base64(raw);
  const QByteArray line = name.toUtf8() + ' ' + ssh_key_type_to_char(ssh_key_type(key)) + ' ' + (base64 ? base64.get() : "");
  const QString beside =
      authority_in.isEmpty() ? QString()
                             : QString("%1 is for host certificates (@cert-authority), which are not understood here. ").arg(authority_in);
  const HostKeyQuestion question{target.name, link.place(), type_of(key), fingerprint_of(key), forgets_keys(file) ? QString() : file, beside};
  const bool answer = link.shared().ask_yes(
      [questions = target.questions, question](const auto& answered) { questions->ask_host_key(question, answered); });
  if (!answer) {
    link.begin_files({file});
    throw SshError(
        SshProblem::Kind::host_key_unknown,
        QString("the host key of %1 (%2) is not known: %3 %4").arg(target.name, link.place(), question.key_type, question.fingerprint),
        beside + how_to_add(file, line, question.key_type));
  }
  if (forgets_keys(file)) return target.secrets->accept_key(name + ' ' + question.fingerprint);  // for the other connections
  link.begin_files({file});
  const QString error = append_line(file, line);
  if (!error.isEmpty())
    throw SshError(SshProblem::Kind::settings, QString("the host key of %1 cannot be added to %2: %3").arg(target.name, file, error),
                   QString("See that %1 can be written by you, and that its disk has room").arg(file));
}

}  // namespace

OwnedFd known_keys_file(const SshHostConfig& config) {
  QByteArray keys;
  const auto add = [&](const QString& name) {
    for (const QString& file : config.known_hosts_files + config.global_known_hosts_files) {
      read_known(file, name, [&keys](const KnownLine& line) {
        if (line.kind != KnownLine::Kind::known) return;
        keys += "* " + line.type_and_key.split(' ').mid(0, 2).join(' ') + '\n';  // without its comment, however long
      });
    }
  };
  add(known_name(config));
  if (keys.isEmpty() && known_name(config).startsWith('[')) add(config.host_name.toLower());
  OwnedFd file(::memfd_create("n2nq known keys", MFD_CLOEXEC));
  if (file.get() < 0 || ::write(file.get(), keys.constData(), static_cast<std::size_t>(keys.size())) != keys.size()) {
    // In libssh's own order a key that is known would look like one that has changed.
    throw SshError(SshProblem::Kind::settings, QString("what is known of the keys of %1 cannot be noted: %2").arg(config.name, ::strerror(errno)),
                   "Are there memory and file descriptors left on this machine?");
  }
  return file;
}

void check_host_key(SshLink& link) {
  const SshTarget& target = link.target();
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(link.session(), &raw) != SSH_OK) link.throw_lost("its host key was looked at");
  const SshKeyHandle key(raw);
  const QStringList known_in = target.config.known_hosts_files + target.config.global_known_hosts_files;
  link.begin_files(target.config.revoked_keys_file.isEmpty() ? known_in : QStringList(target.config.revoked_keys_file) + known_in);
  refuse_listed(link, key);
  const QString name = known_name(target.config);
  if (look_up_known(link, key.get(), name).known) return;
  // Several connections may lead to the same machine: the person is asked once.
  const TurnToAsk turn(link, "host key " + name);
  link.check_that_it_waited();
  const bool accepted = target.secrets->has_accepted_key(name + ' ' + fingerprint_of(key.get()));
  if (!accepted) {
    link.begin_files(known_in);
    const Finding finding = look_up_known(link, key.get(), name);
    if (!finding.known) accept_new(link, key.get(), name, finding.authority_in);
  }
  link.check_that_it_waited();
}

}  // namespace n2nq::app
