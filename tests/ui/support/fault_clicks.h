// SPDX-License-Identifier: GPL-3.0-or-later
// Words for runs that harm is done to: choosing from the fault menus, reading lights and the receivers' table.
#pragma once

#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPushButton>
#include <QTest>

#include "tests/ui/support/bench_window.h"
#include "ui/widget/service_table.h"
#include "ui/widget/state_light.h"

namespace n2nq::ui_test {

/// Runs until it is stopped; 200 messages a second, 600 deliveries.
inline void choose_endless_run(BenchWindow& bench) {
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.set({{"senders.amount", "4"}, {"receivers.amount", "3"}, {"senders.messages", "none"}, {"senders.delay_ms", "20"}});
  bench.window().resize(1280, 720);
}

inline bool wait_for_messages(BenchWindow& bench, std::int64_t more = 100) {
  const std::int64_t until = bench.run().figures().received + more;
  return BenchWindow::wait_for([&] { return bench.run().state() == app::RunState::running && bench.run().figures().received > until; });
}

/// The endless run with responses on, until messages flow; `settings` say what else.
inline bool start_with_responses(BenchWindow& bench, std::initializer_list<std::pair<const char*, const char*>> settings = {}) {
  choose_endless_run(bench);
  bench.set(settings);
  return bench.click(QStringLiteral("field_queue_responses")) && bench.click(QStringLiteral("button_start_all")) &&
         wait_for_messages(bench);
}

inline QAction* fault(BenchWindow& bench, const char* button, const char* name) {
  auto* menu = bench.find<QPushButton>(QString::fromLatin1(button))->menu();
  menu->popup({});
  auto* action = menu->findChild<QAction*>(QString::fromLatin1(name));
  menu->close();
  return action;
}

/// Chooses an entry of a faults menu as a person does.
inline bool choose_fault(BenchWindow& bench, const char* button, const char* name) {
  auto* menu = bench.find<QPushButton>(QString::fromLatin1(button))->menu();
  menu->popup({});
  auto* action = menu->findChild<QAction*>(QString::fromLatin1(name));
  const bool can = action != nullptr && action->isEnabled();
  if (can) QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
  menu->close();
  return can;
}

inline int column(BenchWindow& bench, const char* title) {
  const auto* model = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"))->model();
  for (int at = 0; at < model->columnCount(); ++at) {
    if (model->headerData(at, Qt::Horizontal).toString() == QLatin1String(title)) return at;
  }
  return -1;
}

inline QString cell(BenchWindow& bench, int row, const char* title) {
  const auto* model = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"))->model();
  return model->index(row, column(bench, title)).data().toString();
}

/// Chooses an entry of the menu that the right mouse button opens over a row of a table; the row is selected by a click before.
inline bool choose_by_right_button(BenchWindow& bench, const char* table_name, int row, const char* name) {
  auto* table = bench.find<ui::ServiceTable>(QString::fromLatin1(table_name));
  const QPoint at = table->visualRect(table->model()->index(row, ui::ServiceModel::name_column)).center();
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, at);
  QContextMenuEvent press(QContextMenuEvent::Mouse, at, table->viewport()->mapToGlobal(at));
  QCoreApplication::sendEvent(table->viewport(), &press);
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  if (menu == nullptr) return false;
  auto* action = menu->findChild<QAction*>(QString::fromLatin1(name));
  const bool can = action != nullptr && action->isEnabled();
  if (can) QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
  menu->close();
  return can;
}

inline QString light(BenchWindow& bench, const char* name) {
  return bench.find<ui::StateLight>(QString::fromLatin1(name))->word();
}

inline std::int64_t received_of(BenchWindow& bench, int number) {
  for (const app::ReceiverRow& row : bench.run().figures().receivers) {
    if (row.number == number) return row.received;
  }
  return -1;
}

/// Until this receiver has this many more.
inline bool wait_for_receiver(BenchWindow& bench, int number, std::int64_t more = 30) {
  const std::int64_t until = received_of(bench, number) + more;
  return BenchWindow::wait_for([&] { return received_of(bench, number) >= until; });
}

inline bool stop_and_wait(BenchWindow& bench) {
  return bench.click(QStringLiteral("button_stop_all")) && bench.wait_for_state(app::RunState::finished);
}

inline QString reasons(BenchWindow& bench) {
  return bench.run().outcome().reasons.join(u'\n');
}

}  // namespace n2nq::ui_test
