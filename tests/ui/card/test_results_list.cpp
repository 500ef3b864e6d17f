// SPDX-License-Identifier: GPL-3.0-or-later
// The list of results by itself: how its latencies are told, and which column has room for what.
#include <QAbstractItemView>
#include <QComboBox>
#include <QHeaderView>
#include <QPersistentModelIndex>
#include <QSignalSpy>
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

  void a_click_on_a_head_sorts_by_it_and_takes_nobodys_choice_away() {
    const auto run = [](const QString& name, double p50_us, qint64 deliveries) {
      n2nq::app::ResultEntry out{};
      out.folder = QStringLiteral("/runs/") + name;
      out.name = name;
      out.verdict = std::isnan(p50_us) ? QStringLiteral("unfinished") : QStringLiteral("clean");
      out.p50_us = out.p99_us = p50_us;
      out.deliveries = deliveries;
      return out;
    };
    // As the index has them, the newest first.
    std::vector<n2nq::app::ResultEntry> entries = {run(QStringLiteral("c"), 9.5, 100), run(QStringLiteral("A"), 10, 1000),
                                                   run(QStringLiteral("d"), std::nan(""), 0), run(QStringLiteral("b"), 9.5, 90)};
    ShownList list;
    QVERIFY(QTest::qWaitForWindowExposed(&list, n2nq::ui_test::deadline_ms));
    list.set_entries(entries);
    auto* shown = list.findChild<QTableView*>(QStringLiteral("results_table"));
    QHeaderView* heads = shown->horizontalHeader();
    const auto text = [shown](int row) { return shown->model()->index(row, ResultsModel::name).data().toString(); };
    const auto rows = [&] {
      QStringList out;
      for (int row = 0; row < shown->model()->rowCount(); ++row) out += text(row);
      return out.join(u' ');
    };
    const auto click = [heads](int column) {
      const QPoint middle(heads->sectionViewportPosition(column) + heads->sectionSize(column) / 2, heads->height() / 2);
      QTest::mouseClick(heads->viewport(), Qt::LeftButton, {}, middle);
    };
    const auto head = [shown](int column) { return shown->model()->headerData(column, Qt::Horizontal).toString(); };
    const auto chosen = [&list] {
      QStringList out;
      for (const n2nq::app::ResultEntry& entry : list.chosen()) out += entry.name;
      out.sort();
      return out.join(u' ');
    };
    QCOMPARE(rows(), QStringLiteral("c A d b"));
    QCOMPARE(head(ResultsModel::started), QStringLiteral("↓ started"));
    list.choose({QStringLiteral("/runs/A"), QStringLiteral("/runs/b")});
    const auto is_kept = [&] { return chosen() == QStringLiteral("A b") && text(shown->currentIndex().row()) == QStringLiteral("A"); };
    QVERIFY(is_kept());
    // Numbers as numbers, of equal ones the newest first, and what has none behind them, either way round.
    click(ResultsModel::p50);
    QCOMPARE(rows(), QStringLiteral("c b A d"));
    QCOMPARE(head(ResultsModel::p50), QStringLiteral("↑ p50 µs"));
    QCOMPARE(head(ResultsModel::started), QStringLiteral("started"));
    QVERIFY(is_kept());
    click(ResultsModel::p50);
    QCOMPARE(rows(), QStringLiteral("A c b d"));
    QCOMPARE(head(ResultsModel::p50), QStringLiteral("↓ p50 µs"));
    QVERIFY(is_kept());
    click(ResultsModel::deliveries);
    QCOMPARE(rows(), QStringLiteral("b c A d"));
    QVERIFY(is_kept());
    // So it stays when the list is read again, behind another run, and when it is narrowed.
    entries.insert(entries.begin(), run(QStringLiteral("e"), 1, 95));
    list.set_entries(entries);
    QCOMPARE(rows(), QStringLiteral("b e c A d"));
    QVERIFY(is_kept());
    auto* verdicts = list.findChild<QComboBox*>(QStringLiteral("results_verdict"));
    verdicts->setCurrentText(QStringLiteral("clean"));
    QCOMPARE(rows(), QStringLiteral("b e c A"));
    verdicts->setCurrentIndex(0);
    list.choose({QStringLiteral("/runs/A"), QStringLiteral("/runs/b")});
    click(ResultsModel::name);
    QCOMPARE(rows(), QStringLiteral("A b c d e"));
    QVERIFY(is_kept());
    click(ResultsModel::started);
    QCOMPARE(rows(), QStringLiteral("e c A d b"));
    click(ResultsModel::started);
    QCOMPARE(rows(), QStringLiteral("b d A c e"));
    QCOMPARE(head(ResultsModel::started), QStringLiteral("↑ started"));
    QVERIFY(is_kept());
  }

  void a_list_that_is_read_again_takes_nothing_from_under_the_hand() {
    n2nq::app::ResultEntry run{};
    run.folder = QStringLiteral("/runs/one");
    run.name = QStringLiteral("one");
    run.tags = {QStringLiteral("disk"), QStringLiteral("old")};
    n2nq::app::ResultEntry other = run;
    other.folder = QStringLiteral("/runs/two");
    const LightTheme theme;
    ResultsModel model(theme);
    model.set_entries({run, other});
    const QPersistentModelIndex note(model.index(1, ResultsModel::note));
    const QSignalSpy reset(&model, &ResultsModel::modelReset);
    other.note = QStringLiteral("before the new disk");
    model.set_entries({run, other});
    QVERIFY(note.isValid());
    QCOMPARE(note.data().toString(), QStringLiteral("before the new disk"));
    QCOMPARE(reset.size(), 0);
    // Nor the tags out of a box that is open.
    ShownList list;
    QVERIFY(QTest::qWaitForWindowExposed(&list, n2nq::ui_test::deadline_ms));
    auto* tags = list.findChild<QComboBox*>(QStringLiteral("results_tag"));
    QVERIFY(!tags->isVisible());
    list.set_entries({run, other});
    QVERIFY(tags->isVisible());
    tags->showPopup();
    tags->view()->setCurrentIndex(tags->model()->index(2, 0));
    list.set_entries({run, other});
    QCOMPARE(tags->view()->currentIndex().row(), 2);
    QTest::keyClick(tags->view(), Qt::Key_Return);
    QCOMPARE(tags->currentText(), QStringLiteral("old"));
  }

  void a_head_has_room_for_its_arrow_and_a_click_on_it_moves_none() {
    n2nq::app::ResultEntry run{};
    run.folder = QStringLiteral("/runs/one");
    run.name = QStringLiteral("one");
    run.mode = QStringLiteral("broadcaster");
    run.machines = QStringLiteral("local");
    run.verdict = QStringLiteral("clean");
    run.senders = run.receivers = 1;
    ShownList list;
    QVERIFY(QTest::qWaitForWindowExposed(&list, n2nq::ui_test::deadline_ms));
    list.set_entries({run});
    auto* shown = list.findChild<QTableView*>(QStringLiteral("results_table"));
    QHeaderView* heads = shown->horizontalHeader();
    QVERIFY(BenchWindow::wait_for([&] { return heads->length() == shown->viewport()->width(); }));
    const auto widths = [shown] {
      QList<int> out;
      for (int column = 0; column < ResultsModel::column_count; ++column) out += shown->columnWidth(column);
      return out;
    };
    const QList<int> before = widths();
    constexpr int around_px = 12;
    for (int column = 0; column < ResultsModel::column_count; ++column) {
      shown->sortByColumn(column, Qt::AscendingOrder);
      list.set_entries({run});
      const QString head = shown->model()->headerData(column, Qt::Horizontal).toString();
      QVERIFY(head.startsWith(QStringLiteral("↑ ")));
      QVERIFY2(shown->columnWidth(column) >= heads->fontMetrics().horizontalAdvance(head) + around_px, qPrintable(head));
      QCOMPARE(widths(), before);
    }
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
