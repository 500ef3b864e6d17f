// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in with keys, in this order: those that were named and need no passphrase, the agent's (those that were named first), the default
// ones that need none, and then those that do. With each its certificates come before it. Security keys are the agent's alone.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "app/host/shell_quoted.h"
#include "app/host/ssh_agent_view.h"
#include "app/host/ssh_identity.h"
#include "app/host/ssh_login_steps.h"
#include "app/host/ssh_turn.h"

namespace n2nq::app {

namespace {

using Outcome = LoginSteps::Outcome;
using Identities = std::vector<SshIdentity>;

int note_that_a_passphrase_is_needed(const char*, char*, size_t, int, int, void* needed) {
  *static_cast<bool*>(needed) = true;
  return -1;
}

// An agent that does no more takes in nobody, and before long nobody can even wait for it; one that is busy does the next moment.
constexpr std::chrono::milliseconds agent_knock_every{20};
constexpr int agent_knocks_max = 50;
constexpr int opening_ms_max = 60'000;  // of a key: it may be made to take long

/// `socket` invalid: there is none, or it does not listen; or it is `full` of others that wait to be let in, for a second by now.
struct AgentConnection {
  OwnedFd socket;
  bool full = false;
};

AgentConnection connect_to_agent(const QString& socket_path, const SshShared& shared) {
  const QByteArray path = socket_path.toLocal8Bit();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.isEmpty() || path.size() >= static_cast<qsizetype>(sizeof address.sun_path)) return {};
  ::memcpy(address.sun_path, path.constData(), static_cast<std::size_t>(path.size()));
  // Else the full one would keep the thread, and nothing could end that.
  OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return {};
  for (int knocks = 1; ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0; ++knocks) {
    if (errno != EAGAIN) return {};
    if (knocks == agent_knocks_max) return {OwnedFd(), true};
    std::this_thread::sleep_for(agent_knock_every);
    shared.check();
  }
  return {::fcntl(fd.get(), F_SETFL, 0) == 0 ? std::move(fd) : OwnedFd()};
}

/// Of a file of ours that others may read or change; none: they may not.
std::optional<unsigned> mode_for_others(const QString& file) {
  struct stat there {};
  if (::stat(file.toLocal8Bit().constData(), &there) != 0 || there.st_uid != ::getuid() || (there.st_mode & 077) == 0) return {};
  return there.st_mode & 0777;
}

/// Which of the agent's keys are shown to the host.
std::vector<SshAgentView::Offer> offers_of(const std::vector<QByteArray>& held, const Identities& named, bool named_only) {
  std::vector<SshAgentView::Offer> offers;
  const auto offer = [&offers](const QByteArray& key, const QByteArray& sign_with) {
    const bool there = std::any_of(offers.begin(), offers.end(), [&key](const auto& each) { return each.key == key; });
    if (!there && !key.isEmpty()) offers.push_back({key, sign_with});
  };
  std::vector<SshPublicKey> keys;
  for (const QByteArray& blob : held) {
    SshPublicKey key = SshPublicKey::of(blob);
    if (key.key) keys.push_back(std::move(key));  // libssh would stop at one of a kind that it does not know
  }
  for (const SshIdentity& identity : named) {
    for (const SshPublicKey& each : keys) {
      if (each.is_certificate() && identity.is_for(each)) offer(each.blob, each.blob);
    }
    for (const SshPublicKey& each : keys) {
      if (each.is_certificate() || !identity.is_for(each)) continue;
      for (const SshCertificate& certificate : identity.certificates) {
        if (certificate.shown.is_same_key(each)) offer(certificate.shown.blob, each.blob);
      }
      offer(each.blob, each.blob);
    }
  }
  if (!named_only) {
    for (const SshPublicKey& each : keys) offer(each.blob, each.blob);
  }
  return offers;
}

class KeyLogin {
 public:
  explicit KeyLogin(LoginSteps& steps) : steps_(steps) {}
  Outcome run();

