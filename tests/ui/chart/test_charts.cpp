// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QCategoryAxis>
#include <QChart>
#include <QGraphicsScene>
#include <QLabel>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <cmath>
#include <tuple>

#include "tests/ui/support/bench_window.h"
#include "ui/card/charts_card.h"
#include "ui/chart/axis_steps.h"
#include "ui/chart/chart_history.h"
#include "ui/chart/reading_item.h"
#include "ui/chart/time_window.h"
#include "ui/text/figures.h"
#include "ui/widget/chart_legend.h"

namespace {

using namespace n2nq;
using namespace n2nq::ui;

app::LiveFigures sample(double t_s, double p99_us) {
  app::LiveFigures figures;
  figures.t_s = figures.heard_s = t_s;
  figures.round = static_cast<std::uint64_t>(std::llround(t_s * 10) + 100);
  figures.latency_now.p50_us = 90;
  figures.latency_now.p95_us = 170;
  figures.latency_now.p99_us = p99_us;
  figures.sent_copies_per_s = 5000;
  figures.received_per_s = 4990;
  figures.in_flight = 12;
  return figures;
}

struct LightTheme : Theme {
  LightTheme() { choose(ThemeChoice::light); }
};

/// Constructed before what is drawn with it.
struct WithLightTheme {
  LightTheme theme;
};

struct ShownCard : WithLightTheme, ChartsCard {
  explicit ShownCard(int height = 300) : ChartsCard(theme) {
    resize(1200, height);
    show();
  }
  /// One each 0.1 s, from the one of this number to before that of the other.
  void add_samples(int from, int to, double p99_us) {
    for (int i = from; i < to; ++i) add_sample(sample(i * 0.1, p99_us));
  }
};

/// Whether any pixel of the chart has about this colour.
bool has_color(LiveChart& chart, const QColor& color) {
  const QImage image = chart.grab().toImage();
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QColor pixel = image.pixelColor(x, y);
      if (std::abs(pixel.red() - color.red()) + std::abs(pixel.green() - color.green()) + std::abs(pixel.blue() - color.blue()) < 12)
        return true;
    }
  }
  return false;
}

class TestCharts : public QObject {
  Q_OBJECT
 private slots:
  void an_empty_chart_shows_axes_and_units();
  void a_reading_gives_all_series_and_dashes_for_gaps();
  void a_point_without_neighbours_is_drawn();
  void latencies_below_0_are_drawn();
  void pause_holds_the_charts_and_records_on();
  void a_held_young_picture_is_not_filled();
  void the_time_axis_begins_with_the_run();
  void a_held_picture_stays_longer_than_ten_minutes();
  void what_was_seen_while_held_is_bounded();
  void the_title_judges_clocks_by_the_newest_latency_and_forgets_those_of_the_run_before();
  void a_late_answer_leaves_no_gap_and_silence_does();
  void the_axis_grows_with_a_short_run();
  void labels_have_separators_also_on_a_log_axis();
  void a_reading_covers_no_curve();
  void a_reading_cuts_no_number();
  void wheel_drag_and_keys_move_both_charts();
  void the_chart_that_has_the_keyboard_is_marked();
};

void TestCharts::an_empty_chart_shows_axes_and_units() {
  const LightTheme theme;
  ChartsCard card(theme);
  card.resize(1200, 300);
  QCOMPARE(card.latency_chart()->unit(), QStringLiteral("µs"));
  QCOMPARE(card.rate_chart()->unit(), QStringLiteral("msg/s"));
  QVERIFY(card.latency_chart()->value_axis_top() > 0);
  QVERIFY(card.latency_chart()->reading_lines().isEmpty());
}

