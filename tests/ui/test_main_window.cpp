// SPDX-License-Identifier: GPL-3.0-or-later
// The window without any process: fields, presets, pages, keys, memory.
#include <QAbstractButton>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QSplitter>
#include <QTabBar>
#include <QTableWidget>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>

#include "tests/ui/support/bench_window.h"
#include "ui/chart/live_chart.h"
#include "ui/page/bench_page.h"
#include "ui/text/figures.h"
#include "ui/widget/focus_table.h"
#include "ui/widget/message_bar.h"
#include "ui/widget/progress_strip.h"
#include "ui/widget/save_as_dialog.h"
#include "ui/widget/service_table.h"

namespace {

using namespace n2nq;
using ui_test::BenchWindow;

class TestMainWindow : public QObject {
  Q_OBJECT
 private slots:
  void the_first_start_shows_the_quick_preset();
  void every_control_has_a_name_and_a_tooltip();
  void every_list_shows_that_it_has_the_focus();
  void bad_values_are_refused_beside_their_field();
  void nothing_starts_with_a_bad_value();
  void a_problem_in_the_advanced_settings_is_shown_there();
  void what_the_pending_limit_comes_to_stands_beside_it();
  void fields_follow_the_choice_beside_them();
  void a_refused_size_does_not_change_what_is_typed_into();
  void a_changed_preset_says_modified();
  void save_as_refuses_bad_names_and_saves_good_ones();
  void save_as_keeps_what_is_refused_and_says_so();
  void ones_own_preset_is_deleted_and_its_settings_stay();
  void what_fetching_waits_for_goes_when_it_goes_on();
  void pages_are_chosen_by_keys();
  void charts_move_to_their_page_in_a_low_window();
  void the_window_fits_into_1280_by_720();
  void the_longest_words_about_progress_are_not_cut();
  void a_size_of_a_larger_screen_is_not_taken_over();
  void tab_goes_from_top_left_to_bottom_right();
  void the_next_session_goes_on_where_this_one_ended();
};

void TestMainWindow::the_first_start_shows_the_quick_preset() {
  BenchWindow bench;
  QCOMPARE(bench.window().presets().name(), QStringLiteral("quick"));
  QCOMPARE(bench.find<QLineEdit>(QStringLiteral("field_senders_amount"))->text(), QStringLiteral("10"));
  QVERIFY(bench.find<QLabel>(QStringLiteral("invitation"))->text().contains(QStringLiteral("F5")));
  QVERIFY(!bench.find<QAbstractButton>(QStringLiteral("button_stop_all"))->isEnabled());
}

void TestMainWindow::every_control_has_a_name_and_a_tooltip() {
  BenchWindow bench;
  int controls = 0;
  for (QWidget* widget : bench.window().findChildren<QWidget*>()) {
    const bool is_control = qobject_cast<QAbstractButton*>(widget) || qobject_cast<QLineEdit*>(widget) ||
                            qobject_cast<QComboBox*>(widget) || qobject_cast<QTabBar*>(widget) || qobject_cast<QTableView*>(widget);
    // What Qt itself puts into a widget, such as the list of a choice box, is not a control of this window.
    const bool inner = widget->objectName().startsWith(QStringLiteral("qt_")) || qobject_cast<QTableView*>(widget->parentWidget()) ||
                       qobject_cast<QTabBar*>(widget->parentWidget());
    if (!is_control || inner) continue;
    ++controls;
    const QByteArray who = widget->objectName().toUtf8() + " (" + widget->metaObject()->className() + ')';
    QVERIFY2(!widget->objectName().isEmpty(), who.constData());
    QVERIFY2(!widget->accessibleName().isEmpty(), who.constData());
    const bool needs_tooltip = !qobject_cast<QTableView*>(widget) && !qobject_cast<QTabBar*>(widget);
    if (needs_tooltip) QVERIFY2(!widget->toolTip().isEmpty(), who.constData());
  }
  QVERIFY(controls > 40);
}

void TestMainWindow::every_list_shows_that_it_has_the_focus() {
  BenchWindow bench;
  // What draws it, or has a frame by the style sheet (test_theme).
  const auto is_seen = [](const QWidget* area) {
    return qobject_cast<const ui::FocusTable*>(area) || qobject_cast<const QTableWidget*>(area) || qobject_cast<const QListWidget*>(area) ||
           qobject_cast<const QPlainTextEdit*>(area) || qobject_cast<const QTextBrowser*>(area) || qobject_cast<const ui::LiveChart*>(area);
  };
  int seen = 0;
  for (const auto* area : bench.window().findChildren<QAbstractScrollArea*>()) {
    const bool inner = area->objectName().startsWith(QStringLiteral("qt_")) || qobject_cast<QTableView*>(area->parentWidget()) ||
                       area->isWindow() || qobject_cast<QComboBox*>(area->window()) || area->window() != &bench.window();
    if (inner || !(area->focusPolicy() & Qt::TabFocus)) continue;
    QVERIFY2(is_seen(area), qPrintable(area->objectName() + u' ' + QString::fromLatin1(area->metaObject()->className())));
    ++seen;
  }
  QVERIFY2(seen >= 10, qPrintable(QString::number(seen)));
}

void TestMainWindow::bad_values_are_refused_beside_their_field() {
  BenchWindow bench;
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"field_senders_amount", "problem_senders_amount", "0"},        {"field_senders_amount", "problem_senders_amount", "2001"},
      {"field_senders_messages", "problem_senders_messages", "1.5"},  {"field_senders_delay_ms", "problem_senders_delay_ms", "-1"},
      {"field_receivers_amount", "problem_receivers_amount", ""},     {"field_queue_retention_s", "problem_queue_retention_s", "soon"},
      {"field_senders_size_bytes", "problem_senders_size_bytes", "x"}};
  for (const auto& [field, problem, text] : cases) {
    auto* edit = bench.find<QLineEdit>(QString::fromLatin1(field));
    auto* line = bench.find<QLabel>(QString::fromLatin1(problem));
    QVERIFY2(edit && line, field);
    const QString good = edit->text();
    QVERIFY2(line->text().isEmpty(), field);
    QVERIFY(bench.type(QString::fromLatin1(field), QString::fromLatin1(text)));
    QCOMPARE(edit->text(), QString::fromLatin1(text));  // what was typed stays, to be mended
    QVERIFY2(line->isVisible() && line->toolTip().contains(QStringLiteral("must be")), field);
    QVERIFY2(edit->property("refused").toBool(), field);
    QVERIFY(bench.type(QString::fromLatin1(field), good));
    QVERIFY2(line->text().isEmpty(), field);
  }
}

