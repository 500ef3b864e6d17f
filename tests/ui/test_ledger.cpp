// SPDX-License-Identifier: GPL-3.0-or-later
// What the ledger's page shows and marks, over real processes; where it takes one, over a broker that is broken on purpose.
#include <QDir>
#include <QToolTip>

#include "app/control/fault.h"
#include "tests/ui/support/fault_clicks.h"
#include "ui/card/ledger_panel.h"
#include "ui/card/run_panel.h"
#include "ui/model/taint.h"
#include "ui/page/status_strip.h"
#include "ui/widget/tile.h"

namespace {

using namespace n2nq;
using namespace ui_test;
using app::FaultKind;
using app::Role;

/// A folder with the programs in which N2NQ is the one that goes wrong in this way.
class BrokenPrograms {
 public:
  explicit BrokenPrograms(const QByteArray& way) {
    const QDir built(QStringLiteral(N2NQ_PROGRAMS));
    for (const char* name : {"n2nq-senders", "n2nq-receivers"}) {
      QFile::link(built.filePath(QString::fromLatin1(name)), folder_.filePath(QString::fromLatin1(name)));
    }
    QFile::link(built.filePath(QStringLiteral("n2nq-broker-broken")), folder_.filePath(QStringLiteral("n2nq-broker")));
    qputenv("N2NQ_SABOTAGE", way);
  }
  ~BrokenPrograms() { qunsetenv("N2NQ_SABOTAGE"); }
  BrokenPrograms(const BrokenPrograms&) = delete;
  BrokenPrograms& operator=(const BrokenPrograms&) = delete;

  static bool can_be() { return QFile::exists(QStringLiteral(N2NQ_PROGRAMS "/n2nq-broker-broken")); }
  QString folder() const { return folder_.path(); }