void TestCharts::a_reading_gives_all_series_and_dashes_for_gaps() {
  ShownCard card;
  for (int i = 0; i < 100; ++i) card.add_sample(sample(i * 0.1, i == 50 ? app::unknown : 400));
  card.set_paused(true);  // draws at once
  card.latency_chart()->set_reading(5.0);
  const QStringList lines = card.latency_chart()->reading_lines();
  QCOMPARE(lines.size(), 4);
  QVERIFY(lines[0].contains(QStringLiteral("5.0 s")));
  QCOMPARE(lines[1], QStringLiteral("p50: ") + time_figure(90).text());
  QCOMPARE(lines[3], QStringLiteral("p99: ") + dash());
  card.rate_chart()->set_reading(5.0);
  QCOMPARE(card.rate_chart()->reading_lines()[3], QStringLiteral("in flight: 12"));
  app::LiveFigures bound = sample(10, 400);
  bound.in_flight_at_most = true;
  card.add_sample(bound);
  card.rate_chart()->set_reading(5.0);
  QCOMPARE(card.rate_chart()->reading_lines()[3], QStringLiteral("in flight, at most: 12"));
  app::LiveFigures apart = sample(10.1, 400);
  apart.in_flight_bound = 1234;
  apart.in_flight_at_most = true;
  card.add_sample(apart);
  const QString off = QStringLiteral("in flight ± ") + count_text(1234);
  card.rate_chart()->set_reading(5.0);
  QCOMPARE(card.rate_chart()->reading_lines()[3], QStringLiteral("in flight, at most: 12"));  // at 5 s both were of one clock
  card.set_paused(false);
  card.rate_chart()->set_reading(10.1);
  QCOMPARE(card.rate_chart()->reading_lines().size(), 4);
  QCOMPARE(card.rate_chart()->reading_lines()[3], QStringLiteral("in flight, at most: 12 ± ") + count_text(1234));
  const auto titles = card.findChildren<QLabel*>();
  QVERIFY(std::any_of(titles.begin(), titles.end(), [&](auto* one) { return one->text() == QStringLiteral("Rates, ") + off; }));
  const auto legends = card.findChildren<ChartLegend*>();
  QVERIFY(std::any_of(legends.begin(), legends.end(), [](auto* one) { return one->accessibleName().contains(QStringLiteral("at most")); }));
  QVERIFY(!card.latency_chart()->accessibleDescription().isEmpty());
  card.latency_chart()->set_reading(app::unknown);
  QVERIFY(card.latency_chart()->reading_lines().isEmpty());
  QCOMPARE(card.latency_chart()->accessibleDescription(), QString());
}

void TestCharts::a_point_without_neighbours_is_drawn() {
  ShownCard card;
  const QColor p99 = card.theme.tokens().series[2];
  card.add_samples(0, 100, app::unknown);
  QVERIFY(!has_color(*card.latency_chart(), p99));
  card.add_sample(sample(10, 300));
  for (int i = 1; i < 20; ++i) card.add_sample(sample(10 + i * 0.1, app::unknown));
  card.set_paused(true);  // draws at once
  QVERIFY(has_color(*card.latency_chart(), p99));
}

void TestCharts::latencies_below_0_are_drawn() {
  ShownCard card(400);
  card.add_samples(0, 50, 300);
  card.set_paused(true);  // draws at once
  QCOMPARE(card.latency_chart()->value_axis_bottom(), 0.0);
  card.set_paused(false);
  card.clear();
  card.add_samples(0, 50, -300);
  card.set_paused(true);
  QVERIFY(has_color(*card.latency_chart(), card.theme.tokens().series[2]));
  QCOMPARE(card.latency_chart()->value_axis_bottom(), -400.0);
  QVERIFY(card.latency_chart()->value_axis_top() >= 170);
  auto* axis = qobject_cast<QCategoryAxis*>(card.latency_chart()->chart()->axes(Qt::Vertical).front());
  QVERIFY2(axis->categoriesLabels().contains(QStringLiteral("0")), qPrintable(axis->categoriesLabels().join(u' ')));
  QCOMPARE(axis->categoriesLabels().first(), QStringLiteral("−400"));
  QCOMPARE(card.rate_chart()->value_axis_bottom(), 0.0);
}

