// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialog/ssh_asker.h"

#include <QApplication>
#include <QDeadlineTimer>
#include <QKeyEvent>
#include <QMessageBox>
#include <algorithm>
#include <utility>

#include "ui/dialog/host_key_dialog.h"
#include "ui/dialog/secrets_dialog.h"

namespace n2nq::ui {

namespace {

constexpr int next_ms = 200;
/// Without a key for so long nobody is in the middle of a word; and who types on and on is interrupted after so long all the same.
constexpr int quiet_ms = 500, put_off_max_ms = 5000;

}  // namespace

qint64 SshAsker::monotonic_ms() {
  return QDeadlineTimer::current().deadline();
}

SshAsker::SshAsker(app::Keyring* keyring, QObject* parent, std::function<qint64()> now_ms)
    : QObject(parent), keyring_(keyring), now_ms_(std::move(now_ms)) {
  next_.setSingleShot(true);
  connect(&next_, &QTimer::timeout, this, &SshAsker::show_next);
  QCoreApplication::instance()->installEventFilter(this);
  if (keyring_ != nullptr) connect(keyring_, &app::Keyring::failed, this, &SshAsker::tell_keyring_problem);
}

SshAsker::~SshAsker() {
  if (shown_ != nullptr) shown_->disconnect(this);
  delete shown_;
  for (const auto& question : std::exchange(waiting_, {})) question->answer(nullptr);
}

void SshAsker::set_window(QWidget* window, const Theme& theme) {
  window_ = window;
  theme_ = &theme;
}

void SshAsker::ask_host_key(const app::HostKeyQuestion& question, std::function<void(bool)> answer) {
  put({[this, question] { return new HostKeyDialog(question, *theme_, window_); },
       [answer = std::move(answer)](QDialog* dialog) { answer(dialog != nullptr); }},
      question.asked_by);
}

void SshAsker::ask_secrets(const app::SecretQuestion& question, std::function<void(std::optional<std::vector<app::Secret>>)> answer) {
  const QString name = keyring_ != nullptr ? app::Keyring::name_of(question) : QString();
  put({[this, question, name]() -> QDialog* {
         auto* dialog = new SecretsDialog(question, window_);
         if (!name.isEmpty()) dialog->offer_keyring(app::Keyring::problem());
         return dialog;
       },
       [this, name, answer = std::move(answer)](QDialog* dialog) {
         auto* secrets = static_cast<SecretsDialog*>(dialog);
         if (secrets == nullptr) return answer(std::nullopt);
         std::vector<app::Secret> answers = secrets->take_answers();
         if (!name.isEmpty()) keyring_->keep_when_right(name, answers.front(), secrets->wants_keyring());
         answer(std::move(answers));
       },
       question.again},
      question.asked_by);
}

void SshAsker::tell_keyring_problem(const QString& why) {
  if (!window_) return;
  auto* box = new QMessageBox(QMessageBox::Warning, QStringLiteral("Keyring"),
                              why + QStringLiteral("\nIt is kept in memory until the bench ends."), QMessageBox::Ok, window_);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

void SshAsker::put(Question question, QObject* asked_by) {
  if (!window_) return question.answer(nullptr);
  const auto put = std::make_shared<Question>(std::move(question));
  if (asked_by != nullptr) connect(asked_by, &QObject::destroyed, this, [this, put] { withdraw(put); });
  const auto behind_shown = waiting_.begin() + (shown_ != nullptr ? 1 : 0);
  waiting_.insert(put->repeated ? std::find_if(behind_shown, waiting_.end(), [](const auto& each) { return !each->repeated; }) : waiting_.end(),
                  put);
  if (shown_ == nullptr && !next_.isActive()) show_next();
}

void SshAsker::withdraw(const std::shared_ptr<Question>& question) {
  const auto found = std::find(waiting_.begin(), waiting_.end(), question);
  if (found == waiting_.end()) return;
  if (found == waiting_.begin() && shown_ != nullptr) {
    next_.start(next_ms);  // what takes this one away may be about to take the others
    return shown_->reject();
  }
  waiting_.erase(found);
  if (waiting_.empty()) put_off_ms_.reset();
  question->answer(nullptr);
}

void SshAsker::show_next() {
  if (waiting_.empty()) put_off_ms_.reset();
  if (waiting_.empty() || shown_ != nullptr) return;
  if (const int wait_ms = typing_ms(); wait_ms > 0) {
    if (!put_off_ms_) put_off_ms_ = now_ms_();
    return next_.start(wait_ms);
  }
  // A dialog that has the window to itself takes the keys and clicks of every other.
  if (QApplication::activeModalWidget() != nullptr) return next_.start(quiet_ms);
  put_off_ms_.reset();
  shown_ = waiting_.front()->make();
  QDialog* const dialog = shown_;
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::finished, this, [this, dialog](int result) {
    const std::shared_ptr<Question> question = waiting_.front();
    waiting_.pop_front();
    shown_ = nullptr;
    question->answer(result == QDialog::Accepted ? dialog : nullptr);
    if (shown_ == nullptr && !next_.isActive()) show_next();
  });
  connect(dialog, &QObject::destroyed, this, [this, dialog] {
    if (shown_ != dialog) return;
    // Gone with the window, and never answered: nobody will answer the others either.
    shown_ = nullptr;
    window_ = nullptr;
    for (const auto& question : std::exchange(waiting_, {})) question->answer(nullptr);
  });
  // Not modal: what asks can be stopped in the window.
  dialog->show();
  dialog->activateWindow();
}

int SshAsker::typing_ms() const {
  const qint64 now_ms = now_ms_();
  if (!typed_ms_ || (put_off_ms_ && now_ms - *put_off_ms_ > put_off_max_ms)) return 0;
  return static_cast<int>(std::max<qint64>(0, quiet_ms - (now_ms - *typed_ms_)));
}

bool SshAsker::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Escape) {
      typed_ms_.reset();
    } else {
      typed_ms_ = now_ms_();
    }
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace n2nq::ui