void TestMainWindow::nothing_starts_with_a_bad_value() {
  BenchWindow bench;
  QVERIFY(bench.type(QStringLiteral("field_receivers_amount"), QStringLiteral("none")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QCOMPARE(bench.run().state(), app::RunState::idle);
  QVERIFY(bench.window().bench_page()->messages()->messages().last().contains(QStringLiteral("Receiver amount")));
  QCOMPARE(bench.window().focusWidget(), bench.find<QLineEdit>(QStringLiteral("field_receivers_amount")));
}

void TestMainWindow::a_problem_in_the_advanced_settings_is_shown_there() {
  BenchWindow bench;
  bench.set({{"limits.memory_mib", "1"}});
  QVERIFY(bench.click(QStringLiteral("button_N2NQ")));
  QCOMPARE(bench.run().state(), app::RunState::idle);
  QVERIFY(bench.find<QWidget>(QStringLiteral("advanced_panel"))->isVisible());
  QVERIFY(!bench.find<QLabel>(QStringLiteral("problem_limits_memory_mib"))->text().isEmpty());
}

void TestMainWindow::what_the_pending_limit_comes_to_stands_beside_it() {
  BenchWindow bench;
  const auto* note = bench.find<QLabel>(QStringLiteral("pending_note"));
  QCOMPARE(note->text(), QStringLiteral("auto: 64 MiB"));
  bench.set({{"limits.memory_mib", "1000"}});
  QCOMPARE(note->text(), QStringLiteral("auto: 250 MiB"));
  bench.set({{"limits.pending_mib", "10"}});
  QCOMPARE(note->text(), QString());
}

void TestMainWindow::fields_follow_the_choice_beside_them() {
  BenchWindow bench;
  const auto choose = [&](const char* box, int index) {
    auto* choice = bench.find<QComboBox>(QString::fromLatin1(box));
    choice->setFocus();
    choice->setCurrentIndex(index);
    emit choice->activated(index);
  };
  const auto seen = [&](const char* field) { return bench.find<QWidget>(QString::fromLatin1(field))->isVisible(); };
  choose("choice_length", 1);
  QVERIFY(seen("field_senders_duration_s") && !seen("field_senders_messages"));
  QVERIFY(bench.form().settings().senders.duration_s.has_value());
  choose("choice_length", 2);
  QVERIFY(!seen("field_senders_duration_s") && !seen("field_senders_messages"));
  QVERIFY(!bench.form().settings().planned_messages().has_value());
  choose("choice_length", 0);
  QVERIFY(seen("field_senders_messages"));
  choose("choice_pace", 1);
  QVERIFY(seen("field_senders_rate_per_s") && !seen("field_senders_delay_ms"));
  QCOMPARE(*bench.form().settings().senders.rate_per_s, 10.0);  // 100 ms said the other way round
  // Whatever it comes to, the other field takes it, and nobody is left with a value that none takes.
  for (const auto& [rate, delay_ms] : {std::pair("30000", 0.033333), {"0.001", 1e6}, {"1000000", 0.001}}) {
    bench.set({{"senders.rate_per_s", rate}});
    choose("choice_pace", 0);
    QCOMPARE(bench.form().settings().senders.delay_ms, std::optional(delay_ms));
    QVERIFY(!bench.form().is_refused(QStringLiteral("senders.delay_ms")));
  }
  for (const auto& [delay, rate_per_s] : {std::pair("30000", 0.033333), {"0.001", 1e6}, {"0.0001", 1e6}, {"3600000", 0.001}}) {
    bench.set({{"senders.delay_ms", delay}});
    choose("choice_pace", 1);
    QCOMPARE(bench.form().settings().senders.rate_per_s, std::optional(rate_per_s));
    QVERIFY(!bench.form().is_refused(QStringLiteral("senders.rate_per_s")));
  }
  bench.set({{"senders.duration_s", "604800"}, {"senders.rate_per_s", "10000"}});
  choose("choice_length", 0);
  QCOMPARE(bench.form().settings().senders.messages, std::optional<std::int64_t>(1'000'000'000));
  bench.set({{"senders.messages", "500"}, {"senders.rate_per_s", "1000"}});
  choose("choice_length", 1);
  QCOMPARE(bench.form().settings().senders.duration_s, std::optional(0.5));
  choose("choice_length", 0);
  QCOMPARE(bench.form().settings().senders.messages, std::optional<std::int64_t>(500));
  choose("choice_size", 1);
  QVERIFY(seen("field_senders_size_bytes_max"));
  QVERIFY(bench.type(QStringLiteral("field_senders_size_bytes_max"), QStringLiteral("5000")));
  QCOMPARE(bench.form().settings().senders.size_min_bytes, 50);
  QCOMPARE(bench.form().settings().senders.size_max_bytes, 5000);
  choose("choice_size", 0);
  QCOMPARE(bench.form().settings().senders.size_max_bytes, 50);
  QVERIFY(seen("field_queue_remove") && !seen("field_queue_dispatch"));
  QVERIFY(bench.click(QStringLiteral("field_queue_mode_load-balancer")));
  QVERIFY(!seen("field_queue_remove") && seen("field_queue_dispatch"));
}

void TestMainWindow::a_refused_size_does_not_change_what_is_typed_into() {
  BenchWindow bench;
  const QString field = QStringLiteral("field_senders_size_bytes"), field_max = QStringLiteral("field_senders_size_bytes_max");
  const auto* problem = bench.find<QLabel>(QStringLiteral("problem_senders_size_bytes"));
  for (const char* text : {"[9", "[9]", "[9,", "[9,]", "["}) {
    QVERIFY(bench.type(field, QString::fromLatin1(text)));
    bench.form().end_edit();
    QTest::keyClick(bench.find<QLineEdit>(field), Qt::Key_Return);
    QVERIFY2(!bench.find<QWidget>(field_max)->isVisible(), text);
    QCOMPARE(bench.find<QLineEdit>(field)->text(), QString::fromLatin1(text));
    QVERIFY2(!problem->text().isEmpty(), text);
    QCOMPARE(bench.form().settings().senders.size_max_bytes, 50);
  }
  QVERIFY(bench.type(field, QStringLiteral("70")));
  QVERIFY(problem->text().isEmpty());
  QCOMPARE(bench.form().settings().senders.size_max_bytes, 70);
}

void TestMainWindow::a_changed_preset_says_modified() {
  BenchWindow bench;
  auto* preset = bench.find<QWidget>(QStringLiteral("button_preset"));
  QVERIFY(!preset->accessibleDescription().contains(QStringLiteral("modified")));
  QVERIFY(bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("11")));
  QVERIFY(preset->accessibleDescription().contains(QStringLiteral("modified")));
  QVERIFY(bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("10")));
  QVERIFY(!preset->accessibleDescription().contains(QStringLiteral("modified")));
}

void TestMainWindow::save_as_refuses_bad_names_and_saves_good_ones() {
  BenchWindow bench;
  QVERIFY(bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("4")));
  bool seen = false;
  QTimer::singleShot(0, &bench.window(), [&] {
    auto* dialog = bench.find<ui::SaveAsDialog>(QStringLiteral("save_as_dialog"));
    seen = dialog != nullptr;
    if (!seen) return;
    auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("preset_name"));
    auto* save = dialog->findChild<QAbstractButton*>(QStringLiteral("preset_save"));
    QTest::keyClicks(name, QStringLiteral("../out"));
    QTest::mouseClick(save, Qt::LeftButton);
    seen = dialog->isVisible() && !dialog->findChild<QLabel*>(QStringLiteral("preset_name_problem"))->text().isEmpty();
    name->clear();
    QTest::keyClicks(name, QStringLiteral("my own case"));
    QTest::mouseClick(save, Qt::LeftButton);
  });
  QVERIFY(bench.click(QStringLiteral("button_save_as")));
  QVERIFY(seen);
  QCOMPARE(bench.window().presets().name(), QStringLiteral("my own case"));
  QVERIFY(!bench.window().presets().is_modified());
  QVERIFY(ui_test::file_text(bench.folder() + QStringLiteral("/presets/my own case.yaml")).contains("amount: 4"));
}

