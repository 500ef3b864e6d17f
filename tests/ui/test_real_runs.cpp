// SPDX-License-Identifier: GPL-3.0-or-later
// The real window driving real processes over real TCP, clicked as a person clicks.
#include <signal.h>

#include <QAbstractButton>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTest>
#include <QTimer>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/app/support/soundness.h"
#include "tests/ui/support/bench_window.h"
#include "ui/card/charts_card.h"
#include "ui/card/ledger_panel.h"
#include "ui/page/bench_page.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/message_bar.h"
#include "ui/widget/service_table.h"
#include "ui/widget/state_light.h"
#include "ui/widget/tile.h"

namespace {

using namespace n2nq;
using ui_test::BenchWindow;

const char* const buttons[] = {"button_N2NQ", "button_senders", "button_receivers"};

/// A run of a second or two.
void choose_small_run(BenchWindow& bench) {
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.set({{"senders.amount", "4"}, {"receivers.amount", "3"}, {"senders.messages", "10"}, {"senders.delay_ms", "50"}});
}

void choose_endless_run(BenchWindow& bench) {
  choose_small_run(bench);
  bench.set({{"senders.messages", "none"}});
}

nlohmann::json summary_of(BenchWindow& bench) {
  return nlohmann::json::parse(ui_test::file_text(bench.run().folder() + QStringLiteral("/summary.json")).toStdString(), nullptr, false);
}

QString tile(BenchWindow& bench, const char* name) {
  return bench.find<ui::Tile>(QString::fromLatin1(name))->text();
}

class TestRealRuns : public QObject {
  Q_OBJECT
 private slots:
  void start_all_runs_to_a_clean_verdict();
  void load_balancing_delivers_each_message_once();
  void warm_up_is_counted_apart();
  void a_stall_is_told_beside_the_mean_that_hides_it();
  void processes_start_in_any_order_data();
  void processes_start_in_any_order();
  void stop_half_way_keeps_what_was_measured();
  void fields_are_locked_while_a_run_is_on();
  void a_killed_broker_is_red_and_breaks_the_run();
  void a_log_opens_while_it_grows();
  void a_second_run_begins_with_empty_charts();
  void a_run_that_cannot_make_its_folder_leaves_the_last_one_on_the_screen();
  void closing_while_messages_flow_asks_once_and_stops();
  void a_question_about_a_run_goes_when_the_run_ends_by_itself();
};

void TestRealRuns::start_all_runs_to_a_clean_verdict() {
  BenchWindow bench;
  choose_small_run(bench);
  bench.window().resize(1280, 720);
  const auto* cards = bench.find<QSplitter>(QStringLiteral("splitter_cards"));
  QVERIFY(bench.wait_for([&] { return bench.window().width() == 1280; }));
  const QList<int> widths = cards->sizes();
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCOMPARE(cards->sizes(), widths);  // nothing jumps when figures come
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  QVERIFY(bench.find<QLabel>(QStringLiteral("verdict"))->text().contains(ui::verdict_word(bench.run().outcome().verdict)));
  QVERIFY(bench.find<QAbstractButton>(QStringLiteral("button_open_folder"))->isVisible());

  const nlohmann::json summary = summary_of(bench);
  QVERIFY(!summary.is_discarded());
  QCOMPARE(tile(bench, "tile_sent"), ui::count_text(summary["ledger"]["total"]["attempted"].get<std::int64_t>()));
  QCOMPARE(tile(bench, "tile_received"), ui::count_text(summary["ledger"]["total"]["delivered"].get<std::int64_t>()));
  QCOMPARE(tile(bench, "count_accepted"), ui::count_text(summary["ledger"]["total"]["accepted"].get<std::int64_t>()));
  QCOMPARE(tile(bench, "tile_sent"), QStringLiteral("40"));
  QCOMPARE(tile(bench, "tile_received"), QStringLiteral("120"));
  const auto* receivers = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"));
  for (int row = 0; row < 3; ++row) {
    QCOMPARE(receivers->model()->index(row, receivers->model()->columnCount() - 1).data().toString(), QStringLiteral("40"));
  }
  const auto* senders = bench.find<ui::ServiceTable>(QStringLiteral("senders_table"));
  for (int row = 0; row < 4; ++row) {
    QCOMPARE(senders->model()->index(row, senders->model()->columnCount() - 1).data().toString(), QStringLiteral("10 / 10"));
  }
  QVERIFY(!bench.window().bench_page()->charts()->latency_history().empty());
  // A screen reader tells a label's accessible name in place of its text, and the description as well.
  int named = 0;
  for (const QLabel* label : bench.window().findChildren<QLabel*>()) {
    if (label->accessibleName().isEmpty() || label->text().isEmpty()) continue;
    const auto* elided = qobject_cast<const ui::ElidedLabel*>(label);
    const QString text = elided ? elided->full_text() : label->text();
    QVERIFY2(label->accessibleDescription().contains(text), qPrintable(label->objectName()));
    ++named;
  }
  QVERIFY(named >= 2);  // the verdict and the invitation
}

void TestRealRuns::load_balancing_delivers_each_message_once() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(bench.click(QStringLiteral("field_queue_mode_load-balancer")));
  bench.set({{"log", "off"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  QCOMPARE(tile(bench, "tile_received"), QStringLiteral("40"));
  QVERIFY(bench.window().run_logs().open(app::Role::receivers, 1) == nullptr);
  QVERIFY(bench.window().findChild<ui::MessageBar*>()->messages().join('\n').contains("write no logs"));
}

void TestRealRuns::warm_up_is_counted_apart() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.type(QStringLiteral("field_senders_warmup_messages"), QStringLiteral("20")));
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  const auto* progress = bench.find<QWidget>(QStringLiteral("progress"));
  QVERIFY(bench.wait_for([&] { return progress->accessibleDescription().startsWith(QStringLiteral("warm-up · ")); }));
  QCOMPARE(bench.run().figures().attempted, 0);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));

  QCOMPARE(tile(bench, "tile_sent"), QStringLiteral("40"));
  QCOMPARE(tile(bench, "tile_received"), QStringLiteral("120"));
  QCOMPARE(bench.run().figures().latency.count, 120u);
  const auto* strip = bench.find<QWidget>(QStringLiteral("status_strip"));
  QVERIFY2(strip->accessibleDescription().contains(QStringLiteral("warm-up: 80 sent, 240 received")),
           qPrintable(strip->accessibleDescription()));
  const auto* ledger = bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"));
  QCOMPARE(ledger->value(QStringLiteral("warm-up sent")), QStringLiteral("80"));
  QCOMPARE(ledger->value(QStringLiteral("warm-up received")), QStringLiteral("240"));
  QCOMPARE(ledger->value(QStringLiteral("delivered")), QStringLiteral("120"));
  QCOMPARE(ledger->sum(), QStringLiteral("120 copies accepted = 120 delivered"));
  QVERIFY(bench.window().bench_page()->charts()->latency_history().first_time() >= 0);
  QVERIFY(ui_test::file_text(bench.run().log_path(app::Role::senders, 1)).contains("\n-20\t"));
}

