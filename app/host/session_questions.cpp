// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/session_questions.h"

#include <utility>

namespace n2nq::app {

void SessionQuestions::ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) {
  if (!asking_) return answer(false);
  HostKeyQuestion asked = question;
  asked.asked_by = asking_.get();
  person_.ask_host_key(asked, std::move(answer));
}

void SessionQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  if (!asking_) return answer(std::nullopt);
  SecretQuestion asked = question;
  asked.asked_by = asking_.get();
  person_.ask_secrets(asked, std::move(answer));
}

}  // namespace n2nq::app