void TestMainWindow::save_as_keeps_what_is_refused_and_says_so() {
  BenchWindow bench;
  const QString field = QStringLiteral("field_senders_amount"), typed = QStringLiteral("0");
  QVERIFY(bench.type(field, typed));
  bool seen = false;
  QTimer::singleShot(0, &bench.window(), [&] {
    auto* dialog = bench.find<ui::SaveAsDialog>(QStringLiteral("save_as_dialog"));
    if (dialog == nullptr) return;
    QTest::keyClicks(dialog->findChild<QLineEdit*>(QStringLiteral("preset_name")), QStringLiteral("my own case"));
    QTest::mouseClick(dialog->findChild<QAbstractButton*>(QStringLiteral("preset_save")), Qt::LeftButton);
    const QString key = QStringLiteral("senders.amount");
    seen = dialog->isVisible() && dialog->findChild<QLabel*>(QStringLiteral("preset_name_problem"))
                                      ->text()
                                      .contains(ui::SettingsForm::label(key) + u' ' + bench.form().problem(key));
    dialog->reject();
  });
  QVERIFY(bench.click(QStringLiteral("button_save_as")));
  QVERIFY(seen);
  QCOMPARE(bench.find<QLineEdit>(field)->text(), typed);
  QVERIFY(bench.find<QLineEdit>(field)->property("refused").toBool());
  QVERIFY(ui_test::file_text(bench.folder() + QStringLiteral("/presets/my own case.yaml")).isEmpty());
}