/// A run of two seconds whose receivers stand still for 200 ms.
bool stall_is_in_the_result(BenchWindow& bench) {
  choose_small_run(bench);
  bench.set({{"senders.messages", "100"}, {"senders.delay_ms", "20"}});
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  if (!bench.wait_for([&] { return bench.run().figures().received > 100; })) return false;
  const int receivers = ui_test::child_pid("n2nq-receivers");
  if (receivers <= 0) return false;
  kill(receivers, SIGSTOP);
  QTest::qWait(200);  // it is the stall
  kill(receivers, SIGCONT);
  return bench.wait_for_state(app::RunState::finished) && bench.run().figures().latency.max_us >= 100'000;
}

// The mean of the lowest 95 % hardly moves when a process stands still; so it never stands without the number of samples it hides.
void TestRealRuns::a_stall_is_told_beside_the_mean_that_hides_it() {
  std::optional<BenchWindow> window;
  // Where this bench was held up for most of the run, the stall meets no message any more: one that is not told is not told each time.
  for (int attempts = 3; attempts > 0; --attempts) {
    if (stall_is_in_the_result(window.emplace())) break;
  }
  BenchWindow& bench = *window;
  QVERIFY(bench.run().state() == app::RunState::finished);
  const app::Percentiles& latency = bench.run().figures().latency;
  QCOMPARE(latency.count, 1200u);
  QCOMPARE(latency.left_out, 60u);
  QVERIFY(latency.max_us >= 100'000);
  const auto* lowest = bench.find<ui::Tile>(QStringLiteral("tile_lowest_95"));
  QCOMPARE(lowest->detail(), QStringLiteral("leaves out 60"));
  QVERIFY2(lowest->toolTip().replace(u'\n', u' ').contains(QStringLiteral("trimming hides 60 of ")), qPrintable(lowest->toolTip()));
  QVERIFY(bench.find<ui::Tile>(QStringLiteral("tile_p99"))->detail().startsWith(QStringLiteral("max ")));
}

void TestRealRuns::processes_start_in_any_order_data() {
  QTest::addColumn<QList<int>>("order");
  QList<int> order{0, 1, 2};
  do {
    QStringList words;
    for (const int i : order) words << QString::fromLatin1(buttons[i]).mid(7);
    QTest::newRow(qPrintable(words.join(u'-'))) << order;
  } while (std::next_permutation(order.begin(), order.end()));
}

void TestRealRuns::processes_start_in_any_order() {
  QFETCH(const QList<int>, order);
  BenchWindow bench;
  choose_small_run(bench);
  const app::Role roles[] = {app::Role::broker, app::Role::senders, app::Role::receivers};
  for (const int i : order) {
    QVERIFY2(bench.click(QString::fromLatin1(buttons[i])), buttons[i]);
    // The next one is started only when this one waits for the others, so that the order is real.
    const bool last = i == order.last();
    QVERIFY2(BenchWindow::wait_for([&] { return last || bench.run().process(roles[i]).state == app::ProcessState::waiting; }), buttons[i]);
  }
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  QCOMPARE(tile(bench, "tile_received"), QStringLiteral("120"));
}

void TestRealRuns::stop_half_way_keeps_what_was_measured() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().received > 20; }));
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::was_stopped(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  QVERIFY(bench.find<QLabel>(QStringLiteral("verdict"))->text().contains(ui::verdict_word(bench.run().outcome().verdict)));
  const nlohmann::json summary = summary_of(bench);
  QCOMPARE(tile(bench, "tile_received"), ui::count_text(summary["ledger"]["total"]["delivered"].get<std::int64_t>()));
}

