// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>

#include "ui/model/service_model.h"
#include "ui/widget/service_table.h"

namespace {

using namespace n2nq;
using ui::ServiceModel;

QString cell(const ServiceModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

class TestServiceModel : public QObject {
  Q_OBJECT
 private slots:
  void rows_keep_the_rules_of_models();
  void unknown_figures_are_dashes();
  void a_pull_changes_only_the_rows_it_names();
  void latencies_near_the_floor_are_grey_and_say_why();
  void a_percentile_of_few_deliveries_is_grey_and_says_why();
  void what_the_model_says_is_grey_is_grey_in_the_table();
  void numbers_outside_the_table_are_ignored();
  void a_column_has_one_unit_and_fixed_decimals();
  void while_a_run_is_on_a_unit_only_grows();
  void latencies_that_are_compared_share_a_unit();
  void what_is_more_than_nothing_is_not_shown_as_nothing();
  void who_comes_by_keyboard_sees_where_the_focus_is_and_finds_the_first_row();
  void names_have_at_least_three_digits_and_one_is_no_more();
  void tooltips_of_heads_and_cells_are_in_lines();
};

void TestServiceModel::rows_keep_the_rules_of_models() {
  ServiceModel model(app::Role::receivers);
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_amount(200);
  app::LiveFigures figures;
  for (int number = 1; number <= 200; number += 7) figures.receivers.push_back({number, number * 10, 5.5, 90.25, 180.5});
  model.update(figures);
  model.set_amount(3);
  model.clear_figures();
  model.set_amount(0);
  QCOMPARE(model.rowCount(), 0);
}

void TestServiceModel::unknown_figures_are_dashes() {
  ServiceModel model(app::Role::senders);
  model.set_amount(2);
  for (int column = ServiceModel::first_figure_column; column < model.columnCount(); ++column) QCOMPARE(cell(model, 1, column), ui::dash());
  app::LiveFigures figures;
  figures.senders = {{2, 0, app::unknown, app::unknown}};
  model.update(figures);
  QCOMPARE(cell(model, 1, ServiceModel::first_figure_column), ui::dash());
  QCOMPARE(cell(model, 1, model.columnCount() - 1), QStringLiteral("0"));
}

void TestServiceModel::a_pull_changes_only_the_rows_it_names() {
  ServiceModel model(app::Role::senders);
  model.set_amount(100);
  model.set_planned_each(50);
  app::LiveFigures figures;
  figures.senders = {{40, 31, 2.0, 500.06}, {41, 30, 2.0, 500.14}};
  model.update(figures);  // chooses units
  figures.senders[0].attempted = 32;
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  model.update(figures);
  QCOMPARE(changed.count(), 1);
  QCOMPARE(changed.first()[0].toModelIndex().row(), 39);
  QCOMPARE(changed.first()[1].toModelIndex().row(), 39);
  QCOMPARE(cell(model, 39, model.columnCount() - 1), QStringLiteral("32 / 50"));
  QCOMPARE(cell(model, 39, ServiceModel::first_figure_column), QStringLiteral("500.06"));
  QCOMPARE(cell(model, 38, model.columnCount() - 1), ui::dash());
}

void TestServiceModel::latencies_near_the_floor_are_grey_and_say_why() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(2);
  app::LiveFigures figures;
  figures.receivers = {{1, 1000, 5.5, 79, 180}, {2, 1000, 5.5, 81, 180}};
  const auto colour = [&](int row, int column) { return model.data(model.index(row, column), Qt::ForegroundRole); };
  model.update(figures);
  QVERIFY2(!colour(0, ServiceModel::first_figure_column).isValid(), "no floor is known");
  figures.floor_us = 40;
  figures.receivers[0].received = figures.receivers[1].received = 1001;
  model.update(figures);
  QVERIFY(colour(0, ServiceModel::first_figure_column).isValid());
  QVERIFY(!colour(0, ServiceModel::first_figure_column + 1).isValid());
  QVERIFY(!colour(1, ServiceModel::first_figure_column).isValid());
  const QString told = model.data(model.index(0, ServiceModel::first_figure_column), Qt::ToolTipRole).toString().replace(u'\n', u' ');
  QVERIFY2(told.contains(QStringLiteral("below twice what an echo over loopback takes")), qPrintable(told));
}

void TestServiceModel::a_percentile_of_few_deliveries_is_grey_and_says_why() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(2);
  app::LiveFigures figures;
  figures.receivers = {{1, 999, 5.5, 79, 180}, {2, 1000, 5.5, 81, 180}};
  model.update(figures);
  const auto is_grey = [&](int row, int column) { return model.data(model.index(row, column), Qt::ForegroundRole).isValid(); };
  constexpr int mean = ServiceModel::first_figure_column, p99 = mean + 1;
  QVERIFY(is_grey(0, p99));
  QVERIFY(!is_grey(0, mean));
  figures.receivers[0].received = 9;
  model.update(figures);
  QVERIFY2(!is_grey(0, mean), "of a mean none are above it");
  figures.receivers[0].received = 999;
  model.update(figures);
  QVERIFY2(!is_grey(1, p99), "ten are above it");
  const QString told = model.data(model.index(0, p99), Qt::ToolTipRole).toString().replace(u'\n', u' ');
  QVERIFY2(told.contains(QStringLiteral("fewer than 10 samples above it")), qPrintable(told));
}