 private:
  SshIdentity read(const QString& file) const;
  Outcome by_agent(const Identities& named);
  Outcome by_file(const SshIdentity& identity, bool may_ask);
  Outcome by_passphrase(const SshIdentity& identity);
  SshKeyHandle open(const QString& file, const Secret& passphrase);
  Outcome by_private_half(const SshIdentity& identity, const SshKeyHandle& key, bool tell);
  bool is_wanted(const SshIdentity& identity);
  bool is_held(const SshIdentity& identity) const;
  void tell_public_only();
  void tell_security_keys(std::span<const SshIdentity> keys);

  LoginSteps& steps_;
  std::vector<QByteArray> held_;                 // keys of the agent
  bool agent_full_ = false;                      // which keys it has is not known
  std::vector<const SshIdentity*> public_only_;  // whose file has no private key in it; run() has them
};

Outcome KeyLogin::run() {
  Identities named, others;     // others: of usual names
  std::size_t files_count = 0;  // of these; security keys come behind them
  const SshHostConfig& config = steps_.config();
  for (const QString& file : config.identity_files) named.push_back(read(file));
  if (named.empty() && config.default_keys) {
    const auto add = [&](const char* name) {
      const QString file = QDir::homePath() + "/.ssh/" + name;
      steps_.link().begin_files({file});
      if (QFileInfo(file).isFile()) others.push_back(read(file));
    };
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) add(name);
    files_count = others.size();
    for (const char* name : {"id_ed25519_sk", "id_ecdsa_sk"}) add(name);
  }
  const std::span<const SshIdentity> usual(others);
  const auto files = usual.first(files_count), security_keys = usual.subspan(files_count);
  const auto by_files = [this](std::span<const SshIdentity> identities, bool may_ask) {
    for (const SshIdentity& identity : identities) {
      const Outcome outcome = by_file(identity, may_ask);
      if (outcome != Outcome::refused) return outcome;
    }
    return Outcome::refused;
  };
  Outcome outcome = by_files(named, false);
  if (outcome == Outcome::refused) outcome = by_agent(named.empty() ? others : named);
  if (outcome == Outcome::refused) tell_public_only();
  if (outcome == Outcome::refused) outcome = by_files(files, false);
  if (outcome == Outcome::refused) outcome = by_files(named, true);
  if (outcome == Outcome::refused) outcome = by_files(files, true);
  if (outcome == Outcome::refused) tell_security_keys(security_keys);
  return outcome;
}

SshIdentity KeyLogin::read(const QString& file) const {
  const QStringList& certificates = steps_.config().certificate_files;
  steps_.link().begin_files(QStringList(file) + certificates);
  return SshIdentity::of(file, certificates);
}

Outcome KeyLogin::by_agent(const Identities& named) {
  auto [fd, full] = connect_to_agent(steps_.config().identity_agent, steps_.link().shared());
  agent_full_ = full;
  if (full) {
    steps_.add_tried(QString("the agent %1 (takes nobody in: others wait for it already)").arg(steps_.config().identity_agent));
    steps_.advise("Does the SSH agent stand still? Where ssh-add -l says nothing for long, end the agent and begin another one");
  }
  if (fd.get() < 0) return Outcome::refused;
  steps_.link().shared().watch_socket(fd.get());  // an agent that does not answer must not keep the thread
  SshAgentView view(
      std::move(fd), [this] { return steps_.begin_agent(); }, [this] { steps_.end_agent(); });
  const auto held = view.keys();
  steps_.link().shared().check();
  if (held) held_ = *held;
  auto offers = held ? offers_of(*held, named, steps_.config().identities_only) : std::vector<SshAgentView::Offer>();
  if (offers.empty()) return Outcome::refused;
  steps_.add_tried(QString("the agent's keys (%1)").arg(offers.size()));
  OwnedFd socket = view.open(std::move(offers));
  if (socket.get() < 0) return Outcome::refused;
  ssh_set_agent_socket(steps_.session(), socket.release());
  steps_.begin();
  const Outcome outcome = steps_.exchange([this] { return ssh_userauth_agent(steps_.session(), steps_.user()); });
  if (outcome == Outcome::refused && view.refused_to_sign()) {
    steps_.add_to_last_tried(", with one of which the agent refused to sign");
    steps_.advise("Say yes where the agent asks, or unlock the key or the agent (ssh-add -X)");
  }
  return outcome;
}

