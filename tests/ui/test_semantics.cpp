// SPDX-License-Identifier: GPL-3.0-or-later
// Responses, requests, faults and the ledger, clicked in the real window over real processes.
#include <QAbstractButton>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTest>

#include "app/control/fault.h"
#include "tests/app/support/soundness.h"
#include "tests/ui/support/fault_clicks.h"
#include "ui/card/charts_card.h"
#include "ui/card/ledger_panel.h"
#include "ui/card/receivers_card.h"
#include "ui/card/run_panel.h"
#include "ui/model/taint.h"
#include "ui/page/bench_page.h"
#include "ui/page/status_strip.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/service_table.h"
#include "ui/widget/state_light.h"
#include "ui/widget/tile.h"

namespace {

using namespace n2nq;
using namespace ui_test;

class TestSemantics : public QObject {
  Q_OBJECT
 private slots:
  void switches_set_their_keys_and_show_what_belongs_to_them();
  void bad_requests_are_refused_beside_their_field();
  void a_request_before_a_run_goes_into_the_settings();
  void a_request_applies_to_the_run_that_is_being_prepared();
  void a_request_applies_while_messages_flow();
  void what_was_not_asked_for_is_said_beside_what_came();
  void rules_are_shown_whole_on_a_small_screen();
  void responses_are_counted_per_receiver_and_in_the_ledger();
  void faults_that_cannot_be_made_say_why();
  void a_paused_process_says_so();
  void killed_receivers_are_red_and_start_again();
  void a_service_misbehaves_when_its_row_is_selected();
};

void TestSemantics::switches_set_their_keys_and_show_what_belongs_to_them() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  auto* responses = bench.find<QAbstractButton>(QStringLiteral("field_queue_responses"));
  QVERIFY(responses->toolTip().contains(QStringLiteral("whole and checked")) &&
          responses->toolTip().contains(QStringLiteral("memory only")));
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QVERIFY(bench.form().settings().queue.responses);
  QVERIFY(column(bench, "confirmed") > 0 && column(bench, "sent again") > 0);
  QVERIFY(!bench.find<QWidget>(QStringLiteral("tab_requests"))->isVisible());
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QVERIFY(bench.form().settings().queue.requests.has_value());
  QVERIFY(bench.find<QWidget>(QStringLiteral("requests_panel"))->isVisible());
  QVERIFY(column(bench, "asks for") > 0 && column(bench, "skipped") > 0 && column(bench, "expired") > 0);
  QCoreApplication::processEvents();
  QCOMPARE(bench.window().size(), QSize(1280, 720));
  for (const char* name : {"request_receivers", "request_prefetch", "button_make_request", "requests_list", "button_requests_back"}) {
    const auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
    QVERIFY2(widget->isVisible() && widget->visibleRegion().boundingRect().size() == widget->size(), name);
  }
  // What has no room beside the latency is one click away.
  auto* table = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"));
  QVERIFY(table->isColumnHidden(column(bench, "confirmed")));
  QVERIFY(bench.click(QStringLiteral("view_deliveries")));
  QVERIFY(!table->isColumnHidden(column(bench, "confirmed")));
  int width = 0;
  for (int at = 0; at < table->model()->columnCount(); ++at) width += table->columnWidth(at);
  QVERIFY2(width <= table->viewport()->width(), qPrintable(QString::number(width)));
  QCOMPARE(bench.window().size(), QSize(1280, 720));
  QVERIFY(bench.click(QStringLiteral("tab_ledger")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("ledger_panel"))->isVisible());
  QVERIFY(bench.click(QStringLiteral("button_advanced")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("advanced_panel"))->isVisible());
  QVERIFY(bench.find<QWidget>(QStringLiteral("field_responses_window")) != nullptr);
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QVERIFY(!bench.form().settings().queue.requests.has_value());
}

void TestSemantics::bad_requests_are_refused_beside_their_field() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  const std::tuple<const char*, const char*, const char*> cases[] = {{"request_receivers", "problem_request_whom", "R1-R11"},
                                                                     {"request_receivers", "problem_request_whom", "none"},
                                                                     {"request_senders", "problem_request_whom", "everybody"},
                                                                     {"request_sizes", "problem_request_what", "100-20"},
                                                                     {"request_prefetch", "problem_request_what", "0"}};
  for (const auto& [field, problem, text] : cases) {
    auto* edit = bench.find<QLineEdit>(QString::fromLatin1(field));
    auto* line = bench.find<ui::ElidedLabel>(QString::fromLatin1(problem));
    const QString good = edit->text();
    QVERIFY(bench.type(QString::fromLatin1(field), QString::fromLatin1(text)));
    QVERIFY2(line->full_text().contains(QStringLiteral("must")), field);
    const QString shown = QString(line->text()).replace(u'\n', u' ');
    QVERIFY2(shown == line->full_text(), qPrintable(shown));  // not cut before what is wrong
    QVERIFY2(edit->property("refused").toBool(), field);
    QVERIFY(bench.click(QStringLiteral("button_make_request")));
    QVERIFY2(bench.form().settings().queue.requests->empty(), field);
    QVERIFY(bench.type(QString::fromLatin1(field), good));
    QVERIFY2(line->full_text().isEmpty(), field);
  }
}

