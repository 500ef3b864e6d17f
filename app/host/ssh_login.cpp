// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in, in this order, as far as the host takes it: key files that were named and need no passphrase, the agent, other key files,
// keyboard-interactive, password. Nothing is asked of a person before the host has said that the answer could help.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <QDir>
#include <QFileInfo>

#include "app/host/ssh_link.h"

namespace n2nq::app {

namespace {

constexpr int attempts_max = 3;
constexpr int answer_look_ms = 500;
constexpr int prompt_rounds_max = 10;  // of one keyboard-interactive attempt
constexpr unsigned prompts_max = 16;
constexpr qsizetype prompt_chars_max = 1000;

/// What a host says is shown without what could move the cursor or hide something.
QString printable(const char* text) {
  QString out;
  for (const QChar c : QString::fromUtf8(text ? text : "").left(prompt_chars_max)) {
    if (c == '\n' || c.isPrint()) out += c;
  }
  return out.trimmed();
}

int note_that_a_passphrase_is_needed(const char*, char*, size_t, int, int, void* needed) {
  *static_cast<bool*>(needed) = true;
  return -1;
}

/// Several machines may take the same key, and log in side by side: the person is asked for its passphrase once.
class TurnToAsk {
 public:
  TurnToAsk(SshLink& link, QString what) : secrets_(link.target().secrets), what_(std::move(what)) {
    link.shared().end_step();  // that takes as long as the person does
    while (!secrets_->begin_asking(what_, std::chrono::milliseconds(answer_look_ms))) link.shared().check();
  }
  ~TurnToAsk() { secrets_->end_asking(what_); }
  TurnToAsk(const TurnToAsk&) = delete;
  TurnToAsk& operator=(const TurnToAsk&) = delete;

 private:
  const std::shared_ptr<SshSecrets> secrets_;
  const QString what_;
};

class Login {
 public:
  explicit Login(SshLink& link) : link_(link), session_(link.session()), config_(link.target().config) {}
  void run();

 private:
  enum class Outcome { in, partly, refused };

  template <class Call>
  Outcome exchange(Call call);
  template <class Call>
  int answer_to(Call call);
  Outcome outcome_of(int code);
  Outcome by_keys();
  Outcome by_agent();
  Outcome by_file(const QString& file, bool may_ask);
  Outcome by_passphrase(const QString& file);
  Outcome by_prompts();
  Outcome prompts_once(bool again, bool& from_memory);
  Outcome by_password();
  std::vector<Secret> ask(SecretQuestion question);
  void step(int limit_ms = ssh_step_ms_max);
  [[noreturn]] void give_up() const;

  SshLink& link_;
  ssh_session session_;
  const SshHostConfig& config_;
  QStringList tried_;
};

void Login::step(int limit_ms) {
  link_.shared().check();
  link_.shared().begin_step(
      limit_ms,
      {SshProblem::Kind::lost, QString("%1 did not answer for %2 s while logging in").arg(link_.target().name).arg(limit_ms / 1000), {}});
}

/// libssh would wait for ever for an answer that a host which has hung up cannot give. So it is asked without blocking, and waited for
/// here.
template <class Call>
int Login::answer_to(Call call) {
  for (;;) {
    const int code = call();
    if (code != SSH_AUTH_AGAIN) return code;
    if (!ssh_is_connected(session_)) return SSH_AUTH_ERROR;
    const bool writes = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
    pollfd waits[] = {{ssh_get_fd(session_), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0},
                      {link_.shared().wake_fd(), POLLIN, 0}};
    ::poll(waits, 2, answer_look_ms);
    if (waits[1].revents != 0) link_.shared().clear_wake();
    link_.shared().check();
  }
}

template <class Call>
Login::Outcome Login::exchange(Call call) {
  return outcome_of(answer_to(call));
}

Login::Outcome Login::outcome_of(int code) {
  if (code == SSH_AUTH_SUCCESS) return Outcome::in;
  if (code == SSH_AUTH_PARTIAL) return Outcome::partly;
  if (code == SSH_AUTH_ERROR && !ssh_is_connected(session_)) {
    link_.shared().check();
    const QString refused = link_.error();
    throw SshError(SshProblem::Kind::login,
                   QString("%1 ended the connection while logging in as %2 (%3)").arg(link_.target().name, config_.user, refused),
                   tried_.isEmpty() ? QString() : "Tried: " + tried_.join(", "));
  }
  return Outcome::refused;
}

void Login::run() {
  step();
  if (exchange([&] { return ssh_userauth_none(session_, nullptr); }) == Outcome::in) return;
  bool keys = true, prompts = true, password = true;
  for (;;) {
    const int methods = ssh_userauth_list(session_, nullptr);
    Outcome outcome = Outcome::refused;
    if (keys && (methods & SSH_AUTH_METHOD_PUBLICKEY)) {
      keys = false;
      outcome = by_keys();
    } else if (prompts && (methods & SSH_AUTH_METHOD_INTERACTIVE)) {
      prompts = false;
      outcome = by_prompts();
    } else if (password && (methods & SSH_AUTH_METHOD_PASSWORD)) {
      password = false;
      outcome = by_password();
    } else {
      give_up();
    }
    if (outcome == Outcome::in) return;
  }
}

Login::Outcome Login::by_keys() {
  QStringList named = config_.identity_files, others;
  if (named.isEmpty()) {
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
      const QString file = QDir::homePath() + "/.ssh/" + name;
      if (QFileInfo(file).isFile()) others += file;
    }
  }
  for (const QString& file : named) {
    const Outcome outcome = by_file(file, false);
    if (outcome != Outcome::refused) return outcome;
  }
  if (!config_.identities_only) {
    const Outcome outcome = by_agent();
    if (outcome != Outcome::refused) return outcome;
  }
  for (const QString& file : others) {
    const Outcome outcome = by_file(file, false);
    if (outcome != Outcome::refused) return outcome;
  }
  for (const QString& file : named + others) {
    const Outcome outcome = by_file(file, true);
    if (outcome != Outcome::refused) return outcome;
  }
  return Outcome::refused;
}

Login::Outcome Login::by_agent() {
  if (config_.identity_agent.isEmpty()) return Outcome::refused;
  const QByteArray path = config_.identity_agent.toLocal8Bit();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= static_cast<qsizetype>(sizeof address.sun_path)) return Outcome::refused;
  ::memcpy(address.sun_path, path.constData(), static_cast<std::size_t>(path.size()));
  OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0 || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Outcome::refused;
  link_.shared().watch_socket(fd.get());  // an agent that does not answer must not keep the thread
  ssh_set_agent_socket(session_, fd.release());
  tried_ += "the agent's keys";
  step(ssh_agent_ms_max);
  return exchange([&] { return ssh_userauth_agent(session_, nullptr); });
}

