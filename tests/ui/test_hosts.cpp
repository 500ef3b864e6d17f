// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts page and the choice of a Source, used as a person does: by mouse and by keyboard alone.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>

#include "tests/ui/support/hosts_page_test.h"
#include "ui/dialog/import_dialog.h"

using namespace n2nq;
using namespace n2nq::ui_test;

class TestHosts : public HostsPageTest {
  Q_OBJECT

 private slots:
  void a_delete_key_that_is_held_down_removes_one_machine() {
    for (const char* name : {"lab-1", "lab-2", "lab-3"}) bench->hosts().put(named(name));
    table()->selectRow(1);
    QTest::keyClick(table(), Qt::Key_Delete);
    QKeyEvent held(QEvent::KeyPress, Qt::Key_Delete, Qt::NoModifier, QString(), true);
    QApplication::sendEvent(table(), &held);
    QCOMPARE(bench->hosts().hosts().hosts.size(), 2u);
    QVERIFY(bench->hosts().hosts().find("lab-1") == nullptr);
  }

  void of_two_machines_that_are_removed_one_after_the_other_undo_brings_back_the_last_alone() {
    for (const char* name : {"lab-1", "lab-2", "lab-3"}) bench->hosts().put(named(name));
    table()->selectRow(1);
    for (int times = 0; times < 2; ++times) QTest::keyClick(table(), Qt::Key_Delete);
    QCOMPARE(bench->hosts().hosts().hosts.size(), 1u);
    QVERIFY(bench->hosts().hosts().find("lab-3"));
    QVERIFY(bench->click("button_host_undo"));
    QCOMPARE(bench->hosts().hosts().hosts.size(), 2u);
    QVERIFY(bench->hosts().hosts().find("lab-2"));
    QVERIFY(!bench->find<QAbstractButton>("button_host_undo")->isEnabled());
  }

