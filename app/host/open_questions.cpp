// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/open_questions.h"

#include <QPointer>
#include <utility>

namespace n2nq::app {

void OpenQuestions::ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) {
  if (!person_.reaches_person(question)) return person_.ask_host_key(question, std::move(answer));
  begin();
  person_.ask_host_key(question, [self = QPointer(this), answer = std::move(answer)](bool yes) {
    answer(yes);
    if (self) self->end();
  });
}

void OpenQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  if (!person_.reaches_person(question)) return person_.ask_secrets(question, std::move(answer));
  begin();
  person_.ask_secrets(question, [self = QPointer(this), answer = std::move(answer)](std::optional<std::vector<Secret>> given) {
    answer(std::move(given));
    if (self) self->end();
  });
}

void OpenQuestions::begin() {
  if (open_++ > 0) return;
  emit asking(true);
}

void OpenQuestions::end() {
  if (--open_ > 0) return;
  since_answer_.start();
  emit asking(false);
}

}  // namespace n2nq::app