void TestCharts::pause_holds_the_charts_and_records_on() {
  ShownCard card;
  card.add_samples(0, 700, 400);
  card.set_paused(true);
  const double held = card.window().to_s();
  const auto newest = [](LiveChart* chart) {
    return qobject_cast<QCategoryAxis*>(chart->chart()->axes(Qt::Horizontal).front())->categoriesLabels().last();
  };
  QCOMPARE(newest(card.latency_chart()), QStringLiteral("now"));
  card.add_samples(700, 800, 400);
  for (const bool running : {true, false}) {
    card.set_running(running);
    for (LiveChart* chart : {card.latency_chart(), card.rate_chart()}) QCOMPARE(newest(chart), QStringLiteral("69.9 s"));
  }
  QCOMPARE(card.window().to_s(), held);
  QCOMPARE(card.latency_history().size(), std::size_t(800));
  card.set_paused(false);
  QCOMPARE(card.window().to_s(), card.latency_history().last_time());
  for (LiveChart* chart : {card.latency_chart(), card.rate_chart()}) QCOMPARE(newest(chart), QStringLiteral("end"));
  card.add_sample(sample(-1, 400));  // before the common start
  QCOMPARE(card.latency_history().size(), std::size_t(800));
}

void TestCharts::a_held_young_picture_is_not_filled() {
  ShownCard card;
  card.set_running(true);
  card.add_samples(0, 40, 400);
  card.set_paused(true);
  const auto plot = [&card] { return card.rate_chart()->grab(card.rate_chart()->chart()->plotArea().toRect()).toImage(); };
  const QImage held = plot();
  card.add_samples(40, 80, 400);
  card.set_running(true);  // draws at once
  QVERIFY(plot() == held);
  card.rate_chart()->set_reading(7.0);
  QVERIFY(card.rate_chart()->reading_lines().isEmpty());
  card.set_paused(false);
  QVERIFY(plot() != held);
}

void TestCharts::the_time_axis_begins_with_the_run() {
  ShownCard card;
  const auto told = [](LiveChart* chart) {
    return qobject_cast<QCategoryAxis*>(chart->chart()->axes(Qt::Horizontal).front())->categoriesLabels().join(u' ');
  };
  const auto are = [&](const char* wanted) {
    for (LiveChart* chart : {card.latency_chart(), card.rate_chart()}) QCOMPARE(told(chart), QString::fromUtf8(wanted));
  };
  const auto draw = [&card] {  // at once
    card.set_paused(true);
    card.set_paused(false);
  };
  const char* const of_first = "0 s 2 s 4 s 6 s 8 s 10 s";
  const char* const from_now = "−60 s −45 s −30 s −15 s now";
  card.set_running(true);
  are(of_first);
  card.set_paused(true);
  are(of_first);  // nothing ran yet
  card.set_paused(false);
  card.add_samples(0, 50, 400);
  draw();
  are(of_first);
  card.set_running(false);
  are("0 s 1 s 2 s 3 s 4 s end");  // the whole width is the run's
  card.latency_chart()->set_reading(2.0);
  QCOMPARE(card.latency_chart()->reading_lines().value(0), QStringLiteral("at 2.0 s"));
  card.add_samples(50, 62, 400);
  draw();
  are("0 s 2 s 4 s end");  // 6 s would stand on the end at 6.1 s
  card.add_samples(62, 70, 400);
  draw();
  are("0 s 2 s 4 s 6 s end");
  card.set_running(true);
  are(of_first);
  card.set_paused(true);
  card.add_samples(70, 71, 400);
  are(of_first);
  card.set_paused(false);
  card.add_samples(71, 120, 400);
  draw();
  are("0 s 5 s 10 s 15 s");
  card.add_samples(120, 700, 400);
  draw();
  are(from_now);
  card.set_paused(true);
  card.add_samples(700, 701, 400);
  are("15 s 30 s 45 s 60 s 69.9 s");
  card.set_paused(false);
  are(from_now);
  card.add_samples(701, 6941, 400);
  card.set_running(false);
  draw();
  are("645 s 660 s 675 s end");
  emit card.latency_chart()->pan_requested(-2);  // the end, which 690 s would stand on, is out of sight then
  are("645 s 660 s 675 s 690 s");
}

