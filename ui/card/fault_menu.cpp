// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/fault_menu.h"

#include "app/settings/qt_text.h"
#include "ui/text/figures.h"
#include "ui/widget/service_table.h"

namespace n2nq::ui {

namespace {

struct Entry {
  app::FaultKind kind;
  const char* text;
  const char* meaning;
};

constexpr Entry process_faults[] = {
    {app::FaultKind::pause, "Pause", "The process stands still until it is resumed; its connections stay"},
    {app::FaultKind::resume, "Resume", "The paused process goes on"},
    {app::FaultKind::kill, "Kill", "The process is gone at once, without a word; its Start button starts it again"},
    {app::FaultKind::restart, "Kill and start again", "The process is gone at once, and a new one goes on where it was"},
};

constexpr Entry service_faults[] = {
    {app::FaultKind::disconnect, "Disconnect", "Its connection breaks; it connects again under its number"},
    {app::FaultKind::stop_reading, "Stop reading", "It takes nothing from its connection any more"},
    {app::FaultKind::confirm_nothing, "Confirm nothing", "It takes deliveries, but confirms none"},
    {app::FaultKind::answer_negatively, "Answer negatively", "It answers each delivery as if it had come damaged"},
    {app::FaultKind::normal, "Back to normal", "It reads and confirms again"},
};

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

FaultMenu::FaultMenu(app::Role role, RunActions& actions, QWidget* parent) : QMenu(parent), role_(role), actions_(actions) {
  setObjectName(QStringLiteral("faults_") + role_word(role));
  setAccessibleName(QStringLiteral("Faults of %1").arg(role_word(role)));
  setToolTipsVisible(true);
  connect(this, &QMenu::aboutToShow, this, &FaultMenu::fill);
  fill();
}

void FaultMenu::set_table(ServiceTable* table) {
  table_ = table;
  table->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(table, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) { popup(table_->viewport()->mapToGlobal(at)); });
  fill();
}

void FaultMenu::fill() {
  clear();
  add_process_faults();
  if (role_ != app::Role::broker) add_service_faults();
  tell_common_reason();
}

QString FaultMenu::reason(const app::Fault& fault) const {
  if (actions_.run().state() != app::RunState::running) return QStringLiteral("Faults are made while messages flow");
  const bool answers = fault.kind == app::FaultKind::confirm_nothing || fault.kind == app::FaultKind::answer_negatively;
  if (answers && !actions_.run().run_settings().queue.responses) return QStringLiteral("Receiver responses are off in this run");
  return capitalised(actions_.run().fault_problem(fault));
}

// Sections have no text in every style.
void FaultMenu::add_title(const QString& text) {
  QAction* title = addAction(text);
  title->setEnabled(false);
  QFont font = title->font();
  font.setWeight(QFont::DemiBold);  // else it looks like what cannot be done
  title->setFont(font);
  title->setProperty("title", true);
}

QAction* FaultMenu::add_fault(const QString& text, app::FaultKind kind, const QList<int>& selected) {
  QList<int> numbers = selected;
  if (kind == app::FaultKind::normal) {  // of those that are selected, who is not
    numbers.removeIf([this, kind](int number) { return !reason({kind, role_, number}).isEmpty(); });
    if (numbers.isEmpty()) numbers = selected;
  }
  QAction* action = addAction(text);
  const QString word = qt_text(app::fault_word(kind));
  action->setObjectName(QStringLiteral("fault_%1_%2").arg(role_word(role_), word));
  QString why = numbers.isEmpty() ? QStringLiteral("Select a row of the table first") : QString();
  for (const int number : numbers) {
    if (why.isEmpty()) why = reason({kind, role_, number});
  }
  // The first that stands in the way of one of them stands in the way of all, so that nothing is done by halves.
  if (actions_.run().state() != app::RunState::running) why = reason({kind, role_, 0});
  action->setEnabled(why.isEmpty());
  action->setProperty("reason", why);
  connect(action, &QAction::triggered, this, [this, kind, numbers] {
    for (const int number : numbers) actions_.run().make_fault({kind, role_, number});
  });
  return action;
}

void FaultMenu::add_process_faults() {
  add_title(capitalised(role_word(role_)));
  for (const Entry& entry : process_faults) {
    QAction* action = add_fault(QString::fromLatin1(entry.text), entry.kind, {0});
    const QString why = action->property("reason").toString();
    action->setToolTip(why.isEmpty() ? QString::fromLatin1(entry.meaning) : why);
  }
}

void FaultMenu::add_service_faults() {
  const QList<int> numbers = table_ != nullptr ? table_->selected_numbers() : QList<int>();
  constexpr int named_max = 3;
  QStringList names;
  for (const int number : numbers.mid(0, named_max)) names << service_name(role_, number);
  if (numbers.size() > named_max) names << QStringLiteral("%1 more").arg(numbers.size() - named_max);
  addSeparator();
  add_title(numbers.isEmpty() ? QStringLiteral("Selected %1").arg(role_word(role_)) : names.join(QStringLiteral(", ")));
  for (const Entry& entry : service_faults) {
    if (role_ == app::Role::senders && entry.kind != app::FaultKind::disconnect) continue;
    QAction* action = add_fault(QString::fromLatin1(entry.text), entry.kind, numbers);
    const QString why = action->property("reason").toString();
    action->setToolTip(why.isEmpty() ? QString::fromLatin1(entry.meaning) : why);
  }
}

// Where nothing can be done, and all for the same reason, it is written, not only shown under the pointer.
void FaultMenu::tell_common_reason() {
  QString common;
  for (const QAction* action : actions()) {
    if (action->isSeparator() || action->property("title").toBool()) continue;
    if (action->isEnabled()) return;
    const QString why = action->property("reason").toString();
    if (!common.isEmpty() && common != why) return;
    common = why;
  }
  auto* line = new QAction(common, this);
  line->setObjectName(QStringLiteral("faults_reason"));
  line->setEnabled(false);
  insertAction(actions().value(0), line);
}

}  // namespace n2nq::ui
