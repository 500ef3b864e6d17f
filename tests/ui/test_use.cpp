// SPDX-License-Identifier: GPL-3.0-or-later
// How the window is to be used: nothing covers, jumps, wanders or stays silent.
#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScreen>
#include <QSignalSpy>
#include <QSplitter>
#include <QTabBar>
#include <QTest>

#include "tests/ui/support/bench_window.h"
#include "ui/card/receivers_card.h"
#include "ui/card/run_panel.h"
#include "ui/page/bench_page.h"
#include "ui/text/figures.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/message_bar.h"
#include "ui/widget/service_table.h"
#include "ui/widget/state_light.h"
#include "ui/widget/tile.h"
#include "ui/widget/whole_rows.h"

namespace {

using namespace n2nq;
using ui_test::BenchWindow;

class TestUse : public QObject {
  Q_OBJECT
 private slots:
  void the_open_drawer_hides_neither_verdict_nor_counts();
  void the_drawer_has_the_room_until_it_closes_or_a_run_starts();
  void advanced_settings_stand_in_two_columns_where_there_is_room();
  void the_first_window_is_no_larger_than_the_screen();
  void latencies_between_two_clocks_say_what_these_may_err();
  void what_clocks_leave_open_moves_nothing();
  void what_nobody_gave_an_account_of_is_not_known();
  void a_run_moves_nothing();
  void a_source_moves_no_card();
  void a_refused_start_names_the_field_that_was_edited();
  void a_refused_text_leaves_no_part_of_it_behind();
  void the_keyboard_stays_where_it_was();
  void what_has_no_effect_in_a_run_is_locked();
  void what_counts_only_with_other_choices_says_with_which();
  void headings_are_whole_at_1280_by_720();
  void no_table_cuts_a_row();
  void waiting_texts_are_whole();
  void a_log_before_a_run_is_answered();
  void the_log_that_opens_is_that_of_the_table_one_is_in();
  void what_settings_bring_is_told_before_each_run();
  void no_line_of_it_ends_between_a_number_and_its_unit();
  void a_log_is_offered_of_who_was_started();
  void every_setting_in_sight_has_its_label();
};

QPoint place(BenchWindow& bench, const char* name) {
  auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
  return widget->mapTo(&bench.window(), QPoint(0, 0));
}

void activate(BenchWindow& bench) {
  QApplication::setActiveWindow(&bench.window());  // a display without a window manager activates nothing by itself
}

void TestUse::the_open_drawer_hides_neither_verdict_nor_counts() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  bench.set({{"senders.messages", "5"}, {"senders.delay_ms", "20"}});
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCoreApplication::processEvents();
  for (const char* name : {"advanced_panel", "verdict", "verdict_story", "button_open_folder", "count_sent", "count_lost"}) {
    const auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
    QVERIFY2(widget->isVisible() && widget->visibleRegion().boundingRect().size() == widget->size(), name);
  }
  const int height = bench.find<QWidget>(QStringLiteral("advanced_panel"))->height();
  QVERIFY2(height > 190, qPrintable(QString::number(height)));  // four settings and more: the stages made room for them
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("stage_bar"))->isVisible());
  // Whoever else was busy meanwhile: what is said of it makes nothing wider.
  const int least_px = bench.window().minimumSizeHint().width();
  bench.find<ui::ElidedLabel>(QStringLiteral("verdict_disturbed"))->set_text(QStringLiteral("disturbed by others"));
  QCoreApplication::processEvents();
  QCOMPARE(bench.window().minimumSizeHint().width(), least_px);
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestUse::the_drawer_has_the_room_until_it_closes_or_a_run_starts() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  bench.set({{"senders.messages", "5"}, {"senders.delay_ms", "20"}});
  const auto* drawer = bench.find<QAbstractScrollArea>(QStringLiteral("advanced_panel"));
  const auto has_room = [drawer] {  // a third of the window's height and more
    return BenchWindow::wait_for([drawer] { return drawer->isVisible() && drawer->viewport()->height() > 270; });
  };
  const auto in_sight = [&bench](std::initializer_list<const char*> names) {
    QStringList out;
    for (const char* name : names) {
      if (bench.find<QWidget>(QString::fromLatin1(name))->isVisible()) out << QString::fromLatin1(name);
    }
    return out.join(u' ');
  };
  const std::initializer_list<const char*> names = {"count_sent", "verdict", "verdict_story", "button_open_folder", "stage_bar"};
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY2(has_room(), qPrintable(QString::number(drawer->viewport()->height())));
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCOMPARE(in_sight(names), QStringLiteral("count_sent verdict verdict_story button_open_folder stage_bar"));
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY2(has_room(), qPrintable(QString::number(drawer->viewport()->height())));
  QCOMPARE(in_sight(names), QStringLiteral("verdict button_open_folder"));
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QCOMPARE(in_sight(names), QStringLiteral("count_sent verdict verdict_story button_open_folder stage_bar"));
  // What the next run brings is in sight from its start on, and nothing of it goes when it is over.
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCOMPARE(in_sight(names), QStringLiteral("count_sent verdict verdict_story button_open_folder"));
  QVERIFY(drawer->isVisible());
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestUse::advanced_settings_stand_in_two_columns_where_there_is_room() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  const auto* first = bench.find<QWidget>(QStringLiteral("field_senders_warmup_messages"));
  const auto* second = bench.find<QWidget>(QStringLiteral("field_responses_window"));
  const auto* below = bench.find<QWidget>(QStringLiteral("field_limits_books_mib"));
  QVERIFY(BenchWindow::wait_for([&] { return second->y() > first->y(); }));
  QCOMPARE(second->x(), first->x());
  bench.window().resize(1920, 1080);
  QCoreApplication::processEvents();
  auto* cards = bench.find<QSplitter>(QStringLiteral("splitter_cards"));
  cards->setSizes({430, 960, 460});
  QVERIFY(BenchWindow::wait_for([&] { return second->y() == first->y() && second->x() > first->x() + first->width(); }));
  // Where a text is refused, or a note goes, everything stays in its place.
  const QList<QPoint> before = {first->pos(), second->pos(), below->pos()};
  for (const char* text : {"x", "9", "0"}) {
    QVERIFY(bench.type(QStringLiteral("field_limits_pending_mib"), QString::fromLatin1(text)));
    QCoreApplication::processEvents();
    QCOMPARE((QList<QPoint>{first->pos(), second->pos(), below->pos()}), before);
  }
  bench.window().resize(1280, 720);
  QVERIFY(BenchWindow::wait_for([&] { return second->y() > first->y() && second->x() == first->x(); }));
}