void TestCharts::a_held_picture_stays_longer_than_ten_minutes() {
  ShownCard card;
  card.add_samples(0, 100, 400);
  card.set_paused(true);
  card.add_samples(100, 7000, 500);
  for (const ChartHistory* history : {&card.latency_history(), &card.rate_history()}) {
    QCOMPARE(history->first_time(), 0.0);
    QVERIFY(history->size() <= 2 * ChartHistory::samples_default);
  }
  card.latency_chart()->set_reading(5.0);
  QCOMPARE(card.latency_chart()->reading_lines().value(3), QStringLiteral("p99: ") + time_figure(400).text());
  QVERIFY(has_color(*card.latency_chart(), card.theme.tokens().series[2]));
  card.set_paused(false);
  for (const ChartHistory* history : {&card.latency_history(), &card.rate_history()}) {
    QCOMPARE(history->size(), ChartHistory::samples_default);
    QCOMPARE(history->first_time(), 100.0);
  }
}

void TestCharts::what_was_seen_while_held_is_bounded() {
  TimeWindow window;
  window.set_limits(0, 1000);
  QVERIFY(std::isnan(window.seen_from_s()) && std::isnan(window.seen_to_s()));
  const auto seen = [&window] { return std::pair(window.seen_from_s(), window.seen_to_s()); };
  window.pan(-100);
  QCOMPARE(seen(), std::pair(840.0, 1000.0));  // what was in sight before it was moved, too
  window.zoom(2, 900);
  QCOMPARE(seen(), std::pair(780.0, 1000.0));
  window.zoom(0.5, 900);
  QCOMPARE(seen(), std::pair(780.0, 1000.0));
  window.pan(-600);
  QCOMPARE(seen(), std::pair(240.0, 840.0));
  window.pan(1000);
  QCOMPARE(seen(), std::pair(400.0, 1000.0));
  window.resume();
  QVERIFY(std::isnan(window.seen_from_s()) && std::isnan(window.seen_to_s()));
}