void TestSemantics::a_request_before_a_run_goes_into_the_settings() {
  BenchWindow bench;
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1-R5")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("S1-S3")));
  QVERIFY(bench.type(QStringLiteral("request_sizes"), QStringLiteral("20-100")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  QCOMPARE(cell(bench, 0, "asks for"), QStringLiteral("S001–S003, 20–100\u202FB"));
  QCOMPARE(cell(bench, 5, "asks for"), QStringLiteral("any"));
  // A second one takes the place of the first for whom it names.
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R2")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("none")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  QCOMPARE(cell(bench, 1, "asks for"), QStringLiteral("nothing"));
  QCOMPARE(cell(bench, 2, "asks for"), QStringLiteral("S001–S003, 20–100\u202FB"));
  QCOMPARE(bench.form().settings().queue.requests->size(), std::size_t{2});
  QCoreApplication::processEvents();  // lets the new row come into sight
  auto* back = bench.find<QPushButton>(QStringLiteral("button_requests_back"));
  back->setFocus();
  for (const char* next : {"request_back_0", "request_back_1"}) {
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    QVERIFY(QApplication::focusWidget() != nullptr);
    QCOMPARE(QApplication::focusWidget()->objectName(), QString::fromLatin1(next));
  }
  QVERIFY(bench.click(QStringLiteral("request_back_1")));
  QCOMPARE(cell(bench, 1, "asks for"), QStringLiteral("any"));
  QVERIFY(bench.click(QStringLiteral("button_requests_back")));
  QVERIFY(bench.form().settings().queue.requests->empty());
}

void TestSemantics::a_request_applies_to_the_run_that_is_being_prepared() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"receivers.amount", "8"}});
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  const auto request = [&](const char* receivers) {
    return bench.type(QStringLiteral("request_receivers"), QString::fromLatin1(receivers)) &&
           bench.type(QStringLiteral("request_senders"), QStringLiteral("S1")) && bench.click(QStringLiteral("button_make_request"));
  };
  const auto rules = [&](int row) {
    auto* shown = bench.find<ui::ElidedLabel>(QStringLiteral("request_rules_%1").arg(row));
    return shown == nullptr ? QString() : shown->full_text();
  };
  const auto* tab = bench.find<QAbstractButton>(QStringLiteral("tab_requests"));
  QVERIFY(request("R1-R5"));
  QVERIFY(bench.click(QStringLiteral("button_senders")));
  QCOMPARE(bench.run().state(), app::RunState::preparing);
  QCOMPARE(bench.find<ui::ElidedLabel>(QStringLiteral("requests_state"))->full_text(), QStringLiteral("For this run"));
  QVERIFY(bench.find<QWidget>(QStringLiteral("button_make_request"))->toolTip().contains(QStringLiteral("settings of this run")));
  QVERIFY(request("R6"));
  QCOMPARE(tab->text(), QStringLiteral("Requests (2)"));
  QCOMPARE(rules(1), QStringLiteral("S001"));
  QCOMPARE(cell(bench, 5, "asks for"), QStringLiteral("S001"));
  QCoreApplication::processEvents();  // lets the new row come into sight
  QVERIFY(bench.click(QStringLiteral("request_back_0")));
  QCOMPARE(tab->text(), QStringLiteral("Requests (1)"));
  QCOMPARE(cell(bench, 0, "asks for"), QStringLiteral("any"));
  // One that there is only now.
  QVERIFY(bench.type(QStringLiteral("field_receivers_amount"), QStringLiteral("12")));
  QVERIFY(request("R10"));
  QCOMPARE(bench.find<ui::ElidedLabel>(QStringLiteral("problem_request_whom"))->full_text(), QString());
  QCOMPARE(cell(bench, 9, "asks for"), QStringLiteral("S001"));
  // It is this run that goes by all that.
  QVERIFY(bench.click(QStringLiteral("button_receivers")));
  const auto& in_force = bench.run().rules_in_force();
  QCOMPARE(in_force.size(), std::size_t{12});
  for (std::size_t at = 0; at < in_force.size(); ++at) QCOMPARE(in_force[at] == app::RequestRules(), at != 5 && at != 9);
  QCOMPARE(tab->text(), QStringLiteral("Requests (2)"));
  QCOMPARE(cell(bench, 9, "asks for"), QStringLiteral("S001"));
}