void TestUse::the_first_window_is_no_larger_than_the_screen() {
  BenchWindow bench(QStringLiteral(N2NQ_PROGRAMS), true);
  const QSize room = bench.window().screen()->availableGeometry().size();
  QVERIFY(bench.window().height() <= room.height());
  QVERIFY(bench.window().width() <= qMax(room.width(), bench.window().minimumSizeHint().width()));
  QVERIFY2(bench.window().isMaximized(), "no room for a frame around it");
  const auto* tabs = bench.find<QTabBar>(QStringLiteral("page_tabs"));
  QVERIFY(tabs->tabRect(tabs->count() - 1).right() < tabs->width());
}

void TestUse::latencies_between_two_clocks_say_what_these_may_err() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  const auto captions = [&bench] {
    QStringList out;
    for (const char* name : {"tile_p50", "tile_p99"}) {
      const auto* tile = bench.find<ui::Tile>(QString::fromLatin1(name));
      out << tile->caption() << tile->detail();
    }
    return out.join(QStringLiteral(" | ")).replace(QChar(0x202F), u' ');
  };
  auto* table = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"));
  const auto heading = [&table] { return table->model()->headerData(2, Qt::Horizontal).toString().replace(QChar(0x202F), u' '); };
  auto* card = static_cast<ui::ReceiversCard*>(bench.find<QWidget>(QStringLiteral("receivers_card")));
  app::LiveFigures figures;
  figures.latency.count = 100;
  figures.latency.p50_us = 2300;
  figures.latency.mean_us = 2320;
  figures.latency.p99_us = 4500;
  figures.latency.max_us = 9600;
  card->show_figures(figures);
  QCOMPARE(captions(), QStringLiteral("latency p50 | mean 2.32 ms | latency p99 | max 9.60 ms"));
  QCOMPARE(heading(), QString::fromUtf8("latency, µs"));
  const int height_px = table->horizontalHeader()->height();
  figures.clocks.latency = {.apart = true, .asymmetry_us = 2500, .estimation_us = 50};
  card->show_figures(figures);
  QCOMPARE(captions(), QString::fromUtf8("p50; mean 2.32 ms | ± 2.55 ms: no finer | p99; max 9.60 ms | both ± 2.55 ms"));
  QCOMPARE(heading(), QString::fromUtf8("latency, µs\n± 2.55 ms"));
  QVERIFY(table->horizontalHeader()->height() > height_px);
  // However many the mean leaves out: that is whole at this size.
  const auto* lowest = bench.find<ui::Tile>(QStringLiteral("tile_lowest_95"));
  const QFontMetrics caption(bench.window().theme().font(ui::TextStyle::caption));
  figures.latency.mean_lowest_95_us = 2100;
  for (const auto& [left_out, shown] : {std::pair(999, "999"), {1'234, "1\u202F234"}, {99'999, "99\u202F999"}, {999'999, "999\u202Fk"},
                                        {12'345'678, "12.3\u202FM"}}) {
    figures.latency.left_out = static_cast<std::uint64_t>(left_out);
    figures.latency.count = 20 * figures.latency.left_out;
    card->show_figures(figures);
    QCOMPARE(lowest->detail(), QStringLiteral("no finer; %1 out").arg(QString::fromUtf8(shown)));
    QVERIFY2(caption.horizontalAdvance(lowest->detail()) <= lowest->width() - 2 * ui::space::between, qPrintable(lowest->detail()));
  }
  figures.latency = {};  // they are silent
  card->show_figures(figures);
  QCOMPARE(captions(), QString::fromUtf8("p50; mean – | – | p99; max – | –"));
  QCOMPARE(bench.find<ui::Tile>(QStringLiteral("tile_lowest_95"))->caption(), QString::fromUtf8("mean lowest 95 %"));
  QCOMPARE(heading(), QString::fromUtf8("latency, µs\n± –"));
  QVERIFY(table->horizontalHeader()->height() > height_px);
  card->clear_figures();
  QCOMPARE(heading(), QString::fromUtf8("latency, µs"));
  // Where it will be so is known before.
  bench.set({{"receivers.host", "h1"}});
  QCOMPARE(heading(), QString::fromUtf8("latency, µs\n± –"));
  figures = {};  // of a run that ended before it began
  card->show_figures(figures);
  QCOMPARE(heading(), QString::fromUtf8("latency, µs\n± –"));
  QCoreApplication::processEvents();
  QVERIFY2(bench.window().minimumSizeHint().width() <= 1280, qPrintable(QString::number(bench.window().minimumSizeHint().width())));
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestUse::what_clocks_leave_open_moves_nothing() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("many-services"));
  bench.window().resize(1280, 720);
  bench.set({{"receivers.host", "h1"}});
  auto* card = static_cast<ui::ReceiversCard*>(bench.find<QWidget>(QStringLiteral("receivers_card")));
  const auto places = [&bench] {
    QCoreApplication::processEvents();
    QStringList out;
    for (const char* name : {"senders_card", "receivers_card", "receivers_table", "tile_p50", "tile_sent", "stage_bar"}) {
      const auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
      out << QStringLiteral("%1 %2 %3").arg(QString::fromLatin1(name)).arg(place(bench, name).x()).arg(widget->width());
    }
    const auto* header = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"))->horizontalHeader();
    for (int column = 0; column < header->count(); ++column) out << QString::number(header->sectionSize(column));
    return out;
  };
  const QStringList before = places();
  QCOMPARE(bench.window().size(), QSize(1280, 720));
  app::LiveFigures figures;
  figures.latency.count = 100;
  figures.latency.p50_us = figures.latency.mean_us = 2300;
  for (const double bound_us : {0.4, 42.3, 888.0, 2550.0, 12'300.0, 888'000.0, 2'500'000.0, app::unknown}) {
    figures.clocks.latency = {.apart = true, .asymmetry_us = bound_us, .estimation_us = 0};
    card->show_figures(figures);
    QCOMPARE(places(), before);
  }
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestUse::what_nobody_gave_an_account_of_is_not_known() {
  BenchWindow bench;
  auto* table = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"));
  auto* card = static_cast<ui::ReceiversCard*>(bench.find<QWidget>(QStringLiteral("receivers_card")));
  auto* panel = static_cast<ui::RunPanel*>(bench.find<QWidget>(QStringLiteral("run_panel")));
  const auto shown = [&] {
    QStringList out;
    for (const char* name : {"tile_received", "count_received", "count_sent", "count_unexpected"})
      out << bench.find<ui::Tile>(QString::fromLatin1(name))->text();
    return (out << table->model()->index(0, 5).data().toString()).join(u' ');  // packets
  };
  app::LiveFigures figures;
  figures.attempted = 50;
  figures.received = 40;
  figures.receivers = {{.number = 1, .received = 40}};
  card->show_figures(figures);
  panel->show_figures(figures);
  QCOMPARE(shown(), QStringLiteral("40 40 50 0 40"));
  figures.receivers.clear();
  figures.received = figures.lost = 0;
  figures.settled.emplace().receivers_told = false;
  card->show_figures(figures);
  panel->show_figures(figures);
  QCOMPARE(shown(), QString::fromUtf8("– – 50 – –"));
}