/// A key that needs no passphrase is used at once; one that does only where it may be asked for.
Outcome KeyLogin::by_file(const SshIdentity& identity, bool may_ask) {
  steps_.link().begin_files({identity.file});
  const QFileInfo info(identity.file);
  if (info.exists() && !info.isFile() && !info.isDir()) {
    // It could keep this thread: nobody may ever write into a pipe.
    if (!may_ask) steps_.add_tried(identity.file + " (is no file)");
    return Outcome::refused;
  }
  bool encrypted = false;
  ssh_key raw = nullptr;
  const int code =
      ssh_pki_import_privkey_file(identity.file.toLocal8Bit().constData(), nullptr, note_that_a_passphrase_is_needed, &encrypted, &raw);
  const SshKeyHandle key(raw);
  if (code == SSH_OK || encrypted) {
    if (const auto mode = mode_for_others(identity.file)) {
      if (may_ask) return Outcome::refused;  // said already
      steps_.add_tried(identity.file +
                       QString(" (not taken: others may read or change it, mode %1)").arg(*mode, 4, 8, QChar('0')));
      steps_.advise(QString("ssh does not take such a key either. If nobody has read it: chmod 600 %1").arg(shell_quoted(identity.file)));
      return Outcome::refused;
    }
  }
  if (code != SSH_OK && encrypted && !identity.can_be_opened()) {
    // Behind the agent, which may hold it.
    if (!may_ask || is_held(identity) || !is_wanted(identity)) return Outcome::refused;
    steps_.add_tried(QString("%1 (encrypted with %2, which only an agent can open here)").arg(identity.file, identity.cipher));
    steps_.advise(QString("Let an SSH agent hold that key: ssh-add %1; or encrypt it otherwise: ssh-keygen -p -Z aes256-ctr -f %1")
                      .arg(shell_quoted(identity.file)));
    return Outcome::refused;
  }
  if (code != SSH_OK && encrypted) return may_ask ? by_passphrase(identity) : Outcome::refused;
  if (may_ask) return Outcome::refused;  // had its turn
  if (code == SSH_OK) return by_private_half(identity, key, true);
  const bool there = info.exists();
  if (QFile file(identity.file); there && !file.open(QIODevice::ReadOnly)) {
    steps_.add_tried(QString("%1 (cannot be read: %2)").arg(identity.file, file.errorString()));
    steps_.advise(QString("Let yourself read the key file %1, or name another one").arg(identity.file));
    return Outcome::refused;
  }
  // Where only the public half is here, the private one is the agent's business.
  if (there && identity.half.key) {
    public_only_.push_back(&identity);
  } else {
    steps_.add_tried(identity.file + (there ? " (cannot be read as a private key)" : " (is not there)"));
  }
  return Outcome::refused;
}

bool KeyLogin::is_held(const SshIdentity& identity) const {
  return std::any_of(held_.begin(), held_.end(), [&](const QByteArray& blob) { return identity.is_for(SshPublicKey::of(blob)); });
}

void KeyLogin::tell_public_only() {
  for (const SshIdentity* identity : public_only_) {
    if (is_held(*identity)) continue;
    steps_.add_tried(identity->file + (agent_full_ ? " (no private key is in it, but in the agent, perhaps)"
                                                   : " (no private key is in it, and the agent holds none for it)"));
    if (agent_full_) continue;
    const QString stem = identity->file.endsWith(".pub") ? identity->file.chopped(4) : QString();
    steps_.link().begin_files({stem});
    steps_.advise(QFileInfo(stem).isFile() ? QString("Name the private key as key file: %1").arg(stem)
                                           : QString("Name the file of the private key as key file, or ssh-add that key"));
  }
}

/// Their files say which key in a device it is; libssh does not speak with these.
void KeyLogin::tell_security_keys(std::span<const SshIdentity> keys) {
  for (const SshIdentity& identity : keys) {
    if (is_held(identity)) continue;
    steps_.add_tried(identity.file + " (a security key, which only an agent can use here)");
    if (steps_.has_advised()) continue;
    steps_.advise(QString("Let an SSH agent hold that security key: ssh-add %1").arg(shell_quoted(identity.file)));
  }
}