 private:
  QTemporaryDir folder_;
};

ui::LedgerPanel& ledger_of(BenchWindow& bench) {
  return *bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"));
}

class TestLedger : public QObject {
  Q_OBJECT
 private slots:
  void only_unannounced_duplicates_taint();
  void a_count_that_taints_has_a_sign_beside_its_colour();
  void an_unannounced_duplicate_does_not_hide_behind_announced_ones();
  void what_breaks_a_run_has_a_count_data();
  void what_breaks_a_run_has_a_count();
  void what_is_still_queued_is_marked_unless_the_run_was_stopped();
  void a_long_sum_takes_more_lines();
  void the_page_fits_small_screens();
  void arrow_keys_explain_each_count();
};

void TestLedger::only_unannounced_duplicates_taint() {
  BenchWindow bench;
  QVERIFY(start_with_responses(bench, {{"responses.deadline_s", "0.3"}, {"responses.attempts_max", "1000"}, {"queue.retention_s", "60"}}));
  bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"))->selectRow(1);
  QVERIFY(choose_fault(bench, "button_faults_receivers", "fault_receivers_confirm-nothing"));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().duplicated > 0; }));
  auto* ledger = &ledger_of(bench);
  auto* panel = bench.find<ui::RunPanel>(QStringLiteral("run_panel"));
  const auto* tile = bench.find<ui::Tile>(QStringLiteral("count_duplicated"));
  const QString duplicated = QStringLiteral("duplicated");
  const auto show = [&](const app::LiveFigures& figures) {
    ledger->show_figures(figures);
    panel->show_figures(figures);
  };
  app::LiveFigures figures = bench.run().figures();
  show(figures);
  QVERIFY(ledger->value(duplicated) != QStringLiteral("0"));
  QVERIFY(ledger->taint(duplicated) == ui::Taint::none && tile->taint() == ui::Taint::none);
  QVERIFY(ui::taint_so_far(figures) == ui::Taint::none);
  const auto* strip = bench.window().findChild<ui::StatusStrip*>();
  QVERIFY2(strip->text().contains(QStringLiteral("degraded so far: harm on purpose, ledger clean")), qPrintable(strip->text()));

  app::LiveFigures parked = figures;
  parked.parked_delivered = 2;
  show(parked);
  QCOMPARE(ledger->value(QStringLiteral("parked, delivered")), QStringLiteral("2"));
  QVERIFY(ledger->taint(QStringLiteral("parked, delivered")) == ui::Taint::degrades);
  QVERIFY(ledger->taint(QStringLiteral("parked")) == ui::Taint::none);
  figures.duplicated_unflagged = 1;
  show(figures);
  QVERIFY(ledger->taint(duplicated) == ui::Taint::degrades && tile->taint() == ui::Taint::degrades);
  QVERIFY(ui::taint_so_far(figures) == ui::Taint::degrades);
  figures.unexpected = 1;
  show(figures);
  QVERIFY(ledger->taint(QStringLiteral("unexpected")) == ui::Taint::breaks);
  QVERIFY(bench.find<ui::Tile>(QStringLiteral("count_unexpected"))->taint() == ui::Taint::breaks);
  QVERIFY(ui::taint_so_far(figures) == ui::Taint::breaks);
  const auto* unexpected = bench.find<ui::Tile>(QStringLiteral("count_unexpected"));
  QVERIFY2(unexpected->accessibleDescription().contains(QStringLiteral("breaks the run")), qPrintable(unexpected->accessibleDescription()));
  QVERIFY2(unexpected->toolTip().contains(QStringLiteral("breaks the run")), qPrintable(unexpected->toolTip()));
  QVERIFY2(tile->accessibleDescription().contains(QStringLiteral("degrades the run")), qPrintable(tile->accessibleDescription()));
  using app::LiveFigures;
  for (std::int64_t LiveFigures::*count : {&LiveFigures::bad_checksum, &LiveFigures::unasked}) {
    app::LiveFigures one;
    one.*count = 1;
    QVERIFY(ui::taint_so_far(one) == ui::Taint::breaks);
  }
  for (std::int64_t LiveFigures::*count :
       {&LiveFigures::parked, &LiveFigures::parked_delivered, &LiveFigures::cut_off, &LiveFigures::expired}) {
    app::LiveFigures one;
    one.*count = 1;
    QVERIFY(ui::taint_so_far(one) == ui::Taint::degrades);
  }

  QVERIFY(choose_fault(bench, "button_faults_receivers", "fault_receivers_normal"));
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(ledger->value(duplicated) != QStringLiteral("0"));
  QVERIFY(ledger->taint(duplicated) == ui::Taint::none && tile->taint() == ui::Taint::none);
  QVERIFY2(!bench.run().outcome().reasons.join(u'\n').contains(QStringLiteral("did not announce")),
           qPrintable(bench.run().outcome().reasons.join(u'\n')));
}

void TestLedger::a_count_that_taints_has_a_sign_beside_its_colour() {
  ui::Theme theme;
  ui::Tile tile(theme, ui::Tile::Size::small, QStringLiteral("Delivered after a later message of the same sender"));
  tile.set_caption(QStringLiteral("out of order"));
  tile.set_figure({QStringLiteral("8"), {}});
  tile.resize(120, tile.sizeHint().height());
  // How far to the right something is drawn above the caption, whatever its colour.
  const auto right_end = [&tile] {
    const QImage picture = tile.grab().toImage();
    for (int x = picture.width() - 12; x >= 0; --x) {
      for (int y = 2; y < picture.height() / 2; ++y) {
        if (picture.pixel(x, y) != picture.pixel(picture.width() / 2, 2)) return x;
      }
    }
    return -1;
  };
  QCOMPARE(ui::taint_sign(ui::Taint::none), QString());
  QCOMPARE(ui::taint_sign(ui::Taint::degrades), QStringLiteral("▲ "));
  QCOMPARE(ui::taint_sign(ui::Taint::breaks), QStringLiteral("✕ "));
  const int without = right_end();
  for (const auto taint : {ui::Taint::degrades, ui::Taint::breaks}) {
    tile.set_taint(taint);
    QVERIFY2(right_end() > without + 4, qPrintable(QString::number(right_end())));
  }
  tile.set_taint(ui::Taint::none);
  QCOMPARE(right_end(), without);
  QVERIFY2(!tile.toolTip().contains(QStringLiteral("the run")), qPrintable(tile.toolTip()));
}