void TestCharts::the_title_judges_clocks_by_the_newest_latency_and_forgets_those_of_the_run_before() {
  Theme theme;
  ChartsCard card(theme);
  app::LiveFigures figures = sample(1, 400);
  figures.clocks.latency = {true, 8'000, 640};
  card.add_sample(figures);
  const auto* title = card.findChildren<QLabel*>().front();
  QCOMPARE(title->text(), QStringLiteral("Latency, all receivers, ") + bound_words(figures.clocks.latency, 90));
  for (const auto& [p50_us, p50_of_the_run_us, is_told] : {std::tuple(400.0, 20'000.0, true), {20'000.0, 400.0, false}}) {
    figures.latency_now.p50_us = p50_us;
    figures.latency.p50_us = p50_of_the_run_us;  // which it does not draw
    ++figures.round;
    figures.heard_s += 0.1;
    card.add_sample(figures);
    QCOMPARE(title->text(), QStringLiteral("Latency, all receivers, ") + bound_words(figures.clocks.latency, p50_us));
    QCOMPARE(title->toolTip(), bound_explained(figures.clocks.latency, p50_us));
    QCOMPARE(title->toolTip().contains(QStringLiteral("that is more than the figure itself, which tells nothing finer")), is_told);
  }
  const QString before = title->text();
  figures.latency_now = {};  // a moment in which nothing came
  ++figures.round;
  card.add_sample(figures);
  QCOMPARE(title->text(), before);
  card.clear();
  QCOMPARE(title->toolTip(), QString());
  QCOMPARE(title->text(), QStringLiteral("Latency, all receivers"));
}

void TestCharts::a_late_answer_leaves_no_gap_and_silence_does() {
  Theme theme;
  ChartsCard card(theme);
  app::LiveFigures figures = sample(1, 400);
  card.add_sample(figures);
  figures.t_s = 1.1;
  figures.latency_now = {};
  card.add_sample(figures);  // asked, not answered yet
  QCOMPARE(card.latency_history().size(), std::size_t(1));
  card.add_sample(sample(1.3, 400));
  QCOMPARE(card.latency_history().size(), std::size_t(2));
  figures = sample(1.3, 400);
  figures.t_s = 2.5;
  figures.receivers_silent = true;
  figures.received_per_s = app::unknown;
  figures.latency_now = {};
  figures.in_flight_bound = 5;
  card.add_sample(figures);
  QCOMPARE(card.latency_history().size(), std::size_t(3));
  QCOMPARE(card.latency_history().last_time(), 2.5);
  QVERIFY(std::isnan(card.latency_history().value(0, 2)));
  QVERIFY(std::isnan(card.rate_history().value(1, 2)));
  QVERIFY(std::isnan(card.rate_history().value(2, 2)));
  const auto titles = card.findChildren<QLabel*>();
  QVERIFY(std::any_of(titles.begin(), titles.end(), [](auto* one) { return one->text() == QStringLiteral("Rates"); }));
}

void TestCharts::the_axis_grows_with_a_short_run() {
  TimeWindow window;
  QCOMPARE(window.span_s(), 10.0);
  QCOMPARE(window.from_s(), 0.0);
  window.set_limits(0.3, 5);  // the first sample comes a little later than the run's begin
  QCOMPARE(window.span_s(), 10.0);
  QVERIFY(window.begins_with_run());
  QCOMPARE(window.shown_to_s(), 5.0);
  window.set_limits(0.3, 11);
  QCOMPARE(window.span_s(), 15.0);
  QVERIFY(window.begins_with_run());
  window.set_over(true);
  QCOMPARE(window.span_s(), 11.0);
  QVERIFY(window.begins_with_run());
  window.set_limits(0.3, 62);
  QCOMPARE(window.span_s(), 62.0);
  window.set_over(false);
  QCOMPARE(window.span_s(), 60.0);
  QVERIFY(!window.begins_with_run());
  QVERIFY(window.is_default());
  window.set_limits(0, 300);
  QCOMPARE(window.span_s(), 60.0);
  window.zoom(0.5, 300);
  window.set_limits(0, 400);
  QCOMPARE(window.span_s(), 30.0);  // what a person chose stays
  window.reset();
  QCOMPARE(window.span_s(), 60.0);
}

void TestCharts::labels_have_separators_also_on_a_log_axis() {
  ShownCard card;
  card.add_samples(0, 20, 40'000);
  card.set_paused(true);  // draws at once
  const auto labels = [](LiveChart* chart) {
    QStringList all;
    for (QAbstractAxis* axis : chart->chart()->axes(Qt::Vertical)) all << qobject_cast<QCategoryAxis*>(axis)->categoriesLabels();
    return all;
  };
  QVERIFY2(labels(card.rate_chart()).contains(count_text(6000)), qPrintable(labels(card.rate_chart()).join(u' ')));
  card.latency_chart()->set_logarithmic(true);
  QCOMPARE(labels(card.latency_chart()),
           QStringList({count_text(10), count_text(100), count_text(1000), count_text(10'000), count_text(100'000)}));
  card.latency_chart()->set_logarithmic(false);
  QCOMPARE(labels(card.latency_chart()).last(), QStringLiteral("60"));
  QCOMPARE(card.latency_chart()->unit(), QStringLiteral("ms"));
}

void TestCharts::a_reading_covers_no_curve() {
  ShownCard card;
  card.add_samples(0, 100, 400);
  card.set_paused(true);  // draws at once
  const auto plot = [&] {
    const QRect area = card.latency_chart()->chart()->plotArea().toRect();
    return card.latency_chart()->grab(area).toImage();
  };
  const QImage before = plot();
  card.latency_chart()->set_reading(5.0);
  QCOMPARE(card.latency_chart()->reading_lines().size(), 4);
  const QImage after = plot();
  int columns = 0;  // of the picture that differ: the line at the instant, not more
  for (int x = 0; x < before.width(); ++x) {
    bool differs = false;
    for (int y = 0; y < before.height() && !differs; ++y) differs = before.pixel(x, y) != after.pixel(x, y);
    columns += differs ? 1 : 0;
  }
  QVERIFY2(columns >= 1 && columns <= 3, qPrintable(QString::number(columns)));
}

void TestCharts::wheel_drag_and_keys_move_both_charts() {
  ShownCard card;
  QVERIFY(QTest::qWaitForWindowExposed(&card, n2nq::ui_test::deadline_ms));
  card.add_samples(0, 1500, 400);
  QWidget* plot = card.latency_chart()->viewport();
  const QPoint middle = plot->rect().center();
  QWheelEvent wheel(middle, plot->mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(plot, &wheel);
  QVERIFY(card.window().span_s() < TimeWindow::span_default_s);
  const double before = card.window().to_s();
  QTest::mousePress(plot, Qt::LeftButton, {}, middle);
  QTest::mouseMove(plot, middle + QPoint(100, 0));
  QTest::mouseRelease(plot, Qt::LeftButton, {}, middle + QPoint(100, 0));
  QVERIFY(card.window().to_s() < before);
  QVERIFY(card.is_paused());
  QTest::keyClick(card.rate_chart(), Qt::Key_Left);
  QVERIFY(!card.latency_chart()->reading_lines().isEmpty());
  QTest::keyClick(card.rate_chart(), Qt::Key_0);
  QVERIFY(card.window().is_default());
  card.latency_chart()->set_logarithmic(true);
  QVERIFY(card.latency_chart()->value_axis_top() >= 400);
}

void TestCharts::a_reading_cuts_no_number() {
  QGraphicsScene scene;
  auto* chart = new QChart;
  scene.addItem(chart);
  LightTheme theme;
  ReadingItem reading(chart);
  reading.set_style(theme.tokens(), theme.font(TextStyle::caption));
  const auto draws_beyond = [&](double width) {
    chart->setPlotArea(QRectF(0, 20, width, 100));
    reading.show_at(0, QStringLiteral("at 24.7 s"),
                    {{QStringLiteral("received"), QStringLiteral("18 780 /s"), Qt::blue, MarkerShape::square},
                     {QStringLiteral("in flight, at most"), QStringLiteral("2 614"), Qt::red, MarkerShape::triangle}});
    const QRect all = reading.boundingRect().toRect();
    QImage image(all.width() + 400, all.height(), QImage::Format_RGB32);  // beyond its room, too
    image.fill(Qt::white);
    QPainter painter(&image);
    reading.paint(&painter, nullptr, nullptr);
    painter.end();
    for (int x = static_cast<int>(width); x < image.width(); ++x) {
      for (int y = 0; y < 18; ++y) {
        if (image.pixelColor(x, y) != QColor(Qt::white)) return true;
      }
    }
    return false;
  };
  QVERIFY(!draws_beyond(600));
  QVERIFY(reading.names_series());
  QVERIFY(!draws_beyond(240));
  QVERIFY(!reading.names_series());
  QCOMPARE(reading.texts().last(), QStringLiteral("in flight, at most: 2 614"));
}

void TestCharts::the_chart_that_has_the_keyboard_is_marked() {
  ShownCard card;
  card.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&card, 20'000));
  card.rate_chart()->setFocus();
  QVERIFY(card.rate_chart()->hasFocus());
  card.grab();  // lays out
  const QImage without = card.latency_chart()->grab().toImage(), rates_with = card.rate_chart()->grab().toImage();
  card.latency_chart()->setFocus();
  QVERIFY(card.latency_chart()->hasFocus());
  QVERIFY(card.latency_chart()->grab().toImage() != without);
  QVERIFY(card.rate_chart()->grab().toImage() != rates_with);
}

}  // namespace

QTEST_MAIN(TestCharts)
#include "test_charts.moc"