void TestRealRuns::fields_are_locked_while_a_run_is_on() {
  BenchWindow bench;
  choose_endless_run(bench);
  auto* field = bench.find<QLineEdit>(QStringLiteral("field_senders_amount"));
  QVERIFY(!field->isReadOnly());
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QVERIFY(field->isReadOnly());
  QVERIFY(field->toolTip().contains(QStringLiteral("Locked")));
  const auto* progress = bench.find<QWidget>(QStringLiteral("progress"));
  QVERIFY(bench.wait_for([&] { return progress->accessibleDescription().startsWith(QStringLiteral("open end · ")); }));
  QVERIFY(!bench.click(QStringLiteral("field_queue_mode_load-balancer")));
  QVERIFY(!bench.find<QWidget>(QStringLiteral("button_preset"))->isEnabled());
  QVERIFY(!bench.click(QStringLiteral("button_start_all")));
  QCOMPARE(bench.find<QAbstractButton>(QStringLiteral("button_senders"))->accessibleName(), QStringLiteral("Stop senders"));
  QVERIFY(bench.click(QStringLiteral("button_senders")));  // its Start is its Stop
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(!field->isReadOnly());
}

void TestRealRuns::a_killed_broker_is_red_and_breaks_the_run() {
  BenchWindow bench;
  choose_endless_run(bench);
  const auto& charts = *bench.window().bench_page()->charts();
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().received > 20 && !charts.latency_history().empty(); }));  // where a mark can be
  const int broker = ui_test::child_pid("n2nq-broker");
  QVERIFY(broker > 0);
  QCOMPARE(::kill(broker, SIGKILL), 0);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(bench.run().process(app::Role::broker).state == app::ProcessState::died);
  QVERIFY(bench.run().outcome().verdict == app::Verdict::broken);
  QCOMPARE(bench.find<ui::StateLight>(QStringLiteral("light_N2NQ"))->word(), QStringLiteral("died"));
  QVERIFY(bench.find<QWidget>(QStringLiteral("notice_N2NQ"))->isVisible());
  QVERIFY(bench.find<QLabel>(QStringLiteral("verdict"))->text().contains(QStringLiteral("broken")));
  QVERIFY(!charts.latency_history().marks().empty());
}

void TestRealRuns::a_log_opens_while_it_grows() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().received > 20; }));
  auto* table = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"));
  const QRect cell = table->visualRect(table->model()->index(1, ui::ServiceModel::log_column));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, QPoint(cell.left() + 12, cell.center().y()));
  ui::LogWindow* log = nullptr;
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    if (auto* window = qobject_cast<ui::LogWindow*>(widget)) log = window;
  }
  QVERIFY(log != nullptr);
  QVERIFY(log->path().endsWith(QStringLiteral("R002.log")));
  QVERIFY(BenchWindow::wait_for([&] { return log->text().contains(QStringLiteral("latency_us")); }));
  const qsizetype lines = log->text().count(u'\n');
  QVERIFY(BenchWindow::wait_for([&] { return log->text().count(u'\n') > lines; }));

  // Ctrl+L opens the log of the selected service as well.
  table->selectRow(2);
  QVERIFY(QTest::qWaitForWindowExposed(&bench.window(), n2nq::ui_test::deadline_ms));
  bench.window().bench_page()->request_selected_log();
  int open = 0;
  for (QWidget* widget : QApplication::topLevelWidgets()) open += qobject_cast<ui::LogWindow*>(widget) ? 1 : 0;
  QCOMPARE(open, 2);
  QVERIFY(log->is_awaited());
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(!log->is_awaited());
  // Of the next run nothing comes into it.
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QVERIFY(!log->is_awaited());
  ui::LogWindow* next = bench.window().run_logs().open(app::Role::receivers, 2);
  QVERIFY(next != nullptr && next != log && next->is_awaited());
  QCOMPARE(bench.window().run_logs().open(app::Role::receivers, 2), next);
  QVERIFY(next->is_awaited());
}

