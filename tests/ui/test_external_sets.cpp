// SPDX-License-Identifier: GPL-3.0-or-later
// The machines that test cases' external sets run on, as the page of test cases offers them.
#include <QAbstractButton>
#include <QComboBox>
#include <QTest>

#include "tests/ui/support/cases_page_test.h"
#include "ui/widget/elided_label.h"

class TestExternalSets : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

 private slots:
  void machines_of_external_sets_stay_as_they_were_chosen() {
    const char* const boxes[] = {"case_host_broker", "case_host_senders", "case_host_receivers"};
    const auto box = [&](int which) { return bench->find<QComboBox>(QString::fromLatin1(boxes[which])); };
    const auto choose = [&](int which, int at) {
      box(which)->setCurrentIndex(at);
      emit box(which)->activated(at);
    };
    for (const char* name : {"h1", "h2", "h3"}) {
      n2nq::app::Host host;
      host.name = name;
      host.address = "127.0.0.1";
      QCOMPARE(bench->hosts().put(host), QString());
    }
    // One or two are neither external sets nor none: nothing is begun without the others.
    const auto is_refused = [&] {
      bool both = true;
      for (const char* name : {"button_cases_run", "button_cases_run_all"}) {
        both = both && !button(name)->isEnabled() && button(name)->toolTip().contains(QStringLiteral("choose all three machines, or none"));
      }
      return both;
    };
    const auto is_marked = [&](int which) { return box(which)->property("refused").toBool(); };
    QVERIFY(settled());
    QVERIFY(button("button_cases_run")->isEnabled() && button("button_cases_run_all")->isEnabled());
    for (int i = 0; i < 3; ++i) {
      choose(i, i + 1);
      QCOMPARE(is_refused(), i < 2);
      for (int other = 0; other < 3; ++other) {
        QCOMPARE(is_marked(other), i < 2 && other > i);
        QCOMPARE(box(other)->toolTip().contains(QStringLiteral("choose all three machines, or none")), is_marked(other));
      }
      QCOMPARE(bench->find<n2nq::ui::ElidedLabel>(QStringLiteral("cases_problem"))->full_text(),
               i < 2 ? QStringLiteral("✕ External sets: choose all three machines, or none") : QString());
    }
    QVERIFY(settled());
    QVERIFY(button("button_cases_run")->isEnabled() && button("button_cases_run_all")->isEnabled());
    const n2nq::app::CaseHosts chosen{"h1", "h2", "h3"};
    const auto says_what_is_chosen = [&] {
      bool same = desk().choice().hosts == chosen;
      for (int i = 0; i < 3; ++i) {
        same = same && box(i)->isVisible() && box(i)->currentData().toString() == QStringLiteral("h%1").arg(i + 1);
      }
      return same;
    };
    QVERIFY(says_what_is_chosen());
    QCOMPARE(bench->hosts().remove(QStringLiteral("h3")), QString());
    QVERIFY(says_what_is_chosen());
    QCOMPARE(box(2)->currentText(), QStringLiteral("receivers: h3 (unknown)"));
    button("button_cases_run_all")->click();
    QVERIFY2(bench->messages().contains(QStringLiteral("External sets are to run on h3, but there is no such machine")),
             qPrintable(bench->messages()));
    QVERIFY(!desk().is_on());
    // Half way through an edit of the file.
    const QByteArray good = n2nq::ui_test::file_text(bench->hosts().path());
    QVERIFY(n2nq::ui_test::write_text(bench->hosts().path(), "hosts: ["));
    bench->hosts().look_again();
    QVERIFY(!bench->hosts().problems().isEmpty());
    QVERIFY(says_what_is_chosen());
    QVERIFY(n2nq::ui_test::write_text(bench->hosts().path(), good));
    bench->hosts().look_again();
    QVERIFY(says_what_is_chosen());
    QCOMPARE(box(0)->currentText(), QStringLiteral("N2NQ: h1"));
    for (int i = 0; i < 3; ++i) {
      choose(i, 0);
      QCOMPARE(is_refused(), i < 2);
    }
    for (const char* name : {"h1", "h2"}) QCOMPARE(bench->hosts().remove(QString::fromLatin1(name)), QString());
    QVERIFY(!desk().choice().hosts && !box(0)->isVisible());
    QVERIFY(settled());
  }
};

QTEST_MAIN(TestExternalSets)
#include "test_external_sets.moc"
