// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/results_page_test.h"

#include <QLabel>
#include <QTableView>
#include <QTest>

#include "ui/page/results_page.h"

namespace n2nq::ui_test {

QTableView* ResultsPageTest::table() {
  return bench->find<QTableView>(QStringLiteral("results_table"));
}

int ResultsPageTest::rows() {
  return table()->model()->rowCount();
}

QString ResultsPageTest::cell(int row, int column) {
  return table()->model()->index(row, column).data().toString();
}

bool ResultsPageTest::settled() {
  return BenchWindow::wait_for([this] { return !page().is_busy(); });
}

bool ResultsPageTest::show_list() {
  bench->window().show_page(QStringLiteral("Results"));
  return settled();
}

bool ResultsPageTest::run(const char* mode) {
  bench->window().show_page(QStringLiteral("Bench"));
  bench->window().presets().choose(QStringLiteral("quick"));
  bench->set({{"queue.mode", mode}, {"senders.messages", "40"}, {"senders.delay_ms", "10"}});
  return bench->click(QStringLiteral("button_start_all")) && bench->wait_for_state(app::RunState::finished);
}

void ResultsPageTest::initTestCase() {
  bench = std::make_unique<BenchWindow>();
  bench->window().resize(1280, 720);
  bench->window().show();
  QVERIFY(show_list());
  QCOMPARE(rows(), 0);
  QVERIFY(bench->find<QLabel>(QStringLiteral("results_invitation"))->isVisible());
  QVERIFY(run("broadcaster"));
  QVERIFY(run("load-balancer"));
  QVERIFY(show_list());
}

}  // namespace n2nq::ui_test
