// SPDX-License-Identifier: GPL-3.0-or-later
// Closing the window while something is measured: asks once whether to stop it, stops it in order, and lets the window go when that is over.
// Closing once more waits for less each time. Knows runs and test cases, and nothing of pages.
#pragma once

#include <QObject>
#include <QString>
#include <functional>

class QWidget;

namespace n2nq::ui {

class CasesDesk;
class MessageBar;
class RunActions;

class Closing : public QObject {
  Q_OBJECT
 public:
  /// All of them live longer. `window`: what is asked over, and closed once nothing is on any more that was to be stopped.
  Closing(QWidget& window, RunActions& actions, CasesDesk& cases, MessageBar& messages, QObject* parent = nullptr);

  /// Whether the window may go now, which somebody wants; to be asked each time. It may turn an event loop of its own. Where it may not, it
  /// either stays, because somebody wants it to, or is closed by itself.
  bool may_close();

 signals:
  /// The window is to go, now or soon, and nothing was stopped yet: what is to be remembered of it is remembered now.
  void agreed();

 private:
  struct Question {
    QString title, text;
    QString name;                    // of its parts, before "_question", "_stop" and "_go_on"
    std::function<bool()> is_asked;  // there is still something to stop
  };
  bool is_agreed();
  bool ask_to_stop(const Question& question);
  bool is_case_over();
  bool is_run_over();
  void close_behind();
  void tell(const QString& text);

  QWidget& window_;
  RunActions& actions_;
  CasesDesk& cases_;
  MessageBar& messages_;
  bool closing_ = false;  // agreed to, and not withdrawn any more
};

}  // namespace n2nq::ui
