// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialog/ssh_asker.h"

#include <utility>

#include "ui/dialog/host_key_dialog.h"
#include "ui/dialog/secrets_dialog.h"

namespace n2nq::ui {

SshAsker::~SshAsker() {
  if (shown_ != nullptr) shown_->disconnect(this);
  delete shown_;
  for (const Question& question : std::exchange(waiting_, {})) question.answer(nullptr);
}

void SshAsker::set_window(QWidget* window, const Theme& theme) {
  window_ = window;
  theme_ = &theme;
}

void SshAsker::ask_host_key(const app::HostKeyQuestion& question, std::function<void(bool)> answer) {
  put({[this, question] { return new HostKeyDialog(question, *theme_, window_); },
       [answer = std::move(answer)](QDialog* dialog) { answer(dialog != nullptr); }});
}

void SshAsker::ask_secrets(const app::SecretQuestion& question, std::function<void(std::optional<std::vector<app::Secret>>)> answer) {
  put({[this, question] { return new SecretsDialog(question, window_); },
       [answer = std::move(answer)](QDialog* dialog) {
         auto* secrets = static_cast<SecretsDialog*>(dialog);
         answer(secrets != nullptr ? std::optional(secrets->take_answers()) : std::nullopt);
       }});
}

void SshAsker::put(Question question) {
  if (!window_) return question.answer(nullptr);
  waiting_.push_back(std::move(question));
  if (shown_ == nullptr) show_next();
}

void SshAsker::show_next() {
  if (waiting_.empty()) return;
  shown_ = waiting_.front().make();
  QDialog* const dialog = shown_;
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::finished, this, [this, dialog](int result) {
    const Question question = std::move(waiting_.front());
    waiting_.pop_front();
    shown_ = nullptr;
    question.answer(result == QDialog::Accepted ? dialog : nullptr);
    if (shown_ == nullptr) show_next();
  });
  connect(dialog, &QObject::destroyed, this, [this, dialog] {
    if (shown_ != dialog) return;
    // Gone with the window, and never answered: nobody will answer the others either.
    shown_ = nullptr;
    window_ = nullptr;
    for (const Question& question : std::exchange(waiting_, {})) question.answer(nullptr);
  });
  dialog->open();
}

}  // namespace n2nq::ui