void TestUse::a_run_moves_nothing() {
  BenchWindow bench;
  bench.window().resize(1440, 820);
  bench.set({{"senders.messages", "5"}, {"senders.delay_ms", "20"}});
  QCoreApplication::processEvents();
  const char* const names[] = {"senders_table", "receivers_table", "button_advanced", "stage_bar", "charts_card"};
  QList<QPoint> before, after;
  for (const char* name : names) before << place(bench, name);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCoreApplication::processEvents();
  for (const char* name : names) after << place(bench, name);
  QCOMPARE(after, before);
}

void TestUse::a_source_moves_no_card() {
  BenchWindow bench;
  for (const char* name : {"h1", "h2", "receivers-vm"}) {
    app::Host host;
    host.name = name;
    QCOMPARE(bench.hosts().put(host), QString());
  }
  for (const QSize& size : {QSize(1280, 720), QSize(1440, 820), QSize(1920, 1080)}) {
    bench.window().resize(size);
    const auto places = [&] {
      QCoreApplication::processEvents();
      QStringList out;
      for (const char* name : {"senders_card", "broker_card", "receivers_card", "charts_card", "senders_table", "receivers_table"}) {
        const auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
        out << QStringLiteral("%1 %2 %3").arg(QString::fromLatin1(name)).arg(place(bench, name).x()).arg(widget->width());
      }
      return out;
    };
    bench.set({{"broker.host", "local"}, {"senders.host", "local"}, {"receivers.host", "local"}});
    const QStringList before = places();
    for (const auto& [key, name] : std::initializer_list<std::pair<const char*, const char*>>{
             {"senders.host", "h1"}, {"broker.host", "h2"}, {"receivers.host", "receivers-vm"}, {"senders.host", "nobody-knows"}}) {
      bench.set({{key, name}});
      QCOMPARE(places(), before);
    }
  }
}

