// SPDX-License-Identifier: GPL-3.0-or-later
// Passes questions on, and tells whether one is open: what is limited in time must not count the time that a person takes.
// Lives on the thread that asks.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <optional>

#include "app/host/ssh_questions.h"

namespace n2nq::app {

class OpenQuestions : public QObject, public SshQuestions {
  Q_OBJECT
 public:
  /// `person` lives longer.
  explicit OpenQuestions(SshQuestions& person, QObject* parent = nullptr) : QObject(parent), person_(person) {}

  bool any() const { return open_ > 0; }
  /// How long ago the last one was answered; 0 while one is open. Empty: none was asked.
  std::optional<qint64> since_answer_ms() const {
    return any() ? std::optional<qint64>(0) : since_answer_.isValid() ? std::optional(since_answer_.elapsed()) : std::nullopt;
  }
  bool reaches_person(const HostKeyQuestion& question) override { return person_.reaches_person(question); }
  bool reaches_person(const SecretQuestion& question) override { return person_.reaches_person(question); }
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;
  void answered(const SecretQuestion& question, bool right) override { person_.answered(question, right); }
  void agent_asks(bool asks) override { asks ? begin() : end(); }

 signals:
  /// True with the first question, false when the last one is answered.
  void asking(bool asked);

 private:
  void begin();
  void end();

  SshQuestions& person_;
  int open_ = 0;
  QElapsedTimer since_answer_;
};

}  // namespace n2nq::app