void TestSemantics::a_request_applies_while_messages_flow() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  QVERIFY(bench.find<ui::ElidedLabel>(QStringLiteral("requests_state"))->full_text().contains(QStringLiteral("now")));
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1-R2")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("S1")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  QCOMPARE(cell(bench, 0, "asks for"), QStringLiteral("S001"));
  QCOMPARE(cell(bench, 2, "asks for"), QStringLiteral("any"));
  QCOMPARE(bench.find<ui::ElidedLabel>(QStringLiteral("request_rules_0"))->full_text(), QStringLiteral("S001"));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().unrequested > 0; }));
  QVERIFY(BenchWindow::wait_for([&] { return cell(bench, 0, "skipped") != QStringLiteral("0"); }));
  const auto& charts = *bench.window().bench_page()->charts();
  const auto& events = charts.rate_history().events();
  QVERIFY(BenchWindow::wait_for([&] { return !events.empty() && events.back().detail.contains(QStringLiteral("R001–R002 ask for S001")); }));
  QVERIFY(bench.click(QStringLiteral("button_requests_back")));
  QCOMPARE(cell(bench, 0, "asks for"), QStringLiteral("any"));
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::was_stopped(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  const auto* state = bench.find<ui::ElidedLabel>(QStringLiteral("requests_state"));
  QCOMPARE(state->full_text(), QStringLiteral("For the next run"));
  const QString why = state->accessibleDescription();
  QVERIFY2(why.contains(QStringLiteral("is over (%1)").arg(ui::verdict_word(bench.run().outcome().verdict))), qPrintable(why));
  QVERIFY2(why.contains(QStringLiteral("Reason: ") + app::grouped_in(bench.run().outcome().reasons.first())), qPrintable(why));
  QVERIFY2(state->toolTip().contains(QStringLiteral("the last one is over")), qPrintable(state->toolTip()));
}

void TestSemantics::responses_are_counted_per_receiver_and_in_the_ledger() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.messages", "10"}});
  QVERIFY(bench.click(QStringLiteral("field_queue_responses")));
  QVERIFY(bench.click(QStringLiteral("tab_ledger")));
  auto* ledger = bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"));
  QCOMPARE(ledger->value(QStringLiteral("delivered")), ui::dash());
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::running));
  QCOMPARE(ledger->value(QStringLiteral("lost")), ui::dash());  // not known before the end
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  const std::pair<const char*, const char*> counts[] = {{"attempted", "40"},  {"accepted", "40"},   {"refused", "0"}, {"expected", "120"},
                                                        {"delivered", "120"}, {"confirmed", "120"}, {"lost", "0"},    {"unexplained", "0"}};
  for (const auto& [name, value] : counts) {
    QCOMPARE(ledger->value(QString::fromLatin1(name)), QString::fromLatin1(value));
    QVERIFY(!ledger->meaning(QString::fromLatin1(name)).isEmpty());
  }
  QVERIFY2(ledger->sum().startsWith(QStringLiteral("120 copies accepted = 120 delivered")), qPrintable(ledger->sum()));
  QVERIFY(ledger->accessibleDescription().contains(QStringLiteral("clean")));
  for (int row = 0; row < 3; ++row) QCOMPARE(cell(bench, row, "confirmed"), QStringLiteral("40"));
  QCOMPARE(cell(bench, 0, "sent again"), QStringLiteral("0"));
}