/// A key that needs no passphrase is used at once; one that does only where it may be asked for.
Login::Outcome Login::by_file(const QString& file, bool may_ask) {
  const QByteArray path = file.toLocal8Bit();
  bool encrypted = false;
  ssh_key raw = nullptr;
  const int code = ssh_pki_import_privkey_file(path.constData(), nullptr, note_that_a_passphrase_is_needed, &encrypted, &raw);
  const SshKeyHandle key(raw);
  if (code != SSH_OK && encrypted) return may_ask ? by_passphrase(file) : Outcome::refused;
  if (may_ask) return Outcome::refused;  // had its turn
  if (code != SSH_OK) {
    tried_ += file + (QFileInfo::exists(file) ? " (cannot be read as a private key)" : " (is not there)");
    return Outcome::refused;
  }
  tried_ += file;
  step();
  return exchange([&] { return ssh_userauth_publickey(session_, nullptr, key.get()); });
}

Login::Outcome Login::by_passphrase(const QString& file) {
  ssh_key raw = nullptr;
  if (ssh_pki_import_pubkey_file((file + ".pub").toLocal8Bit().constData(), &raw) != SSH_OK &&
      ssh_pki_import_pubkey_file(file.toLocal8Bit().constData(), &raw) != SSH_OK) {
    raw = nullptr;
  }
  const SshKeyHandle half(raw);
  tried_ += file;
  if (half) {
    step();
    if (exchange([&] { return ssh_userauth_try_publickey(session_, nullptr, half.get()); }) != Outcome::in) return Outcome::refused;
  }
  const QString memory = "passphrase " + file;
  const TurnToAsk turn(link_, memory);
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    std::optional<Secret> passphrase = link_.target().secrets->find(memory);
    if (!passphrase) {
      SecretQuestion question;
      question.kind = SecretQuestion::Kind::passphrase;
      question.key_file = file;
      question.prompts = {{"Passphrase of " + file, false}};
      question.again = attempt > 0;
      passphrase = ask(question)[0];
    }
    step();
    ssh_key opened = nullptr;
    const int code = ssh_pki_import_privkey_file(file.toLocal8Bit().constData(), passphrase->text(), nullptr, nullptr, &opened);
    const SshKeyHandle key(opened);
    if (code != SSH_OK) {
      link_.target().secrets->forget(memory);
      continue;
    }
    link_.target().secrets->keep(memory, *passphrase);
    return exchange([&] { return ssh_userauth_publickey(session_, nullptr, key.get()); });
  }
  tried_.last() += " (wrong passphrase)";
  return Outcome::refused;
}

Login::Outcome Login::by_prompts() {
  tried_ += "keyboard-interactive";
  for (int attempt = 0, asked = 0; asked < attempts_max && attempt <= attempts_max; ++attempt) {
    bool from_memory = false;
    const Outcome outcome = prompts_once(asked > 0, from_memory);
    if (outcome != Outcome::refused) return outcome;
    if (!from_memory) ++asked;
  }
  return Outcome::refused;
}

