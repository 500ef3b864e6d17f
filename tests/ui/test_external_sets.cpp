// SPDX-License-Identifier: GPL-3.0-or-later
// The machines that test cases' external sets run on, as the page of test cases offers them.
#include <QAbstractButton>
#include <QComboBox>
#include <QTest>

#include "tests/ui/support/cases_page_test.h"
#include "ui/widget/elided_label.h"

class TestExternalSets : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

  QComboBox* box(int which) {
    const char* const boxes[] = {"case_host_broker", "case_host_senders", "case_host_receivers"};
    return bench->find<QComboBox>(QString::fromLatin1(boxes[which]));
  }
  void choose(int which, int at) {
    box(which)->setCurrentIndex(at);
    emit box(which)->activated(at);
  }
  void put(const char* name) {
    n2nq::app::Host host;
    host.name = name;
    host.address = "127.0.0.1";
    QCOMPARE(bench->hosts().put(host), QString());
  }
  /// The own case runs, and is paused; that of places, which was to follow, waits.
  void pause_before_places() {
    desk().run({own, places}, n2nq::ui::CasesDesk::Begin::anew);
    QVERIFY(n2nq::ui_test::BenchWindow::wait_for([this] { return row().runs_done >= 1; }));
    QVERIFY(bench->click(QStringLiteral("button_cases_pause")));
    QVERIFY(wait_off());
    QVERIFY(settled());
    QCOMPARE(desk().resumable(), (std::vector<int>{places, own}));
    QVERIFY(waiting().waits_to_begin() && button("button_cases_resume")->isEnabled());
  }
  const n2nq::ui::CasesDesk::Row& waiting() { return desk().rows()[places]; }
  static constexpr int places = 4;  // the row of a case with external sets

 private slots:
  void what_waits_since_a_pause_is_not_begun_by_what_was_not_asked_for() {
    for (int at = 0; at <= own; ++at) desk().set_ticked(at, at == places || at == own);
    for (const char* name : {"h1", "h2", "h3"}) put(name);
    for (int i = 0; i < 3; ++i) choose(i, i + 1);
    QVERIFY(settled());
    pause_before_places();
    auto* resume = button("button_cases_resume");
    // A number that is refused would be in nobody's way: what is chosen is as before.
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("0")));
    QVERIFY2(!resume->isEnabled() && resume->toolTip().startsWith(QStringLiteral("Repeats of each run must be")), qPrintable(resume->toolTip()));
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QString()));
    QVERIFY(settled());
    QVERIFY(waiting().waits_to_begin() && resume->isEnabled());
    // A machine that is gone by then is found out before anything is begun, not hours later.
    QCOMPARE(bench->hosts().remove(QStringLiteral("h3")), QString());
    resume->click();
    QVERIFY2(bench->messages().contains(QStringLiteral("External sets are to run on h3, but there is no such machine")),
             qPrintable(bench->messages()));
    QVERIFY(!desk().is_on());
    // Without all three it would run somewhere else: it waits no longer, and what was begun goes on.
    choose(2, 0);
    QVERIFY(settled());
    QVERIFY(waiting().state == n2nq::ui::CasesDesk::State::not_begun);
    QCOMPARE(desk().resumable(), std::vector<int>{own});
    QVERIFY2(resume->isEnabled(), qPrintable(resume->toolTip()));
    for (int i = 0; i < 2; ++i) choose(i, 0);
    QVERIFY(settled());
    // Nor does it at another scale.
    pause_before_places();
    QVERIFY(bench->click(QStringLiteral("scale_thesis")));
    QVERIFY(settled());
    QVERIFY(desk().resumable().empty());
    QVERIFY(bench->click(QStringLiteral("scale_quick")));
    QVERIFY(settled());
    QCOMPARE(desk().resumable(), std::vector<int>{own});
    for (const char* name : {"h1", "h2"}) QCOMPARE(bench->hosts().remove(QString::fromLatin1(name)), QString());
    QVERIFY(settled());
  }

  void machines_of_external_sets_stay_as_they_were_chosen() {
    for (const char* name : {"h1", "h2", "h3"}) put(name);
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