void TestSemantics::what_was_not_asked_for_is_said_beside_what_came() {
  BenchWindow bench;
  choose_endless_run(bench);
  bench.set({{"senders.messages", "10"}});
  const auto* received = bench.find<ui::Tile>(QStringLiteral("tile_received"));
  QCOMPARE(received->detail(), QStringLiteral("of 120"));
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QCOMPARE(received->detail(), QString::fromUtf8("of ≤ 120"));
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("S1")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  QVERIFY2(app::testing::is_sound(bench.run().outcome()), qPrintable(bench.run().outcome().reasons.join(u'\n')));
  QCOMPARE(bench.run().figures().unrequested, std::int64_t{30});
  QCOMPARE(received->text(), QStringLiteral("90"));
  QCOMPARE(received->detail(), QStringLiteral("of 90"));  // which is known by now
  // Of a message that N2NQ never had nobody knows who asks for it.
  const app::LiveFigures figures = bench.run().figures();
  const auto detail_with = [&](auto&& change) {
    app::LiveFigures changed = figures;
    change(changed);
    static_cast<ui::ReceiversCard*>(bench.find<QWidget>(QStringLiteral("receivers_card")))->show_figures(changed);
    return received->detail();
  };
  const QString at_most = QString::fromUtf8("of ≤ 90");
  QCOMPARE(detail_with([](auto& changed) { changed.settled->accepted -= 3; }), at_most);
  QCOMPARE(detail_with([](auto& changed) { changed.settled->still_queued = 3; }), at_most);
  QCOMPARE(detail_with([](auto& changed) { changed.cut_off = 3; }), at_most);
  QCOMPARE(detail_with([](auto& changed) { changed.lost = 3; }), at_most);
  QCOMPARE(detail_with([](auto&) {}), QStringLiteral("of 90"));
  // Where a busy machine gave reasons, these stand there.
  const QString story = bench.find<ui::ElidedLabel>(QStringLiteral("verdict_story"))->full_text();
  const bool told = story.contains(QStringLiteral("40 sent, 90 delivered, 30 not asked for"));
  QVERIFY2(told || !bench.run().outcome().reasons.isEmpty(), qPrintable(story));
}

