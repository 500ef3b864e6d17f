// SPDX-License-Identifier: GPL-3.0-or-later
// The person's own keyring (Secret Service or KWallet, by QtKeychain): passwords and passphrases that they want kept beyond the session.
// Nothing is ever written anywhere else: where no keyring is there, nothing is kept. Qt's event loop; the main thread, which it never holds up:
// QtKeychain runs on a thread of its own.
#pragma once

#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "app/host/ssh_questions.h"

namespace n2nq::app {

class Keyring : public QObject {
  Q_OBJECT
 public:
  /// A keyring that the person has to unlock first is waited for so long.
  static constexpr int answer_ms_max = 30'000;
  /// The same where nobody is there to unlock it.
  static constexpr int answer_alone_ms_max = 2'000;

  explicit Keyring(QObject* parent = nullptr);

  /// Why there can be none, as a sentence; empty: there may be one.
  static QString problem();
  /// Under which name the answer is kept; empty: it is none that could be right a second time.
  static QString name_of(const SecretQuestion& question);

  /// None: it has none, or does not answer in time.
  void read(const QString& name, std::function<void(std::optional<Secret>)> then, int answer_ms = answer_ms_max);
  /// What was typed, and whether it is to be kept: then it is written there when the host has taken it. failed() says what becomes of it
  /// otherwise.
  void keep_when_right(const QString& name, const Secret& secret, bool wanted);
  /// What came of an answer of this name: one that was to be kept is written when it was right, which true says, and else forgotten here.
  bool settle(const QString& name, bool right);
  /// What it has of this name is wrong, and goes.
  void forget(const QString& name);

 signals:
  void failed(const QString& why);

 private:
  using Tell = std::function<void(std::function<void(Keyring&)>)>;
  /// From any thread to the main one, as long as this lives.
  Tell teller();
  void answer(quint64 question, std::optional<Secret> secret);
  void write(const QString& name, const Secret& secret);

  std::shared_ptr<QObject> home_;  // on the main thread, whoever holds it last
  quint64 next_question_ = 1;
  std::map<quint64, std::function<void(std::optional<Secret>)>> waiting_;
  std::map<QString, Secret> to_keep_;  // of which it is not known yet whether they are right
};

/// Answers from the keyring what it knows, and passes on everything else. What it has and turns out to be wrong is forgotten there; what was
/// refused with other answers, of which each may be the wrong one, is asked for, and forgotten when something else was right.
class KeyringQuestions : public QObject, public SshQuestions {
 public:
  /// Both live longer.
  KeyringQuestions(Keyring& keyring, SshQuestions& person) : keyring_(keyring), person_(person) {}

  bool reaches_person(const HostKeyQuestion& question) override { return person_.reaches_person(question); }
  bool reaches_person(const SecretQuestion& question) override { return person_.reaches_person(question); }
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;
  void answered(const SecretQuestion& question, bool right) override;

 private:
  void compare_doubted(const QString& name, const Secret& given);

  Keyring& keyring_;
  SshQuestions& person_;
  std::set<QString> in_keyring_;         // names of answers of which the last one came from there, or was written there
  std::map<QString, Secret> last_read_;  // from there
  std::set<QString> doubted_;            // names of those of which it was refused with others
  std::set<QString> replaced_;           // of these, what was answered otherwise since
};

}  // namespace n2nq::app
