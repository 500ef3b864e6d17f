// SPDX-License-Identifier: GPL-3.0-or-later
// Results that are deleted and brought back, on the page of results: one, all, beside an export, with something in the way, across starts.
#include <QAbstractButton>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "tests/ui/support/results_page_test.h"
#include "ui/card/results_list.h"
#include "ui/page/results_page.h"
#include "ui/theme/theme.h"

using n2nq::ui::ResultsModel;
using n2nq::ui_test::BenchWindow;

class TestDeletedResults : public n2nq::ui_test::ResultsPageTest {
  Q_OBJECT

 private slots:
  void what_is_deleted_can_be_brought_back() {
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(settled());
    QCOMPARE(rows(), 1);
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
  }

  void undo_has_its_key_wherever_the_focus_is_but_in_a_text_field() {
    bench->window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&bench->window(), n2nq::ui_test::deadline_ms));
    const auto undo = [this] { QTest::keyClick(bench->window().focusWidget(), Qt::Key_Z, Qt::ControlModifier); };
    const auto remove = [this] {
      auto* button = bench->find<QAbstractButton>(QStringLiteral("button_result_delete"));
      button->setFocus(Qt::MouseFocusReason);  // as a click does on most desktops
      return bench->click(QStringLiteral("button_result_delete")) && settled();
    };
    // By the mouse alone: the button that was clicked is disabled by then.
    table()->selectRow(0);
    QVERIFY(remove());
    QCOMPARE(rows(), 1);
    undo();
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    // All of them, by keys alone: the table that had the focus is not to be seen any more.
    table()->setFocus();
    table()->selectAll();
    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(settled());
    QCOMPARE(rows(), 0);
    undo();
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    QVERIFY(table()->hasFocus());
    // With the focus in the table; not in a text field, whose own Ctrl+Z it is.
    table()->selectRow(0);
    QVERIFY(remove());
    QVERIFY(bench->type(QStringLiteral("results_search"), QStringLiteral("x")));
    undo();
    QVERIFY(settled());
    QCOMPARE(bench->find<QLineEdit>(QStringLiteral("results_search"))->text(), QString());
    QCOMPARE(rows(), 1);
    table()->setFocus();
    undo();
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
  }

  void what_is_being_exported_is_not_deleted() {
    table()->selectRow(0);
    const QString name = QFileInfo(table()->model()->index(0, ResultsModel::name).data(Qt::ToolTipRole).toString()).fileName();
    const QString folder = bench->folder() + QStringLiteral("/runs/") + name;
    QVERIFY(QFile::exists(folder + QStringLiteral("/settings.yaml")));
    QSignalSpy told(&page(), &n2nq::ui::ResultsPage::told);
    // That it is done is heard of with a later turn of this thread's events: until then it goes on, however quick the disk is.
    QVERIFY(bench->click(QStringLiteral("button_result_export")));
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(settled());
    QStringList texts;
    for (const QList<QVariant>& each : told) texts += each.first().toString();
    QVERIFY2(texts.contains(name + QStringLiteral(" is being exported: wait until that is done")), qPrintable(texts.join(u'\n')));
    QVERIFY2(texts.contains(QStringLiteral("Exported: %1/report.html").arg(folder)), qPrintable(texts.join(u'\n')));
    QCOMPARE(rows(), 2);
    QVERIFY(!bench->find<QAbstractButton>(QStringLiteral("button_result_undo"))->isEnabled());
    // Behind it it is, and is brought back whole.
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(settled());
    QVERIFY(!QFileInfo::exists(folder));
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    for (const char* file : {"settings.yaml", "summary.json", "report.html"})
      QVERIFY2(QFile::exists(folder + '/' + QLatin1String(file)), file);
  }

  void nor_is_what_another_page_exports() {
    const QString runs = bench->folder() + QStringLiteral("/runs");
    n2nq::ui::ResultsPage other(runs, bench->window().theme());
    QString exported;
    other.set_exported_elsewhere([&exported] { return exported; });
    other.resize(page().size());
    other.show();
    QVERIFY(QTest::qWaitForWindowExposed(&other, n2nq::ui_test::deadline_ms));
    const auto other_settled = [&other] { return BenchWindow::wait_for([&other] { return !other.is_busy(); }); };
    const auto click = [&](const char* name) {
      QTest::mouseClick(other.findChild<QAbstractButton*>(QLatin1String(name)), Qt::LeftButton);
      return other_settled();
    };
    QVERIFY(other_settled());
    auto* shown = other.findChild<QTableView*>(QStringLiteral("results_table"));
    QCOMPARE(shown->model()->rowCount(), 2);
    shown->selectRow(0);
    const QString name = QFileInfo(shown->model()->index(0, ResultsModel::name).data(Qt::ToolTipRole).toString()).fileName();
    const QString folder = runs + u'/' + name;
    QSignalSpy told(&other, &n2nq::ui::ResultsPage::told);
    // It, what lies in it as a run in a case does, and what holds it.
    for (const QString& each : {folder, folder + QStringLiteral("/runs/0001-x"), runs}) {
      exported = each;
      QVERIFY(click("button_result_delete"));
      QVERIFY2(QFileInfo::exists(folder), qPrintable(each));
      QVERIFY(!told.isEmpty());
      QCOMPARE(told.takeLast().first().toString(),
               QFileInfo(each).fileName() + QStringLiteral(" is being exported: wait until that is done"));
    }
    exported = folder + QStringLiteral("-2");  // called alike, and another one
    QVERIFY(click("button_result_delete"));
    QVERIFY(!QFileInfo::exists(folder));
    QVERIFY(click("button_result_undo"));
    QVERIFY(QFile::exists(folder + QStringLiteral("/settings.yaml")));
  }

  void deleting_goes_on_beside_the_window_and_says_how_far_it_is() {
    const auto* doing = bench->find<QLabel>(QStringLiteral("results_doing"));
    const auto enabled = [this](const char* button) { return bench->find<QAbstractButton>(QLatin1String(button))->isEnabled(); };
    table()->selectAll();
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    // That it is done is heard of with a later turn of this thread's events, however quick the disk is.
    QCOMPARE(doing->text(), QStringLiteral("deleting 0 of 2 …"));
    QVERIFY(page().is_busy() && !enabled("button_result_delete") && !enabled("button_result_undo"));
    QVERIFY(table()->isEnabled() && enabled("button_result_compare"));
    QVERIFY(settled());
    QCOMPARE(rows(), 0);
    QCOMPARE(doing->text(), QString());
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QCOMPARE(doing->text(), QStringLiteral("bringing back 0 of 2 …"));
    QVERIFY(page().is_busy() && !enabled("button_result_undo"));
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    QCOMPARE(doing->text(), QString());
  }

  void what_is_being_brought_back_when_the_window_is_closed_is_back() {
    table()->selectAll();
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(settled());
    QCOMPARE(rows(), 0);
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    bench->reopen();
    bench->window().resize(1280, 720);
    QVERIFY(show_list());
    QCOMPARE(rows(), 2);
  }

  void undo_waits_for_what_is_being_moved_whichever_is_told_first() {
    n2nq::ui::Theme theme;
    n2nq::ui::ResultsList list(theme);
    const auto* undo = list.findChild<QAbstractButton*>(QStringLiteral("button_result_undo"));
    QVERIFY(!undo->isEnabled());
    list.set_doing(QStringLiteral("deleting 0 of 1 …"), true, false);
    list.set_removed(QStringLiteral("2026-01-01"));
    QVERIFY(!undo->isEnabled());
    list.set_doing(QString(), false, false);
    QVERIFY(undo->isEnabled());
    list.set_removed(QString());
    QVERIFY(!undo->isEnabled());
  }

  void what_could_not_be_deleted_is_told_with_the_first_reason() {
    const QString runs = bench->folder() + QStringLiteral("/runs/");
    const QStringList names = QDir(runs).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QCOMPARE(names.size(), 2);
    for (const QString& name : names) QVERIFY(QDir().mkpath(runs + QStringLiteral(".deleted/") + name));  // in the way
    const auto back = qScopeGuard([&] { QDir(runs + QStringLiteral(".deleted")).removeRecursively(); });
    table()->selectAll();
    QVERIFY(bench->click(QStringLiteral("button_result_delete")));
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    QVERIFY2(bench->messages().contains(QStringLiteral("2 of 2 results could not be deleted; the first: Cannot move ")),
             qPrintable(bench->messages()));
    QVERIFY(!bench->find<QAbstractButton>(QStringLiteral("button_result_undo"))->isEnabled());
    QVERIFY(bench->find<QAbstractButton>(QStringLiteral("button_result_delete"))->isEnabled());
  }

  void what_could_not_be_brought_back_is_offered_again_behind_the_others() {
    const QString runs = bench->folder() + QStringLiteral("/runs/");
    const QAbstractButton* undo = bench->find<QAbstractButton>(QStringLiteral("button_result_undo"));
    const auto remove_first = [&] {
      table()->selectRow(0);
      const QString name = QFileInfo(table()->model()->index(0, ResultsModel::name).data(Qt::ToolTipRole).toString()).fileName();
      return bench->click(QStringLiteral("button_result_delete")) && settled() ? name : QString();
    };
    const QString before = remove_first(), last = remove_first();
    QCOMPARE(rows(), 0);
    QVERIFY(QDir().mkdir(runs + last));  // in the way
    QVERIFY2(undo->toolTip().contains(last), qPrintable(undo->toolTip()));
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(settled());
    QCOMPARE(rows(), 0);
    QVERIFY2(bench->messages().contains(QStringLiteral("is there again: what was deleted stays in")), qPrintable(bench->messages()));
    QVERIFY2(undo->toolTip().contains(before), qPrintable(undo->toolTip()));
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(settled());
    QCOMPARE(rows(), 1);
    QVERIFY2(undo->isEnabled() && undo->toolTip().contains(last), qPrintable(undo->toolTip()));
    QVERIFY(QDir().rmdir(runs + last));
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    QVERIFY(!undo->isEnabled());
    // What somebody else has taken away is not offered for ever.
    QVERIFY(!remove_first().isEmpty());
    QVERIFY(QDir().rename(runs + QStringLiteral(".deleted"), runs + QStringLiteral("../aside")));
    QVERIFY(bench->click(QStringLiteral("button_result_undo")));
    QVERIFY(settled());
    QVERIFY(!undo->isEnabled());
    const QStringList aside = QDir(runs + QStringLiteral("../aside")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QCOMPARE(aside.size(), 1);
    QVERIFY(QDir().rename(runs + QStringLiteral("../aside/") + aside.first(), runs + aside.first()));
    QVERIFY(QDir().rmdir(runs + QStringLiteral("../aside")));
    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(show_list());
    QCOMPARE(rows(), 2);
  }

  void the_next_start_deletes_for_good_what_was_deleted() {
    const QString runs = bench->folder() + QStringLiteral("/runs/");
    for (const char* left : {".deleted/a/b/file", ".forgotten/of-an-earlier-start/file"})
      QVERIFY(n2nq::ui_test::write_text(runs + QLatin1String(left), "text"));
    bench->reopen();
    bench->window().resize(1280, 720);
    QVERIFY(show_list());
    QCOMPARE(rows(), 2);
    for (const char* gone : {".deleted", ".forgotten"}) QVERIFY2(!QFileInfo::exists(runs + QLatin1String(gone)), gone);
  }
};

QTEST_MAIN(TestDeletedResults)
#include "test_deleted_results.moc"