void TestSemantics::rules_are_shown_whole_on_a_small_screen() {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("thesis-baseline"));
  bench.set({{"senders.size_bytes", "[20, 200]"}});
  bench.window().resize(1280, 720);
  QVERIFY(bench.click(QStringLiteral("field_queue_requests")));
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1-R5")));
  QVERIFY(bench.type(QStringLiteral("request_senders"), QStringLiteral("S1-S10")));
  QVERIFY(bench.type(QStringLiteral("request_sizes"), QStringLiteral("20-100")));
  QVERIFY(bench.type(QStringLiteral("request_prefetch"), QStringLiteral("10")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  const auto* rules = bench.find<ui::ElidedLabel>(QStringLiteral("request_rules_0"));
  QCOMPARE(rules->full_text(), QStringLiteral("S001–S010, 20–100\u202FB"));
  QVERIFY(BenchWindow::wait_for([&] { return rules->x() > 0 && rules->isVisible(); }));  // has got its place
  QVERIFY2(rules->width() >= rules->fontMetrics().horizontalAdvance(rules->full_text()), qPrintable(QString::number(rules->width())));
  const auto* who = bench.find<ui::ElidedLabel>(QStringLiteral("request_who_0"));
  QCOMPARE(who->text(), QStringLiteral("R001–R005"));
  QVERIFY(who->width() >= who->fontMetrics().horizontalAdvance(who->text()) && who->geometry().right() < rules->geometry().left());

  // Receivers that leave the rules less room: these take a second line.
  QVERIFY(bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1-R3,R5")));
  QVERIFY(bench.type(QStringLiteral("request_sizes"), QStringLiteral("20-101")));
  QVERIFY(bench.click(QStringLiteral("button_make_request")));
  const auto of_four = [&bench] {
    for (const auto* one : bench.window().findChildren<const ui::ElidedLabel*>(QRegularExpression(QStringLiteral("^request_rules_")))) {
      if (one->isVisible() && one->x() > 0 && one->full_text().contains(QStringLiteral("101"))) return one->text();
    }
    return QString();
  };
  QVERIFY(BenchWindow::wait_for([&] { return !of_four().isEmpty(); }));
  QCOMPARE(of_four(), QStringLiteral("S001–S010,\n20–101\u202FB"));
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestSemantics::faults_that_cannot_be_made_say_why() {
  BenchWindow bench;
  choose_endless_run(bench);
  for (const char* name : {"fault_receivers_kill", "fault_receivers_disconnect"}) {
    const QAction* action = fault(bench, "button_faults_receivers", name);
    QVERIFY2(action != nullptr && !action->isEnabled(), name);
    QVERIFY2(action->toolTip().contains(QStringLiteral("while messages flow")), name);
  }
  QVERIFY(fault(bench, "button_faults_receivers", "faults_reason")->text().contains(QStringLiteral("while messages flow")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  const QAction* resume = fault(bench, "button_faults_senders", "fault_senders_resume");
  QVERIFY(!resume->isEnabled() && resume->toolTip().contains(QStringLiteral("not paused")));
  const QAction* nobody = fault(bench, "button_faults_receivers", "fault_receivers_disconnect");
  QVERIFY(!nobody->isEnabled() && nobody->toolTip().contains(QStringLiteral("Select a row")));
  bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"))->selectRow(1);
  QVERIFY(fault(bench, "button_faults_receivers", "fault_receivers_disconnect")->isEnabled());
  const QAction* answer = fault(bench, "button_faults_receivers", "fault_receivers_confirm-nothing");
  QVERIFY(!answer->isEnabled() && answer->toolTip().contains(QStringLiteral("responses are off")));
}

void TestSemantics::a_paused_process_says_so() {
  BenchWindow bench;
  choose_endless_run(bench);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(wait_for_messages(bench));
  QVERIFY(choose_fault(bench, "button_faults_senders", "fault_senders_pause"));
  const auto* light = bench.find<ui::StateLight>(QStringLiteral("light_senders"));
  QVERIFY(BenchWindow::wait_for([&] { return light->word() == QStringLiteral("paused"); }));
  QVERIFY(choose_fault(bench, "button_faults_senders", "fault_senders_resume"));
  QVERIFY(BenchWindow::wait_for([&] { return light->word() == QStringLiteral("running"); }));
  QVERIFY(wait_for_messages(bench));
}

void TestSemantics::killed_receivers_are_red_and_start_again() {
  BenchWindow bench;
  QVERIFY(start_with_responses(bench, {{"queue.retention_s", "60"}}));
  QVERIFY(choose_fault(bench, "button_faults_receivers", "fault_receivers_kill"));
  const auto* light = bench.find<ui::StateLight>(QStringLiteral("light_receivers"));
  QVERIFY(BenchWindow::wait_for([&] { return light->word() == QStringLiteral("killed on purpose"); }));
  QVERIFY(light->is_word_whole());
  QVERIFY(bench.find<QWidget>(QStringLiteral("notice_receivers"))->isVisible());
  const auto* notice = bench.find<QWidget>(QStringLiteral("notice_receivers"))->findChild<ui::ElidedLabel*>(QStringLiteral("notice_text"));
  QVERIFY(BenchWindow::wait_for([&] { return notice->x() > 0; }));  // has got its place
  QCOMPARE(notice->text(), notice->full_text());
  auto* start = bench.find<QAbstractButton>(QStringLiteral("button_receivers"));
  QCOMPARE(start->text(), QStringLiteral("Start"));
  QVERIFY(bench.click(QStringLiteral("button_receivers")));
  QVERIFY(BenchWindow::wait_for([&] { return light->word() == QStringLiteral("running"); }));
  QVERIFY(wait_for_messages(bench));
  QVERIFY(!bench.find<QWidget>(QStringLiteral("notice_receivers"))->isVisible());
  const auto& events = bench.window().bench_page()->charts()->latency_history().events();
  QVERIFY(BenchWindow::wait_for([&] { return events.size() == 2; }));
  bench.window().show_page(QStringLiteral("Charts"));
  QVERIFY(events.front().detail.contains(QStringLiteral("Receivers killed")));
  const auto* chart = bench.window().bench_page()->charts()->latency_chart();
  QVERIFY(BenchWindow::wait_for([&] { return !chart->marks_at(events.back().t_s).isEmpty(); }));
  QVERIFY(bench.click(QStringLiteral("button_stop_all")));
  QVERIFY(bench.wait_for_state(app::RunState::finished));
  const auto* ledger = bench.find<ui::LedgerPanel>(QStringLiteral("ledger_panel"));
  QCOMPARE(ledger->value(QStringLiteral("lost")), QStringLiteral("0"));
  QCOMPARE(ledger->value(QStringLiteral("unexplained")), QStringLiteral("0"));
  QVERIFY2(bench.run().outcome().verdict == app::Verdict::degraded, qPrintable(bench.run().outcome().reasons.join(u'\n')));
}

void TestSemantics::a_service_misbehaves_when_its_row_is_selected() {
  BenchWindow bench;
  QVERIFY(start_with_responses(bench));
  auto* table = bench.find<ui::ServiceTable>(QStringLiteral("receivers_table"));
  const QRect row = table->visualRect(table->model()->index(1, ui::ServiceModel::name_column));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, row.center());
  QVERIFY(choose_fault(bench, "button_faults_receivers", "fault_receivers_answer-negatively"));
  QVERIFY(BenchWindow::wait_for([&] { return bench.run().figures().redelivered > 0; }));
  QVERIFY(BenchWindow::wait_for([&] { return cell(bench, 1, "sent again") != QStringLiteral("0"); }));
  QCOMPARE(cell(bench, 0, "sent again"), QStringLiteral("0"));
  QVERIFY(choose_fault(bench, "button_faults_receivers", "fault_receivers_normal"));
  QCOMPARE(bench.run().events().size(), std::size_t{2});
}

}  // namespace

QTEST_MAIN(TestSemantics)
#include "test_semantics.moc"
