// SPDX-License-Identifier: GPL-3.0-or-later
// Case files of one's own, on the page of test cases: copied from another case, edited beside the window, run as they were written last.
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QScopeGuard>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QUrl>
#include <algorithm>

#include "tests/ui/support/cases_page_test.h"
#include "ui/page/cases_page.h"
#include "ui/widget/elided_label.h"

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;

class TestOwnCases : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

  QStringList opened;  // files that an editor was asked for

  /// From the menu of the chosen row, by the right button or the Menu key; false: it cannot be chosen there.
  bool choose(const char* entry, QContextMenuEvent::Reason by) {
    if (QApplication::activePopupWidget() != nullptr) return QTest::qFail("another menu is open", __FILE__, __LINE__), false;
    const QPoint at = table()->visualRect(table()->currentIndex()).center();
    QContextMenuEvent press(by, at, table()->viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(by == QContextMenuEvent::Mouse ? table()->viewport() : table(), &press);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) return QTest::qFail("no menu opens", __FILE__, __LINE__), false;
    auto* action = menu->findChild<QAction*>(QLatin1String(entry));
    const bool can = action != nullptr && action->isEnabled();
    if (can) QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
    menu->close();
    return can;
  }

 public slots:
  /// In place of the desktop's editor.
  void open_file(const QUrl& file) { opened += file.toLocalFile(); }

 private slots:
  void until_the_cases_are_read_nothing_is_counted() {
    BenchWindow fresh;
    const auto* doing = fresh.window().findChild<n2nq::ui::ElidedLabel*>(QStringLiteral("cases_doing"));
    const auto* run_all = fresh.window().findChild<QAbstractButton*>(QStringLiteral("button_cases_run_all"));
    fresh.window().show_page(QStringLiteral("Test cases"));
    QCOMPARE(doing->full_text(), QStringLiteral("Reading the test cases …"));
    QCOMPARE(run_all->text(), QStringLiteral("Run all"));
    QVERIFY(BenchWindow::wait_for([&fresh] { return fresh.window().cases_page()->desk().is_loaded(); }));
    QCOMPARE(doing->full_text(), QStringLiteral("No case is ticked: tick one for Run selected, or press Run all"));
    QCOMPARE(run_all->text(), QStringLiteral("Run all 7"));
  }

  void the_list_begins_at_a_whole_row_also_at_its_end() {
    for (const int height_px : {720, 729, 741}) {
      bench->window().resize(1280, height_px);
      QCoreApplication::processEvents();
      for (const auto& scroll : {&QTableView::scrollToBottom, &QTableView::scrollToTop}) {
        (table()->*scroll)();
        QCOMPARE(table()->rowViewportPosition(table()->rowAt(0)), 0);
      }
    }
    bench->window().resize(1280, 720);
    QCoreApplication::processEvents();
    table()->scrollToBottom();
    QVERIFY2(table()->rowAt(0) > 0, "there are more rows than there is room for");
    QCOMPARE(table()->rowViewportPosition(own) + table()->rowHeight(own), table()->viewport()->height());
  }

  void a_copy_is_made_edited_and_listed() {
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "open_file");
    const QString copy = bench->folder() + QStringLiteral("/cases/delay.yaml");
    table()->setCurrentIndex(table()->model()->index(2, 1));
    QVERIFY2(button("button_case_copy")->toolTip().contains(bench->folder() + QStringLiteral("/cases")),
             qPrintable(button("button_case_copy")->toolTip()));
    QVERIFY(bench->click(QStringLiteral("button_case_copy")));
    QVERIFY(settled());
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(opened, QStringList(copy));
    QVERIFY2(bench->messages().contains(QStringLiteral("Copied to ") + copy), qPrintable(bench->messages()));
    // It is the one that is chosen now, says what it is, and is otherwise the one it was made from.
    QCOMPARE(table()->model()->rowCount(), 9);
    QCOMPARE(table()->currentIndex().row(), own);
    QCOMPARE(cell(own, 1), QStringLiteral("Delay (copy)"));
    QCOMPARE(cell(own, 2), cell(2, 2));
    QByteArray source = QByteArray::fromStdString(desk().rows()[2].file.read.file->text);
    QCOMPARE(n2nq::ui_test::file_text(copy), source.replace("\ntitle: Delay\n", "\ntitle: Delay (copy)\n"));
    // What is written into it shows when one comes back.
    QByteArray text = n2nq::ui_test::file_text(copy).replace("title: Delay (copy)", "title: My delay");
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

  void what_its_runs_remark_is_told_while_they_run_and_once() {
    const QString path = bench->folder() + QStringLiteral("/cases/hasty.yaml");
    const QByteArray sweep = n2nq::ui_test::file_text(bench->folder() + QStringLiteral("/cases/sweep.yaml"));
    const QByteArray text = QByteArray(sweep)
                                .replace("title: Small sweep\n", "title: Hasty\n")
                                .replace("delay_ms: 10 } }", "delay_ms: 10 }, limits: { heartbeat_s: 4 } }")
                                .replace("values: [1, 2, 3]", "values: [1, 2]");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("Hasty"));
    for (int at = 0; at < static_cast<int>(desk().rows().size()); ++at) desk().set_ticked(at, at == own);
    const QString remark = QStringLiteral("A heartbeat under 5 s may take a service for gone whose host is only busy.");
    const auto times_told = [&] { return bench->messages().count(remark); };
    // Each of its four runs has it; who begins it once more hears it once more.
    for (int round = 0; round < 2; ++round) {
      QVERIFY(bench->click(QStringLiteral("button_cases_run")));
      QCOMPARE(times_told(), 0);
      QVERIFY(BenchWindow::wait_for([&] { return times_told() == 1; }));
      QVERIFY(desk().is_on());
      QVERIFY(wait_off());
      QVERIFY(settled());
      QCOMPARE(row().runs_done, 4);
      QCOMPARE(times_told(), 1);
    }
    QVERIFY(QFile::remove(path));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("Small sweep"));
  }

  void copies_are_told_apart_however_titles_are_written() {
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "open_file");
    const QString path = bench->folder() + QStringLiteral("/cases/quoted.yaml");
    const QByteArray sweep = n2nq::ui_test::file_text(bench->folder() + QStringLiteral("/cases/sweep.yaml"));
    const QByteArray text = QByteArray(sweep).replace("title: Small sweep\n", "title: \"Rise: fall\"  # both\n");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("Rise: fall"));
    opened.clear();
    // A copy, another one of it, and one of which nobody can say where its title ends.
    for (const char* title : {"Rise: fall (copy)", "Rise: fall (copy 2)"}) {
      QVERIFY(bench->click(QStringLiteral("button_case_copy")));
      QVERIFY(settled());
      QCOMPARE(cell(table()->currentIndex().row(), 1), QString::fromLatin1(title));
      QCOMPARE(n2nq::ui_test::file_text(opened.last()), QByteArray(text).replace("Rise: fall", title));
    }
    const QByteArray folded = QByteArray(sweep).replace("title: Small sweep\n", "title: Rise\n  and fall\n");
    QVERIFY(n2nq::ui_test::write_text(opened.last(), folded));
    bench->window().show_page(QStringLiteral("Bench"));
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(settled());
    QCOMPARE(cell(table()->currentIndex().row(), 1), QStringLiteral("Rise and fall"));
    QVERIFY(bench->click(QStringLiteral("button_case_copy")));
    QVERIFY(settled());
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(opened.size(), 3);
    QCOMPARE(n2nq::ui_test::file_text(opened.last()), folded);
    for (const QString& copy : opened) QVERIFY(QFile::remove(copy));
    QVERIFY(QFile::remove(path));
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
    QVERIFY(bench->click(QStringLiteral("button_case_copy")));
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(opened.last(), folder_of_cases + QStringLiteral("edited-2.yaml"));
    QCOMPARE(table()->model()->rowCount(), own + 2);
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_cases_stop")));
    QVERIFY(wait_off());
    QVERIFY(BenchWindow::wait_for([this] { return table()->model()->rowCount() == own + 3; }));
    QVERIFY(settled());
    QCOMPARE(desk().rows()[static_cast<std::size_t>(table()->currentIndex().row())].file.name, "edited-2");  // though another row was looked at
    // Who makes one wants to run it.
    const int copy = table()->currentIndex().row();
    QVERIFY(desk().rows()[static_cast<std::size_t>(copy)].ticked);
    QCOMPARE(bench->find<QAbstractButton>(QStringLiteral("button_cases_run"))->text(), QStringLiteral("Run selected 2"));
    desk().set_ticked(copy, false);
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

  void figures_of_a_case_that_was_edited_since_it_was_begun_are_those_of_then() {
    const QString path = bench->folder() + QStringLiteral("/cases/begun.yaml");
    QByteArray text = n2nq::ui_test::file_text(bench->folder() + QStringLiteral("/cases/sweep.yaml"))
                          .replace("Small sweep", "Begun")
                          .replace("repeats: 2", "repeats: 50");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("Begun"));
    for (int at = 0; at < static_cast<int>(desk().rows().size()); ++at) desk().set_ticked(at, at == own);
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return row().runner && row().runs_done >= 1; }));
    QVERIFY(bench->click(QStringLiteral("button_cases_stop")));
    QVERIFY(wait_off());
    QVERIFY(settled());
    const QString folder = row().folder;
    const auto* titles = bench->find<QComboBox>(QStringLiteral("case_figure"));
    const auto* notes = bench->find<QTextBrowser>(QStringLiteral("case_notes"));
    const QString changed = QStringLiteral("Its file has changed since it was begun");
    QVERIFY2(!notes->toPlainText().contains(changed), qPrintable(notes->toPlainText()));
    // A figure above the one that is drawn, and what is known of that is gone.
    text.replace("figures:\n", "figures:\n  - { id: rate, title: Rate by services, x: services, y: rates.received_per_s }\n");
    QVERIFY(n2nq::ui_test::write_text(path, text.replace("it rises", "it falls")));
    QVERIFY(bench->come_back());
    QVERIFY(BenchWindow::wait_for([this] { return row().file.read.file && row().file.read.file->figures.size() == 2; }));
    QVERIFY(settled());
    QCOMPARE(row().folder, folder);
    QCOMPARE(titles->count(), 1);
    QCOMPARE(titles->itemText(0), desk().figure(own, 0).title);
    QVERIFY2(notes->toPlainText().contains(changed) && notes->toPlainText().contains(QStringLiteral("it rises")),
             qPrintable(notes->toPlainText()));
    // Where nobody has it in hand yet, too.
    bench->reopen();
    bench->window().resize(1280, 720);
    show_cases();
    QCOMPARE(bench->find<QComboBox>(QStringLiteral("case_figure"))->itemText(0), desk().figure(own, 0).title);
    QVERIFY(QFile::remove(path) && QDir(folder).removeRecursively());
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
  }

  void ones_own_is_opened_again_deleted_and_brought_back() {
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "open_file");
    const auto back = qScopeGuard([] { QDesktopServices::unsetUrlHandler(QStringLiteral("file")); });
    bench->window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&bench->window(), n2nq::ui_test::deadline_ms));
    const QString path = bench->folder() + QStringLiteral("/cases/mistake.yaml");
    const QByteArray sweep = n2nq::ui_test::file_text(bench->folder() + QStringLiteral("/cases/sweep.yaml"));
    const QByteArray text = QByteArray(sweep).replace("Small sweep", "Mistake");
    QVERIFY(n2nq::ui_test::write_text(path, text));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(cell(own, 1), QStringLiteral("Mistake"));
    desk().set_ticked(own, true);
    opened.clear();
    QVERIFY(choose("case_edit", QContextMenuEvent::Keyboard));
    QCOMPARE(opened, QStringList(path));
    QVERIFY(!choose("case_undo", QContextMenuEvent::Mouse));
    // Deleted, it is in no list and no count, and what stood behind it is chosen.
    const auto gone = [&] {
      return settled() && !QFile::exists(path) && desk().rows().size() == own + 1 && desk().rows()[own].file.name == "sweep" &&
             table()->currentIndex().row() == own;
    };
    const auto is_back = [&] {
      return settled() && n2nq::ui_test::file_text(path) == text && row().file.name == "mistake" && row().ticked &&
             table()->currentIndex().row() == own;
    };
    QVERIFY(choose("case_delete", QContextMenuEvent::Mouse));
    QVERIFY(gone());
    QVERIFY(!desk().ticked_names().contains(QStringLiteral("own/mistake")));
    QVERIFY2(bench->messages().contains(QStringLiteral("Deleted: ") + path), qPrintable(bench->messages()));
    bench->window().activateWindow();  // shortcuts are an active window's, and here a menu that was open stays it
    QVERIFY(BenchWindow::wait_for([this] { return QApplication::activeWindow() == &bench->window(); }));
    // Wherever the focus is on the page; in a text field it is that one's own.
    auto* field = bench->find<QLineEdit>(QStringLiteral("case_repeats"));
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("3")));
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(field->text(), QString());
    QVERIFY(gone());
    for (QWidget* each : {static_cast<QWidget*>(bench->find<QTextBrowser>(QStringLiteral("case_notes"))), static_cast<QWidget*>(table())}) {
      each->setFocus();
      QTest::keyClick(each, Qt::Key_Z, Qt::ControlModifier);
      QVERIFY(is_back());
      table()->setFocus();
      QTest::keyClick(table(), Qt::Key_Delete);
      QVERIFY(gone());
    }
    // Another one of its name stays.
    QVERIFY(n2nq::ui_test::write_text(path, "format: 1\n"));
    QVERIFY(choose("case_undo", QContextMenuEvent::Mouse));
    QVERIFY2(bench->messages().contains(path + QStringLiteral(" is there again")), qPrintable(bench->messages()));
    QCOMPARE(n2nq::ui_test::file_text(path), QByteArray("format: 1\n"));
    QVERIFY(QFile::remove(path));
    QVERIFY(choose("case_undo", QContextMenuEvent::Keyboard));
    QVERIFY(is_back());
    // What comes with the program stays, and so does what runs; what a case has left stays behind it.
    table()->selectRow(0);
    QVERIFY(settled());
    QVERIFY(!choose("case_delete", QContextMenuEvent::Mouse));
    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(settled());
    QCOMPARE(desk().rows().size(), std::size_t(own + 2));
    for (int at = 0; at < static_cast<int>(desk().rows().size()); ++at) desk().set_ticked(at, at == own);
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return row().runner != nullptr; }));
    const QString folder = row().folder;
    table()->selectRow(own);
    QVERIFY(!choose("case_delete", QContextMenuEvent::Mouse));
    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(QFile::exists(path));
    QVERIFY2(bench->messages().contains(QStringLiteral("Not deleted: A test case runs: pause or stop it")), qPrintable(bench->messages()));
    QVERIFY(bench->click(QStringLiteral("button_cases_stop")));
    QVERIFY(wait_off());
    QVERIFY(settled());
    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(gone());
    QVERIFY(QFile::exists(folder + QStringLiteral("/case.yaml")));
    QVERIFY(QDir(folder).removeRecursively());
    // What is nowhere any more is offered once.
    QVERIFY(QDir(bench->folder() + QStringLiteral("/cases/.deleted")).removeRecursively());
    QVERIFY(choose("case_undo", QContextMenuEvent::Mouse));
    QVERIFY2(bench->messages().contains(QStringLiteral("Cannot bring back ") + path), qPrintable(bench->messages()));
    QVERIFY(!choose("case_undo", QContextMenuEvent::Mouse));
  }

  void several_that_are_deleted_and_brought_back_before_the_list_is_read_again_keep_their_ticks() {
    const QString cases = bench->folder() + QStringLiteral("/cases/");
    const QByteArray sweep = n2nq::ui_test::file_text(cases + QStringLiteral("sweep.yaml"));
    QStringList paths;  // behind the small one
    for (const char* name : {"tail-a", "tail-b", "tail-c"}) {
      paths += cases + QLatin1String(name) + QStringLiteral(".yaml");
      QVERIFY(n2nq::ui_test::write_text(paths.last(), sweep));
    }
    const auto read_again = [this] {
      bench->window().show_page(QStringLiteral("Bench"));
      show_cases();
    };
    const auto count = [this] { return static_cast<int>(desk().rows().size()); };
    read_again();
    QCOMPARE(count(), own + 4);
    for (int at = 0; at < count(); ++at) desk().set_ticked(at, at == own + 1 || at == own + 3);
    QVERIFY(n2nq::ui_test::write_text(paths.last(), "format: 1\n"));  // as half way through an edit
    read_again();
    QCOMPARE(desk().rows()[own + 3].state, CasesDesk::State::unreadable);
    const QStringList ticked = {QStringLiteral("own/tail-a"), QStringLiteral("own/tail-c")};
    QCOMPARE(desk().ticked_names(), ticked);
    bench->window().activateWindow();
    QVERIFY(BenchWindow::wait_for([this] { return QApplication::activeWindow() == &bench->window(); }));
    table()->setFocus();
    table()->setCurrentIndex(table()->model()->index(own + 1, 1));
    QVERIFY(settled());
    for (const QString& path : paths) {
      QTest::keyClick(table(), Qt::Key_Delete);
      QVERIFY2(!QFile::exists(path), qPrintable(bench->messages()));
    }
    QCOMPARE(desk().ticked_names(), QStringList());
    QVERIFY(settled());
    QCOMPARE(count(), own + 1);
    QCOMPARE(table()->currentIndex().row(), own);
    for (int times = 0; times < 3; ++times) QTest::keyClick(table(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(settled());
    QCOMPARE(count(), own + 4);
    QCOMPARE(desk().ticked_names(), ticked);
    QCOMPARE(table()->currentIndex().row(), own + 1);
    for (const QString& path : paths) QVERIFY(QFile::remove(path));
    read_again();
    QCOMPARE(cell(own, 1), QStringLiteral("Small sweep"));
  }
};

QTEST_MAIN(TestOwnCases)
#include "test_own_cases.moc"