void TestLedger::an_unannounced_duplicate_does_not_hide_behind_announced_ones() {
  if (!BrokenPrograms::can_be()) QSKIP("n2nq-broker-broken is not built (CMake option N2NQ_SABOTAGE)");
  const BrokenPrograms programs("unflagged");
  BenchWindow bench(programs.folder());
  QVERIFY(start_with_responses(bench, {{"queue.retention_s", "60"}}));
  const auto& figures = bench.run().figures();
  bench.run().make_fault({FaultKind::answer_negatively, Role::receivers, 2});
  QVERIFY(BenchWindow::wait_for([&] { return figures.duplicated_unflagged > 0; }));
  // What lies unread in a connection when it breaks is sent again, marked, and arrives once.
  bench.run().make_fault({FaultKind::stop_reading, Role::receivers, 2});
  QVERIFY(wait_for_receiver(bench, 1, 100));
  bench.run().make_fault({FaultKind::disconnect, Role::receivers, 2});
  bench.run().make_fault({FaultKind::normal, Role::receivers, 2});
  QVERIFY(BenchWindow::wait_for([&] { return figures.redelivered > figures.duplicated; }));
  QCOMPARE(figures.duplicated_unflagged, 1);
  QVERIFY(bench.run().state() == app::RunState::running);
  QVERIFY(ledger_of(bench).taint(QStringLiteral("duplicated")) == ui::Taint::degrades);
  QVERIFY(bench.find<ui::Tile>(QStringLiteral("count_duplicated"))->taint() == ui::Taint::degrades);
  const auto* strip = bench.window().findChild<ui::StatusStrip*>();
  QVERIFY2(strip->text().contains(QStringLiteral("ledger degraded so far")), qPrintable(strip->text()));
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(reasons(bench).contains(QStringLiteral("1 duplicate that N2NQ did not announce")), qPrintable(reasons(bench)));
  QVERIFY(ledger_of(bench).taint(QStringLiteral("duplicated")) == ui::Taint::degrades);
}

void TestLedger::what_breaks_a_run_has_a_count_data() {
  QTest::addColumn<QByteArray>("way");
  QTest::addColumn<QString>("count");
  QTest::addColumn<QString>("value");
  QTest::addColumn<QString>("reason");
  QTest::newRow("wrong checksum") << QByteArray("flip-byte") << QStringLiteral("wrong checksum") << QStringLiteral("3")
                                  << QStringLiteral("3 deliveries with a wrong checksum");
  QTest::newRow("not asked for") << QByteArray("unasked") << QStringLiteral("not asked for") << QStringLiteral("1")
                                 << QStringLiteral("1 delivery that its receiver had not asked for");
}

void TestLedger::what_breaks_a_run_has_a_count() {
  if (!BrokenPrograms::can_be()) QSKIP("n2nq-broker-broken is not built (CMake option N2NQ_SABOTAGE)");
  QFETCH(QByteArray, way);
  QFETCH(QString, count);
  QFETCH(QString, value);
  QFETCH(QString, reason);
  const BrokenPrograms programs(way);
  BenchWindow bench(programs.folder());
  choose_endless_run(bench);
  if (way == "unasked") {
    bench.set({{"senders.amount", "3"},
               {"queue.requests", "[{receivers: R1, senders: S1}, {receivers: R2, senders: S2}, {receivers: R3, senders: S3}]"}});
  }
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  const auto& figures = bench.run().figures();
  QVERIFY(BenchWindow::wait_for([&] { return figures.bad_checksum + figures.unasked == value.toInt(); }));
  QVERIFY(bench.run().state() == app::RunState::running);
  const auto holds = [&] { return ledger_of(bench).value(count) == value && ledger_of(bench).taint(count) == ui::Taint::breaks; };
  QVERIFY(holds());
  const auto* strip = bench.window().findChild<ui::StatusStrip*>();
  QVERIFY2(strip->text().contains(QStringLiteral("ledger broken so far")), qPrintable(strip->text()));
  QVERIFY(stop_and_wait(bench));
  QVERIFY(holds());
  QVERIFY2(reasons(bench).contains(reason), qPrintable(reasons(bench)));
}

