// SPDX-License-Identifier: GPL-3.0-or-later
// Every fault that the menus offer, chosen with the mouse, and what the window shows of it; the load balancer with responses and requests.
#include <QLabel>
#include <QLineEdit>

#include "tests/app/support/soundness.h"
#include "tests/ui/support/fault_clicks.h"
#include "ui/card/charts_card.h"
#include "ui/card/ledger_panel.h"
#include "ui/page/bench_page.h"
#include "ui/page/status_strip.h"
#include "ui/widget/stage_bar.h"
#include "ui/widget/tile.h"

namespace {

using namespace n2nq;
using namespace ui_test;

class TestFaults : public QObject {
  Q_OBJECT
 private slots:
  void a_group_is_killed_and_started_again_data();
  void a_group_is_killed_and_started_again();
  void killed_receivers_are_started_again_while_n2nq_drains();
  void nothing_suggests_going_on_when_the_run_is_over();
  void n2nq_is_paused_and_resumed();
  void what_nobody_resumes_goes_on_at_the_end_data();
  void what_nobody_resumes_goes_on_at_the_end();
  void n2nq_is_killed_and_started_again();
  void one_receiver_stops_reading();
  void one_receiver_confirms_nothing();
  void one_receiver_answers_negatively();
  void one_service_is_disconnected_data();
  void one_service_is_disconnected();
  void the_load_balancer_with_responses();
  void the_load_balancer_with_requests();
};

void TestFaults::a_group_is_killed_and_started_again_data() {
  QTest::addColumn<QByteArray>("role");
  for (const char* role : {"senders", "receivers"}) QTest::newRow(role) << QByteArray(role);
}

void TestFaults::a_group_is_killed_and_started_again() {
  QFETCH(QByteArray, role);
  BenchWindow bench;
  QVERIFY(start_with_responses(bench, {{"queue.retention_s", "60"}}));
  const int before = child_pid("n2nq-" + role);
  QVERIFY(choose_fault(bench, "button_faults_" + role, "fault_" + role + "_restart"));
  QVERIFY(BenchWindow::wait_for([&] {
    const int now = child_pid("n2nq-" + role);
    return now != 0 && now != before && light(bench, "light_" + role) == QStringLiteral("running");
  }));
  QVERIFY(wait_for_messages(bench));
  QCOMPARE(bench.run().events().size(), std::size_t{1});
  QVERIFY(bench.run().events().front().what.contains(QStringLiteral("killed and started again")));
  QVERIFY2(!bench.window().findChild<ui::StatusStrip*>()->text().contains(QStringLiteral("clean so far")), "it cannot become clean");
  QVERIFY(stop_and_wait(bench));
  QCOMPARE(bench.run().figures().stage_tails.in_queue.count, bench.run().figures().latency.count);
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(reasons(bench)));
  QCOMPARE(bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"))->value(QStringLiteral("lost")), QStringLiteral("0"));
}

/// All is sent, N2NQ holds what the killed receivers did not get, and the bench would soon have ended if it went by limits.drain_s.
bool drain_without_receivers(BenchWindow& bench) {
  return start_with_responses(bench, {{"senders.duration_s", "10"}, {"queue.retention_s", "60"}, {"limits.drain_s", "0"}}) &&
         choose_fault(bench, "button_faults_receivers", "fault_receivers_kill") &&
         BenchWindow::wait_for([&] { return bench.run().draining() && bench.run().figures().t_s > 11; });
}

void TestFaults::killed_receivers_are_started_again_while_n2nq_drains() {
  BenchWindow bench;
  QVERIFY(drain_without_receivers(bench));
  const auto* button = bench.find<QPushButton>(QStringLiteral("button_receivers"));
  QCOMPARE(button->text(), QStringLiteral("Start"));
  QVERIFY(button->isEnabled());
  QVERIFY(!bench.find<QPushButton>(QStringLiteral("button_senders"))->isEnabled());
  const QString notice = bench.find<QWidget>(QStringLiteral("notice_receivers"))->findChild<QLabel*>(QStringLiteral("notice_text"))->text();
  QCOMPARE(notice, QStringLiteral("✕ Killed on purpose; start again to go on"));
  const QString progress = bench.find<QWidget>(QStringLiteral("progress"))->accessibleDescription();
  QVERIFY2(progress.startsWith(QStringLiteral("draining ≤ ")), qPrintable(progress));
  const QString status = bench.window().findChild<ui::StatusStrip*>()->text();
  QVERIFY2(status.contains(QStringLiteral("draining: at most ")) && status.contains(QStringLiteral(" still queued or in flight")),
           qPrintable(status));
  QVERIFY(bench.click(QStringLiteral("button_receivers")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const auto& end = *bench.run().figures().settled;
  QVERIFY2(end.delivered == end.accepted && end.still_queued == 0, qPrintable(reasons(bench)));
}

void TestFaults::nothing_suggests_going_on_when_the_run_is_over() {
  BenchWindow bench;
  QVERIFY(drain_without_receivers(bench));
  QVERIFY(stop_and_wait(bench));
  QCOMPARE(bench.find<QWidget>(QStringLiteral("notice_receivers"))->findChild<QLabel*>(QStringLiteral("notice_text"))->text(),
           QStringLiteral("✕ Killed on purpose"));
  const QString status = bench.window().findChild<ui::StatusStrip*>()->text();
  QVERIFY2(status.contains(QStringLiteral("still queued ")), qPrintable(status));
  // Its button begins a run of its own, as every card's does.
  QVERIFY(bench.click(QStringLiteral("button_receivers")));
  QVERIFY(bench.wait_for_state(app::RunState::preparing));
  QVERIFY(BenchWindow::wait_for([&] { return light(bench, "light_receivers").startsWith(QStringLiteral("waiting")); }));
  QVERIFY(stop_and_wait(bench));
}

void TestFaults::n2nq_is_paused_and_resumed() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  QVERIFY(choose_fault(bench, "button_faults_N2NQ", "fault_N2NQ_pause"));
  QVERIFY(BenchWindow::wait_for([&] { return light(bench, "light_N2NQ") == QStringLiteral("paused"); }));
  QVERIFY(!fault(bench, "button_faults_N2NQ", "fault_N2NQ_pause")->isEnabled());
  QVERIFY(choose_fault(bench, "button_faults_N2NQ", "fault_N2NQ_resume"));
  QVERIFY(BenchWindow::wait_for([&] { return light(bench, "light_N2NQ") == QStringLiteral("running"); }));
  QVERIFY(wait_for_messages(bench));
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(reasons(bench)));
}

void TestFaults::what_nobody_resumes_goes_on_at_the_end_data() {
  QTest::addColumn<QByteArray>("role");
  for (const char* role : {"N2NQ", "senders", "receivers"}) QTest::newRow(role) << QByteArray(role);
}

void TestFaults::what_nobody_resumes_goes_on_at_the_end() {
  QFETCH(QByteArray, role);
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.duration_s", "10"}, {"queue.retention_s", "60"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench, 30));
  QVERIFY(choose_fault(bench, "button_faults_" + role, "fault_" + role + "_pause"));
  const QByteArray light_name = "light_" + role;
  QVERIFY(BenchWindow::wait_for([&] { return light(bench, light_name) == QStringLiteral("paused"); }));
  QVERIFY(BenchWindow::wait_for([&] { return light(bench, light_name) != QStringLiteral("paused"); }));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(reasons(bench)));
  QVERIFY2(reasons(bench).contains(QStringLiteral("resumed at the end, because nobody had resumed")), qPrintable(reasons(bench)));
  const auto& marks = bench.window().bench_page()->charts()->rate_history().events();
  QVERIFY(BenchWindow::wait_for([&] { return marks.size() == 2; }));
  QVERIFY(marks.back().detail.contains(QStringLiteral("resumed at the end")));
}

