// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/keyring.h"

#include <qt6keychain/keychain.h>

#include <QFile>
#include <QPointer>
#include <QTimer>
#include <memory>
#include <utility>

namespace n2nq::app {

namespace {

const QString service = "n2nq-bench";

/// Most hosts that ask ask for nothing else. What could be good for once, or a new one, is not taken for it.
bool asks_for_the_password(const SecretQuestion& question) {
  if (question.prompts.size() != 1 || question.prompts[0].echo) return false;
  const QString text = (question.instruction + ' ' + question.prompts[0].text).toLower();
  for (const char* other : {"one-time", "one time", "otp", "new ", "retype", "again", "code", "token", "pin", "change", "expired"}) {
    if (text.contains(other)) return false;
  }
  return text.contains("password");
}

}  // namespace

QString Keyring::problem() {
  const QString folder = qEnvironmentVariable("XDG_RUNTIME_DIR");
  const bool has_bus = qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") || (!folder.isEmpty() && QFile::exists(folder + "/bus"));
  return has_bus ? QString() : QString("no desktop session runs here, and with it no keyring");
}

QString Keyring::name_of(const SecretQuestion& question) {
  switch (question.kind) {
    case SecretQuestion::Kind::passphrase:
      return "passphrase of " + question.key_file;
    case SecretQuestion::Kind::keyboard_interactive:
      if (!asks_for_the_password(question)) break;
      [[fallthrough]];
    case SecretQuestion::Kind::password:
      return QString("password of %1 on %2 (%3)").arg(question.user, question.host, question.address);
  }
  return {};
}

void Keyring::read(const QString& name, std::function<void(std::optional<Secret>)> then) {
  if (!problem().isEmpty()) return then(std::nullopt);
  auto* job = new QKeychain::ReadPasswordJob(service);
  job->setKey(name);
  const auto answer = std::make_shared<std::function<void(std::optional<Secret>)>>(std::move(then));
  const auto say = [answer](std::optional<Secret> secret) {
    if (auto once = std::exchange(*answer, nullptr)) once(std::move(secret));
  };
  connect(job, &QKeychain::Job::finished, this, [job, say](QKeychain::Job*) {
    QByteArray bytes = job->binaryData();
    say(job->error() == QKeychain::NoError ? std::optional(Secret(bytes)) : std::nullopt);
    bytes.fill('\0');
  });
  QTimer::singleShot(answer_ms_max, this, [say] { say(std::nullopt); });
  job->start();
}

void Keyring::write(const QString& name, const Secret& secret) {
  auto* job = new QKeychain::WritePasswordJob(service);
  job->setKey(name);
  job->setBinaryData(QByteArray(secret.text()));
  connect(job, &QKeychain::Job::finished, this, [this, job](QKeychain::Job*) {
    if (job->error() != QKeychain::NoError) emit failed("The keyring did not take it: " + job->errorString());
  });
  job->start();
}

void Keyring::forget(const QString& name) {
  if (!problem().isEmpty()) return;
  auto* job = new QKeychain::DeletePasswordJob(service);
  job->setKey(name);
  job->start();
}

void KeyringQuestions::ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) {
  person_.ask_host_key(question, std::move(answer));
}

void KeyringQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  const QString name = Keyring::name_of(question);
  if (name.isEmpty()) return person_.ask_secrets(question, std::move(answer));
  if (question.again) {
    keyring_.forget(name);
    return person_.ask_secrets(question, std::move(answer));
  }
  const QPointer<KeyringQuestions> self(this);
  keyring_.read(name, [self, question, answer = std::move(answer)](std::optional<Secret> kept) {
    if (kept) return answer(std::vector{std::move(*kept)});
    if (!self) return answer(std::nullopt);
    self->person_.ask_secrets(question, answer);
  });
}

}  // namespace n2nq::app
