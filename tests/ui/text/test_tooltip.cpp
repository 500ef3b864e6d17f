// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in tooltips: in lines that fit beside the window, and with a ± where it comes from.
#include "ui/text/tooltip.h"

#include <QTest>
#include <algorithm>

#include "ui/text/figures.h"
#include "ui/theme/theme.h"
#include "ui/widget/stage_bar.h"
#include "ui/widget/tile.h"

namespace {

using namespace n2nq;

class TestTooltip : public QObject {
  Q_OBJECT
 private slots:
  void long_lines_are_broken_between_words();
  void a_bound_is_never_shown_less_than_it_is();
  void the_bound_of_a_latency_is_of_both_ways_and_that_of_a_stage_of_one();
  void a_tile_tells_of_a_bound_in_lines();
  void a_stage_tells_of_its_own_way_below_itself();

 private:
  static qsizetype longest_line(const QString& text);
  const app::ClockBound bound_{.apart = true, .asymmetry_us = 8180, .estimation_us = 321};
};

qsizetype TestTooltip::longest_line(const QString& text) {
  qsizetype out = 0;
  for (const QString& line : text.split(u'\n')) out = std::max(out, line.size());
  return out;
}

void TestTooltip::long_lines_are_broken_between_words() {
  const QString sentence =
      QStringLiteral("N2NQ and receivers had to wait for a core for 62 % and 55 % of the time in which they had something to do");
  const QString shown = ui::tooltip_of(sentence);
  QVERIFY2(longest_line(shown) <= 80, qPrintable(shown));
  QCOMPARE(shown.count(u'\n'), 1);
  QCOMPARE(shown.simplified(), sentence);
  QCOMPARE(ui::tooltip_of(QStringLiteral("one\n    two")), QStringLiteral("one\n    two"));
  const QString path = u'/' + QString(100, u'f');
  QCOMPARE(ui::tooltip_of(QStringLiteral("    in ") + path + QStringLiteral(" it is")),
           QStringLiteral("    in\n    ") + path + QStringLiteral("\n    it is"));
  QVERIFY2(ui::tooltip_of(QString(200, u' ') + u'x').endsWith(u'x'), "with no end of indents, there is one");
}

void TestTooltip::a_bound_is_never_shown_less_than_it_is() {
  for (const auto& [bound_us, shown] : {std::pair{12.44, "± 12.5 µs"},
                                        {12.5, "± 12.5 µs"},
                                        {9.991, "± 10.0 µs"},
                                        {99.91, "± 100 µs"},
                                        {999.2, "± 1.00 ms"},
                                        {999.6, "± 1.00 ms"},
                                        {8501.0, "± 8.51 ms"},
                                        {2550.0, "± 2.55 ms"},
                                        {0.0123456, "± 12.4 ns"},
                                        {999.2e6, "± 1 000 s"}}) {
    const app::ClockBound bound{.apart = true, .asymmetry_us = bound_us, .estimation_us = 0};
    QCOMPARE(ui::bound_text(bound).replace(QChar(0x202F), u' '), QString::fromUtf8(shown));
  }
}

void TestTooltip::the_bound_of_a_latency_is_of_both_ways_and_that_of_a_stage_of_one() {
  const auto told = [this](ui::Ways ways) {
    return ui::bound_explained(bound_, 8491, ways).replace(QChar(0x202F), u' ').replace(u'\n', u' ');
  };
  QVERIFY2(told(ui::Ways::all).contains(QStringLiteral(
               "half of the shortest round trip to N2NQ, of each group on another clock: in all 8.18 ms, and estimation 321 µs")),
           qPrintable(told(ui::Ways::all)));
  QVERIFY2(told(ui::Ways::one).contains(QStringLiteral("half of the shortest round trip to N2NQ, 8.18 ms, and estimation 321 µs")),
           qPrintable(told(ui::Ways::one)));
}

void TestTooltip::a_tile_tells_of_a_bound_in_lines() {
  ui::Theme theme;
  ui::Tile tile(theme, ui::Tile::Size::large, QStringLiteral("Half of all deliveries took at most this long; below it the mean of all"));
  tile.set_caption(QStringLiteral("p50"));
  tile.set_figure(ui::time_figure(8491), QStringLiteral("8491.008 µs ") + ui::bound_explained(bound_, 8491) +
                                             QStringLiteral("; grey, because it is below twice what an echo over loopback takes here"));
  QVERIFY2(longest_line(tile.toolTip()) <= 80, qPrintable(tile.toolTip()));
  QVERIFY(!tile.accessibleDescription().contains(u'\n'));
}

void TestTooltip::a_stage_tells_of_its_own_way_below_itself() {
  ui::Theme theme;
  ui::StageBar bar(theme);
  app::LiveFigures figures;
  figures.stages.lag_us = figures.stages.to_broker_us = figures.stages.in_queue_us = figures.stages.to_receiver_us = 4260;
  figures.clocks.to_broker = bound_;
  QVERIFY2(!bar.heading().contains(QStringLiteral("no finer")), qPrintable(bar.heading()));
  bar.set_figures(figures);
  QVERIFY2(bar.heading().contains(QStringLiteral("grey: no finer than their ±")), qPrintable(bar.heading()));
  const QString told = bar.toolTip().replace(QChar(0x202F), u' ');
  QVERIFY2(told.contains(QStringLiteral("\n    half of the shortest round trip to N2NQ, 8.18 ms, and estimation 321 µs;\n    that is more")),
           qPrintable(told));
}

}  // namespace

QTEST_MAIN(TestTooltip)
#include "test_tooltip.moc"
