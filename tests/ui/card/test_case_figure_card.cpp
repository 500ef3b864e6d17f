// SPDX-License-Identifier: GPL-3.0-or-later
// The card of a test case's figure: its table, the point that is chosen in it, and what is told of points that are marked or grey.
#include "ui/card/case_figure_card.h"

#include <QAbstractButton>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QTest>

#include "app/figure/figure_words.h"
#include "tests/ui/support/bench_window.h"

namespace n2nq::ui {

class TestCaseFigureCard : public QObject {
  Q_OBJECT

  Theme theme;

 private slots:
  void initTestCase() { theme.choose(ThemeChoice::light); }

  void between_hosts_the_table_says_what_their_clocks_leave_open() {
    app::Figure figure;
    figure.x = {.title = QStringLiteral("place"), .names = {QStringLiteral("both external")}};
    figure.y = {.title = QStringLiteral("Latency, mean of the lowest 95 %"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 0, .y = 256, .low = 252, .high = 260, .clock_bound = 202}}}};
    CaseFigureCard card(theme);
    card.show_figure(figure);
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    QCOMPARE(table->item(0, 1)->text(), QStringLiteral("256 ±4.00 (clocks ±202)"));
    // What clocks leave open is a limit, and takes in what 256 leaves out; an interval is none.
    figure.series = {{.points = {{.x = 0, .y = 256.4, .low = 252.386, .high = 260.41, .clock_bound = 201.7}}}};
    card.show_figure(figure);
    QCOMPARE(table->item(0, 1)->text(), QStringLiteral("256 ±4.01 (clocks ±203)"));
    QVERIFY2(table->columnWidth(1) > table->fontMetrics().horizontalAdvance(table->horizontalHeaderItem(1)->text()),
             "nor is its title cut");
  }

  void heads_say_of_what_and_in_which_unit_and_no_value_is_cut() {
    app::Figure figure;
    figure.x = {.title = QStringLiteral("Message size"), .unit = QStringLiteral("kB")};
    figure.y = {.title = QStringLiteral("Latency, mean of the lowest 95 %"), .unit = QStringLiteral("µs")};
    figure.legend = QStringLiteral("Services");
    figure.series = {
        {.name = QStringLiteral("1"), .points = {{.x = 1, .y = 31}}},
        {.name = QStringLiteral("10"),
         .points = {{.x = 1, .y = 1234, .low = 1177.3, .high = 1290.7, .clock_bound = 71, .why = QStringLiteral("disturbed")}}}};
    CaseFigureCard card(theme);
    card.show_figure(figure);
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    const auto head = [table](int column) { return table->horizontalHeaderItem(column)->text(); };
    QCOMPARE(head(1), QStringLiteral("Services 1 (µs)"));
    QCOMPARE(head(2), QStringLiteral("Services 10 (µs)"));
    constexpr int around_px = 12;
    const QString value = table->item(0, 2)->text();
    const int needed_px = table->fontMetrics().horizontalAdvance(value) + around_px, given_px = table->columnWidth(2);
    QVERIFY2(needed_px <= given_px, qPrintable(QStringLiteral("%1: %2 of %3").arg(value).arg(given_px).arg(needed_px)));
    // Who is at a value stays there when the figure has a run more.
    table->setCurrentCell(0, 2);
    card.show_figure(figure);
    QCOMPARE(table->currentColumn(), 2);
    // A name is cut, in its middle.
    figure.series[0].name = QString(60, u'n');
    card.show_figure(figure);
    QVERIFY(table->columnWidth(1) < table->fontMetrics().horizontalAdvance(head(1)));
  }

  void a_selected_value_keeps_its_colour() {
    app::Figure figure;
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 1, .y = 31}}}};
    CaseFigureCard card(theme);
    card.resize(600, 700);
    card.show_figure(figure);
    card.show();
    QVERIFY(QTest::qWaitForWindowExposed(&card, n2nq::ui_test::deadline_ms));
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    table->setCurrentCell(0, 1);
    const auto picture = [table](const QColor& color) {
      table->item(0, 1)->setForeground(color);
      return table->viewport()->grab(table->visualItemRect(table->item(0, 1))).toImage();
    };
    QVERIFY(picture(theme.tokens().warning) != picture(theme.tokens().secondary));
  }

  void a_chosen_point_is_told_as_it_is_now() {
    app::Figure figure;
    figure.id = QStringLiteral("latency");
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {
        {.points = {{.x = 1, .y = 31},
                    {.x = 2, .y = 90, .why = QStringLiteral("broken: no receiver"), .folders = {QStringLiteral("/a")}}}}};
    CaseFigureCard card(theme);
    card.set_again(true, {});
    card.show_figure(figure);
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    const auto* point = card.findChild<QLabel*>(QStringLiteral("case_point"));
    const auto* again = card.findChild<QAbstractButton*>(QStringLiteral("button_case_again"));
    const QString none = point->text();
    emit table->cellClicked(1, 1);
    QVERIFY2(point->text().contains(QStringLiteral("broken: no receiver")), qPrintable(point->text()));
    QVERIFY(again->isEnabled());
    // Run again, and with a point before it.
    figure.series.front().points = {{.x = 0.5, .y = 20}, {.x = 1, .y = 31}, {.x = 2, .y = 64, .folders = {QStringLiteral("/b")}}};
    card.show_figure(figure);
    QVERIFY2(point->text().contains(QStringLiteral("64")) && !point->text().contains(QStringLiteral("broken")), qPrintable(point->text()));
    QVERIFY(!again->isEnabled());
    figure.series.front().points.pop_back();
    card.show_figure(figure);
    QCOMPARE(point->text(), none);
    emit table->cellClicked(0, 1);
    QVERIFY(point->text() != none);
    card.forget_point();  // another case's figure of the same name follows
    card.show_figure(figure);
    QCOMPARE(point->text(), none);
  }

  void a_point_is_chosen_in_the_table_by_enter() {
    app::Figure figure;
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 1, .y = 31}, {.x = 2, .y = 90, .why = QStringLiteral("broken: no receiver")}}}};
    CaseFigureCard card(theme);
    card.show_figure(figure);
    card.show();
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    table->setCurrentCell(1, 1);
    QTest::keyClick(table, Qt::Key_Return);
    const QString told = card.findChild<QLabel*>(QStringLiteral("case_point"))->text();
    QVERIFY2(told.contains(QStringLiteral("broken: no receiver")), qPrintable(told));
  }

  void what_is_marked_is_told_by_its_place_for_each_reason_once() {
    app::Figure figure;
    figure.x = {.title = QStringLiteral("Message size"), .unit = QStringLiteral("kB")};
    figure.series = {{.points = {{.x = 1, .y = 31, .why = QStringLiteral("disturbed")},
                                 {.x = 4, .y = 90, .why = QStringLiteral("broken: no receiver")},
                                 {.x = 16, .y = 95, .why = QStringLiteral("disturbed")}}}};
    const QString disturbed = QStringLiteral("◯ message size 1 kB; message size 16 kB: disturbed");
    QCOMPARE(app::marked_notes(figure, 2), QStringList({disturbed, QStringLiteral("◯ message size 4 kB: broken: no receiver")}));
    QCOMPARE(app::marked_notes(figure, 1), QStringList({disturbed, QStringLiteral("◯ … and 1 more reason")}));
  }

  void what_tells_little_is_grey_and_says_why() {
    app::Figure figure;
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 1, .y = 31, .near_floor_us = 20.5}, {.x = 2, .y = 90, .few_samples = true}, {.x = 5, .y = 95}}}};
    CaseFigureCard card(theme);
    card.show_figure(figure);
    const auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    const auto color = [table](int row) { return table->item(row, 1)->foreground().color(); };
    QCOMPARE(color(0), color(1));
    QVERIFY(color(0) != color(2));
    QVERIFY2(table->item(0, 1)->toolTip().contains(QStringLiteral("below twice its floor, an echo over loopback (20.5 µs)")),
             qPrintable(table->item(0, 1)->toolTip()));
    QVERIFY(table->item(1, 1)->toolTip().contains(QStringLiteral("fewer than 10 samples above it")));
    QVERIFY(!table->item(2, 1)->toolTip().contains(QStringLiteral("floor")));
  }
};

}  // namespace n2nq::ui

QTEST_MAIN(n2nq::ui::TestCaseFigureCard)
#include "test_case_figure_card.moc"
