// SPDX-License-Identifier: GPL-3.0-or-later
// Passes questions on, and tells whether one is open: what is limited in time must not count the time that a person takes.
// Lives on the thread that asks.
#pragma once

#include <QElapsedTimer>
#include <QObject>

#include "app/host/ssh_questions.h"

namespace n2nq::app {

class OpenQuestions : public QObject, public SshQuestions {
  Q_OBJECT
 public:
  /// `person` lives longer.
  explicit OpenQuestions(SshQuestions& person, QObject* parent = nullptr) : QObject(parent), person_(person) {}

  bool any() const { return open_ > 0; }
  /// For how long one was open until now, in all.
  qint64 open_ms() const { return open_ms_before_ + (any() ? since_open_.elapsed() : 0); }
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
  QElapsedTimer since_open_;
  qint64 open_ms_before_ = 0;
};

}  // namespace n2nq::app
