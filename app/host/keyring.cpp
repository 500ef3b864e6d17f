// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/keyring.h"

#include <qt6keychain/keychain.h>

#include <QFile>
#include <QPointer>
#include <QTimer>
#include <utility>

#include "app/host/keyring_thread.h"

namespace n2nq::app {

namespace {

const QString service = "n2nq-bench";

}  // namespace

QString Keyring::problem() {
  const QString folder = qEnvironmentVariable("XDG_RUNTIME_DIR");
  const bool has_bus = qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") || (!folder.isEmpty() && QFile::exists(folder + "/bus"));
  return has_bus ? QString() : QString("No desktop session runs here, and with it no keyring");
}

QString Keyring::name_of(const SecretQuestion& question) {
  switch (question.kind) {
    case SecretQuestion::Kind::passphrase:
      return "passphrase of " + question.key_file;
    case SecretQuestion::Kind::keyboard_interactive:
      if (!is_for_the_password(question)) break;
      [[fallthrough]];
    case SecretQuestion::Kind::password:
      return QString("password of %1 on %2 (%3)").arg(question.user, question.host, question.address);
  }
  return {};
}

Keyring::Keyring(QObject* parent) : QObject(parent), home_(new QObject, [](QObject* home) { home->deleteLater(); }) {}

Keyring::Tell Keyring::teller() {
  return [home = home_, self = QPointer<Keyring>(this)](std::function<void(Keyring&)> what) {
    const auto tell = [self, what = std::move(what)] {
      if (self) what(*self);
    };
    QMetaObject::invokeMethod(home.get(), tell, Qt::QueuedConnection);
  };
}

void Keyring::read(const QString& name, std::function<void(std::optional<Secret>)> then, int answer_ms) {
  if (!problem().isEmpty()) return then(std::nullopt);
  const quint64 question = next_question_++;
  waiting_[question] = std::move(then);
  QTimer::singleShot(answer_ms, this, [this, question] { answer(question, std::nullopt); });
  KeyringThread::run([name, question, tell = teller()] {
    auto* job = new QKeychain::ReadPasswordJob(service);
    job->setKey(name);
    connect(job, &QKeychain::Job::finished, job, [job, question, tell](QKeychain::Job*) {
      const QByteArray bytes = job->binaryData();
      const auto secret = job->error() == QKeychain::NoError ? std::optional(Secret(bytes)) : std::nullopt;
      wipe_shared(bytes);
      tell([question, secret](Keyring& keyring) { keyring.answer(question, secret); });
    });
    job->start();
  });
}

void Keyring::answer(quint64 question, std::optional<Secret> secret) {
  if (const auto waiting = waiting_.extract(question)) waiting.mapped()(std::move(secret));
}

void Keyring::keep_when_right(const QString& name, const Secret& secret, bool wanted) {
  to_keep_.erase(name);  // another one may never have been judged
  if (wanted) to_keep_[name] = secret;
}

bool Keyring::settle(const QString& name, bool right) {
  const auto to_keep = to_keep_.extract(name);
  if (!right || !to_keep) return false;
  write(name, to_keep.mapped());
  return true;
}

void Keyring::write(const QString& name, const Secret& secret) {
  KeyringThread::run([name, secret, tell = teller()] {
    auto* job = new QKeychain::WritePasswordJob(service);
    job->setKey(name);
    const QByteArray bytes(secret.text());
    job->setBinaryData(bytes);
    connect(job, &QKeychain::Job::finished, job, [job, bytes, tell](QKeychain::Job*) {
      wipe_shared(bytes);
      if (job->error() == QKeychain::NoError) return;
      tell([why = job->errorString()](Keyring& keyring) { emit keyring.failed("The keyring did not take it: " + why); });
    });
    job->start();
  });
}

void Keyring::forget(const QString& name) {
  if (!problem().isEmpty()) return;
  KeyringThread::run([name] {
    auto* job = new QKeychain::DeletePasswordJob(service);
    job->setKey(name);
    job->start();
  });
}

void KeyringQuestions::ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) {
  person_.ask_host_key(question, std::move(answer));
}

void KeyringQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  const QString name = Keyring::name_of(question);
  if (name.isEmpty()) return person_.ask_secrets(question, std::move(answer));
  const QPointer<KeyringQuestions> self(this);
  if (doubted_.contains(name)) {
    in_keyring_.erase(name);
    return person_.ask_secrets(question, [self, name, answer = std::move(answer)](std::optional<std::vector<Secret>> given) {
      if (self && given) self->compare_doubted(name, given->front());
      answer(std::move(given));
    });
  }
  if (question.again) {
    SecretQuestion asked = question;
    asked.kept = in_keyring_.erase(name) > 0;
    return person_.ask_secrets(asked, std::move(answer));
  }
  const bool may_be_withdrawn = question.asked_by != nullptr;
  // It is unlocked in a dialog on the desktop, whatever terminal there is.
  const bool has_desktop = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  const int answer_ms = has_desktop || person_.reaches_person(question) ? Keyring::answer_ms_max : Keyring::answer_alone_ms_max;
  const auto take = [self, name, question, may_be_withdrawn, answer = std::move(answer)](std::optional<Secret> kept) {
    if (!self || (may_be_withdrawn && !question.asked_by)) return answer(std::nullopt);
    if (!kept) {
      self->in_keyring_.erase(name);
      return self->person_.ask_secrets(question, answer);
    }
    self->in_keyring_.insert(name);
    self->last_read_[name] = *kept;
    self->keyring_.keep_when_right(name, *kept, false);  // nor what was typed before and never judged
    answer(std::vector{std::move(*kept)});
  };
  keyring_.read(name, take, answer_ms);
}

void KeyringQuestions::compare_doubted(const QString& name, const Secret& given) {
  if (!doubted_.contains(name)) return;  // judged meanwhile
  if (qstrcmp(last_read_.at(name).text(), given.text()) == 0) {
    replaced_.erase(name);
  } else {
    replaced_.insert(name);
  }
}

void KeyringQuestions::answered(const SecretQuestion& question, bool right) {
  const QString name = Keyring::name_of(question);
  if (!name.isEmpty()) {
    const bool written = keyring_.settle(name, right);
    if (written) in_keyring_.insert(name);
    // What was typed, because the keyring was locked perhaps, says nothing of what it has.
    if (!right && in_keyring_.contains(name)) {
      if (question.several && last_read_.contains(name)) {
        doubted_.insert(name);
      } else {
        keyring_.forget(name);
      }
    }
    if (right) {
      doubted_.erase(name);
      if (replaced_.erase(name) > 0 && !written) keyring_.forget(name);
    }
  }
  person_.answered(question, right);
}

}  // namespace n2nq::app
