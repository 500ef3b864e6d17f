// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of one session. They are withdrawn when it has ended: whoever puts them to a person learns that nobody waits any more.
// Lives on the thread that asks.
#pragma once

#include <QObject>
#include <memory>

#include "app/host/ssh_questions.h"

namespace n2nq::app {

class SessionQuestions : public SshQuestions {
 public:
  /// `person` lives longer.
  explicit SessionQuestions(SshQuestions& person) : person_(person) {}

  /// What is asked from now on is wanted, until withdraw(). Before and after that it is answered with no, and nobody hears of it.
  void begin() { asking_ = std::make_unique<QObject>(); }
  void withdraw() { asking_.reset(); }

  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;
  void answered(const SecretQuestion& question, bool right) override { person_.answered(question, right); }
  void agent_asks(bool asks) override { person_.agent_asks(asks); }

 private:
  SshQuestions& person_;
  std::unique_ptr<QObject> asking_;
};

}  // namespace n2nq::app