void TestUse::a_refused_start_names_the_field_that_was_edited() {
  BenchWindow bench;
  activate(bench);
  bench.set({{"limits.memory_mib", "1"}});  // too little for the largest message
  QVERIFY(bench.type(QStringLiteral("field_senders_delay_ms"), QStringLiteral("fast")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  const QString text = bench.window().bench_page()->messages()->messages().last();
  QVERIFY2(text.contains(QStringLiteral("Not started: Delay")) && text.contains(QStringLiteral("and 1 more")), qPrintable(text));
  QCOMPARE(bench.window().focusWidget(), bench.find<QLineEdit>(QStringLiteral("field_senders_delay_ms")));
}

void TestUse::a_refused_text_leaves_no_part_of_it_behind() {
  BenchWindow bench;
  activate(bench);
  QVERIFY(bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("100000")));
  QCOMPARE(bench.find<QLineEdit>(QStringLiteral("field_senders_amount"))->text(), QStringLiteral("100000"));
  QVERIFY(!bench.find<QLabel>(QStringLiteral("problem_senders_amount"))->text().isEmpty());
  QCOMPARE(bench.form().settings().senders.amount, 10);
  bench.find<QWidget>(QStringLiteral("button_start_all"))->setFocus();
  QCOMPARE(bench.form().settings().senders.amount, 10);
  QCOMPARE(bench.find<QLineEdit>(QStringLiteral("field_senders_amount"))->text(), QStringLiteral("100000"));
  // Sizes have a field of their own kind.
  QVERIFY(bench.type(QStringLiteral("field_senders_size_bytes"), QStringLiteral("99999999999")));
  QVERIFY(!bench.find<QLabel>(QStringLiteral("problem_senders_size_bytes"))->text().isEmpty());
  QCOMPARE(bench.form().settings().senders.size_max_bytes, 50);
}

void TestUse::the_keyboard_stays_where_it_was() {
  BenchWindow bench;
  activate(bench);
  bench.set({{"senders.messages", "none"}});
  auto* start = bench.find<QAbstractButton>(QStringLiteral("button_start_all"));
  start->setFocus();
  QTest::keyClick(&bench.window(), Qt::Key_F5);
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QVERIFY(!qobject_cast<QAbstractButton*>(bench.window().focusWidget()));  // a press of the space bar does nothing
  QTest::keyClick(&bench.window(), Qt::Key_F5, Qt::ShiftModifier);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCOMPARE(bench.window().focusWidget(), start);
  // In a field it stays in the field, though that is locked meanwhile.
  auto* field = bench.find<QLineEdit>(QStringLiteral("field_senders_amount"));
  field->setFocus();
  QTest::keyClick(&bench.window(), Qt::Key_F5);
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QCOMPARE(bench.window().focusWidget(), field);
  QTest::keyClick(&bench.window(), Qt::Key_F5, Qt::ShiftModifier);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCOMPARE(bench.window().focusWidget(), field);
}

void TestUse::what_has_no_effect_in_a_run_is_locked() {
  BenchWindow bench;
  bench.set({{"senders.messages", "none"}});
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  for (const char* key : {"start_when", "messages_tsv_max_mib"}) QVERIFY(bench.form().locked(QString::fromLatin1(key)).isEmpty());
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  for (const char* key : {"start_when", "messages_tsv_max_mib"})
    QVERIFY2(bench.form().locked(QString::fromLatin1(key)).contains(QStringLiteral("the run")), key);
  auto* limit = bench.find<QLineEdit>(QStringLiteral("field_messages_tsv_max_mib"));
  QVERIFY(limit->isReadOnly() && limit->toolTip().contains(QStringLiteral("Locked")));
}

void TestUse::what_counts_only_with_other_choices_says_with_which() {
  BenchWindow bench;
  activate(bench);
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  auto* window = bench.find<QLineEdit>(QStringLiteral("field_responses_window"));
  const auto is_closed = [](const QWidget* field) {
    const bool says = field->toolTip().contains(QStringLiteral("Without effect: ")) && field->toolTip().contains(QStringLiteral("It counts "));
    return says && field->property("locked").toBool();
  };
  QVERIFY2(is_closed(window) && window->isReadOnly(), qPrintable(window->toolTip()));
  const QString before = window->text();
  QTest::keyClicks(window, QStringLiteral("7"));
  QCOMPARE(window->text(), before);
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QVERIFY(!is_closed(window) && !window->isReadOnly());
  QVERIFY(bench.type(QStringLiteral("field_responses_window"), QStringLiteral("none")));  // refused
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QVERIFY2(!window->isReadOnly(), "it is to be mended before a start");
  QVERIFY(bench.type(QStringLiteral("field_responses_window"), QStringLiteral("64")));  // of which 6 is a value already
  QCOMPARE(bench.form().settings().responses.window, 64);
  window->clearFocus();
  QVERIFY(is_closed(window) && window->isReadOnly());
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QCOMPARE(window->text(), QStringLiteral("64"));
  const auto* start = bench.find<QWidget>(QStringLiteral("field_senders_start"));
  QVERIFY(!is_closed(start));
  QVERIFY(bench.type(QStringLiteral("field_senders_delay_ms"), QStringLiteral("0")));
  QVERIFY2(is_closed(start), qPrintable(start->toolTip()));
}

void TestUse::headings_are_whole_at_1280_by_720() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("many-services"));
  bench.window().resize(1280, 720);
  QCoreApplication::processEvents();
  QCOMPARE(bench.window().size(), QSize(1280, 720));
  for (const char* name : {"senders_table", "receivers_table"}) {
    const auto* table = bench.find<ui::ServiceTable>(QString::fromLatin1(name));
    const QHeaderView* header = table->horizontalHeader();
    QVERIFY2(header->length() <= table->viewport()->width(), name);
    for (int column = 0; column < header->count(); ++column) {
      const QString text = table->model()->headerData(column, Qt::Horizontal).toString();
      constexpr int padding_px = 10;  // as in the style sheet
      QVERIFY2(header->fontMetrics().horizontalAdvance(text) + padding_px <= header->sectionSize(column), qPrintable(text));
    }
  }
}

