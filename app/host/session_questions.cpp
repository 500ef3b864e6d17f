// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/session_questions.h"

#include <QPointer>
#include <QTimer>
#include <utility>

namespace n2nq::app {

template <class Answer>
std::function<void(Answer)> SessionQuestions::counted(std::function<void(Answer)> answer) {
  ++asking_->open;
  return [asking = QPointer(asking_.get()), answer = std::move(answer)](Answer given) {
    if (asking) --asking->open;
    answer(std::move(given));
  };
}

/// Who ends the session because it is about to ask, or the one whose jump host it is, does so by what is queued by then.
void SessionQuestions::put(std::function<void()> question) {
  about_to_ask_();
  // One turn of the event loop more, for who does so in the very turn in which the time is over.
  if (asking_) QTimer::singleShot(1, asking_.get(), [asking = asking_.get(), question = std::move(question)] { QTimer::singleShot(0, asking, question); });
}

void SessionQuestions::ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) {
  if (!asking_) return answer(false);
  HostKeyQuestion asked = question;
  asked.asked_by = asking_.get();
  if (!person_.reaches_person(asked)) return person_.ask_host_key(asked, std::move(answer));
  put([this, asked, answer = counted(std::move(answer))] { person_.ask_host_key(asked, answer); });
}

void SessionQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  if (!asking_) return answer(std::nullopt);
  SecretQuestion asked = question;
  asked.asked_by = asking_.get();
  if (!person_.reaches_person(asked)) return person_.ask_secrets(asked, std::move(answer));
  put([this, asked, answer = counted(std::move(answer))] { person_.ask_secrets(asked, answer); });
}

}  // namespace n2nq::app