void TestMainWindow::ones_own_preset_is_deleted_and_its_settings_stay() {
  BenchWindow bench;
  // Chooses to delete the chosen one and answers what is asked then; false: that could not be chosen.
  const auto answer = [&bench](const QString& text) {
    auto* menu = bench.find<QPushButton>(QStringLiteral("button_preset"))->menu();
    menu->popup({});
    auto* entry = menu->findChild<QAction*>(QStringLiteral("delete_preset"));
    if (entry == nullptr) return menu->close(), false;
    bool answered = false;
    QTimer::singleShot(0, &bench.window(), [&] {
      const auto* box = bench.find<QMessageBox>(QStringLiteral("delete_preset_question"));
      for (QAbstractButton* each : box == nullptr ? QList<QAbstractButton*>() : box->buttons()) {
        if (each->text().remove(u'&') == text) answered = true, QTest::mouseClick(each, Qt::LeftButton);
      }
    });
    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(entry).center());
    return answered;
  };
  QVERIFY2(!answer(QStringLiteral("Delete")), "it comes with the program");
  bench.set({{"senders.amount", "4"}});
  QCOMPARE(bench.window().presets().save_as(QStringLiteral("mine")), QString());
  const QString file = bench.folder() + QStringLiteral("/presets/mine.yaml");
  QVERIFY(answer(QStringLiteral("Keep it")));
  QVERIFY(QFile::exists(file));
  QCOMPARE(bench.window().presets().name(), QStringLiteral("mine"));
  QVERIFY(answer(QStringLiteral("Delete")));
  QVERIFY(!QFile::exists(file));
  QCOMPARE(bench.find<QWidget>(QStringLiteral("button_preset"))->accessibleDescription(), QStringLiteral("no preset"));
  QCOMPARE(bench.form().text(QStringLiteral("senders.amount")), QStringLiteral("4"));
  QVERIFY(bench.window().presets().settings_to_run().title.empty());  // a run is not called as it was
  QVERIFY(!answer(QStringLiteral("Delete")));
}