Outcome KeyLogin::by_private_half(const SshIdentity& identity, const SshKeyHandle& key, bool tell) {
  const auto exchange = [this](const SshKeyHandle& shown) {
    steps_.begin();
    return steps_.exchange([this, &shown] { return ssh_userauth_publickey(steps_.session(), steps_.user(), shown.get()); });
  };
  const SshPublicKey half = SshPublicKey::of_private(key);
  for (const SshCertificate& certificate : identity.certificates) {
    if (!certificate.shown.is_same_key(half)) continue;
    const SshKeyHandle certified(ssh_key_dup(key.get()));
    if (!certified || ssh_pki_copy_cert_to_privkey(certificate.shown.key.get(), certified.get()) != SSH_OK) continue;
    if (tell) steps_.add_tried(certificate.file);
    const Outcome outcome = exchange(certified);
    if (outcome != Outcome::refused) return outcome;
  }
  if (tell) steps_.add_tried(identity.file);
  return exchange(key);
}

/// Whether the host would take it; true where that cannot be known without its passphrase.
bool KeyLogin::is_wanted(const SshIdentity& identity) {
  const auto takes = [this](const SshPublicKey& shown) {
    steps_.begin();
    return steps_.exchange([this, &shown] { return ssh_userauth_try_publickey(steps_.session(), steps_.user(), shown.key.get()); }) ==
           Outcome::in;
  };
  const auto& certificates = identity.certificates;
  return !identity.half.key || std::any_of(certificates.begin(), certificates.end(), [&](const auto& each) { return takes(each.shown); }) ||
         takes(identity.half);
}

/// Null: not with that passphrase. A key may be made to take this machine seconds (ssh-keygen -a), which do not count.
SshKeyHandle KeyLogin::open(const QString& file, const Secret& passphrase) {
  SshShared& shared = steps_.link().shared();
  const QString& name = steps_.link().target().name;
  steps_.link().begin_files({file});
  QFile closed(file);
  const QByteArray text = closed.open(QIODevice::ReadOnly) ? closed.readAll() : QByteArray();
  shared.check();
  if (text.isEmpty()) {  // that says nothing about the passphrase
    throw SshError(SshProblem::Kind::settings, QString("%1: the key file %2 cannot be read any more: %3").arg(name, file, closed.errorString()),
                   "Try again when it is there");
  }
  shared.end_step();
  const int left_ms = shared.reach_left_ms();
  shared.begin_step(opening_ms_max, {SshProblem::Kind::settings,
                                     QString("%1: this machine does not open the key %2 within %3 s").arg(name, file).arg(opening_ms_max / 1000),
                                     "Make it with fewer rounds: ssh-keygen -p -a 16 -f " + file});
  ssh_key opened = nullptr;
  ssh_pki_import_privkey_base64(text.constData(), passphrase.text(), nullptr, nullptr, &opened);
  shared.check();
  shared.end_step();
  shared.begin_reach(left_ms);
  return SshKeyHandle(opened);
}

Outcome KeyLogin::by_passphrase(const SshIdentity& identity) {
  const QString& file = identity.file;
  steps_.add_tried(file);
  if (!is_wanted(identity)) return Outcome::refused;
  const QString memory = "passphrase " + file;
  const TurnToAsk turn(steps_.link(), memory);
  steps_.link().check_that_it_waited();
  for (int attempt = 0; attempt < login_attempts_max; ++attempt) {
    std::optional<Secret> passphrase = steps_.secrets().find(memory);
    SecretQuestion question = steps_.question(SecretQuestion::Kind::passphrase);
    question.key_file = file;
    question.prompts = {{"Passphrase of " + file, false}};
    question.again = attempt > 0;
    if (!passphrase && steps_.was_declined(memory)) steps_.none_given(question);
    if (!passphrase) passphrase = steps_.ask(question, memory)[0];
    const SshKeyHandle key = open(file, *passphrase);
    steps_.settle({question, memory, *passphrase}, key != nullptr);
    if (key) return by_private_half(identity, key, false);
  }
  steps_.add_to_last_tried(" (wrong passphrase)");
  return Outcome::refused;
}

}  // namespace

Outcome log_in_by_keys(LoginSteps& steps) {
  return KeyLogin(steps).run();
}

}  // namespace n2nq::app