void TestUse::no_table_cuts_a_row() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("many-services"));
  for (const int height_px : {720, 727, 733, 740, 900}) {
    bench.window().resize(1280, height_px);
    QCoreApplication::processEvents();
    for (const char* name : {"senders_table", "receivers_table"}) {
      auto* table = bench.find<ui::ServiceTable>(QString::fromLatin1(name));
      for (const auto scroll : {&QTableView::scrollToBottom, &QTableView::scrollToTop}) {
        (table->*scroll)();
        QCOMPARE(table->rowViewportPosition(table->rowAt(0)), 0);
        QCOMPARE(table->viewport()->height() % table->rowHeight(0), 0);
      }
    }
  }
  for (const auto* table : bench.window().findChildren<QTableView*>())
    QVERIFY2(qobject_cast<ui::WholeRows*>(table->parentWidget()) != nullptr, qPrintable(table->objectName()));
}

void TestUse::waiting_texts_are_whole() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  const char* const waits[] = {"N2NQ",
                               "N2NQ at 127.0.0.1:40001 (12 of 50 connected)",
                               "N2NQ at 127.0.0.1:40001 (1999 of 2000 connected)",
                               "receivers to be started",
                               "senders and receivers",
                               "50 senders and 50 receivers",
                               "senders (49 of 50 connected)",
                               "N2NQ at 127.0.0.1:40001 (all connected, and its clock is being compared with this host's)",
                               "N2NQ at 127.0.0.1:40001 (the clocks are being compared before anybody connects)",
                               "50 receivers"};
  for (const char* name : {"light_N2NQ", "light_senders", "light_receivers"}) {
    auto* light = bench.find<ui::StateLight>(QString::fromLatin1(name));
    for (const char* wait : waits) {
      app::ProcessStatus status;
      status.state = app::ProcessState::waiting;
      status.waiting_for = QString::fromLatin1(wait);
      light->set_state(status, 50);
      QVERIFY2(light->is_word_whole(), qPrintable(light->word()));
      QVERIFY(light->toolTip().replace(u'\n', u' ').contains(QString::fromLatin1(wait)));
      if (status.waiting_for.contains(QStringLiteral("clock"))) QCOMPARE(light->word(), QStringLiteral("comparing clocks"));
    }
  }
}

