// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says is so: real processes that fall silent, die or are stopped, and fields that are edited while figures are shown.
#include <signal.h>

#include <QAbstractButton>
#include <QLabel>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/control/fault.h"
#include "tests/ui/support/bench_window.h"
#include "ui/card/charts_card.h"
#include "ui/page/bench_page.h"
#include "ui/page/status_strip.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/message_bar.h"
#include "ui/widget/progress_strip.h"
#include "ui/widget/service_table.h"
#include "ui/widget/stage_bar.h"
#include "ui/widget/state_light.h"
#include "ui/widget/tile.h"
#include "workers/measure/histogram.h"

namespace {

using namespace n2nq;
using ui_test::BenchWindow;

QString tile(BenchWindow& bench, const char* name) {
  return bench.find<ui::Tile>(QString::fromLatin1(name))->text();
}

QString cell(BenchWindow& bench, const char* table, int row, int from_right) {
  const auto* model = bench.find<ui::ServiceTable>(QString::fromLatin1(table))->model();
  return model->index(row, model->columnCount() - 1 - from_right).data().toString();
}

/// Runs until it is stopped; 200 messages a second, 600 deliveries.
void choose_endless_run(BenchWindow& bench) {
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.set({{"senders.amount", "4"}, {"receivers.amount", "3"}, {"senders.messages", "none"}, {"senders.delay_ms", "20"}});
}

void choose_small_run(BenchWindow& bench) {
  choose_endless_run(bench);
  bench.set({{"senders.messages", "50"}});
}

bool wait_for_rates(BenchWindow& bench) {
  return BenchWindow::wait_for([&] {
    return tile(bench, "tile_upload") != ui::dash() && tile(bench, "tile_download") != ui::dash() && bench.run().figures().received > 100;
  });
}

/// A process that is stopped as long as this lives.
class Stopped {
 public:
  explicit Stopped(const char* program) : pid_(ui_test::child_pid(program)) {
    if (pid_ > 0) ::kill(pid_, SIGSTOP);
  }
  ~Stopped() {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
  }
  bool is_there() const { return pid_ > 0; }

 private:
  int pid_;
};

class TestTruth : public QObject {
  Q_OBJECT
 private slots:
  void silent_receivers_have_no_rate_and_no_latency();
  void silent_senders_have_no_rate_and_no_delay();
  void rates_are_right_from_the_start_and_of_slow_rows();
  void counts_side_by_side_never_contradict_each_other();
  void editing_a_field_does_not_relabel_a_finished_run();
  void the_curves_add_up_to_the_result_data();
  void the_curves_add_up_to_the_result();
  void the_end_shows_means_and_what_was_lost();
  void stages_of_killed_receivers_stay_known();
  void a_run_that_breaks_behind_a_stop_says_why();
  void a_run_that_was_stopped_says_where_and_never_that_it_is_finished();
  void a_death_is_told_once_and_progress_never_jumps();
};

void TestTruth::silent_receivers_have_no_rate_and_no_latency() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  {
    const Stopped receivers("n2nq-receivers");
    QVERIFY(receivers.is_there());
    QVERIFY(BenchWindow::wait_for([&] { return tile(bench, "tile_download") == ui::dash(); }));
    for (const char* name : {"tile_p50", "tile_p95", "tile_p99", "tile_lowest_95", "count_in_flight"})
      QCOMPARE(tile(bench, name), ui::dash());
    for (const int from_right : {1, 2, 3}) QCOMPARE(cell(bench, "receivers_table", 0, from_right), ui::dash());
    QVERIFY(cell(bench, "receivers_table", 0, 0) != ui::dash());  // what was received was received
    QVERIFY(BenchWindow::wait_for([&] { return tile(bench, "tile_upload") != ui::dash(); }));
    QVERIFY(bench.find<ui::StatusStrip>(QStringLiteral("status_strip"))->text().contains(QStringLiteral("receivers do not answer")));
    const ui::ChartHistory& latency = bench.window().bench_page()->charts()->latency_history();
    QVERIFY(std::isnan(latency.value(0, latency.size() - 1)));
    const qint64 sent = bench.run().figures().attempted;
    QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().attempted > sent; }));  // the others go on
  }
  QVERIFY(BenchWindow::wait_for([&] { return tile(bench, "tile_download") != ui::dash() && tile(bench, "tile_p50") != ui::dash(); }));
}

void TestTruth::silent_senders_have_no_rate_and_no_delay() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  const Stopped senders("n2nq-senders");
  QVERIFY(senders.is_there());
  QVERIFY(BenchWindow::wait_for([&] { return tile(bench, "tile_upload") == ui::dash(); }));
  QCOMPARE(tile(bench, "tile_delay"), ui::dash());
  QCOMPARE(cell(bench, "senders_table", 0, 1), ui::dash());
  const ui::ChartHistory& rates = bench.window().bench_page()->charts()->rate_history();
  QVERIFY(std::isnan(rates.value(0, rates.size() - 1)));
}

