// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QComboBox>
#include <QCursor>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QImage>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTableWidget>
#include <QTest>
#include <QTextBrowser>
#include <cmath>

#include "tests/ui/support/bench_window.h"
#include "ui/text/tabular.h"
#include "ui/theme/style_sheet.h"
#include "ui/theme/theme.h"
#include "ui/widget/focus_table.h"

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
  void the_focus_is_seen_on_buttons_and_moves_nothing_data();
  void the_focus_is_seen_on_buttons_and_moves_nothing();
  void the_focus_is_seen_on_tabs_and_moves_nothing();
  void the_focus_is_seen_in_tables();
  void the_focus_is_seen_around_texts_and_lists_and_moves_nothing();
  void the_focus_is_seen_in_boxes_that_are_refused_or_locked();
  void a_button_looks_hovered_for_no_longer_than_the_pointer_is_on_it();
};

/// Something that has the focus, or else what is beside it.
class FocusWindow : public QWidget {
 public:
  explicit FocusWindow(QWidget* looked_at) : looked_at_(looked_at), other_(new QPushButton(QStringLiteral("Other"))) {
    auto* row = new QHBoxLayout(this);
    row->addWidget(other_);
    row->addWidget(looked_at_);
    resize(500, 200);
    show();
    activateWindow();
  }
  bool is_ready() { return QTest::qWaitForWindowActive(this, n2nq::ui_test::deadline_ms); }
  QImage picture(bool with_focus) {
    (with_focus ? looked_at_ : other_)->setFocus();
    return grab(looked_at_->geometry()).toImage();
  }

 private:
  QWidget *looked_at_, *other_;
};

/// How many pixels within `place` have another colour there that people can tell from the first.
int standing_out(const QImage& before, const QImage& after, const QRect& place) {
  constexpr double visible = 3;
  int out = 0;
  for (int y = place.top(); y <= place.bottom(); ++y) {
    for (int x = place.left(); x <= place.right(); ++x) out += contrast(before.pixelColor(x, y), after.pixelColor(x, y)) >= visible ? 1 : 0;
  }
  return out;
}

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
    const QColor selected = mixed(t->primary, t->surface, 0.12);
    for (const QColor& ground : {t->surface, t->background, selected}) {
      for (const QColor& text : {t->text, t->secondary, t->bad, t->warning, t->good}) QVERIFY(contrast(text, ground) >= readable);
    }
    QVERIFY(contrast(t->on_primary, t->primary) >= readable);
    constexpr double seen = 3;  // a frame
    for (const QColor& ground : {t->surface, t->background, t->border, selected}) {
      QVERIFY(contrast(t->primary, ground) >= seen);
    }
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
  QVERIFY(QTest::qWaitForWindowExposed(&table, n2nq::ui_test::deadline_ms));
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

void TestTheme::the_focus_is_seen_on_buttons_and_moves_nothing_data() {
  QTest::addColumn<bool>("dark");
  QTest::addColumn<bool>("is_main");
  QTest::addColumn<QString>("segment");
  for (const bool dark : {false, true}) {
    const char* const name = dark ? "dark" : "light";
    QTest::addRow("plain, %s", name) << dark << false << QString();
    QTest::addRow("main, %s", name) << dark << true << QString();
    for (const char* segment : {"first", "middle", "last"}) {
      QTest::addRow("%s segment, %s", segment, name) << dark << false << QString::fromLatin1(segment);
    }
  }
}

void TestTheme::the_focus_is_seen_on_buttons_and_moves_nothing() {
  QFETCH(bool, dark);
  QFETCH(bool, is_main);
  QFETCH(QString, segment);
  Theme theme;
  theme.choose(dark ? ThemeChoice::dark : ThemeChoice::light);
  const QString text = QStringLiteral("Start all of them at once");
  auto* button = new QPushButton(text);
  if (is_main) button->setProperty("main", true);
  if (!segment.isEmpty()) button->setProperty("segment", segment);
  button->setCheckable(!segment.isEmpty());
  button->setChecked(!segment.isEmpty());
  FocusWindow window(button);
  QVERIFY(window.is_ready());
  const auto asked_for = [button, text] {
    button->setText(QString());  // it remembers what it asked for
    button->setText(text);
    return button->sizeHint();
  };
  const QImage without = window.picture(false);
  const QSize size = asked_for();
  const QImage with = window.picture(true);
  QVERIFY(button->hasFocus());
  QCOMPARE(asked_for(), size);
  QCOMPARE(with.size(), without.size());
  // Most of a line around it.
  const int seen = standing_out(without, with, with.rect()), around = 2 * (button->width() + button->height());
  QVERIFY2(seen >= around * 3 / 4, qPrintable(QStringLiteral("%1 of %2 pixels").arg(seen).arg(around)));
}

