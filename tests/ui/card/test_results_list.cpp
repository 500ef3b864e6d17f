// SPDX-License-Identifier: GPL-3.0-or-later
// The list of results by itself: how its latencies are told, and which column has room for what.
#include <QHeaderView>
#include <QTableView>
#include <QTest>
#include <cmath>

#include "tests/ui/support/bench_window.h"
#include "ui/card/results_list.h"
#include "ui/text/figures.h"
#include "ui/widget/middle_elided.h"

using n2nq::ui::ResultsModel;
using n2nq::ui_test::BenchWindow;

namespace {

struct LightTheme : n2nq::ui::Theme {
  LightTheme() { choose(n2nq::ui::ThemeChoice::light); }
};

/// Constructed before what is drawn with it.
struct WithLightTheme {
  LightTheme theme;
};

/// As large as in a window of 1280 x 720.
struct ShownList : WithLightTheme, n2nq::ui::ResultsList {
  ShownList() : ResultsList(theme) {
    resize(1256, 588);
    show();
  }
  const QTableView* table() const { return findChild<QTableView*>(QStringLiteral("results_table")); }
};

}  // namespace

class TestResultsList : public QObject {
  Q_OBJECT

 private slots:
  void a_latency_and_its_bound_hold_in_the_list_all_that_it_may_be() {
    const LightTheme theme;
    ResultsModel model(theme);
    const auto shown = [&model](double clock_bound_us) {
      n2nq::app::ResultEntry run;
      run.p50_us = 38.49;
      run.p99_us = 412;
      run.clock_bound_us = clock_bound_us;
      model.set_entries({run});
      return model.index(0, ResultsModel::p50).data().toString() + u'|' + model.index(0, ResultsModel::p99).data().toString();
    };
    QCOMPARE(shown(12.49), QStringLiteral("38 ± 13|412 ± 13"));
    QCOMPARE(shown(12.6), QStringLiteral("38 ± 14|412 ± 13"));
    QCOMPARE(shown(0.2), QStringLiteral("38 ± 1|412 ± 1"));
    QCOMPARE(shown(INFINITY), QStringLiteral("38 ± ?|412 ± ?"));
    for (const double none : {0.0, std::nan("")}) QCOMPARE(shown(none), QStringLiteral("38.5|412.0"));
    shown(49.2);
    const QString why = model.index(0, ResultsModel::p50).data(Qt::ToolTipRole).toString();
    QVERIFY2(why.contains(QStringLiteral("known to ± 50 µs, more than the median")), qPrintable(why));
    n2nq::app::ResultEntry slow;
    slow.p50_us = 999.94;
    slow.p99_us = 1'396'736.04;
    model.set_entries({slow});
    QCOMPARE(model.index(0, ResultsModel::p50).data().toString(), QStringLiteral("999.9"));
    QCOMPARE(model.index(0, ResultsModel::p99).data().toString(), QStringLiteral("1\u202f396\u202f736"));
    const QString told = model.index(0, ResultsModel::p99).data(Qt::ToolTipRole).toString();
    QVERIFY2(told.startsWith(QStringLiteral("1\u202f396\u202f736.040 µs\n")), qPrintable(told));
  }