/// In a run of its own, of 20 messages and 60 deliveries a second.
bool rates_are_right() {
  std::vector<double> sent, received;
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.delay_ms", "200"}});
  QObject::connect(&bench.run(), &app::RunControl::figures_changed, &bench.window(), [&] {
    const app::LiveFigures& figures = bench.run().figures();
    if (bench.run().state() != app::RunState::running) return;
    if (!std::isnan(figures.sent_per_s)) sent.push_back(figures.sent_per_s);
    if (!std::isnan(figures.received_per_s)) received.push_back(figures.received_per_s);
  });
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  if (!BenchWindow::wait_for([&] { return bench.run().figures().attempted >= 60; }) || sent.empty() || received.empty()) return false;
  // No ramp up to it, and no more than what the 100 ms between two looks make of the first half second.
  const auto is_wrong = [](double rate, double right) {
    const bool wrong = rate <= right / 2 || rate >= right * 2;
    if (wrong) qWarning("%g a second instead of %g", rate, right);
    return wrong;
  };
  return std::ranges::none_of(sent, [&](double rate) { return is_wrong(rate, 20); }) &&
         std::ranges::none_of(received, [&](double rate) { return is_wrong(rate, 60); });
}

void TestTruth::rates_are_right_from_the_start_and_of_slow_rows() {
  // A machine that is busy for half a second holds messages up and then brings them at once: rates that are wrong are so each time.
  QVERIFY(rates_are_right() || rates_are_right() || rates_are_right());
}

void TestTruth::counts_side_by_side_never_contradict_each_other() {
  BenchWindow bench;
  choose_endless_run(bench);
  int looks = 0, whole = 0, wrong = 0;
  connect(&bench.run(), &app::RunControl::figures_changed, &bench.window(), [&] {
    const app::LiveFigures& figures = bench.run().figures();
    ++looks;
    if (figures.received > figures.accepted * 3 || figures.accepted > figures.attempted) ++wrong;
    if (figures.round == 0 || figures.in_flight_is_old) return;
    ++whole;
    if (figures.accepted * 3 != figures.received + figures.in_flight) ++wrong;
  });
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(BenchWindow::wait_for([&] { return whole > 20; }));
  QVERIFY(looks > 20);
  QCOMPARE(wrong, 0);
}

void TestTruth::editing_a_field_does_not_relabel_a_finished_run() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const QString light = bench.find<QWidget>(QStringLiteral("light_senders"))->toolTip();
  const QString received = bench.find<QWidget>(QStringLiteral("tile_received"))->accessibleDescription();
  const QString sent = bench.find<QWidget>(QStringLiteral("tile_sent"))->accessibleDescription();
  QVERIFY(received.contains(ui::count_text(600)) && sent.contains(ui::count_text(200)));
  QVERIFY(bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("7")));
  QVERIFY(bench.type(QStringLiteral("field_receivers_amount"), QStringLiteral("9")));
  QVERIFY(bench.type(QStringLiteral("field_senders_messages"), QStringLiteral("5000")));
  QVERIFY(bench.click(QStringLiteral("field_queue_mode_load-balancer")));
  QCOMPARE(bench.find<QWidget>(QStringLiteral("light_senders"))->toolTip(), light);
  QCOMPARE(bench.find<QWidget>(QStringLiteral("tile_received"))->accessibleDescription(), received);
  QCOMPARE(bench.find<QWidget>(QStringLiteral("tile_sent"))->accessibleDescription(), sent);
  QVERIFY(bench.find<ui::StatusStrip>(QStringLiteral("status_strip"))->text().startsWith(QStringLiteral("broadcaster")));
  QCOMPARE(bench.find<ui::ServiceTable>(QStringLiteral("senders_table"))->model()->rowCount(), 4);
  QCOMPARE(cell(bench, "senders_table", 0, 0), QStringLiteral("50 / 50"));
  QCOMPARE(bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"))->model()->rowCount(), 3);
  QCOMPARE(cell(bench, "receivers_table", 2, 0), QStringLiteral("200"));
}

void TestTruth::the_curves_add_up_to_the_result_data() {
  QTest::addColumn<QByteArray>("killed");
  for (const char* killed : {"nobody", "receivers", "senders"}) QTest::newRow(killed) << QByteArray(killed);
}

