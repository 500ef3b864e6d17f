// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QFontMetricsF>
#include <QHeaderView>
#include <QImage>
#include <QRegularExpression>
#include <QTableWidget>
#include <QTest>
#include <cmath>

#include "ui/text/tabular.h"
#include "ui/theme/style_sheet.h"
#include "ui/theme/theme.h"

namespace {

using namespace n2nq::ui;

double luminance(const QColor& color) {
  const auto channel = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double lighter = std::max(luminance(a), luminance(b)), darker = std::min(luminance(a), luminance(b));
  return (lighter + 0.05) / (darker + 0.05);
}

class TestTheme : public QObject {
  Q_OBJECT
 private slots:
  void style_sheets_are_filled_completely();
  void texts_are_readable_on_their_grounds();
  void choosing_changes_the_application();
  void following_the_desktop_undoes_a_choice();
  void digits_have_one_width();
  void icons_have_a_disabled_look();
  void headings_of_tables_stand_above_their_cells_data();
  void headings_of_tables_stand_above_their_cells();
};

/// The first and the last column of the picture, within those, that are not all of its background.
std::pair<int, int> ink(const QImage& picture, int from, int to) {
  int first = -1, last = -1;
  for (int x = from; x < to; ++x) {
    bool blank = true;
    for (int y = 1; y < picture.height() - 2; ++y) blank = blank && picture.pixel(x, y) == picture.pixel(from, 1);
    if (!blank) first = first < 0 ? x : first, last = x;
  }
  return {first, last};
}

void TestTheme::style_sheets_are_filled_completely() {
  for (const Tokens* tokens : {&light_tokens(), &dark_tokens()}) {
    const QString sheet = style_sheet(*tokens);
    QVERIFY(!sheet.contains(u'@'));
    QVERIFY(!sheet.contains(QRegularExpression(QStringLiteral(":\\s*;"))));
    QVERIFY(sheet.contains(tokens->primary.name()));
  }
}

void TestTheme::texts_are_readable_on_their_grounds() {
  constexpr double readable = 4.5;
  for (const Tokens* t : {&light_tokens(), &dark_tokens()}) {
    for (const QColor& ground : {t->surface, t->background}) {
      for (const QColor& text : {t->text, t->secondary, t->bad, t->good}) QVERIFY(contrast(text, ground) >= readable);
    }
    QVERIFY(contrast(t->on_primary, t->primary) >= readable);
    constexpr double visible = 2.5;
    for (const QColor& series : t->series) QVERIFY(contrast(series, t->surface) >= visible);
  }
}

void TestTheme::choosing_changes_the_application() {
  Theme theme;
  theme.choose(ThemeChoice::dark);
  QVERIFY(theme.is_dark());
  QCOMPARE(QApplication::palette().color(QPalette::Window), dark_tokens().background);
  theme.choose(ThemeChoice::light);
  QVERIFY(!theme.is_dark());
  QCOMPARE(QApplication::palette().color(QPalette::Window), light_tokens().background);
}

void TestTheme::following_the_desktop_undoes_a_choice() {
  Theme theme;
  theme.choose(ThemeChoice::system);
  const bool desktop_is_dark = theme.is_dark();
  theme.choose(desktop_is_dark ? ThemeChoice::light : ThemeChoice::dark);
  QVERIFY(theme.is_dark() != desktop_is_dark);
  theme.choose(ThemeChoice::system);
  QCOMPARE(theme.is_dark(), desktop_is_dark);
}

void TestTheme::digits_have_one_width() {
  Theme theme;
  for (const TextStyle style : {TextStyle::body, TextStyle::aggregate, TextStyle::caption}) {
    const QFontMetricsF metrics(theme.font(style));
    const double width = tabular_width(metrics, QStringLiteral("1 111.1"));
    for (const char* text : {"7 184.0", "0 000.0", "4 999.8"}) QCOMPARE(tabular_width(metrics, QString::fromLatin1(text)), width);
  }
}

void TestTheme::icons_have_a_disabled_look() {
  Theme theme;
  theme.choose(ThemeChoice::light);
  const QIcon icon = theme.icon(Glyph::play);
  QVERIFY(icon.pixmap(16, QIcon::Normal).toImage() != icon.pixmap(16, QIcon::Disabled).toImage());
}

void TestTheme::headings_of_tables_stand_above_their_cells_data() {
  QTest::addColumn<Qt::Alignment>("alignment");
  QTest::newRow("texts") << Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter);
  QTest::newRow("numbers") << Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter);
}

void TestTheme::headings_of_tables_stand_above_their_cells() {
  QFETCH(Qt::Alignment, alignment);
  Theme theme;
  theme.choose(ThemeChoice::light);
  QTableWidget table(1, 2);
  table.setShowGrid(false);
  table.verticalHeader()->hide();
  for (int column = 0; column < 2; ++column) {
    const auto make = [&] {
      auto* item = new QTableWidgetItem(QStringLiteral("HIH"));
      item->setTextAlignment(alignment);
      return item;
    };
    table.setHorizontalHeaderItem(column, make());
    table.setItem(0, column, make());
    table.setColumnWidth(column, 120);
  }
  table.resize(300, 120);
  table.show();
  QVERIFY(QTest::qWaitForWindowExposed(&table));
  table.setCurrentCell(-1, -1);
  const QImage headings = table.horizontalHeader()->viewport()->grab().toImage();
  const QImage cells =
      table.viewport()->grab(table.visualItemRect(table.item(0, 0)).united(table.visualItemRect(table.item(0, 1)))).toImage();
  for (const int from : {0, 120}) {
    const auto heading = ink(headings, from, from + 120), cell = ink(cells, from, from + 120);
    QVERIFY(heading.first > from && cell.first > from);
    QCOMPARE(heading, cell);
  }
}

}  // namespace

QTEST_MAIN(TestTheme)
#include "test_theme.moc"