void TestFaults::n2nq_is_killed_and_started_again() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  const int before = child_pid("n2nq-broker");
  QVERIFY(choose_fault(bench, "button_faults_N2NQ", "fault_N2NQ_restart"));
  QVERIFY(BenchWindow::wait_for([&] {
    const int now = child_pid("n2nq-broker");
    return now != 0 && now != before;
  }));
  QVERIFY(wait_for_messages(bench, 300));
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(reasons(bench).contains(QStringLiteral("N2NQ killed and started again")), qPrintable(reasons(bench)));
  QCOMPARE(bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"))->value(QStringLiteral("unexplained")), QStringLiteral("0"));
}

void TestFaults::one_receiver_stops_reading() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"queue.retention_s", "60"}});
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  QVERIFY2(!choose_by_right_button(bench, "receivers_table", 1, "fault_receivers_normal"), "nothing was done to it");
  QVERIFY(choose_by_right_button(bench, "receivers_table", 1, "fault_receivers_stop-reading"));
  QVERIFY2(!choose_by_right_button(bench, "receivers_table", 0, "fault_receivers_normal"), "nothing was done to it");
  // Until the second one has taken nothing while the first one took a hundred: what was under way to it may come late.
  std::int64_t first = received_of(bench, 1), second = received_of(bench, 2);
  QVERIFY(BenchWindow::wait_for([&] {
    const std::int64_t first_now = received_of(bench, 1), second_now = received_of(bench, 2);
    if (second_now == second) return first_now >= first + 100;
    first = first_now;
    second = second_now;
    return false;
  }));
  QVERIFY(choose_by_right_button(bench, "receivers_table", 1, "fault_receivers_normal"));
  QVERIFY2(!choose_by_right_button(bench, "receivers_table", 1, "fault_receivers_normal"), "it is normal again");
  QVERIFY(wait_for_receiver(bench, 2, 100));
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(reasons(bench)));
}