  void machines_have_room_unless_all_there_is_has_to_be_shown() {
    n2nq::app::ResultEntry run;
    run.folder = QStringLiteral("/runs/apart");
    run.name = QStringLiteral("apart");
    run.mode = QStringLiteral("load-balancer");
    run.senders = run.receivers = 10;
    run.machines = QStringLiteral("lab-1, lab-2, lab-3");
    run.verdict = QStringLiteral("degraded");
    run.p50_us = 229;
    run.p99_us = 900;
    run.mean_lowest_95_us = 230;
    run.clock_bound_us = 33;
    run.deliveries = run.samples = 20'000;
    ShownList list;
    QVERIFY(QTest::qWaitForWindowExposed(&list, n2nq::ui_test::deadline_ms));
    const auto* shown = list.table();
    const auto where = [shown] { return shown->model()->index(0, ResultsModel::machines); };
    const auto width_px = [shown] { return shown->columnWidth(ResultsModel::machines); };
    // The last column has what is left over.
    const auto all_fit = [shown] { return shown->horizontalHeader()->length() == shown->viewport()->width(); };
    const auto widths = [shown] {
      QString out = QStringLiteral("room %1:").arg(shown->viewport()->width());
      for (int column = 0; column < ResultsModel::column_count; ++column) out += QStringLiteral(" %1").arg(shown->columnWidth(column));
      return out;
    };
    list.set_entries({run});
    QVERIFY2(BenchWindow::wait_for(all_fit), qPrintable(widths()));
    const int needed_px = shown->fontMetrics().horizontalAdvance(where().data().toString()), whole_px = width_px();
    QVERIFY2(whole_px > needed_px, qPrintable(QStringLiteral("%1 of %2").arg(whole_px).arg(needed_px)));
    // Where all there is has to be shown it gives way.
    run.disturbed = QStringLiteral("others ran");
    run.note = QStringLiteral("before the new disk");
    run.tags = QStringList(QStringLiteral("baseline"));
    list.set_entries({run});
    QVERIFY2(BenchWindow::wait_for(all_fit), qPrintable(widths()));
    QVERIFY2(width_px() < whole_px, qPrintable(QStringLiteral("%1 of %2").arg(width_px()).arg(whole_px)));
    QVERIFY(width_px() >= shown->horizontalHeader()->sectionSizeHint(ResultsModel::machines));
    QCOMPARE(where().data(Qt::ToolTipRole).toString(), QStringLiteral("lab-1, lab-2, lab-3"));
    run.machines.clear();  // of a case of which no run is finished
    list.set_entries({run});
    QCOMPARE(where().data().toString(), n2nq::ui::dash());
  }

  void so_many_deliveries_as_a_long_run_has_are_whole() {
    n2nq::app::ResultEntry run{};
    run.folder = QStringLiteral("/runs/long");
    run.name = QStringLiteral("long");
    run.verdict = QStringLiteral("clean");
    run.deliveries = 12'345'678'901;
    ShownList list;
    QVERIFY(QTest::qWaitForWindowExposed(&list, n2nq::ui_test::deadline_ms));
    list.set_entries({run});
    const auto* shown = list.table();
    const QString text = shown->model()->index(0, ResultsModel::deliveries).data().toString();
    constexpr int around_px = 12;
    const int needed_px = shown->fontMetrics().horizontalAdvance(text) + around_px;
    QVERIFY2(BenchWindow::wait_for([&] { return shown->columnWidth(ResultsModel::deliveries) >= needed_px; }), qPrintable(text));
    QVERIFY(shown->horizontalHeader()->length() <= shown->viewport()->width());
  }

  void names_have_room_before_notes_and_are_whole_under_the_mouse() {
    n2nq::app::ResultEntry run;
    run.folder = QStringLiteral("/runs/2026-11-20T10-17-05-sweep-quick/runs/0011-load-balancer-20-r2");
    run.name = QStringLiteral("0011-load-balancer-20-r2");
    run.test_case = QStringLiteral("Small sweep");
    run.mode = QStringLiteral("load-balancer");
    run.verdict = QStringLiteral("degraded");
    run.note = QStringLiteral("before the new disk, with the old kernel, and once more");
    run.tags = QStringList(QStringLiteral("baseline"));
    ShownList list;
    QVERIFY(QTest::qWaitForWindowExposed(&list, n2nq::ui_test::deadline_ms));
    list.set_entries({run});
    const auto* shown = list.table();
    const QModelIndex name = shown->model()->index(0, ResultsModel::name);
    QVERIFY(BenchWindow::wait_for([&] { return shown->columnWidth(ResultsModel::name) > shown->fontMetrics().horizontalAdvance(name.data().toString()); }));
    QVERIFY(shown->horizontalHeader()->length() <= shown->viewport()->width());
    for (const int column : {ResultsModel::tags, ResultsModel::note})
      QVERIFY(shown->columnWidth(column) >= shown->horizontalHeader()->sectionSizeHint(column));
    QCOMPARE(name.data(Qt::ToolTipRole).toString(), name.data().toString() + u'\n' + run.folder);
    QCOMPARE(shown->model()->index(0, ResultsModel::tags).data(Qt::ToolTipRole).toString(), QStringLiteral("baseline"));
    // Where even all of that is too little, both ends stay.
    QVERIFY(dynamic_cast<n2nq::ui::MiddleElided<>*>(shown->itemDelegateForColumn(ResultsModel::name)) != nullptr);
  }
};

QTEST_MAIN(TestResultsList)
#include "test_results_list.moc"