void TestMainWindow::what_fetching_waits_for_goes_when_it_goes_on() {
  BenchWindow bench;
  const QString why = QStringLiteral("Fetching logs waits: h3 is away");
  emit bench.run().fetching_waits(app::Role::receivers, why);
  emit bench.run().fetching_waits(app::Role::broker, QStringLiteral("Fetching logs waits: h1 is away"));
  QVERIFY2(bench.messages().contains(why), qPrintable(bench.messages()));
  emit bench.run().fetching_waits(app::Role::receivers, QString());
  QVERIFY2(!bench.messages().contains(why), qPrintable(bench.messages()));
  QVERIFY2(bench.messages().contains(QStringLiteral("h1 is away")), qPrintable(bench.messages()));
}

void TestMainWindow::pages_are_chosen_by_keys() {
  BenchWindow bench;
  bench.window().resize(1440, 900);
  QApplication::setActiveWindow(&bench.window());  // a display without a window manager activates nothing by itself
  QTest::keyClick(&bench.window(), Qt::Key_F1);
  QVERIFY(bench.find<QWidget>(QStringLiteral("help_page"))->isVisible());
  const QString help = bench.find<QTextBrowser>(QStringLiteral("help_text"))->toPlainText();
  for (const char* word :
       {"±", "no finer", "grey", "floor", "disturbed", "parked", "cut off", "log incomplete", "mean lowest 95 %", "retention",
        "unrequested", "skipped", "prefetch", "warm-up", "draining", "bench CPU", "◯", "◇", "knee"})  // that the window shows
    QVERIFY2(help.contains(u'\n' + QString::fromUtf8(word) + u'\n'), word);
  QVERIFY2(help.contains(QStringLiteral("clocks ±")), "that of a test case's figure is another one");
  const QString status = bench.find<QWidget>(QStringLiteral("status_strip"))->toolTip();
  QVERIFY2(status.endsWith(QStringLiteral("bench CPU: of one core, in the last second")), qPrintable(status));
  QTest::keyClick(&bench.window(), Qt::Key_1, Qt::ControlModifier);
  QVERIFY(bench.find<QWidget>(QStringLiteral("bench_page"))->isVisible());
  const std::pair<Qt::Key, const char*> pages[] = {
      {Qt::Key_2, "cases_page"}, {Qt::Key_3, "results_page"}, {Qt::Key_4, "hosts_page"}, {Qt::Key_5, "help_page"}};
  for (const auto& [key, page] : pages) {
    QTest::keyClick(&bench.window(), key, Qt::ControlModifier);
    QVERIFY2(bench.find<QWidget>(QString::fromLatin1(page))->isVisible(), page);
  }
}