void TestTheme::the_focus_is_seen_on_tabs_and_moves_nothing() {
  for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
    Theme theme;
    theme.choose(choice);
    auto* tabs = new QTabBar;
    tabs->setDrawBase(false);
    for (const char* text : {"Bench", "Charts"}) tabs->addTab(QString::fromLatin1(text));
    FocusWindow window(tabs);
    QVERIFY(window.is_ready());
    const QImage without = window.picture(false);
    const QSize size = tabs->sizeHint();
    const QRect tab = tabs->tabRect(0);
    const QImage with = window.picture(true);
    QVERIFY(tabs->hasFocus());
    tabs->setTabText(1, QStringLiteral("Results"));  // it lays them out anew
    tabs->setTabText(1, QStringLiteral("Charts"));
    QCOMPARE(tabs->sizeHint(), size);
    QCOMPARE(tabs->tabRect(0), tab);
    // A frame, whose line below was there before: more than another colour of the text, which a hovered one has.
    const int seen = standing_out(without, with, tab.intersected(with.rect())), around = tab.width() + 2 * tab.height();
    QVERIFY2(seen >= around * 3 / 4, qPrintable(QStringLiteral("%1 of %2 pixels").arg(seen).arg(around)));
  }
}

void TestTheme::the_focus_is_seen_in_tables() {
  for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
    Theme theme;
    theme.choose(choice);
    QStandardItemModel model(3, 2);
    auto* table = new FocusTable(theme);
    table->setModel(&model);
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->horizontalHeader()->hide();
    table->verticalHeader()->hide();
    FocusWindow window(table);
    QVERIFY(window.is_ready());
    table->selectRow(1);
    const auto picture = [&window, table](bool with_focus) { return window.picture(with_focus).copy(table->viewport()->geometry()); };
    const QImage without = picture(false), with = picture(true);
    QVERIFY(table->hasFocus());
    QCOMPARE(with.size(), without.size());
    const QRect row(0, table->rowViewportPosition(1), with.width(), table->rowHeight(1));
    const int seen = standing_out(without, with, row), around = 2 * (row.width() + row.height());
    QVERIFY2(seen >= around * 3 / 4, qPrintable(QStringLiteral("%1 of %2 pixels").arg(seen).arg(around)));
    QCOMPARE(standing_out(without, with, with.rect()), seen);  // and nowhere else
  }
}

void TestTheme::the_focus_is_seen_around_texts_and_lists_and_moves_nothing() {
  for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
    Theme theme;
    theme.choose(choice);
    auto* plain = new QTextBrowser;
    plain->setProperty("plain", true);
    for (QAbstractScrollArea* area : std::initializer_list<QAbstractScrollArea*>{new QListWidget, new QTableWidget(2, 2), new QTextBrowser,
                                                                                 plain, new QPlainTextEdit}) {
      FocusWindow window(area);
      QVERIFY(window.is_ready());
      const QImage without = window.picture(false);
      const QRect inside = area->viewport()->geometry();
      const QImage with = window.picture(true);
      QVERIFY(area->hasFocus());
      QCOMPARE(area->viewport()->geometry(), inside);
      const int seen = standing_out(without, with, with.rect()), around = 2 * (area->width() + area->height());
      QVERIFY2(seen >= around * 3 / 4,
               qPrintable(QStringLiteral("%1: %2 of %3 pixels").arg(QString::fromLatin1(area->metaObject()->className())).arg(seen).arg(around)));
    }
  }
}

void TestTheme::the_focus_is_seen_in_boxes_that_are_refused_or_locked() {
  for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
    Theme theme;
    theme.choose(choice);
    for (const char* state : {"refused", "locked"}) {
      auto* box = new QComboBox;
      box->addItem(QStringLiteral("senders on h1"));
      box->setProperty(state, true);
      FocusWindow window(box);
      QVERIFY(window.is_ready());
      const QImage without = window.picture(false);
      const QSize size = box->size();
      const QImage with = window.picture(true);
      QVERIFY(box->hasFocus());
      QCOMPARE(box->size(), size);
      const int seen = standing_out(without, with, with.rect()), around = 2 * (box->width() + box->height());
      QVERIFY2(seen >= around / 2, qPrintable(QStringLiteral("%1: %2 of %3 pixels").arg(QString::fromLatin1(state)).arg(seen).arg(around)));
    }
  }
}

void TestTheme::a_button_looks_hovered_for_no_longer_than_the_pointer_is_on_it() {
  Theme theme;
  theme.choose(ThemeChoice::light);
  QPushButton button(QStringLiteral("Menu"));
  QMenu menu(&button);
  menu.addAction(QStringLiteral("Quit"));
  button.setMenu(&menu);
  button.show();
  QVERIFY(QTest::qWaitForWindowExposed(&button, n2nq::ui_test::deadline_ms));
  const QRect at(button.mapToGlobal(QPoint(0, 0)), button.size());
  for (const bool is_on_it : {false, true}) {
    QCursor::setPos(is_on_it ? at.center() : at.bottomRight() + QPoint(40, 40));
    QCOMPARE(at.contains(QCursor::pos()), is_on_it);
    menu.popup(at.bottomLeft());
    QVERIFY(menu.isVisible());
    button.setAttribute(Qt::WA_UnderMouse);  // as from before it was opened
    menu.hide();
    QCOMPARE(button.underMouse(), is_on_it);
  }
}

}  // namespace

QTEST_MAIN(TestTheme)
#include "test_theme.moc"