void TestUse::a_log_before_a_run_is_answered() {
  BenchWindow bench;
  activate(bench);
  QTest::keyClick(&bench.window(), Qt::Key_L, Qt::ControlModifier);
  QVERIFY(bench.window().bench_page()->messages()->isVisible());
  QVERIFY(bench.window().bench_page()->messages()->messages().last().contains(QStringLiteral("no log yet")));
  QTest::keyClick(&bench.window(), Qt::Key_L, Qt::ControlModifier);
  QCOMPARE(bench.window().bench_page()->messages()->messages().size(), 1);
}

void TestUse::the_log_that_opens_is_that_of_the_table_one_is_in() {
  BenchWindow bench;
  activate(bench);
  bench.set({{"senders.messages", "5"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const auto click_row = [&bench](const char* name, int row) {
    auto* table = bench.find<ui::ServiceTable>(QString::fromLatin1(name));
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(row, 0)).center());
  };
  const auto asked = [&bench] {
    QSignalSpy spy(bench.window().bench_page(), &ui::BenchPage::log_requested);
    bench.window().bench_page()->request_selected_log();
    return spy.isEmpty() ? QString() : ui::service_name(spy[0][0].value<app::Role>(), spy[0][1].toInt());
  };
  click_row("senders_table", 2);
  QCOMPARE(asked(), QStringLiteral("S003"));
  click_row("receivers_table", 4);
  QCOMPARE(asked(), QStringLiteral("R005"));
  click_row("senders_table", 2);  // which is selected already
  QCOMPARE(asked(), QStringLiteral("S003"));
  bench.window().logs().close_all();
}

void TestUse::no_line_of_it_ends_between_a_number_and_its_unit() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("thesis-baseline"));
  const QString text = bench.find<QLabel>(QStringLiteral("remarks"))->text();
  QVERIFY2(text.contains(QString::fromUtf8("256\u202FMiB")) && text.contains(QString::fromUtf8("5\u202Fs")), qPrintable(text));
}

