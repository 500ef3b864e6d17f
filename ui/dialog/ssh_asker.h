// SPDX-License-Identifier: GPL-3.0-or-later
// Puts what connections must know to the person, a dialog at a time, in the order in which it was asked, but what was answered wrong comes
// next. The window goes on meanwhile and can be used, also to stop what asks: what nobody wants to know any more goes away by itself. A
// question takes the keyboard when no key was pressed for half a second, or after 5 s: who was typing when one went away would type the rest
// into the next machine's.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "app/host/keyring.h"
#include "app/host/ssh_questions.h"
#include "ui/theme/theme.h"

class QDialog;

namespace n2nq::ui {

class SshAsker : public QObject, public app::SshQuestions {
  Q_OBJECT
 public:
  /// Every question is answered with no before there is a window, and when it is gone. Answers are kept in the keyring for who wants that;
  /// null: nobody is offered it. It lives longer.
  /// `now_ms`: a clock that never goes back, by which somebody is typing or has stopped.
  explicit SshAsker(app::Keyring* keyring = nullptr, QObject* parent = nullptr, std::function<qint64()> now_ms = monotonic_ms);
  ~SshAsker() override;
  /// `theme` lives as long as the window.
  void set_window(QWidget* window, const Theme& theme);

  void ask_host_key(const app::HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const app::SecretQuestion& question, std::function<void(std::optional<std::vector<app::Secret>>)> answer) override;

  static qint64 monotonic_ms();

 private:
  struct Question {
    std::function<QDialog*()> make;
    std::function<void(QDialog*)> answer;  // null: no
    bool repeated = false;                 // the last answer was wrong: who gave it waits for this one, not for another machine's
  };
  void put(Question question, QObject* asked_by);
  void withdraw(const std::shared_ptr<Question>& question);
  void show_next();
  /// How long somebody may go on typing, in ms; 0: nobody does.
  int typing_ms() const;
  bool eventFilter(QObject* watched, QEvent* event) override;

  void tell_keyring_problem(const QString& why);

  app::Keyring* const keyring_;
  QPointer<QWidget> window_;
  const Theme* theme_ = nullptr;
  std::deque<std::shared_ptr<Question>> waiting_;  // the first is the one that is shown
  QDialog* shown_ = nullptr;
  QTimer next_;           // until the next one is shown
  const std::function<qint64()> now_ms_;
  std::optional<qint64> typed_ms_;    // when the last key was pressed, but one that ends what is typed
  std::optional<qint64> put_off_ms_;  // when the next one could have been shown
};

}  // namespace n2nq::ui
