// SPDX-License-Identifier: GPL-3.0-or-later
// This machine's data address, on the page of hosts: typed, refused until it is right, and changed beside the window.
#include <QAbstractButton>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTest>

#include "tests/ui/support/hosts_page_test.h"

using namespace n2nq;
using namespace n2nq::ui_test;

class TestDataAddress : public HostsPageTest {
  Q_OBJECT

 private slots:
  void a_data_address_that_was_typed_counts_for_a_check_by_key() {
    bench->hosts().put(named("lab-1"));
    auto* field = bench->find<QLineEdit>("local_data_address");
    field->setFocus();
    QTest::keyClicks(field, "192.0.2.7");
    QTest::keyClick(field, Qt::Key_R, Qt::ControlModifier);
    QCOMPARE(bench->hosts().hosts().local_data_address, std::string("192.0.2.7"));
  }

  void a_data_address_that_is_not_right_yet_stays_until_it_is() {
    bench->hosts().put(named("lab-1"));
    auto* field = bench->find<QLineEdit>("local_data_address");
    field->setFocus();
    QTest::keyClicks(field, "10.0.0.");
    field->clearFocus();
    const auto is_kept = [&] { return field->text() == QStringLiteral("10.0.0.") && field->property("refused").toBool(); };
    QVERIFY(is_kept());
    table()->selectRow(0);
    table()->selectRow(1);
    QVERIFY2(is_kept(), "after a click on another machine");
    bench->checker().check(bench->hosts().hosts(), 0);
    bench->checker().find(false);
    QVERIFY2(is_kept(), "after a check");
    const auto told = [this] { return bench->find<QLabel>("hosts_problem")->text(); };
    const QString why = told();
    QVERIFY2(why.contains(QStringLiteral("10.0.0.")), qPrintable(why));
    QVERIFY(bench->click("button_host_remove") && bench->click("button_host_undo"));
    QCOMPARE(told(), why);
    const QByteArray text = file_text(bench->hosts().path());
    QVERIFY(write_by_hand(text + "  - {name: lab-2, prot: 2}\n"));
    bench->hosts().look_again();
    QVERIFY(!field->isEnabled());
    QVERIFY(write_by_hand(text));
    bench->hosts().look_again();
    QVERIFY(field->isEnabled());
    table()->selectRow(0);
    QVERIFY2(is_kept(), "after the file was mended");
    QCOMPARE(told(), why);
    QVERIFY(bench->type("local_data_address", "10.0.0.5"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(bench->hosts().hosts().local_data_address, std::string("10.0.0.5"));
    QVERIFY(!field->property("refused").toBool());
  }

  void what_an_editor_writes_is_not_undone_by_a_field_that_was_only_looked_at() {
    bench->hosts().put(named("lab-1"));
    auto* field = bench->find<QLineEdit>("local_data_address");
    QVERIFY(bench->type("local_data_address", "10.0.0.1"));
    field->clearFocus();
    QCOMPARE(bench->hosts().hosts().local_data_address, "10.0.0.1");
    const QString path = bench->hosts().path();
    const QByteArray text = file_text(path);
    field->setFocus();
    QVERIFY(write_by_hand(QByteArray(text).replace("10.0.0.1", "10.0.0.2")));
    field->clearFocus();
    QVERIFY(file_text(path).contains("10.0.0.2"));
    // It is seen as soon as somebody comes back.
    QVERIFY(bench->come_back());
    QCOMPARE(field->text(), QStringLiteral("10.0.0.2"));
    QVERIFY(write_by_hand(QByteArray(text).replace("lab-1", "lab-5")));
    QVERIFY(bench->click("button_host_check"));
    QVERIFY2(bench->hosts().hosts().find("lab-5") != nullptr, "a check is of what the file says now");
    bench->checker().cancel();
    // Broken, looked at, and mended: it is read again by itself, and nothing is written.
    QVERIFY(write_by_hand(text + "  - {name: lab-2, prot: 2}\n"));
    QVERIFY(bench->come_back());
    QVERIFY(bench->find<QLabel>("hosts_problem")->text().contains(QStringLiteral("prot")));
    QVERIFY(!bench->find<QAbstractButton>("button_host_add")->isEnabled() && !field->isEnabled());
    const QByteArray mended = QByteArray(text).replace("10.0.0.1", "10.0.0.3");
    QVERIFY(write_by_hand(mended));
    QTRY_COMPARE(field->text(), QStringLiteral("10.0.0.3"));
    QCOMPARE(bench->find<QLabel>("hosts_problem")->text(), QString());
    QVERIFY(bench->find<QAbstractButton>("button_host_add")->isEnabled());
    field->setFocus();
    field->clearFocus();
    QCOMPARE(file_text(path), mended);
  }

  void the_own_address_is_checked_before_it_is_kept() {
    QVERIFY(bench->type("local_data_address", "bench.example.org"));
    QTest::keyClick(bench->find<QLineEdit>("local_data_address"), Qt::Key_Return);
    QVERIFY(bench->find<QLabel>("hosts_problem")->text().contains("must be a numeric address"));
    QVERIFY(bench->hosts().hosts().local_data_address.empty());
    QVERIFY(bench->type("local_data_address", "10.0.0.2"));
    QTest::keyClick(bench->find<QLineEdit>("local_data_address"), Qt::Key_Return);
    QCOMPARE(bench->hosts().hosts().local_data_address, std::string("10.0.0.2"));
    QCOMPARE(bench->find<QLabel>("hosts_problem")->text(), QString());
  }

  void why_ways_to_this_machine_are_unknown_can_be_read_below_them_until_its_address_is_given() {
    bench->hosts().put(named("lab-1"));
    bench->window().resize(1280, 720);
    QCoreApplication::processEvents();
    const auto* hint = bench->find<QLabel>("paths_hint");
    QVERIFY(hint->isVisible() && hint->visibleRegion().boundingRect().size() == hint->size());
    QVERIFY(hint->text().contains(QStringLiteral("data address")));
    QVERIFY(bench->type("local_data_address", "10.0.0.2"));
    QTest::keyClick(bench->find<QLineEdit>("local_data_address"), Qt::Key_Return);
    QVERIFY(!hint->isVisible());
  }
};

QTEST_MAIN(TestDataAddress)
#include "test_data_address.moc"
