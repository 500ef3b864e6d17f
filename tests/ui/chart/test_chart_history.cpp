// SPDX-License-Identifier: GPL-3.0-or-later
// What charts are drawn from, without a chart: what they keep, how far their axes reach, and which part of the time is in sight.
#include <QTest>
#include <cmath>

#include "app/control/live_figures.h"
#include "ui/chart/axis_steps.h"
#include "ui/chart/chart_history.h"
#include "ui/chart/time_window.h"

namespace {

using namespace n2nq;
using namespace n2nq::ui;

class TestChartHistory : public QObject {
  Q_OBJECT
 private slots:
  void history_is_bounded_and_in_order();
  void what_is_kept_outlives_what_is_older();
  void axes_grow_at_once_and_shrink_late();
  void an_axis_reaches_below_0_for_what_lies_there();
  void a_live_window_follows_and_a_held_one_stays();
  void zoom_keeps_the_instant_under_the_pointer();
};

void TestChartHistory::history_is_bounded_and_in_order() {
  ChartHistory history(2, 100);
  for (int i = 0; i < 250; ++i) history.add(i * 0.1, {1.0 * i, app::unknown});
  QCOMPARE(history.size(), std::size_t(100));
  QCOMPARE(history.value(0, 0), 150.0);
  QVERIFY(std::isnan(history.value(1, 0)));
  history.add(3, {0, 0});  // before the newest
  history.add(99, {1});    // too few values
  QCOMPARE(history.size(), std::size_t(100));
  QCOMPARE(history.nearest(0), std::size_t(0));
  QCOMPARE(history.nearest(20.04), std::size_t(50));
  for (int i = 0; i < 200; ++i) history.mark(i, QStringLiteral("word"));
  QVERIFY(history.marks().size() <= ChartHistory::marks_max);
}

void TestChartHistory::what_is_kept_outlives_what_is_older() {
  ChartHistory history(1, 100);
  for (int i = 0; i < 100; ++i) history.add(i, {1.0 * i});
  history.keep(20, 29);
  for (int i = 100; i < 1000; ++i) history.add(i, {1.0 * i});
  QCOMPARE(history.size(), std::size_t(111));  // with the one before them
  QCOMPARE(history.first_time(), 19.0);
  QCOMPARE(history.value(0, 10), 29.0);
  QCOMPARE(history.time(11), 900.0);
  history.keep(0, 1e6);
  for (int i = 1000; i < 2000; ++i) history.add(i, {1.0 * i});
  QCOMPARE(history.size(), std::size_t(200));
  QCOMPARE(history.first_time(), 1800.0);
  history.keep(app::unknown, app::unknown);
  QCOMPARE(history.size(), std::size_t(100));
  QCOMPARE(history.first_time(), 1900.0);
}

void TestChartHistory::axes_grow_at_once_and_shrink_late() {
  QCOMPARE(axis_top(app::unknown, 0, 100), 100.0);
  QCOMPARE(axis_top(401, 0, 100), 600.0);
  QCOMPARE(axis_top(590, 600, 100), 800.0);
  QCOMPARE(axis_top(300, 600, 100), 600.0);  // could be 400, but it stays
  QCOMPARE(axis_top(200, 600, 100), 300.0);
  for (const double top : {1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0}) {
    const double step = top / axis_intervals(top) * 100;
    QVERIFY(std::abs(step - std::round(step)) < 1e-9);
  }
  const LogRange range = log_range(30, 2000, {});
  QCOMPARE(range.min, 10.0);
  QCOMPARE(range.max, 10000.0);
  QVERIFY(log_range(50, 900, range) == range);
  QVERIFY(log_range(app::unknown, app::unknown, range) == range);
}

void TestChartHistory::an_axis_reaches_below_0_for_what_lies_there() {
  const LinearRange ordinary = linear_range(0, 401, {}, 100);
  QVERIFY((ordinary == LinearRange{0, 600, 200}));
  QVERIFY(linear_range(app::unknown, app::unknown, ordinary, 100) == ordinary);
  const LinearRange both = linear_range(-200, 800, {}, 100);
  QVERIFY((both == LinearRange{-400, 1000, 200}));
  QVERIFY(linear_range(-170, 700, both, 100) == both);  // it could be shorter, but it stays
  QVERIFY((linear_range(10, 700, both, 100) == LinearRange{0, 1000, 200}));
  const LinearRange uneven = linear_range(-10'000, 7'000, {}, 100);
  QVERIFY((uneven == LinearRange{-12'000, 9'000, 3'000}));
  QVERIFY((linear_range(100, 7'000, uneven, 100) == LinearRange{0, 10'000, 2'000}));  // its top is a round one again
  const LinearRange below = linear_range(-4200, -4000, {}, 100);
  QVERIFY((below == LinearRange{-6000, 2000, 2000}));
  QVERIFY(linear_range(-4200, -4000, below, 100) == below);
  QVERIFY(linear_range(-4200, -4000, {0, 800'000, 200'000}, 100) == below);  // nothing is up there any more
}

void TestChartHistory::a_live_window_follows_and_a_held_one_stays() {
  TimeWindow window;
  window.set_limits(0, 100);
  QCOMPARE(window.from_s(), 40.0);
  QVERIFY(window.is_default());
  window.pan(-10);
  QVERIFY(!window.is_live());
  window.set_limits(0, 200);
  QCOMPARE(window.to_s(), 90.0);
  window.pan(-1000);
  QCOMPARE(window.from_s(), 0.0);  // something of what there is stays in sight
  window.pan(1000);
  QCOMPARE(window.to_s(), 200.0);
  QCOMPARE(window.now_s(), 200.0);  // nothing lies behind "now"
  window.reset();
  QVERIFY(window.is_default());
  QCOMPARE(window.to_s(), 200.0);
}

void TestChartHistory::zoom_keeps_the_instant_under_the_pointer() {
  TimeWindow window;
  window.set_limits(0, 100);
  window.zoom(0.5, 50);
  QVERIFY(window.is_live());
  QCOMPARE(window.to_s(), 100.0);
  QCOMPARE(window.span_s(), 30.0);
  window.pause();
  const double share = (80 - window.from_s()) / window.span_s();
  window.zoom(0.5, 80);
  QVERIFY(std::abs((80 - window.from_s()) / window.span_s() - share) < 1e-9);
  for (int i = 0; i < 50; ++i) window.zoom(0.5, 80);
  QCOMPARE(window.span_s(), TimeWindow::span_min_s);
}

}  // namespace

QTEST_GUILESS_MAIN(TestChartHistory)
#include "test_chart_history.moc"