void TestRealRuns::a_second_run_begins_with_empty_charts() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const QString folder = bench.run().folder();
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.window().bench_page()->charts()->latency_history().empty());
  QCOMPARE(tile(bench, "tile_sent"), ui::dash());
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  QVERIFY(bench.run().folder() != folder);
  QCOMPARE(tile(bench, "tile_received"), QStringLiteral("120"));
}

void TestRealRuns::a_run_that_cannot_make_its_folder_leaves_the_last_one_on_the_screen() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const QString folder = bench.run().folder(), runs = bench.folder() + QStringLiteral("/runs");
  QVERIFY(folder.startsWith(runs));
  const auto shown = [&bench] {
    QStringList out;
    for (const auto* each : bench.window().findChildren<ui::Tile*>()) out += each->text();
    out += bench.find<QWidget>(QStringLiteral("status_strip"))->toolTip();
    out += bench.find<QWidget>(QStringLiteral("progress"))->accessibleDescription();
    const auto* ledger = bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"));
    return out << ledger->sum() << bench.find<QLabel>(QStringLiteral("verdict"))->text();
  };
  const QStringList before = shown();
  const app::Verdict verdict = bench.run().outcome().verdict;
  bench.set({{"senders.messages", "11"}});
  QVERIFY(QDir().rename(runs, runs + QStringLiteral("-aside")));
  QFile in_its_place(runs);
  QVERIFY(in_its_place.open(QIODevice::WriteOnly));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.run().state() == app::RunState::finished);
  QVERIFY2(bench.messages().contains(QStringLiteral("Not started: Cannot make the folder ") + runs), qPrintable(bench.messages()));
  QCOMPARE(shown(), before);
  QVERIFY(!bench.window().bench_page()->charts()->latency_history().empty());
  QCOMPARE(bench.run().folder(), folder);
  QVERIFY(bench.run().run_settings().senders.messages == 10);
  QVERIFY(bench.run().outcome().verdict == verdict);
}

void TestRealRuns::closing_while_messages_flow_asks_once_and_stops() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().state() == app::RunState::running; }));
  int asked = 0;
  const auto answer = [&](const char* button) {
    QTimer::singleShot(0, &bench.window(), [&asked, &bench, button] {
      auto* question = bench.find<QMessageBox>(QStringLiteral("close_question"));
      if (question == nullptr) return;
      ++asked;
      QCOMPARE(question->findChild<QAbstractButton*>(QStringLiteral("close_go_on"))->text().remove(u'&'), QStringLiteral("Keep running"));
      question->findChild<QAbstractButton*>(QString::fromLatin1(button))->click();
    });
  };
  answer("close_go_on");
  QVERIFY(!bench.window().close());
  QVERIFY(bench.run().state() == app::RunState::running);
  QTimer::singleShot(0, &bench.window(), [&] {
    ++asked;
    QTest::keyClick(bench.find<QMessageBox>(QStringLiteral("close_question")), Qt::Key_Return);
  });
  QVERIFY2(!bench.window().close(), "Enter alone goes on");
  QVERIFY(bench.run().state() == app::RunState::running);
  answer("close_stop");
  bench.window().close();
  QCOMPARE(asked, 3);
  QVERIFY(bench.window().findChild<ui::MessageBar*>()->messages().join('\n').contains("Close once more to leave"));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(BenchWindow::wait_for([&] { return !bench.window().isVisible(); }));
  QCOMPARE(ui_test::child_pid("n2nq-broker"), 0);
}

void TestRealRuns::a_question_about_a_run_goes_when_the_run_ends_by_itself() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().state() == app::RunState::running; }));
  std::optional<app::RunState> when_it_went;
  QTimer::singleShot(0, &bench.window(), [&] {
    auto* question = bench.find<QMessageBox>(QStringLiteral("close_question"));
    if (question == nullptr) return;
    connect(question, &QDialog::finished, &bench.window(), [&] { when_it_went = bench.run().state(); });
  });
  QVERIFY2(!bench.window().close(), "what was asked was not answered");
  QVERIFY(when_it_went == app::RunState::ending);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(bench.window().isVisible());
}

}  // namespace

QTEST_MAIN(TestRealRuns)
#include "test_real_runs.moc"
