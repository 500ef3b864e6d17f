// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of one session. They are withdrawn when it has ended: whoever puts them to a person learns that nobody waits any more.
// Lives on the thread that asks.
#pragma once

#include <QObject>
#include <functional>
#include <memory>

#include "app/host/ssh_questions.h"

namespace n2nq::app {

class SessionQuestions : public SshQuestions {
 public:
  /// `person` lives longer. `about_to_ask` is told before each question that reaches them; one that is withdrawn because of that is not put
  /// to the person.
  SessionQuestions(SshQuestions& person, std::function<void()> about_to_ask) : person_(person), about_to_ask_(std::move(about_to_ask)) {}

  /// What is asked from now on is wanted, until withdraw(). Before and after that it is answered with no, and nobody hears of it.
  void begin() { asking_ = std::make_unique<Asking>(); }
  void withdraw() { asking_.reset(); }
  /// Whether one is open.
  bool any() const { return asking_ && asking_->open > 0; }

  bool reaches_person(const HostKeyQuestion& question) override { return person_.reaches_person(question); }
  bool reaches_person(const SecretQuestion& question) override { return person_.reaches_person(question); }
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;
  void answered(const SecretQuestion& question, bool right) override { person_.answered(question, right); }
  void agent_asks(bool asks) override { person_.agent_asks(asks); }

 private:
  struct Asking : QObject {
    int open = 0;
  };
  template <class Answer>
  std::function<void(Answer)> counted(std::function<void(Answer)> answer);
  void put(std::function<void()> question);

  SshQuestions& person_;
  const std::function<void()> about_to_ask_;
  std::unique_ptr<Asking> asking_;
};

}  // namespace n2nq::app
