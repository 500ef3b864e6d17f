// SPDX-License-Identifier: GPL-3.0-or-later
// The person's own keyring (Secret Service or KWallet, by QtKeychain): passwords and passphrases that they want kept beyond the session.
// Nothing is ever written anywhere else: where no keyring is there, nothing is kept. Qt's event loop; one thread.
#pragma once

#include <QObject>
#include <functional>
#include <optional>

#include "app/host/ssh_questions.h"

namespace n2nq::app {

class Keyring : public QObject {
  Q_OBJECT
 public:
  /// A keyring that the person has to unlock first is waited for so long.
  static constexpr int answer_ms_max = 30'000;

  using QObject::QObject;

  /// Why there can be none, as a sentence; empty: there may be one.
  static QString problem();
  /// Under which name the answer is kept; empty: it is none that could be right a second time.
  static QString name_of(const SecretQuestion& question);

  /// None: it has none, or does not answer.
  void read(const QString& name, std::function<void(std::optional<Secret>)> then);
  /// failed() says what becomes of it otherwise.
  void write(const QString& name, const Secret& secret);
  void forget(const QString& name);

 signals:
  void failed(const QString& why);
};

/// Answers from the keyring what it knows, and passes on everything else. What turns out to be wrong is forgotten there.
class KeyringQuestions : public QObject, public SshQuestions {
 public:
  /// Both live longer.
  KeyringQuestions(Keyring& keyring, SshQuestions& person) : keyring_(keyring), person_(person) {}

  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;

 private:
  Keyring& keyring_;
  SshQuestions& person_;
};

}  // namespace n2nq::app