  void everything_is_reached_by_keyboard() {
    bench->hosts().put(named("lab-1"));
    table()->setFocus();
    table()->selectRow(1);
    in_dialog([](QWidget& dialog) {
      type_into(dialog, "host_name", "lab-2");
      QTest::keyClick(&dialog, Qt::Key_Return);
    });
    QTest::keyClick(table(), Qt::Key_N, Qt::ControlModifier);
    QVERIFY(bench->hosts().hosts().find("lab-2"));
    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(!bench->hosts().hosts().find("lab-2"));
    bench->window().activateWindow();  // shortcuts are an active window's, and there was a dialog
    QVERIFY(QTest::qWaitForWindowActive(&bench->window(), deadline_ms));
    QTest::keyClick(table(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(bench->hosts().hosts().find("lab-2"));
    QVERIFY(bench->window().focusWidget() == table());
  }

  void undo_has_its_key_wherever_the_focus_is_but_in_a_text_field() {
    bench->hosts().put(named("lab-1"));
    const auto undo = [this] { QTest::keyClick(bench->window().focusWidget(), Qt::Key_Z, Qt::ControlModifier); };
    const auto is_there = [this] { return bench->hosts().hosts().find("lab-1") != nullptr; };
    // By the mouse alone: the button that was clicked is disabled by then, and no table is left.
    table()->selectRow(1);
    bench->find<QAbstractButton>("button_host_remove")->setFocus(Qt::MouseFocusReason);
    QVERIFY(bench->click("button_host_remove"));
    QVERIFY(!is_there());
    undo();
    QVERIFY(is_there());
    table()->setFocus();
    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(!is_there());
    undo();
    QVERIFY(is_there());
    table()->selectRow(1);
    QVERIFY(bench->click("button_host_remove"));
    auto* field = bench->find<QLineEdit>("local_data_address");
    field->setFocus();
    QTest::keyClicks(field, QStringLiteral("1"));
    undo();
    QCOMPARE(field->text(), QString());
    QVERIFY(!is_there());
  }

  void machines_come_over_from_ssh_config_once() {
    bench->hosts().put(named("lab-1"));
    bench->ssh_offer.names = {"lab-1", "lab-2", "-odd"};
    in_dialog([](QWidget& dialog) {
      auto* list = dialog.findChild<QListWidget*>("import_names");
      QCOMPARE(list->count(), 3);
      QVERIFY(!(list->item(0)->flags() & Qt::ItemIsEnabled));
      QVERIFY(!(list->item(2)->flags() & Qt::ItemIsEnabled));
      QVERIFY(!dialog.findChild<QAbstractButton*>("import_take")->isEnabled());
      list->setFocus();
      list->setCurrentRow(1);
      QTest::keyClick(list, Qt::Key_Space);
      QTest::mouseClick(dialog.findChild<QAbstractButton*>("import_take"), Qt::LeftButton);
    });
    QVERIFY(bench->click("button_host_import"));
    QCOMPARE(bench->hosts().hosts().hosts.size(), 2u);
    QCOMPARE(bench->hosts().hosts().find("lab-2")->ssh_target(), std::string("lab-2"));
  }

  void a_click_on_a_name_of_ssh_config_chooses_it_as_one_on_its_box_does() {
    bench->ssh_offer.names = {"lab-1", "-odd"};
    in_dialog([](QWidget& dialog) {
      auto* list = dialog.findChild<QListWidget*>("import_names");
      const auto click = [list](int row, int from_right_px) {
        const QRect line = list->visualItemRect(list->item(row));
        const int x = from_right_px > 0 ? line.right() - from_right_px : line.left() + 10;  // in the box
        QTest::mouseClick(list->viewport(), Qt::LeftButton, Qt::NoModifier, QPoint(x, line.center().y()));
        return list->item(0)->checkState();
      };
      QCOMPARE(click(0, 20), Qt::Checked);
      QVERIFY(dialog.findChild<QAbstractButton*>("import_take")->isEnabled());
      QCOMPARE(click(0, 20), Qt::Unchecked);
      QCOMPARE(click(0, 0), Qt::Checked);
      QCOMPARE(click(1, 20), Qt::Checked);
      QVERIFY(!list->item(1)->data(Qt::CheckStateRole).isValid());
      QTest::keyClick(&dialog, Qt::Key_Escape);
    });
    QVERIFY(bench->click("button_host_import"));
  }

  void what_keeps_ssh_config_from_being_read_is_said_where_its_machines_would_be() {
    bench->ssh_offer.problems = {"~/.ssh/config can be written by others: chmod go-w it"};
    in_dialog([](QWidget& dialog) {
      QCOMPARE(dialog.findChild<QLabel*>("import_config_problem")->text(), QStringLiteral("~/.ssh/config can be written by others: chmod go-w it"));
      for (const auto* label : dialog.findChildren<QLabel*>()) QVERIFY2(!label->text().contains("names no machine"), qPrintable(label->text()));
      dialog.close();
    });
    QVERIFY(bench->click("button_host_import"));
  }

  void every_red_cell_says_what_to_do() {
    for (const char* name : {"lab-1", "lab-2"}) bench->hosts().put(named(name));
    bench->form().set("broker.port", "4711");
    QVERIFY(bench->click("button_host_check"));
    QCOMPARE(bench->checker().asked_port, 4711);
    QCOMPARE(bench->find<QAbstractButton>("button_host_check")->text(), QStringLiteral("Cancel"));
    bench->checker().find(true);
    QCOMPARE(bench->find<QAbstractButton>("button_host_check")->text(), QStringLiteral("Check"));
    const QString advice = bench->find<QTextBrowser>("hosts_advice")->toPlainText().simplified();
    int red = 0;
    for (auto* view : {table(), bench->find<QTableView>("paths_table")}) {
      for (int row = 0; row < view->model()->rowCount(); ++row) {
        for (int column = 0; column < view->model()->columnCount(); ++column) {
          const QModelIndex cell = view->model()->index(row, column);
          if (!cell.data().toString().startsWith(QStringLiteral("✕"))) continue;
          ++red;
          const QString what_to_do = cell.data(Qt::ToolTipRole).toString().section(QStringLiteral("What to do: "), 1).simplified();
          QVERIFY2(!what_to_do.isEmpty(), qPrintable(cell.data().toString()));
          QVERIFY2(advice.contains(what_to_do), qPrintable(what_to_do));
        }
      }
    }
    QCOMPARE(red, 4);
  }

  void what_is_written_by_hand_is_taken_when_somebody_comes_back_checks_or_starts() {
    const auto machines = [](std::initializer_list<const char*> names) {
      QByteArray text = "format: 1\nlocal_data_address: 10.0.0.1\nhosts:\n";
      for (const char* name : names) text += QByteArray("  - {name: ") + name + "}\n";
      return text;
    };
    QVERIFY(write_by_hand(machines({"lab-1", "lab-2"})));
    QVERIFY(bench->come_back());
    QCOMPARE(table()->model()->rowCount(), 3);
    QCOMPARE(bench->find<QComboBox>("field_broker_host")->count(), 3);
    table()->selectRow(2);
    QVERIFY(bench->click("button_host_check"));
    bench->checker().find(false);

    // What is typed stays, and so does what is selected; what was found out of others is forgotten with them.
    QVERIFY(bench->type("local_data_address", "10.0.0.9"));
    QVERIFY(write_by_hand(machines({"lab-0", "lab-2"})));
    QVERIFY(bench->come_back());
    QCOMPARE(bench->find<QLineEdit>("local_data_address")->text(), QStringLiteral("10.0.0.9"));
    QCOMPARE(table()->currentIndex().row(), 2);
    QCOMPARE(bench->checker().hosts().count("lab-1"), 0u);
    QCOMPARE(bench->checker().hosts().count("lab-2"), 1u);

    QVERIFY(write_by_hand(machines({"lab-3"})));
    QVERIFY(bench->click("button_host_check"));
    QCOMPARE(bench->checker().hosts().count("lab-3"), 1u);
    bench->checker().find(false);
    QVERIFY(write_by_hand(machines({"lab 3"})));
    QVERIFY(bench->click("button_host_check"));
    QVERIFY2(!bench->checker().is_checking(), "a file with mistakes names nobody");
    QVERIFY(bench->find<QLabel>("hosts_problem")->text().contains(QStringLiteral("hosts.yaml:4")));

    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(write_by_hand(machines({"lab-4"})));
    bench->window().show_page(QStringLiteral("Hosts"));
    QVERIFY(bench->hosts().hosts().find("lab-4"));
    bench->window().show_page(QStringLiteral("Bench"));
    bench->form().set("senders.host", "lab-4");
    QVERIFY(write_by_hand(machines({"lab-5"})));
    QVERIFY(bench->click("button_start_all"));
    QVERIFY2(bench->messages().contains("senders.host is lab-4, which is no host of"), qPrintable(bench->messages()));
    QVERIFY(bench->hosts().hosts().find("lab-5"));
  }

  void short_names_leave_their_room_to_addresses() {
    bench->window().resize(1280, 720);
    for (int i = 1; i <= 9; ++i) {
      app::Host host = named(("h" + std::to_string(i)).c_str());
      host.user = "lab";
      host.address = "10.77.155.1" + std::to_string(i);
      bench->hosts().put(host);
    }
    QTRY_VERIFY(table()->verticalScrollBar()->maximum() > 0);
    constexpr int around_px = 12;
    for (int row = 0; row < table()->model()->rowCount(); ++row) {
      for (int column = 0; column < 2; ++column) {
        const QString text = table()->model()->index(row, column).data().toString();
        const int needed_px = table()->fontMetrics().horizontalAdvance(text) + around_px;
        QVERIFY2(needed_px <= table()->columnWidth(column), qPrintable(QStringLiteral("%1: %2").arg(text).arg(needed_px)));
      }
    }
    QCOMPARE(table()->horizontalScrollBar()->maximum(), 0);
  }

  void what_a_check_finds_is_whole_in_the_smallest_window() {
    bench->window().resize(1280, 720);
    for (const char* name : {"lab-1", "lab-2"}) bench->hosts().put(named(name));
    QVERIFY(bench->click("button_host_check"));
    bench->checker().find(true);
    QCoreApplication::processEvents();
    constexpr int around_px = 12;
    constexpr int kernel_column = 2 + static_cast<int>(app::CheckItem::kernel);  // some are longer than any column
    bool any_unknown = false;
    for (int row = 0; row < table()->model()->rowCount(); ++row) {
      for (int column = 2; column < table()->model()->columnCount(); ++column) {
        const QModelIndex cell = table()->model()->index(row, column);
        const QString text = cell.data().toString(), told = cell.data(Qt::ToolTipRole).toString();
        any_unknown = any_unknown || text == QStringLiteral("unknown");
        const bool is_whole = table()->fontMetrics().horizontalAdvance(text) + around_px <= table()->columnWidth(column);
        QVERIFY2(is_whole || column == kernel_column, qPrintable(text));
        if (text.startsWith(QStringLiteral("✓ "))) QVERIFY2(told.startsWith(text.mid(2) + u'\n'), qPrintable(told));
      }
    }
    QVERIFY(any_unknown);
    QCOMPARE(table()->horizontalScrollBar()->maximum(), 0);
  }

  void its_keys_work_when_the_tab_that_led_there_still_has_the_focus_and_nowhere_else() {
    bench->hosts().put(named("lab-1"));
    auto* tabs = bench->window().findChild<QTabBar*>();
    tabs->setFocus();
    QTest::keyClick(tabs, Qt::Key_R, Qt::ControlModifier);
    QVERIFY(bench->checker().is_checking());
    QTest::keyClick(tabs, Qt::Key_R, Qt::ControlModifier);
    QVERIFY(!bench->checker().is_checking());
    bench->window().show_page(QStringLiteral("Bench"));
    QTest::keyClick(tabs, Qt::Key_R, Qt::ControlModifier);
    QVERIFY(!bench->checker().is_checking());
  }

  void that_nothing_is_wrong_is_not_said_of_what_is_unknown() {
    bench->hosts().put(named("lab-1"));
    const auto* advice = bench->find<QTextBrowser>("hosts_advice");
    bench->checker().check(bench->hosts().hosts(), 0);
    const auto* when = bench->find<QLabel>(QStringLiteral("hosts_checked"));
    bench->checker().find(false);
    QVERIFY2(when->text().startsWith(QStringLiteral("Checked on 2")), qPrintable(when->text()));
    QVERIFY(advice->toPlainText().startsWith(QStringLiteral("✓ Nothing")));
    bench->checker().check(bench->hosts().hosts(), 0);
    bench->checker().give_up();
    QVERIFY2(!advice->toPlainText().startsWith(QStringLiteral("✓")), qPrintable(advice->toPlainText()));
  }

  void what_to_do_about_the_unknown_stands_there_once_and_so_does_what_is_being_sent() {
    bench->hosts().put(named("lab-1"));
    const auto* advice = bench->find<QTextBrowser>("hosts_advice");
    bench->checker().check(bench->hosts().hosts(), 0);
    bench->checker().send("lab-1", 512 << 10, 3000 << 10);
    QTRY_COMPARE(advice->toPlainText(), QStringLiteral("Checking … sending n2nq-broker to lab-1, 512 of 3000 KiB"));
    bench->checker().give_up(QStringLiteral("The link is slow: check again"));
    const QString text = advice->toPlainText();
    QVERIFY2(text.startsWith(QStringLiteral("? ")) && text.contains(QStringLiteral("the check took too long")), qPrintable(text));
    QCOMPARE(text.count(QStringLiteral("The link is slow: check again")), 1);
  }

  void a_command_of_the_advice_stands_on_a_line_of_its_own() {
    bench->hosts().put(named("lab-1"));
    const auto* advice = bench->find<QTextBrowser>("hosts_advice");
    for (const char* command : {"mkdir -p -m 700 '/home/ann/.ssh' && echo 'lab-1 ssh-ed25519 AAAA' >> '/home/ann/.ssh/known_hosts'",
                                "echo 'lab-1 ssh-ed25519 AAAA' >> '/home/ann/.ssh/known_hosts'",
                                "printf '\\n%s\\n' 'lab-1 ssh-ed25519 AAAA' >> '/home/ann/.ssh/known_hosts'"}) {
      bench->checker().check(bench->hosts().hosts(), 0);
      bench->checker().give_up(QStringLiteral("If it is the same: ") + QString::fromLatin1(command));
      QVERIFY2(advice->toPlainText().split(QLatin1Char('\n')).contains(QString::fromLatin1(command)), qPrintable(advice->toPlainText()));
    }
  }

  void a_check_can_be_cancelled() {
    bench->hosts().put(named("lab-1"));
    table()->setFocus();
    QTest::keyClick(table(), Qt::Key_R, Qt::ControlModifier);
    QVERIFY(bench->checker().is_checking());
    QCOMPARE(table()->model()->index(1, 2).data().toString(), QStringLiteral("…"));
    QTest::keyClick(table(), Qt::Key_R, Qt::ControlModifier);
    QVERIFY(!bench->checker().is_checking());
    QCOMPARE(table()->model()->index(1, 2).data().toString(), QStringLiteral("–"));
    const QString advice = bench->find<QTextBrowser>("hosts_advice")->toPlainText();
    QVERIFY2(advice.startsWith(QStringLiteral("The check was cancelled.")), qPrintable(advice));
  }

  void a_check_can_be_cancelled_when_no_machine_is_left_in_the_list() {
    const auto* check = bench->find<QAbstractButton>("button_host_check");
    const auto* start = bench->find<QAbstractButton>("button_start_all");
    const std::function<void()> gone[] = {
        [this] { bench->hosts().remove(QStringLiteral("lab-1")); },
        [this] {
          QVERIFY(write_by_hand("format: 1\nhosts:\n  - name: lab 1\n"));
          bench->hosts().reload();
        },
    };
    for (const auto& go : gone) {
      bench->hosts().put(named("lab-1"));
      QVERIFY(bench->click("button_host_check"));
      go();
      QVERIFY(bench->hosts().hosts().hosts.empty());
      QVERIFY(bench->checker().is_checking());
      QVERIFY(!start->isEnabled());
      QVERIFY(check->isEnabled());
      QCOMPARE(check->text(), QStringLiteral("Cancel"));
      QVERIFY2(check->toolTip().startsWith(QStringLiteral("Ends the check")), qPrintable(check->toolTip()));
      QVERIFY(bench->click("button_host_check"));
      QVERIFY(!bench->checker().is_checking());
      QVERIFY2(!check->isEnabled(), "now there is nothing to check");
      QVERIFY(check->toolTip().contains(QStringLiteral("nothing to check")));
    }
  }

  void no_run_is_started_while_the_machines_are_checked() {
    bench->hosts().put(named("lab-1"));
    auto* start = bench->find<QAbstractButton>("button_start_all");
    QVERIFY(start->isEnabled());
    bench->checker().check(bench->hosts().hosts(), 0);
    QVERIFY(!start->isEnabled());
    QVERIFY2(start->toolTip().contains(QStringLiteral("being checked")), qPrintable(start->toolTip()));
    bench->checker().find(false);
    QVERIFY(start->isEnabled());
  }

  void names_of_machines_are_whole_in_the_smallest_window() {
    for (const char* name : {"n2nq-vm", "senders-vm", "receivers-vm"}) bench->hosts().put(named(name));
    bench->window().show_page(QStringLiteral("Bench"));
    bench->window().resize(1280, 720);
    for (const auto& [key, name] : {std::pair("broker", "n2nq-vm"), {"senders", "senders-vm"}, {"receivers", "receivers-vm"}})
      QVERIFY(bench->form().set(QString::fromLatin1(key) + QStringLiteral(".host"), QString::fromLatin1(name)));
    QCoreApplication::processEvents();
    QCOMPARE(bench->window().size(), QSize(1280, 720));
    for (const char* name : {"field_broker_host", "field_senders_host", "field_receivers_host"}) {
      const auto* box = bench->find<QComboBox>(QString::fromLatin1(name));
      QVERIFY2(box->fontMetrics().horizontalAdvance(box->currentText()) <= box->width() - 24, name);  // frame and chevron
    }
  }

  void the_ways_between_three_machines_are_whole_in_the_smallest_window_and_a_check_moves_no_button() {
    for (const char* name : {"n2nq-vm", "senders-vm", "receivers-vm"}) bench->hosts().put(named(name));
    bench->window().resize(1280, 720);
    QCoreApplication::processEvents();
    const auto* paths = bench->find<QTableView>("paths_table");
    QCOMPARE(paths->horizontalScrollBar()->maximum(), 0);
    const auto* add = bench->find<QAbstractButton>("button_host_add");
    const int x = add->x();
    QVERIFY(bench->click("button_host_check"));
    QCoreApplication::processEvents();
    QCOMPARE(add->x(), x);
  }

  void names_of_sixty_characters_leave_room_for_the_ways_between_their_machines() {
    const QString stem = QStringLiteral("machine-of-the-").repeated(4).left(58);
    for (const char* end : {"-1", "-2", "-3"}) bench->hosts().put(named(qPrintable(stem + QString::fromLatin1(end))));
    bench->window().resize(1280, 720);
    QCoreApplication::processEvents();
    const auto* paths = bench->find<QTableView>("paths_table");
    QVERIFY2(paths->columnViewportPosition(3) < paths->viewport()->width(), "the third column can be seen");
    QCOMPARE(paths->model()->headerData(3, Qt::Horizontal, Qt::ToolTipRole).toString(),
             QStringLiteral("to ") + stem + QStringLiteral("-3"));
    QVERIFY(table()->model()->index(3, 0).data(Qt::ToolTipRole).toString().startsWith(stem + QStringLiteral("-3\n")));
    QVERIFY(!table()->model()->index(3, 1).data().toString().contains(stem));
  }

  void findings_move_no_way_between_machines_of_short_names() {
    for (const char* name : {"h1", "h2", "h3"}) bench->hosts().put(named(name));
    QVERIFY(bench->click("button_host_check"));
    const auto* paths = bench->find<QTableView>("paths_table");
    const auto places = [paths] {
      QCoreApplication::processEvents();
      QList<int> out;
      for (int column = 0; column < paths->model()->columnCount(); ++column) out << paths->columnViewportPosition(column);
      return out;
    };
    const QList<int> before = places();
    bench->checker().find(false);
    QCOMPARE(places(), before);
  }

  /// Nobody is to mend NTP for it.
  void clocks_that_are_days_apart_are_told_to_be_usual() {
    bench->hosts().put(named("lab-1"));
    constexpr int column = 2 + static_cast<int>(app::CheckItem::clock);
    const auto* model = table()->model();
    for (const QVariant& told : {model->headerData(column, Qt::Horizontal, Qt::ToolTipRole), model->index(1, column).data(Qt::ToolTipRole)}) {
      QVERIFY2(told.toString().contains(QStringLiteral("so days are usual")), qPrintable(told.toString()));
    }
  }

  void a_file_that_cannot_be_read_is_no_invitation() {
    QVERIFY(write_by_hand("format: 1\nhosts:\n  - name: lab 1\n"));
    bench->hosts().reload();
    const auto* invitation = bench->find<QLabel>("hosts_invitation");
    QVERIFY(invitation->isVisible());
    QVERIFY2(invitation->text().contains(QStringLiteral("cannot be read")), qPrintable(invitation->text()));
    QVERIFY(bench->find<QLabel>("hosts_problem")->text().contains(QStringLiteral("hosts.yaml:3")));
  }

  void long_names_that_are_alike_at_one_end_are_told_apart() {
    const auto heads = [this](const std::vector<std::string>& names) {
      for (const std::string& name : names) bench->hosts().put(named(name.c_str()));
      QStringList out;
      auto* ways = bench->find<QTableView>("paths_table")->model();
      for (int i = 1; i < ways->columnCount(); ++i) out << ways->headerData(i, Qt::Horizontal).toString().mid(3);
      for (const std::string& name : names) bench->hosts().remove(QString::fromStdString(name));
      return out;
    };
    const std::string tail = ".a.very.long.name.of.an.institute.example.org", head = "measurement-machine-of-room-12-";
    QCOMPARE(heads({head + "broker-1", head + "senders-1"}),
             QStringList({QStringLiteral("meas…broker-1"), QStringLiteral("meas…enders-1")}));
    QCOMPARE(heads({"node1" + tail, "node2" + tail, "node17" + tail}),
             QStringList({QStringLiteral("node1.a…org"), QStringLiteral("node2.a…org"), QStringLiteral("node17.a…org")}));
    const std::string end = tail.substr(0, 32);  // a name has at most 64 letters
    QCOMPARE(heads({head + "a" + end, head + "b" + end}),
             QStringList({QStringLiteral("…-12-a.a.very…"), QStringLiteral("…-12-b.a.very…")}));
  }

  void a_name_for_which_a_source_has_no_room_is_whole_in_its_list() {
    const QString long_name = QStringLiteral("machine-of-the-").repeated(3);
    bench->hosts().put(named(qPrintable(long_name + QStringLiteral("end"))));
    bench->window().show_page(QStringLiteral("Bench"));
    auto* senders = bench->find<QComboBox>("field_senders_host");
    senders->showPopup();
    const QAbstractItemView* list = senders->view();
    QVERIFY(list->isVisible());
    QVERIFY(list->width() > senders->width());
    QVERIFY(list->viewport()->width() >= list->fontMetrics().horizontalAdvance(senders->itemText(1)));
    senders->hidePopup();
  }

  void a_source_offers_local_and_the_machines_and_says_internal_or_external() {
    for (const char* name : {"lab-1", "lab-2"}) bench->hosts().put(named(name));
    bench->window().show_page(QStringLiteral("Bench"));
    auto* broker = bench->find<QComboBox>("field_broker_host");
    auto* senders = bench->find<QComboBox>("field_senders_host");
    auto* place = bench->find<QLabel>("place_senders");
    QCOMPARE(broker->count(), 3);
    QCOMPARE(place->text(), QStringLiteral("Source internal"));
    broker->setFocus();
    QTest::keyClick(broker, Qt::Key_Down);
    QCOMPARE(bench->form().settings().broker.host, std::string("lab-1"));
    QCOMPARE(place->text(), QStringLiteral("Source external"));
    senders->setFocus();
    QTest::keyClick(senders, Qt::Key_Down);
    QCOMPARE(place->text(), QStringLiteral("Source internal"));
    QCOMPARE(bench->find<QLabel>("place_receivers")->text(), QStringLiteral("Source external"));
    bench->hosts().remove("lab-1");
    QCOMPARE(broker->currentText(), QStringLiteral("lab-1"));
    QCOMPARE(broker->accessibleName(), QStringLiteral("Source: lab-1 (unknown)"));
    QCOMPARE(bench->find<QLabel>("place_N2NQ")->text(), QStringLiteral("Source unknown"));
    QCOMPARE(bench->find<QLabel>("place_N2NQ")->property("tone").toString(), QStringLiteral("warning"));
    QCOMPARE(bench->find<QLabel>("invitation")->text(),
             QStringLiteral("No run yet. The Source of N2NQ is lab-1, which is not on the page Hosts: choose another, or add it there."));
    bench->hosts().put(named("lab-1"));
    QVERIFY(bench->find<QLabel>("invitation")->text().contains(QStringLiteral("Press F5")));
    QCOMPARE(bench->find<QLabel>("place_N2NQ")->text(), QStringLiteral("Source"));
  }

  void a_long_name_makes_the_window_no_wider() {
    const std::string name = "WWW_measurement_cluster_north_building_n2nq_broker_machine_no_01";
    bench->hosts().put(named(name.c_str()));
    bench->window().show_page(QStringLiteral("Bench"));
    const int least_px = bench->window().minimumSizeHint().width();
    for (const char* key : {"broker.host", "senders.host", "receivers.host"}) bench->form().set(key, QString::fromStdString(name));
    QCoreApplication::processEvents();
    QCOMPARE(bench->window().minimumSizeHint().width(), least_px);
  }

  void the_narrowest_source_shows_local_whole() {
    auto* box = bench->find<QComboBox>("field_senders_host");
    constexpr int around_px = 28;  // what the box draws beside its text
    QVERIFY2(box->minimumSizeHint().width() >= box->fontMetrics().horizontalAdvance(QStringLiteral("Local")) + around_px,
             qPrintable(QString::number(box->fontMetrics().horizontalAdvance(QStringLiteral("Local")))));
  }

  void a_start_on_a_machine_that_nobody_knows_says_so() {
    bench->form().set("senders.host", "lab-9");
    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(bench->click("button_start_all"));
    QCOMPARE(bench->run().state(), app::RunState::idle);
    QVERIFY2(bench->messages().contains("Not started: senders.host is lab-9, which is no host of"), qPrintable(bench->messages()));
  }

  void a_start_that_is_refused_leaves_the_last_run_on_the_screen() {
    bench->window().show_page(QStringLiteral("Bench"));
    bench->set({{"senders.amount", "2"}, {"receivers.amount", "2"}, {"senders.messages", "5"}, {"senders.delay_ms", "20"}});
    QVERIFY(bench->click("button_start_all"));
    QVERIFY(bench->wait_for_state(app::RunState::finished));
    const auto tables = bench->window().findChildren<QTableView*>();
    const auto words = [&] {
      QStringList all;
      for (const QTableView* each : tables) {
        if (!each->isVisible()) continue;
        for (int row = 0; row < each->model()->rowCount(); ++row) {
          for (int column = 0; column < each->model()->columnCount(); ++column) all += each->model()->index(row, column).data().toString();
        }
      }
      return all;
    };
    const QStringList before = words();
    QVERIFY2(!before.filter(QRegularExpression(QStringLiteral("^[0-9]"))).isEmpty(), qPrintable(before.join(QLatin1Char(' '))));
    bench->form().set("senders.host", "lab-9");
    QVERIFY(bench->click("button_start_all"));
    QVERIFY(bench->messages().contains("senders.host is lab-9"));
    QCOMPARE(words(), before);
  }
};

QTEST_MAIN(TestHosts)
#include "test_hosts.moc"