void TestLedger::what_is_still_queued_is_marked_unless_the_run_was_stopped() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"queue.retention_s", "60"}, {"limits.drain_s", "1"}, {"responses.deadline_s", "30"}, {"responses.window", "1"}});
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench, 30));
  bench.run().make_fault({FaultKind::confirm_nothing, Role::receivers, 2});
  QVERIFY(wait_for_receiver(bench, 1));
  QVERIFY(stop_and_wait(bench));
  const QString still_queued = QStringLiteral("still queued");
  QVERIFY2(bench.run().figures().settled->still_queued > 0, qPrintable(reasons(bench)));
  QVERIFY(ledger_of(bench).value(still_queued) != QStringLiteral("0"));
  QVERIFY(ledger_of(bench).taint(still_queued) == ui::Taint::none);
  QVERIFY2(!reasons(bench).contains(QStringLiteral("still queued at the end")), qPrintable(reasons(bench)));
  app::LiveFigures figures = bench.run().figures();  // a run that nobody stops leaves something only where N2NQ does not end
  figures.settled->stopped = false;
  ledger_of(bench).show_figures(figures);
  QVERIFY(ledger_of(bench).taint(still_queued) == ui::Taint::degrades);
}

void TestLedger::a_long_sum_takes_more_lines() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.messages", "5"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(bench.click(QStringLiteral("tab_ledger")));
  auto* ledger = &ledger_of(bench);
  QCOMPARE(ledger->sum_lines().size(), 1);
  app::LiveFigures figures = bench.run().figures();
  figures.settled->accepted = 125'000;
  figures.settled->delivered = 109'456;
  figures.unrequested = figures.expired = figures.parked = figures.cut_off = 3'886;
  ledger->show_figures(figures);
  const QStringList lines = ledger->sum_lines();
  QVERIFY2(lines.size() > 1, qPrintable(lines.join(u'\n')));
  QCOMPARE(lines.join(u' '), QStringLiteral("✓ ") + ledger->sum());
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestLedger::the_page_fits_small_screens() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.messages", "5"}, {"senders.warmup_messages", "5"}, {"queue.requests", "true"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(bench.click(QStringLiteral("tab_ledger")));
  for (const QSize& size : {QSize(1280, 720), QSize(1280, 800), QSize(1440, 900)}) {
    bench.window().resize(size);
    const ui::LedgerPanel& ledger = ledger_of(bench);
    QVERIFY(BenchWindow::wait_for([&] { return ledger.height() >= ledger.sizeHint().height(); }));
    QCOMPARE(bench.window().size(), size);
    QCOMPARE(ledger.visibleRegion().boundingRect().size(), ledger.size());
  }
}

void TestLedger::arrow_keys_explain_each_count() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.messages", "5"}, {"senders.warmup_messages", "5"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY(bench.click(QStringLiteral("tab_ledger")));
  auto* ledger = &ledger_of(bench);
  ledger->setFocus();
  const auto told = [&](Qt::Key key) {
    QTest::keyClick(ledger, key);
    return QToolTip::text();
  };
  QVERIFY2(told(Qt::Key_Down).startsWith(QStringLiteral("attempted: 20\n")), qPrintable(QToolTip::text()));
  QVERIFY2(told(Qt::Key_Down).startsWith(QStringLiteral("accepted: 20\n")), qPrintable(QToolTip::text()));
  QVERIFY2(told(Qt::Key_Up).startsWith(QStringLiteral("attempted: 20\n")), qPrintable(QToolTip::text()));
  QVERIFY(QToolTip::text().contains(QStringLiteral("part of the balance")));
  // Around the upper end to the last one.
  QVERIFY2(told(Qt::Key_Up).startsWith(QStringLiteral("warm-up received: 60\n")), qPrintable(QToolTip::text()));
  QVERIFY2(told(Qt::Key_Down).startsWith(QStringLiteral("attempted: 20\n")), qPrintable(QToolTip::text()));
}

}  // namespace

QTEST_MAIN(TestLedger)
#include "test_ledger.moc"