// What the window showed last and what its points were made of, against the result: no sample is missing, and none is counted twice.
void TestTruth::the_curves_add_up_to_the_result() {
  QFETCH(QByteArray, killed);
  BenchWindow bench;
  choose_endless_run(bench);
  const int messages = killed == "nobody" ? 150 : 500;  // who is killed has to be there still when this bench was held up for seconds
  bench.set({{"senders.messages", QByteArray::number(messages).constData()}, {"queue.responses", "true"}, {"queue.retention_s", "60"}});
  app::LiveFigures shown;
  std::uint64_t in_points = 0;
  connect(&bench.run(), &app::RunControl::figures_changed, &bench.window(), [&] {
    const app::LiveFigures& figures = bench.run().figures();
    if (figures.lost >= 0) return;  // the result
    if (figures.round != shown.round) in_points += figures.latency_now.count;
    shown = figures;
  });
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  if (killed != "nobody") {
    const app::Role role = killed == "senders" ? app::Role::senders : app::Role::receivers;
    bench.run().make_fault({app::FaultKind::kill, role});
    QVERIFY(BenchWindow::wait_for([&] { return bench.run().process(role).state == app::ProcessState::died; }));
    QVERIFY(bench.click("button_" + killed));
  }
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const app::LiveFigures& result = bench.run().figures();
  QCOMPARE(result.lost, 0);
  QCOMPARE(shown.attempted, 4 * messages);
  QCOMPARE(shown.received, result.received);
  QCOMPARE(in_points, result.latency.count);
  const auto bucket = [](double us) { return measure::fine_layout.bucket_of(std::llround(us * 1000)); };
  using Figures = app::Percentiles;
  for (Figures app::LiveFigures::*of :
       {&app::LiveFigures::latency, &app::LiveFigures::latency_from_plan, &app::LiveFigures::delay, &app::LiveFigures::lag}) {
    QCOMPARE((shown.*of).count, (result.*of).count);
    for (double Figures::*figure : {&Figures::mean_us, &Figures::mean_lowest_95_us, &Figures::p50_us, &Figures::p90_us, &Figures::p95_us,
                                    &Figures::p99_us, &Figures::p99_9_us, &Figures::max_us}) {
      QVERIFY2(std::abs(bucket(shown.*of.*figure) - bucket(result.*of.*figure)) <= 1,
               qPrintable(QStringLiteral("%1 shown, %2 in the result").arg(shown.*of.*figure).arg(result.*of.*figure)));
    }
  }
}

void TestTruth::the_end_shows_means_and_what_was_lost() {
  BenchWindow bench;
  choose_small_run(bench);
  QVERIFY(!bench.find<QWidget>(QStringLiteral("count_lost"))->isVisible());
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  auto* sent = bench.find<QWidget>(QStringLiteral("count_sent"));
  const QPoint place = sent->mapTo(&bench.window(), QPoint(0, 0));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCoreApplication::processEvents();
  QCOMPARE(sent->mapTo(&bench.window(), QPoint(0, 0)), place);  // the verdict moves nothing
  const auto summary =
      nlohmann::json::parse(ui_test::file_text(bench.run().folder() + QStringLiteral("/summary.json")).toStdString(), nullptr, false);
  QCOMPARE(tile(bench, "tile_upload"), ui::rate_figure(summary["rates"]["sent_per_s"].get<double>()).text());
  QCOMPARE(tile(bench, "tile_download"), ui::rate_figure(summary["rates"]["received_per_s"].get<double>()).text());
  QVERIFY(bench.find<QWidget>(QStringLiteral("tile_upload"))->accessibleName().contains(QStringLiteral("mean")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("tile_download"))->accessibleName().contains(QStringLiteral("mean")));
  QVERIFY(cell(bench, "senders_table", 0, 1) != ui::dash());
  const auto* model = bench.find<ui::ServiceTable>(QStringLiteral("senders_table"))->model();
  QVERIFY(model->headerData(model->columnCount() - 2, Qt::Horizontal).toString().startsWith(QStringLiteral("mean")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("count_lost"))->isVisible());
  QVERIFY(!bench.find<QWidget>(QStringLiteral("count_in_flight"))->isVisible());
  QCOMPARE(tile(bench, "count_lost"), QStringLiteral("0"));
  QCOMPARE(bench.find<ui::ProgressStrip>(QStringLiteral("progress"))->share(), 1.0);
  QCOMPARE(bench.find<ui::ProgressStrip>(QStringLiteral("progress"))->text(), QStringLiteral("finished"));
}

void TestTruth::stages_of_killed_receivers_stay_known() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  const int receivers = ui_test::child_pid("n2nq-receivers");
  QVERIFY(receivers > 0);
  QCOMPARE(::kill(receivers, SIGKILL), 0);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const auto* stages = bench.find<ui::StageBar>(QStringLiteral("stage_bar"));
  QVERIFY(!stages->is_past());
  QVERIFY(!stages->accessibleDescription().contains(QStringLiteral("in queue: mean ") + ui::dash()));
  QCOMPARE(bench.run().figures().stage_tails.in_queue.count, bench.run().figures().latency.count);  // their logs tell
}

