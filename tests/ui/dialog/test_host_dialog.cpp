// SPDX-License-Identifier: GPL-3.0-or-later
// The dialog of a machine, opened from the page of hosts: a machine is added and edited, and what is not right is said beside it.
#include <QAbstractButton>
#include <QLabel>
#include <QTableView>
#include <QTest>

#include "tests/ui/support/hosts_page_test.h"

using namespace n2nq;
using namespace n2nq::ui_test;

class TestHostDialog : public HostsPageTest {
  Q_OBJECT

 private slots:
  void a_machine_is_added_edited_removed_and_brought_back() {
    QVERIFY(bench->find<QLabel>("hosts_invitation")->isVisible());
    in_dialog([](QWidget& dialog) {
      type_into(dialog, "host_name", "local");
      QTest::keyClick(&dialog, Qt::Key_Return);
      auto* problem = dialog.findChild<QLabel*>("host_name_problem");
      QCOMPARE(problem->text(), QStringLiteral("✕ must not be local: that is this machine"));
      QVERIFY(dialog.isVisible());
      type_into(dialog, "host_name", "lab-1");
      QCOMPARE(problem->text(), QString());
      type_into(dialog, "host_port", "2222");
      QTest::keyClick(&dialog, Qt::Key_Return);
    });
    QVERIFY(bench->click("button_host_add"));
    QCOMPARE(bench->hosts().hosts().hosts.size(), 1u);
    QCOMPARE(bench->hosts().hosts().find("lab-1")->port, 2222);
    QVERIFY(!bench->find<QLabel>("hosts_invitation")->isVisible());

    QVERIFY(bench->click("button_host_check"));
    bench->checker().find(false);
    in_dialog([](QWidget& dialog) { QTest::keyClick(&dialog, Qt::Key_Return); });
    QTest::keyClick(table(), Qt::Key_Return);
    QVERIFY2(bench->checker().hosts().count("lab-1") == 1, "nothing was changed");
    in_dialog([](QWidget& dialog) {
      type_into(dialog, "host_data_address", "10.0.0.7");
      QTest::mouseClick(dialog.findChild<QAbstractButton*>("host_keep_files"), Qt::LeftButton);
      QTest::keyClick(&dialog, Qt::Key_Return);
    });
    QTest::keyClick(table(), Qt::Key_Return);
    QVERIFY2(bench->checker().hosts().count("lab-1") == 0, "it was found with other settings");
    QCOMPARE(bench->hosts().hosts().find("lab-1")->data_address, std::string("10.0.0.7"));
    QVERIFY(file_text(bench->hosts().path()).contains("keep_files: \"yes\""));
    in_dialog([](QWidget& dialog) {
      QVERIFY(dialog.findChild<QAbstractButton*>("host_keep_files")->isChecked());
      QTest::mouseClick(dialog.findChild<QAbstractButton*>("host_keep_files"), Qt::LeftButton);
      QTest::keyClick(&dialog, Qt::Key_Return);
    });
    QTest::keyClick(table(), Qt::Key_Return);
    QVERIFY(!bench->hosts().hosts().find("lab-1")->keep_files);

    QTest::keyClick(table(), Qt::Key_Delete);
    QVERIFY(bench->hosts().hosts().hosts.empty());
    QVERIFY(bench->click("button_host_undo"));
    QCOMPARE(bench->hosts().hosts().find("lab-1")->data_address, std::string("10.0.0.7"));
    QVERIFY(!bench->find<QAbstractButton>("button_host_undo")->isEnabled());
  }

  void an_edit_leaves_what_an_editor_has_changed_in_that_machine_meanwhile() {
    bench->hosts().put(named("lab-1"));
    table()->selectRow(1);
    in_dialog([this](QWidget& dialog) {
      QVERIFY(write_by_hand("format: 1\nhosts:\n  - {name: lab-1, data_address: 10.0.0.7, keep_files: yes}\n"));
      type_into(dialog, "host_port", "2222");
      QTest::keyClick(&dialog, Qt::Key_Return);
    });
    QTest::keyClick(table(), Qt::Key_Return);
    const app::Host* host = bench->hosts().hosts().find("lab-1");
    QVERIFY(host != nullptr);
    QCOMPARE(host->port, 2222);
    QCOMPARE(host->data_address, std::string("10.0.0.7"));
    QVERIFY(host->keep_files);

    in_dialog([this](QWidget& dialog) {
      QVERIFY(write_by_hand("format: 1\nhosts:\n  - name: lab-2\n"));
      type_into(dialog, "host_port", "2223");
      QTest::keyClick(&dialog, Qt::Key_Return);
      QVERIFY(dialog.isVisible());
      const QString refused = dialog.findChild<QLabel*>("host_refused")->text();
      QVERIFY2(refused.contains(QStringLiteral("lab-1 is no machine of the list any more")), qPrintable(refused));
    });
    QTest::keyClick(table(), Qt::Key_Return);
    QVERIFY(bench->hosts().hosts().find("lab-1") == nullptr);
    QCOMPARE(bench->hosts().hosts().find("lab-2")->port, 0);
  }

  void reasons_of_several_lines_and_the_box_are_whole() {
    in_dialog([](QWidget& dialog) {
      type_into(dialog, "host_name", "not a name");
      type_into(dialog, "host_address", "user@lab-1:22");
      type_into(dialog, "host_port", "much");
      type_into(dialog, "host_data_address", "lab-1");
      type_into(dialog, "host_folder", "../" + QString(150, QLatin1Char('x')));
      QTest::keyClick(&dialog, Qt::Key_Return);
      QVERIFY(dialog.isVisible());
      for (const QLabel* label : dialog.findChildren<QLabel*>()) {
        if (label->text().isEmpty()) continue;
        QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
        QVERIFY2(dialog.rect().contains(label->geometry()), qPrintable(label->text()));
      }
      const auto* box = dialog.findChild<QAbstractButton*>("host_keep_files");
      QVERIFY(box->width() >= box->sizeHint().width());
    });
    QVERIFY(bench->click("button_host_add"));
  }
};

QTEST_MAIN(TestHostDialog)
#include "test_host_dialog.moc"
