// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/cases_page_test.h"

#include <QAbstractButton>
#include <QApplication>
#include <QFile>
#include <QMessageBox>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QTimer>

#include "ui/page/cases_page.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/progress_line.h"

namespace n2nq::ui_test {

namespace {

const char* const own_case = R"(format: 1
title: Small sweep
settings: { senders: { messages: 20, delay_ms: 10 } }
axes:
  services: { title: Services, keys: [senders.amount, receivers.amount], values: [1, 2, 3] }
repeats: 2
figures:
  - { id: latency, title: Latency by services, x: services, y: latency_us.mean_lowest_95, known: [{ text: "p. 1: it rises", x: 2, y: 100 }] }
)";

}  // namespace

ui::CasesDesk& CasesPageTest::desk() {
  return bench->window().cases_page()->desk();
}

QTableView* CasesPageTest::table() {
  return bench->find<QTableView>(QStringLiteral("cases_table"));
}

QAbstractButton* CasesPageTest::button(const char* name) {
  return bench->find<QAbstractButton>(QString::fromLatin1(name));
}

QString CasesPageTest::cell(int at, int column) {
  return table()->model()->index(at, column).data().toString();
}

bool CasesPageTest::settled() {
  return BenchWindow::wait_for([this] { return desk().is_loaded() && !bench->window().cases_page()->is_busy(); });
}

bool CasesPageTest::wait_off() {
  return BenchWindow::wait_for([this] { return !desk().is_on(); });
}

void CasesPageTest::show_cases() {
  bench->window().show_page(QStringLiteral("Test cases"));
  QVERIFY(settled());
  table()->setCurrentIndex(table()->model()->index(own, 1));
  QVERIFY(settled());
}

void CasesPageTest::begin_with(const char* key, const nlohmann::json& value, const QString& folder) {
  const QString path = folder + QStringLiteral("/case.json");
  auto state = nlohmann::json::parse(file_text(path).toStdString());
  state[key] = value;
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(state.dump()));
}

int CasesPageTest::answer_about_build(const QString& text, const std::function<void()>& before) {
  auto* timer = new QTimer(this);
  connect(timer, &QTimer::timeout, this, [this, timer, text, before] {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (box == nullptr || box->objectName() != QStringLiteral("build_question")) return;
    for (QAbstractButton* each : box->buttons()) {
      if (each->text().remove(u'&') != text) continue;
      timer->stop();
      timer->deleteLater();
      ++answers;
      if (before) before();
      QTest::mouseClick(each, Qt::LeftButton);
    }
  });
  timer->start(20);
  return answers + 1;
}

QTableWidget* CasesPageTest::values() {
  return bench->find<QTableWidget>(QStringLiteral("case_table"));
}

QString CasesPageTest::words(const char* name) {
  return bench->find<ui::ElidedLabel>(QLatin1String(name))->full_text();
}

double CasesPageTest::share() {
  return bench->find<ui::ProgressLine>(QStringLiteral("cases_progress"))->share();
}

void CasesPageTest::initTestCase() {
  bench = std::make_unique<BenchWindow>();
  bench->window().resize(1280, 720);
  QVERIFY(write_text(bench->folder() + QStringLiteral("/cases/sweep.yaml"), own_case));
  show_cases();
}

}  // namespace n2nq::ui_test