void TestFaults::one_receiver_confirms_nothing() {
  BenchWindow bench;
  QVERIFY(start_with_responses(bench, {{"responses.deadline_s", "8"}, {"queue.retention_s", "60"}}));
  QVERIFY(choose_by_right_button(bench, "receivers_table", 2, "fault_receivers_confirm-nothing"));
  QVERIFY(BenchWindow::wait_for([&] { return cell(bench, 2, "sent again") != QStringLiteral("0"); }));
  QCOMPARE(cell(bench, 0, "sent again"), QStringLiteral("0"));
  QVERIFY(choose_by_right_button(bench, "receivers_table", 2, "fault_receivers_normal"));
  QVERIFY(wait_for_receiver(bench, 3));
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(reasons(bench)));
}

void TestFaults::one_receiver_answers_negatively() {
  BenchWindow bench;
  QVERIFY(start_with_responses(bench, {{"responses.deadline_s", "10"}, {"queue.retention_s", "60"}}));
  QVERIFY(choose_by_right_button(bench, "receivers_table", 0, "fault_receivers_answer-negatively"));
  QVERIFY(BenchWindow::wait_for([&] { return cell(bench, 0, "sent again") != QStringLiteral("0"); }));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().answered_negatively > 0; }));
  QCOMPARE(cell(bench, 1, "sent again"), QStringLiteral("0"));
  QVERIFY(choose_by_right_button(bench, "receivers_table", 0, "fault_receivers_normal"));
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(reasons(bench)));
}

void TestFaults::one_service_is_disconnected_data() {
  QTest::addColumn<QByteArray>("role");
  QTest::newRow("a sender") << QByteArray("senders");
  QTest::newRow("a receiver") << QByteArray("receivers");
}

void TestFaults::one_service_is_disconnected() {
  QFETCH(QByteArray, role);
  BenchWindow bench;
  QVERIFY(start_with_responses(bench));
  QVERIFY(choose_by_right_button(bench, role + "_table", 1, "fault_" + role + "_disconnect"));
  QVERIFY(wait_for_messages(bench, 300));
  QVERIFY(stop_and_wait(bench));
  const QString name = role == "senders" ? QStringLiteral("S002") : QStringLiteral("R002");
  QVERIFY2(reasons(bench).contains(name + QStringLiteral(": connection lost")), qPrintable(reasons(bench)));
  QVERIFY2(bench.run().outcome().reasons.front().contains(name + QStringLiteral(" disconnected")), qPrintable(reasons(bench)));
  QCOMPARE(bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"))->value(QStringLiteral("lost")), QStringLiteral("0"));
}

void TestFaults::the_load_balancer_with_responses() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.messages", "20"}, {"responses.deadline_s", "10"}, {"queue.retention_s", "60"}});
  QVERIFY(bench.click(QStringLiteral("field_queue_mode_load-balancer")));
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(reasons(bench)));
  const auto* ledger = bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"));
  QCOMPARE(ledger->value(QStringLiteral("delivered")), QStringLiteral("80"));
  QCOMPARE(ledger->value(QStringLiteral("confirmed")), QStringLiteral("80"));
  std::int64_t confirmed = 0;
  for (int row = 0; row < 3; ++row) confirmed += cell(bench, row, "confirmed").toInt();
  QCOMPARE(confirmed, 80);
}

void TestFaults::the_load_balancer_with_requests() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("field_queue_mode_load-balancer")));
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1-R2")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("none")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  QCOMPARE(received_of(bench, 1) + received_of(bench, 2), 0);  // all of it went to the third one
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("S1-S2")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  QVERIFY(wait_for_receiver(bench, 1));
  QCOMPARE(received_of(bench, 2), 0);
  const auto* in_flight = bench.find<ui::Tile>(QStringLiteral("count_in_flight"));
  QVERIFY(in_flight->toolTip().contains(QStringLiteral("at most")));
  QVERIFY(BenchWindow::wait_for([&] {
    const QString text = in_flight->text();
    return text == QStringLiteral("0") || text.startsWith(QStringLiteral("≤ "));
  }));
  QVERIFY2(in_flight->text() != QStringLiteral("≤ 0"), "at most none is none");
  QVERIFY(stop_and_wait(bench));
  QVERIFY2(app::testing::was_stopped(bench.run().outcome()), qPrintable(reasons(bench)));
  QCOMPARE(bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"))->value(QStringLiteral("duplicated")), QStringLiteral("0"));
}

}  // namespace

QTEST_MAIN(TestFaults)
#include "test_faults.moc"
