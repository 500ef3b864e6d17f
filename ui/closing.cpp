// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/closing.h"

#include <QMessageBox>
#include <QPushButton>
#include <QTimer>
#include <QWidget>

#include "ui/model/cases_desk.h"
#include "ui/model/run_actions.h"
#include "ui/widget/message_bar.h"

namespace n2nq::ui {

namespace {
const QString closing_topic = QStringLiteral("closing");
}

Closing::Closing(QWidget& window, RunActions& actions, CasesDesk& cases, MessageBar& messages, QObject* parent)
    : QObject(parent), window_(window), actions_(actions), cases_(cases), messages_(messages) {
  connect(&actions_.run(), &app::RunControl::finished, this, &Closing::close_behind);
  connect(&cases_, &CasesDesk::on_changed, this, [this] {
    if (!cases_.is_on()) close_behind();
  });
}

/// Behind what says that it is over, which others hear as well.
void Closing::close_behind() {
  if (closing_) QTimer::singleShot(0, &window_, &QWidget::close);
}

bool Closing::may_close() {
  if (!is_agreed()) return false;
  emit agreed();
  return is_case_over() && is_run_over();
}

bool Closing::is_agreed() {
  if (closing_) return true;
  const app::RunControl& run = actions_.run();
  const auto flows = [&run] { return run.state() == app::RunState::running; };
  // Traffic that flows is worth one question; processes that only wait are not.
  if (flows()) {
    const QString what = run.draining() ? QStringLiteral("N2NQ still has messages for receivers.") : QStringLiteral("Messages are being sent.");
    return ask_to_stop({QStringLiteral("Stop the run?"), what + QStringLiteral(" Closing stops the run; what was measured so far is kept."),
                        QStringLiteral("close"), flows});
  }
  if (!cases_.is_on()) return true;
  return ask_to_stop({QStringLiteral("Stop the test case?"),
                      QStringLiteral("Closing stops the run in progress. Finished runs are kept, and Resume goes on with the next start."),
                      QStringLiteral("close_case"), [this] { return cases_.is_on(); }});
}

/// Withdrawn when nothing is left to stop; then the window stays, as nobody answered.
bool Closing::ask_to_stop(const Question& question) {
  QMessageBox box(QMessageBox::NoIcon, question.title, question.text, QMessageBox::NoButton, &window_);
  box.setObjectName(question.name + QStringLiteral("_question"));
  QAbstractButton* stop = box.addButton(QStringLiteral("Stop and close"), QMessageBox::AcceptRole);
  stop->setObjectName(question.name + QStringLiteral("_stop"));
  QPushButton* go_on = box.addButton(QStringLiteral("Keep running"), QMessageBox::RejectRole);
  go_on->setObjectName(question.name + QStringLiteral("_go_on"));
  box.setDefaultButton(go_on);  // Enter alone ends nothing
  const auto withdraw = [&box, &question] {
    if (!question.is_asked()) box.reject();
  };
  connect(&actions_.run(), &app::RunControl::state_changed, &box, withdraw);
  connect(&cases_, &CasesDesk::on_changed, &box, withdraw);
  box.exec();
  if (box.clickedButton() == nullptr && !question.is_asked())
    tell(QStringLiteral("It ended before you answered, and nothing is left to stop. Close once more to close the window."));
  return box.clickedButton() == stop;
}

bool Closing::is_case_over() {
  if (!cases_.is_on()) return true;
  closing_ = true;
  cases_.stop_now();
  if (!cases_.is_on()) return true;
  tell(QStringLiteral("The run in progress is being stopped, and counts as not run; then the window closes. Close once more to wait for nothing."));
  return false;
}

bool Closing::is_run_over() {
  if (!actions_.is_on()) return true;
  // Closes by itself once everything has ended in order; closing once more ends it at once.
  const bool ends_already = actions_.run().state() == app::RunState::ending;
  if (closing_ || !ends_already) actions_.stop_all();
  closing_ = true;
  if (!actions_.is_on()) return true;
  tell(QStringLiteral("Close once more to leave what is not here yet; else the window closes when the run and its logs are here."));
  return false;
}

void Closing::tell(const QString& text) {
  messages_.replace(MessageBar::Kind::remark, text, closing_topic);
}

}  // namespace n2nq::ui