void TestMainWindow::charts_move_to_their_page_in_a_low_window() {
  BenchWindow bench;
  bench.window().resize(1440, 900);
  QVERIFY(bench.find<QWidget>(QStringLiteral("charts_card"))->isVisible());
  const int height = bench.find<QWidget>(QStringLiteral("charts_card"))->height();
  bench.window().resize(1280, 720);
  QCOMPARE(bench.window().page_names(), QStringList({QStringLiteral("Bench"), QStringLiteral("Charts"), QStringLiteral("Test cases"),
                                                     QStringLiteral("Results"), QStringLiteral("Hosts"), QStringLiteral("Help")}));
  QVERIFY(!bench.find<QWidget>(QStringLiteral("charts_card"))->isVisible());
  bench.window().show_page(QStringLiteral("Charts"));
  QVERIFY(bench.find<QWidget>(QStringLiteral("charts_card"))->isVisible());
  bench.window().resize(1440, 900);
  QVERIFY(bench.find<QWidget>(QStringLiteral("bench_page"))->isVisible());
  QVERIFY(bench.find<QWidget>(QStringLiteral("charts_card"))->isVisible());
  QCoreApplication::processEvents();
  const int again = bench.find<QWidget>(QStringLiteral("charts_card"))->height();
  QVERIFY2(qAbs(again - height) < height / 4, qPrintable(QStringLiteral("%1 px, before %2 px").arg(again).arg(height)));
  // Another share of the page, which outlives a session that begins in a low window.
  auto* rows = bench.find<QSplitter>(QStringLiteral("splitter_rows"));
  QWidget* handle = rows->handle(1);
  const QPoint grip = handle->rect().center();
  QTest::mousePress(handle, Qt::LeftButton, {}, grip);
  QTest::mouseMove(handle, grip + QPoint(0, 60));
  QTest::mouseRelease(handle, Qt::LeftButton, {}, grip + QPoint(0, 60));
  QCoreApplication::processEvents();
  const int chosen = bench.find<QWidget>(QStringLiteral("charts_card"))->height();
  QVERIFY2(chosen < again - 30, qPrintable(QStringLiteral("%1 px, before %2 px").arg(chosen).arg(again)));
  bench.window().resize(1280, 720);
  bench.reopen();
  bench.window().resize(1280, 720);
  QCoreApplication::processEvents();
  bench.window().resize(1440, 900);
  QCoreApplication::processEvents();
  const int kept = bench.find<QWidget>(QStringLiteral("charts_card"))->height();
  QVERIFY2(qAbs(kept - chosen) < 10, qPrintable(QStringLiteral("%1 px, chosen %2 px").arg(kept).arg(chosen)));
}

void TestMainWindow::the_window_fits_into_1280_by_720() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("thesis-baseline"));
  for (const bool balancer : {false, true}) {
    bench.set({{"queue.mode", balancer ? "load-balancer" : "broadcaster"}, {"senders.size_bytes", balancer ? "[20, 100000]" : "50"}});
    bench.window().resize(1440, 900);
    bench.window().resize(1280, 720);
    QCoreApplication::processEvents();
    QCOMPARE(bench.window().size(), QSize(1280, 720));
  }
  bench.window().show_page(QStringLiteral("Help"));
  QCOMPARE(bench.find<QTextBrowser>(QStringLiteral("help_text"))->horizontalScrollBar()->maximum(), 0);
}