void TestUse::what_settings_bring_is_told_before_each_run() {
  BenchWindow bench;
  activate(bench);
  bench.set({{"senders.messages", "none"}});
  const QString remark = bench.form().remarks().value(0);
  QVERIFY(remark.contains(QStringLiteral("until it is stopped")));
  QVERIFY(bench.find<QLabel>(QStringLiteral("remarks"))->isVisible());
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QVERIFY2(!bench.messages().contains(remark), "it stood in the middle card");
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  // There stands the verdict now.
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QVERIFY2(bench.messages().contains(remark), qPrintable(bench.messages()));
  bench.end_run();
}

void TestUse::a_log_is_offered_of_who_was_started() {
  BenchWindow bench;
  bench.set({{"senders.messages", "none"}});
  const auto* log = bench.find<QAbstractButton>(QStringLiteral("button_broker_log"));
  const auto* entry = bench.find<QAction>(QStringLiteral("action_broker_log"));
  const auto offered = [&] { return log->isEnabled() && entry->isEnabled(); };
  const auto refused = [&] {
    return !log->isEnabled() && !entry->isEnabled() && log->toolTip().contains(QStringLiteral("before N2NQ has been started"));
  };
  QVERIFY(refused());
  QVERIFY(bench.click(QStringLiteral("button_senders")));
  QVERIFY(bench.wait_for([&] { return bench.run().process(app::Role::senders).state == app::ProcessState::waiting; }));
  QVERIFY(!bench.run().folder().isEmpty());
  QVERIFY(refused());
  QVERIFY(bench.window().run_logs().open(app::Role::receivers, 1) == nullptr);
  QVERIFY(bench.window().bench_page()->messages()->messages().last().contains(QStringLiteral("no log yet")));
  QVERIFY(bench.window().run_logs().open(app::Role::senders, 1) != nullptr);
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(refused());  // a run is over in which it never was
  QVERIFY(bench.click(QStringLiteral("button_N2NQ")));
  QVERIFY(offered());
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
}

void TestUse::every_setting_in_sight_has_its_label() {
  BenchWindow bench;
  for (const char* mode : {"broadcaster", "load-balancer"}) {
    bench.set({{"queue.mode", mode}});
    bool named = false;
    for (const QLabel* label : bench.find<QWidget>(QStringLiteral("broker_card"))->findChildren<QLabel*>()) {
      named = named || (label->isVisible() && label->text().compare(QStringLiteral("retention"), Qt::CaseInsensitive) == 0);
    }
    QVERIFY2(named, mode);
  }
}

}  // namespace

QTEST_MAIN(TestUse)
#include "test_use.moc"