void TestTruth::a_run_that_breaks_behind_a_stop_says_why() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  const int broker = ui_test::child_pid("n2nq-broker");
  QVERIFY(broker > 0);
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QCOMPARE(::kill(broker, SIGKILL), 0);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(bench.run().outcome().verdict == app::Verdict::broken);
  const auto* story = bench.find<ui::ElidedLabel>(QStringLiteral("verdict_story"));
  QVERIFY2(!story->full_text().section(u'\n', 0, 0).contains(QStringLiteral("by the user")), qPrintable(story->full_text()));
  QVERIFY(!bench.run().outcome().reasons.first().contains(QStringLiteral("by the user")));
}

void TestTruth::a_run_that_was_stopped_says_where_and_never_that_it_is_finished() {
  BenchWindow bench;
  choose_endless_run(bench);
  const auto* progress = bench.find<ui::ProgressStrip>(QStringLiteral("progress"));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QCOMPARE(progress->text(), QStringLiteral("stopped"));  // it had no end
  bench.set({{"senders.duration_s", "30"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(progress->share() > 0 && progress->share() < 0.5, qPrintable(QString::number(progress->share())));
  const app::LiveFigures& sent = bench.run().figures();
  QCOMPARE(progress->text(), QStringLiteral("stopped · %1 % sent").arg(sent.attempted * 100 / sent.planned));
}

void TestTruth::a_death_is_told_once_and_progress_never_jumps() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.duration_s", "30"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_rates(bench));
  const auto* progress = bench.find<ui::ProgressStrip>(QStringLiteral("progress"));
  const double before = progress->share();
  QVERIFY(before < 0.5);
  const int broker = ui_test::child_pid("n2nq-broker");
  QCOMPARE(::kill(broker, SIGKILL), 0);
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(progress->share() < before + 0.2, qPrintable(QString::number(progress->share())));
  const app::LiveFigures& figures = bench.run().figures();
  QCOMPARE(progress->share(), static_cast<double>(figures.attempted) / static_cast<double>(figures.planned));
  QCOMPARE(progress->text(), QStringLiteral("broken · %1 % sent").arg(figures.attempted * 100 / figures.planned));
  const QString death = bench.run().process(app::Role::broker).error;
  QVERIFY(!death.isEmpty());
  QVERIFY(bench.find<QWidget>(QStringLiteral("notice_N2NQ"))->isVisible());
  const QString story = bench.find<ui::ElidedLabel>(QStringLiteral("verdict_story"))->full_text();
  QVERIFY2(!story.contains(death), qPrintable(story));
  for (const QString& reason : bench.run().outcome().reasons.mid(1)) QVERIFY2(story.contains(app::grouped_in(reason)), qPrintable(story));
  for (const QString& message : bench.window().bench_page()->messages()->messages())
    QVERIFY2(!message.contains(death), qPrintable(message));
  int marks = 0;
  for (const ui::ChartMark& mark : bench.window().bench_page()->charts()->latency_history().marks())
    marks += mark.word.contains(QStringLiteral("N2NQ")) ? 1 : 0;
  QCOMPARE(marks, 1);
  // Each reason is a paragraph of its own, whole, with a point before it.
  const auto reasons = bench.run().outcome().reasons.size() + bench.run().outcome().disturbances.size();
  QVERIFY(reasons > 1);
  // What disturbed the run stands beside the verdict and is none of its reasons.
  const auto counted = bench.run().outcome().reasons.size();
  QCOMPARE(bench.find<QAbstractButton>(QStringLiteral("button_reasons"))->text(),
           counted == 1 ? QStringLiteral("1 reason") : QStringLiteral("%1 reasons").arg(counted));
  QVERIFY(bench.click(QStringLiteral("button_reasons")));
  const auto* shown = bench.find<QTextBrowser>(QStringLiteral("reasons_text"));
  QVERIFY(shown->isVisible());
  QCOMPARE(shown->toPlainText().count(QStringLiteral("•\t")), reasons);
  QCOMPARE(shown->document()->blockCount(), static_cast<int>(reasons));
  QVERIFY(shown->document()->lastBlock().blockFormat().topMargin() >= ui::space::between);
  QCOMPARE(shown->verticalScrollBar()->maximum(), 0);  // there is room for all of it, and for no more
  QVERIFY(shown->viewport()->height() - shown->document()->size().height() < shown->fontMetrics().lineSpacing());
}

}  // namespace

QTEST_MAIN(TestTruth)
#include "test_truth.moc"