void TestMainWindow::the_longest_words_about_progress_are_not_cut() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  QCoreApplication::processEvents();
  auto* strip = bench.find<ui::ProgressStrip>(QStringLiteral("progress"));
  const QFontMetrics metrics(bench.window().theme().font(ui::TextStyle::caption));
  for (const char* words : {"100 % · %1 left", "open end · %1", "warm-up · %1", "draining ≤ %1"}) {
    for (const double seconds : {3'599.0, 359'999.0}) {
      const QString text = QString::fromUtf8(words).arg(ui::span_text(seconds));
      strip->set_progress(0.5, text);
      if (seconds < 3'600) QVERIFY2(metrics.horizontalAdvance(text) <= strip->width(), qPrintable(text));
      QVERIFY2(strip->toolTip().contains(text), qPrintable(text));
    }
  }
}

void TestMainWindow::a_size_of_a_larger_screen_is_not_taken_over() {
  BenchWindow bench;
  bench.window().resize(2500, 1800);
  bench.reopen();
  QCoreApplication::processEvents();
  const QSize room = bench.window().screen()->availableSize(), least = bench.window().minimumSizeHint();
  QVERIFY2(bench.window().width() <= qMax(room.width(), least.width()) && bench.window().height() <= qMax(room.height(), least.height()),
           qPrintable(QStringLiteral("%1 x %2").arg(bench.window().width()).arg(bench.window().height())));
}

void TestMainWindow::tab_goes_from_top_left_to_bottom_right() {
  BenchWindow bench;
  const char* const order[] = {"button_start_all",
                               "button_preset",
                               "button_save_as",
                               "page_tabs",
                               "button_senders",
                               "field_senders_amount",
                               "choice_length",
                               "field_senders_messages",
                               "senders_table",
                               "button_N2NQ",
                               "field_queue_mode_broadcaster",
                               "field_queue_remove",
                               "field_queue_retention_s",
                               "button_advanced",
                               "button_receivers",
                               "field_receivers_amount",
                               "receivers_table",
                               "button_log_axis",
                               "button_pause"};
  QHash<QWidget*, int> places;
  int place = 0;
  QWidget* const first = &bench.window();
  for (QWidget* at = first->nextInFocusChain(); at != first; at = at->nextInFocusChain()) places.insert(at, ++place);
  int before = 0;
  for (const char* name : order) {
    auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
    QVERIFY2(widget && places.contains(widget), name);
    QVERIFY2(places.value(widget) > before, name);
    before = places.value(widget);
  }
}

void TestMainWindow::the_next_session_goes_on_where_this_one_ended() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("thesis-baseline"));
  bench.set({{"senders.amount", "33"}, {"senders.messages", "none"}});
  bench.window().resize(1500, 950);
  bench.window().theme().choose(ui::ThemeChoice::light);
  auto* cards = bench.find<QSplitter>(QStringLiteral("splitter_cards"));
  QList<int> sizes = cards->sizes();
  sizes[0] -= 10;
  sizes[2] += 10;
  cards->setSizes(sizes);
  sizes = cards->sizes();
  bench.reopen();
  QCOMPARE(bench.form().settings().senders.amount, 33);
  QVERIFY(!bench.form().settings().senders.messages.has_value());
  QCOMPARE(bench.window().presets().name(), QStringLiteral("thesis-baseline"));
  QVERIFY(bench.window().presets().is_modified());
  QCOMPARE(bench.window().size(), QSize(1500, 950));
  QCOMPARE(bench.find<QSplitter>(QStringLiteral("splitter_cards"))->sizes(), sizes);
}

}  // namespace

QTEST_MAIN(TestMainWindow)
#include "test_main_window.moc"
