// SPDX-License-Identifier: GPL-3.0-or-later
// A test case that was run, and its runs, as results: exported, noted, opened, compared, deleted and brought back.
#include <QAbstractButton>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTableView>
#include <QTableWidget>
#include <QTest>

#include "tests/ui/support/cases_page_test.h"
#include "ui/card/report_view.h"
#include "ui/chart/figure_view.h"
#include "ui/page/cases_page.h"
#include "ui/page/results_page.h"

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;

class TestCaseResults : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

  QTableView* results() { return bench->find<QTableView>(QStringLiteral("results_table")); }
  bool results_settled() {
    return BenchWindow::wait_for([this] { return !bench->window().results_page()->is_busy(); });
  }
  void show_results() {
    bench->window().show_page(QStringLiteral("Results"));
    QVERIFY(results_settled());
  }
  /// Those whose text begins like that.
  QList<int> result_rows(const QString& text) {
    QList<int> out;
    for (int at = 0; at < results()->model()->rowCount(); ++at) {
      if (results()->model()->index(at, 1).data().toString().startsWith(text)) out += at;
    }
    return out;
  }
  void choose_results(const QList<int>& rows) {
    results()->clearSelection();
    for (const int at : rows) {
      results()->selectionModel()->select(results()->model()->index(at, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
  }

 private slots:
  /// The one that all others here begin with.
  void a_case_is_run_to_its_end() {
    for (int at = 0; at < static_cast<int>(desk().rows().size()); ++at) desk().set_ticked(at, at == own);
    QVERIFY(settled());
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return !desk().is_on() && row().state == CasesDesk::State::done; }));
    QVERIFY(settled());
    QCOMPARE(row().runs_done, 6);
  }

  void exports_its_figures() {
    QVERIFY(bench->click(QStringLiteral("button_case_export")));
    QVERIFY(settled());
    for (const char* name :
         {"report.html", "report.xlsx", "charts/latency.svg", "charts/latency.png", "charts/latency.pdf", "tables/latency.csv"}) {
      QVERIFY2(QFile::exists(row().folder + u'/' + QString::fromLatin1(name)), name);
    }
  }

  /// Whichever of both is done first, it is there again, or still is, with all its files.
  void a_case_that_is_being_exported_is_not_lost_when_it_is_deleted() {
    const QString folder = row().folder;
    show_results();
    choose_results(result_rows(QStringLiteral("▤ Small sweep")));
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(settled());
    QVERIFY(bench->click(QStringLiteral("button_case_export")));
    QCOMPARE(bench->window().cases_page()->exported_folder(), folder);
    bench->window().show_page(QStringLiteral("Results"));
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(results_settled());
    QVERIFY(settled());
    QCOMPARE(bench->window().cases_page()->exported_folder(), QString());
    if (button("button_result_undo")->isEnabled()) {
      QVERIFY(!QFileInfo::exists(folder));
      QVERIFY(bench->click(QStringLiteral("button_result_undo")));
      QVERIFY(results_settled());
    }
    QVERIFY2(!bench->messages().contains(QStringLiteral("is there again")), qPrintable(bench->messages()));
    for (const char* name : {"case.yaml", "case.json"}) QVERIFY2(QFile::exists(folder + u'/' + QString::fromLatin1(name)), name);
    show_cases();
    QVERIFY(BenchWindow::wait_for([this] { return row().runner && row().runs_done == 6; }));
    QCOMPARE(row().folder, folder);
  }

  void a_case_has_a_note_and_tags() {
    show_results();
    choose_results(result_rows(QStringLiteral("▤ Small sweep")));
    QVERIFY(bench->type(QStringLiteral("result_note"), QStringLiteral("before the new disk")));
    QVERIFY(bench->type(QStringLiteral("result_tags"), QStringLiteral("disk, baseline")));
    QTest::keyClick(bench->find<QLineEdit>(QStringLiteral("result_tags")), Qt::Key_Return);
    QVERIFY(BenchWindow::wait_for([this] {
      const int at = result_rows(QStringLiteral("▤ Small sweep")).value(0, -1);
      const auto text = [&](int column) { return results()->model()->index(at, column).data().toString(); };
      return at >= 0 && text(9) == QStringLiteral("disk, baseline") && text(10) == QStringLiteral("before the new disk");
    }));
    QVERIFY(n2nq::ui_test::file_text(row().folder + QStringLiteral("/note.json")).contains("before the new disk"));
    QVERIFY(results_settled());
    // It is found by them, and its runs are not.
    auto* tag = bench->find<QComboBox>(QStringLiteral("results_tag"));
    tag->setCurrentText(QStringLiteral("baseline"));
    QCOMPARE(results()->model()->rowCount(), 1);
    tag->setCurrentIndex(0);
    QVERIFY(bench->type(QStringLiteral("results_search"), QStringLiteral("new disk")));
    QCOMPARE(results()->model()->rowCount(), 1);
    QVERIFY(bench->type(QStringLiteral("results_search"), QString()));
    bench->reopen();
    bench->window().resize(1280, 720);
    show_results();
    choose_results(result_rows(QStringLiteral("▤ Small sweep")));
    QCOMPARE(bench->find<QLineEdit>(QStringLiteral("result_note"))->text(), QStringLiteral("before the new disk"));
    // Taken back: nothing of it stays.
    QVERIFY(bench->type(QStringLiteral("result_note"), QString()));
    QVERIFY(bench->type(QStringLiteral("result_tags"), QString()));
    QTest::keyClick(bench->find<QLineEdit>(QStringLiteral("result_tags")), Qt::Key_Return);
    QVERIFY(BenchWindow::wait_for([this, tag = bench->find<QComboBox>(QStringLiteral("results_tag"))] { return tag->count() == 1; }));
    show_cases();
  }

  void the_case_and_its_runs_are_results_to_open_and_compare() {
    show_results();
    QCOMPARE(result_rows(QStringLiteral("▤ Small sweep · quick · 6 of 6 runs")).size(), 1);
    choose_results(result_rows(QStringLiteral("▤ Small sweep")));
    QVERIFY(!button("button_result_rerun")->isEnabled());
    QVERIFY(bench->click(QStringLiteral("button_result_copy")));
    QVERIFY2(QGuiApplication::clipboard()->text().contains(QRegularExpression(QStringLiteral("^'?(/.*/)?n2nq-bench'? case '/"))) &&
                 QGuiApplication::clipboard()->text().contains(QStringLiteral("case.yaml' --scale quick")),
             qPrintable(QGuiApplication::clipboard()->text()));
    QVERIFY(bench->click(QStringLiteral("button_result_open")));
    QVERIFY(results_settled());
    auto* view = bench->window().results_page()->report_view();
    QVERIFY(view->show_part(QStringLiteral("Latency by services")));
    QCOMPARE(view->figure_view()->figure().series.front().points.size(), 3u);
    for (const char* part : {"Runs", "Test case"}) QVERIFY2(view->show_part(QString::fromLatin1(part)), part);
    QFile::remove(row().folder + QStringLiteral("/report.html"));
    QVERIFY(bench->click(QStringLiteral("button_report_export")));
    QVERIFY(results_settled());
    QVERIFY(QFile::exists(row().folder + QStringLiteral("/report.html")));
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
    // Its runs: repeats of three points.
    bench->find<QComboBox>(QStringLiteral("results_kind"))->setCurrentText(QStringLiteral("runs of cases"));
    results()->selectAll();
    QVERIFY(bench->click(QStringLiteral("button_result_compare")));
    QVERIFY(results_settled());
    QCOMPARE(bench->find<QLabel>(QStringLiteral("result_verdict"))->text(), QStringLiteral("3 compared"));
    QVERIFY(view->show_part(QStringLiteral("Latency, median")));
    QVERIFY(view->show_part(QStringLiteral("Latency by percentile")));
    QCOMPARE(view->figure_view()->figure().series.size(), 3u);
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
    bench->find<QComboBox>(QStringLiteral("results_kind"))->setCurrentIndex(0);
  }

  void a_case_that_runs_is_not_deleted_and_two_are_compared() {
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(settled());
    const QString first = row().folder;
    // So many runs that it still runs when all this was clicked.
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("50")));
    QVERIFY(settled());
    int counted_at_first = -1;
    const auto counted = connect(&desk(), &CasesDesk::opened, this, [&] { counted_at_first = row().runs_done; });
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this, first] { return desk().is_on() && row().folder != first && row().runs_done >= 1; }));
    disconnect(counted);
    QCOMPARE(counted_at_first, 0);  // those of the one before are not its own
    const QString second = row().folder;
    show_results();
    // Above its runs, and newest first.
    QCOMPARE(result_rows(QStringLiteral("▤ Small sweep")).first(), 0);
    choose_results(result_rows(QStringLiteral("▤ Small sweep")).first(1));
    const int before = results()->model()->rowCount();
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(results_settled());
    QVERIFY2(bench->messages().contains(QStringLiteral("pause or stop it first")), qPrintable(bench->messages()));
    QVERIFY(results()->model()->rowCount() >= before);
    QVERIFY(QFile::exists(second + QStringLiteral("/case.yaml")));
    // Nor any of its runs, by the key.
    const auto runs_there = [&second] {
      return QDir(second + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size();
    };
    const auto there = runs_there();
    bench->find<QComboBox>(QStringLiteral("results_kind"))->setCurrentText(QStringLiteral("runs of cases"));
    // Newest first: one that it has finished, or the one in progress.
    const QString newest = results()->model()->index(0, 1).data().toString();
    QVERIFY2(newest.endsWith(QFileInfo(second).fileName()), qPrintable(newest));
    choose_results({0});
    QTest::keyClick(results(), Qt::Key_Delete);
    QVERIFY(results_settled());
    QVERIFY2(bench->messages().contains(QStringLiteral("pause or stop it first")), qPrintable(bench->messages()));
    QVERIFY(runs_there() >= there);
    QVERIFY2(!button("button_result_undo")->isEnabled(),
             qPrintable(button("button_result_undo")->toolTip() + u' ' + second + u' ' + bench->messages()));
    bench->find<QComboBox>(QStringLiteral("results_kind"))->setCurrentIndex(0);
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(bench->click(QStringLiteral("button_cases_pause")));
    QVERIFY(wait_off());
    show_results();
    const QList<int> both = result_rows(QStringLiteral("▤ Small sweep"));
    QCOMPARE(both.size(), 2);
    choose_results(both);
    QVERIFY(bench->click(QStringLiteral("button_result_compare")));
    QVERIFY(results_settled());
    QCOMPARE(bench->find<QLabel>(QStringLiteral("result_verdict"))->text(), QStringLiteral("2 compared"));
    auto* view = bench->window().results_page()->report_view();
    QVERIFY(view->show_part(QStringLiteral("Latency by services")));
    const auto& series = view->figure_view()->figure().series;
    QCOMPARE(series.size(), 2u);
    QCOMPARE(series[0].name, QStringLiteral("A"));
    QVERIFY(view->show_part(QStringLiteral("Comparison")));
    // Its points by the case's own axes.
    auto* compared = bench->find<QTableWidget>(QStringLiteral("report_table"));
    QCOMPARE(compared->item(0, 1)->text(), QStringLiteral("services 1"));
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
    // Deleted whole, and brought back whole.
    choose_results(result_rows(QStringLiteral("▤ Small sweep")));
    const int all = results()->model()->rowCount();
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(results_settled());
    QCOMPARE(results()->model()->rowCount(), 0);
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(results_settled());
    QCOMPARE(results()->model()->rowCount(), all);
    // So are they where their runs are chosen with them.
    results()->selectAll();
    QTest::keyClick(results(), Qt::Key_Delete);
    QVERIFY(results_settled());
    QCOMPARE(results()->model()->rowCount(), 0);
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(results_settled());
    QCOMPARE(results()->model()->rowCount(), all);
    show_cases();
  }
};

QTEST_MAIN(TestCaseResults)
#include "test_case_results.moc"