void TestServiceModel::what_the_model_says_is_grey_is_grey_in_the_table() {
  ui::Theme theme;
  theme.choose(ui::ThemeChoice::light);
  ServiceModel model(app::Role::receivers);
  ui::ServiceTable table(theme, &model);
  model.set_amount(2);
  app::LiveFigures figures;
  figures.floor_us = 40;
  figures.receivers = {{1, 10, 5.5, 79, 180}, {2, 10, 5.5, 81, 180}};
  model.update(figures);
  table.resize(600, 200);
  table.show();
  QVERIFY(QTest::qWaitForWindowExposed(&table, 20'000));
  const auto darkest = [&](int row) {
    const QRect cell = table.visualRect(model.index(row, ServiceModel::first_figure_column)).adjusted(1, 1, -1, -2);
    const QImage picture = table.viewport()->grab(cell).toImage();
    int least = 255;
    for (int y = 0; y < picture.height(); ++y) {
      for (int x = 0; x < picture.width(); ++x) least = std::min(least, qGray(picture.pixel(x, y)));
    }
    return least;
  };
  const int grey = qGray(theme.tokens().secondary.rgb());
  QVERIFY2(darkest(0) >= grey - 2 && darkest(0) < 250, qPrintable(QString::number(darkest(0))));
  QVERIFY2(darkest(1) < grey - 2, qPrintable(QString::number(darkest(1))));
}

void TestServiceModel::numbers_outside_the_table_are_ignored() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(2);
  app::LiveFigures figures;
  figures.receivers = {{0, 1, 1, 1, 1}, {3, 1, 1, 1, 1}, {-5, 1, 1, 1, 1}};
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  model.update(figures);
  QCOMPARE(changed.count(), 0);
}

void TestServiceModel::a_column_has_one_unit_and_fixed_decimals() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(3);
  app::LiveFigures figures;
  figures.receivers = {{1, 5, 1.0, 88.5, 160.1}, {2, 5, 1.0, 7.24, 2'500'000}};
  model.update(figures);
  const int latency = ServiceModel::first_figure_column, p99 = latency + 1;
  QCOMPARE(model.headerData(latency, Qt::Horizontal).toString(), QStringLiteral("latency, µs"));
  QCOMPARE(model.headerData(p99, Qt::Horizontal).toString(), QStringLiteral("p99, s"));
  QCOMPARE(cell(model, 0, latency), QStringLiteral("88.5"));
  QCOMPARE(cell(model, 1, latency), QStringLiteral("7.2"));
  QVERIFY(model.index(0, latency).data(Qt::ToolTipRole).toString().contains(QStringLiteral("88.500")));
  // The unit does not flicker around a thousand, and the thousands have room.
  model.clear_figures();
  for (const auto& [p99_us, shown] :
       {std::pair(700'000.0, "700.00"), {990'000.0, "990.00"}, {1'010'000.0, "1\u202F010"}, {990'000.0, "990"}, {940'000.0, "940.00"}}) {
    figures.receivers = {{1, 5, 1.0, 88.5, 500'000.0}, {2, 5, 1.0, 7.24, p99_us}};
    model.update(figures);
    QCOMPARE(model.headerData(p99, Qt::Horizontal).toString(), QStringLiteral("p99, ms"));
    QCOMPARE(cell(model, 1, p99), QString::fromUtf8(shown));
  }
}

void TestServiceModel::while_a_run_is_on_a_unit_only_grows() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(2);
  constexpr int p99 = ServiceModel::first_figure_column + 1;
  app::LiveFigures figures;
  const auto show = [&](double p99_us) {
    figures.receivers = {{1, 5, 1.0, app::unknown, p99_us}};
    model.update(figures);
    return model.headerData(p99, Qt::Horizontal).toString() + QStringLiteral(": ") + cell(model, 0, p99);
  };
  QCOMPARE(show(160.4), QStringLiteral("p99, µs: 160.4"));
  QCOMPARE(show(2'300), QStringLiteral("p99, ms: 2.30"));
  QCOMPARE(show(160.4), QStringLiteral("p99, ms: 0.160"));  // with as many digits
  QCOMPARE(show(2'300'000), QStringLiteral("p99, s: 2.30"));
  QCOMPARE(show(160.4), QString::fromUtf8("p99, µs: 160.4"));  // of which it would show nothing
  QCOMPARE(show(2'300), QStringLiteral("p99, ms: 2.30"));
  model.set_means(true);  // the result's, which do not change any more
  QCOMPARE(show(160.4), QStringLiteral("p99, µs: 160.4"));
  model.set_means(false);
  QCOMPARE(show(2'300), QStringLiteral("p99, ms: 2.30"));
  model.clear_figures();
  QCOMPARE(show(160.4), QStringLiteral("p99, µs: 160.4"));
}

void TestServiceModel::latencies_that_are_compared_share_a_unit() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(2);
  app::LiveFigures figures;
  const auto told = [&] {
    QStringList columns;
    for (const int column : {ServiceModel::first_figure_column + 0, ServiceModel::first_figure_column + 1})
      columns << model.headerData(column, Qt::Horizontal).toString() + QStringLiteral(": ") + cell(model, 0, column);
    return columns.join(QStringLiteral("; "));
  };
  const auto show = [&](double mean_us, double p99_us) {
    figures.receivers = {{1, 5, 1.0, mean_us, p99_us}};
    model.update(figures);
    return told();
  };
  QCOMPARE(show(366.2, 970), QString::fromUtf8("latency, µs: 366.2; p99, µs: 970.0"));
  QCOMPARE(show(366.2, 2'640), QString::fromUtf8("latency, µs: 366.2; p99, µs: 2\u202F640"));
  QCOMPARE(show(366.2, 12'300), QStringLiteral("latency, ms: 0.366; p99, ms: 12.30"));  // five digits are too many
  QCOMPARE(show(366.2, 2'640), QStringLiteral("latency, ms: 0.366; p99, ms: 2.64"));    // a run is on
  QCOMPARE(show(1'450, 2'640), QStringLiteral("latency, ms: 1.45; p99, ms: 2.64"));
  QCOMPARE(show(60, 90), QString::fromUtf8("latency, µs: 60.0; p99, µs: 90.0"));  // of which the larger unit shows too little
  QCOMPARE(show(366.2, 12'300), QStringLiteral("latency, ms: 0.366; p99, ms: 12.30"));
  QCOMPARE(show(366.2, 2'640), QStringLiteral("latency, ms: 0.366; p99, ms: 2.64"));
  model.set_means(true);  // the result's, which do not change any more
  QCOMPARE(told(), QString::fromUtf8("latency, µs: 366.2; p99, µs: 2\u202F640"));
  model.set_means(false);
  model.clear_figures();
  QCOMPARE(show(60, 700'000), QString::fromUtf8("latency, µs: 60.0; p99, ms: 700.00"));  // no unit has room for both
}

void TestServiceModel::what_is_more_than_nothing_is_not_shown_as_nothing() {
  ServiceModel model(app::Role::receivers);
  model.set_amount(4);
  app::LiveFigures figures;
  figures.receivers = {{1, 5, 0.04, 88.5, 1'000}, {2, 5, 1.0, 7.24, 2'500'000}, {3, 5, 0, 5, 6'000}, {4, 5, 1.0, 3, 0}};
  model.update(figures);
  constexpr int p99 = ServiceModel::first_figure_column + 1, rate = p99 + 1;
  QCOMPARE(model.headerData(p99, Qt::Horizontal).toString(), QStringLiteral("p99, s"));
  QCOMPARE(cell(model, 0, p99), QStringLiteral("< 0.01"));
  QCOMPARE(cell(model, 2, p99), QStringLiteral("0.01"));
  QCOMPARE(cell(model, 3, p99), QStringLiteral("0.00"));
  QCOMPARE(cell(model, 0, rate), QStringLiteral("< 0.1"));
  QCOMPARE(cell(model, 2, rate), QStringLiteral("0.0"));
  // Where the column has no decimals.
  model.clear_figures();
  figures.receivers = {{1, 5, 0.04, 88.5, 300}, {2, 5, 1.0, 7.24, 700'000}};
  model.update(figures);
  figures.receivers[1].latency_p99_us = 1'010'000;
  model.update(figures);
  QCOMPARE(model.headerData(p99, Qt::Horizontal).toString(), QStringLiteral("p99, ms"));
  QCOMPARE(cell(model, 0, p99), QStringLiteral("< 1"));
}

void TestServiceModel::who_comes_by_keyboard_sees_where_the_focus_is_and_finds_the_first_row() {
  ui::Theme theme;
  theme.choose(ui::ThemeChoice::light);
  ServiceModel model(app::Role::receivers);
  model.set_amount(3);
  QWidget window;
  QVBoxLayout row(&window);
  auto* field = new QLineEdit;
  auto* table = new ui::ServiceTable(theme, &model);
  row.addWidget(field);
  row.addWidget(table);
  window.resize(600, 300);
  window.show();
  window.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&window, 20'000));
  field->setFocus();
  const auto is_framed = [&](int number) {
    const QRect cell = table->visualRect(model.index(number - 1, ServiceModel::name_column));
    const QImage picture = table->viewport()->grab().toImage();
    return picture.pixelColor(cell.center().x(), cell.top()) == theme.tokens().primary;
  };
  QCOMPARE(table->selected_numbers(), QList<int>());
  QVERIFY(!is_framed(1));
  QTest::keyClick(field, Qt::Key_Tab);
  QVERIFY(table->hasFocus());
  QCOMPARE(table->selected_numbers(), QList<int>{1});
  QVERIFY(is_framed(1));
  QTest::keyClick(table, Qt::Key_Down);
  QCOMPARE(table->selected_numbers(), QList<int>{2});
  QVERIFY(is_framed(2) && !is_framed(1));
  // Who comes back finds what was selected.
  QTest::keyClick(table, Qt::Key_Backtab, Qt::ShiftModifier);
  QVERIFY(field->hasFocus());
  QVERIFY(!is_framed(2));
  QTest::keyClick(field, Qt::Key_Tab);
  QCOMPARE(table->selected_numbers(), QList<int>{2});
}

void TestServiceModel::names_have_at_least_three_digits_and_one_is_no_more() {
  QCOMPARE(ui::amount_text(app::Role::senders, 1), QStringLiteral("1 sender"));
  QCOMPARE(ui::amount_text(app::Role::receivers, 20), QStringLiteral("20 receivers"));
  QCOMPARE(ui::service_name(app::Role::senders, 1), QStringLiteral("S001"));
  QCOMPARE(ui::service_name(app::Role::receivers, 17), QStringLiteral("R017"));
  QCOMPARE(ui::service_name(app::Role::receivers, 1234), QStringLiteral("R1234"));
}

void TestServiceModel::tooltips_of_heads_and_cells_are_in_lines() {
  constexpr qsizetype line_chars_max = 80;
  app::LiveFigures figures;
  figures.latency.count = 10;
  figures.clocks.latency = {.apart = true, .asymmetry_us = 8180, .estimation_us = 321};
  figures.receivers = {{1, 10, 5.5, 79, 180}};
  for (const app::Role role : {app::Role::senders, app::Role::receivers}) {
    ServiceModel model(role);
    if (role == app::Role::receivers) model.set_extras({true, true, true});
    model.set_amount(1);
    model.update(figures);
    for (int column = 0; column < model.columnCount(); ++column) {
      const QString told = model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString() + u'\n' +
                           model.index(0, column).data(Qt::ToolTipRole).toString();
      for (const QString& line : told.split(u'\n')) QVERIFY2(line.size() <= line_chars_max, qPrintable(line));
    }
  }
}

}  // namespace

QTEST_MAIN(TestServiceModel)
#include "test_service_model.moc"
