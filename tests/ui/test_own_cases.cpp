// SPDX-License-Identifier: GPL-3.0-or-later
// Case files of one's own, on the page of test cases: copied from another case, edited beside the window, run as they were written last.
#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QTableView>
#include <QTest>
#include <QUrl>
#include <algorithm>

#include "tests/ui/support/cases_page_test.h"

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;

class TestOwnCases : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

  QStringList opened;  // files that an editor was asked for

 public slots:
  /// In place of the desktop's editor.
  void open_file(const QUrl& file) { opened += file.toLocalFile(); }

 private slots:
  void a_copy_is_made_edited_and_listed() {
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "open_file");
    const QString copy = bench->folder() + QStringLiteral("/cases/delay.yaml");
    table()->setCurrentIndex(table()->model()->index(2, 1));
    QVERIFY(bench->click(QStringLiteral("button_case_new")));
    QVERIFY(settled());
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(opened, QStringList(copy));
    QVERIFY2(bench->messages().contains(QStringLiteral("Copied to ") + copy), qPrintable(bench->messages()));
    // It is the one that is chosen now, and as good as the one it was made from.
    QCOMPARE(table()->model()->rowCount(), 9);
    QCOMPARE(table()->currentIndex().row(), own);
    QCOMPARE(cell(own, 1), QStringLiteral("Delay"));
    QCOMPARE(cell(own, 2), cell(2, 2));
    // What is written into it shows when one comes back.
    QByteArray text = n2nq::ui_test::file_text(copy).replace("title: Delay", "title: My delay");
    QVERIFY(n2nq::ui_test::write_text(copy, text));
    bench->window().show_page(QStringLiteral("Bench"));
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(settled());
    QCOMPARE(cell(own, 1), QStringLiteral("My delay"));
    QVERIFY(QFile::remove(copy));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("Small sweep"));
  }

  void an_own_case_runs_as_it_was_written_last() {
    const QString folder_of_cases = bench->folder() + QStringLiteral("/cases/");
    const QString path = folder_of_cases + QStringLiteral("edited.yaml");
    QByteArray text = n2nq::ui_test::file_text(folder_of_cases + QStringLiteral("sweep.yaml")).replace("Small sweep", "First");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("First"));
    // Who comes back from an editor sees it, without a click.
    text.replace("First", "Second");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    QVERIFY(bench->come_back());
    QVERIFY(BenchWindow::wait_for([this] { return cell(own, 1) == QStringLiteral("Second"); }));
    QVERIFY(settled());
    // And what an editor beside it has written is what begins.
    for (int at = 0; at < static_cast<int>(desk().rows().size()); ++at) desk().set_ticked(at, at == own);
    text.replace("Second", "Third").replace("repeats: 2", "repeats: 50");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return row().runner != nullptr; }));
    const QString folder = row().folder;
    QCOMPARE(n2nq::ui_test::file_text(folder + QStringLiteral("/case.yaml")), text);
    QCOMPARE(cell(own, 1), QStringLiteral("Third"));
    // A copy that is made meanwhile is listed as soon as nothing runs.
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "open_file");
    QVERIFY(bench->click(QStringLiteral("button_case_new")));
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(opened.last(), folder_of_cases + QStringLiteral("edited-2.yaml"));
    QCOMPARE(table()->model()->rowCount(), own + 2);
    QVERIFY(bench->click(QStringLiteral("button_cases_stop")));
    QVERIFY(wait_off());
    QVERIFY(BenchWindow::wait_for([this] { return table()->model()->rowCount() == own + 3; }));
    QVERIFY(settled());
    // With a mistake in it nothing begins.
    const auto edited = [this] {
      const auto& rows = desk().rows();
      return static_cast<int>(
          std::find_if(rows.begin(), rows.end(), [](const CasesDesk::Row& row) { return row.file.name == "edited"; }) - rows.begin());
    };
    QVERIFY(desk().rows()[static_cast<std::size_t>(edited())].ticked);
    QVERIFY(n2nq::ui_test::write_text(path, text.replace("repeats: 50", "repeats: often")));
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(wait_off());
    QVERIFY2(bench->messages().contains(QStringLiteral("edited.yaml")), qPrintable(bench->messages()));
    QVERIFY(BenchWindow::wait_for(
        [&] { return desk().rows()[static_cast<std::size_t>(edited())].state == CasesDesk::State::unreadable; }));
    QVERIFY(QFile::remove(path) && QFile::remove(opened.last()));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QVERIFY(QDir(folder).removeRecursively());
    QCOMPARE(cell(own, 1), QStringLiteral("Small sweep"));
    desk().set_ticked(own, true);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
  }
};

QTEST_MAIN(TestOwnCases)
#include "test_own_cases.moc"