/// A single prompt without echo is answered from memory where the same was asked before: the second connection to a host asks nobody again.
Login::Outcome Login::prompts_once(bool again, bool& from_memory) {
  QString memory;
  std::optional<Secret> given;
  for (int round = 0; round < prompt_rounds_max; ++round) {
    step();
    const int code = answer_to([this] { return ssh_userauth_kbdint(session_, nullptr, nullptr); });
    if (code != SSH_AUTH_INFO) {
      const Outcome outcome = outcome_of(code);
      if (!memory.isEmpty() && outcome == Outcome::refused) link_.target().secrets->forget(memory);
      if (!memory.isEmpty() && outcome != Outcome::refused && given) link_.target().secrets->keep(memory, *given);
      return outcome;
    }
    const int amount = ssh_userauth_kbdint_getnprompts(session_);
    if (amount <= 0) continue;
    SecretQuestion question;
    question.kind = SecretQuestion::Kind::keyboard_interactive;
    question.instruction =
        (printable(ssh_userauth_kbdint_getname(session_)) + '\n' + printable(ssh_userauth_kbdint_getinstruction(session_))).trimmed();
    question.again = again;
    for (unsigned i = 0; i < static_cast<unsigned>(amount) && i < prompts_max; ++i) {
      char echo = 0;
      const QString text = printable(ssh_userauth_kbdint_getprompt(session_, i, &echo));
      question.prompts.push_back({text, echo != 0});
    }
    std::vector<Secret> answers;
    const bool single = question.prompts.size() == 1 && !question.prompts[0].echo;
    if (single) memory = QString("prompt %1@%2 %3").arg(config_.user, config_.name, question.prompts[0].text);
    const auto known = single ? link_.target().secrets->find(memory) : std::nullopt;
    if (known) {
      from_memory = true;
      answers = {*known};
    } else {
      answers = ask(question);
    }
    if (single) given = answers[0];
    for (unsigned i = 0; i < answers.size(); ++i) ssh_userauth_kbdint_setanswer(session_, i, answers[i].text());
  }
  throw SshError(SshProblem::Kind::login, QString("%1 keeps on asking").arg(link_.target().name));
}

Login::Outcome Login::by_password() {
  tried_ += "password";
  const QString memory = QString("password %1@%2").arg(config_.user, config_.name);
  for (int attempt = 0, asked = 0; asked < attempts_max && attempt <= attempts_max; ++attempt) {
    std::optional<Secret> password = link_.target().secrets->find(memory);
    if (!password) {
      SecretQuestion question;
      question.kind = SecretQuestion::Kind::password;
      question.prompts = {{QString("Password of %1 on %2").arg(config_.user, link_.target().name), false}};
      question.again = asked > 0;
      password = ask(question)[0];
      ++asked;
    }
    step();
    const Outcome outcome = exchange([&] { return ssh_userauth_password(session_, nullptr, password->text()); });
    if (outcome != Outcome::refused) {
      link_.target().secrets->keep(memory, *password);
      return outcome;
    }
    link_.target().secrets->forget(memory);
  }
  return Outcome::refused;
}

std::vector<Secret> Login::ask(SecretQuestion question) {
  question.host = link_.target().name;
  question.user = config_.user;
  const std::size_t wanted = question.prompts.size();
  auto answers = link_.shared().ask_secrets(
      [questions = link_.target().questions, question](const auto& answered) { questions->ask_secrets(question, answered); });
  if (!answers || answers->size() != wanted) {
    const QString what = question.kind == SecretQuestion::Kind::passphrase ? "the passphrase of " + question.key_file
                         : question.kind == SecretQuestion::Kind::password ? QString("a password")
                                                                           : QString("an answer to \"%1\"").arg(question.prompts[0].text);
    throw SshError(SshProblem::Kind::login,
                   QString("%1 needs %2 to log in as %3, and none was given").arg(link_.target().name, what, config_.user),
                   QString("Without being asked: ssh-copy-id %1, or ssh-add the key").arg(config_.name));
  }
  return std::move(*answers);
}

void Login::give_up() const {
  const int methods = ssh_userauth_list(session_, nullptr);
  QStringList taken;
  if (methods & SSH_AUTH_METHOD_PUBLICKEY) taken += "keys";
  if (methods & SSH_AUTH_METHOD_INTERACTIVE) taken += "keyboard-interactive";
  if (methods & SSH_AUTH_METHOD_PASSWORD) taken += "password";
  const QString tried = tried_.isEmpty() ? QString("there is nothing to log in with: no key file, no agent") : "tried " + tried_.join(", ");
  throw SshError(
      SshProblem::Kind::login,
      QString("%1 does not let %2 in: %3; it takes %4")
          .arg(link_.target().name, config_.user, tried, taken.isEmpty() ? QString("nothing that is known here") : taken.join(", ")),
      QString("Is the user right? A key is brought there with: ssh-copy-id %1").arg(config_.name));
}

}  // namespace

void log_in(SshLink& link) {
  ssh_set_blocking(link.session(), 0);
  Login(link).run();
}

}  // namespace n2nq::app
