// SPDX-License-Identifier: GPL-3.0-or-later
// The page of test cases, clicked through over real runs: tick, run, pause, resume in another session, run again; and the page Bench
// meanwhile.
#include <QAbstractButton>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QRegularExpression>
#include <QStyle>
#include <QStyleOptionViewItem>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/ui/support/cases_page_test.h"
#include "ui/card/case_figure_card.h"
#include "ui/chart/figure_view.h"
#include "ui/model/cases_model.h"
#include "ui/page/status_strip.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/progress_line.h"
#include "ui/widget/progress_strip.h"
#include "ui/widget/state_light.h"

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;

class TestCases : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

  int answers = 0;  // to questions about builds

  QTableWidget* values() { return bench->find<QTableWidget>(QStringLiteral("case_table")); }
  static void begin_with(const char* key, const nlohmann::json& value, const QString& folder) {
    const QString path = folder + QStringLiteral("/case.json");
    auto state = nlohmann::json::parse(n2nq::ui_test::file_text(path).toStdString());
    state[key] = value;
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(state.dump()));
  }
  /// Clicks that button once the question is there, behind `before`; gives what `answers` is then.
  int answer_about_build(const QString& text, const std::function<void()>& before = {}) {
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, [this, timer, text, before] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (box == nullptr || box->objectName() != QStringLiteral("build_question")) return;
      for (QAbstractButton* each : box->buttons()) {
        if (each->text().remove(u'&') != text) continue;
        timer->stop();
        timer->deleteLater();
        ++answers;
        if (before) before();
        QTest::mouseClick(each, Qt::LeftButton);
      }
    });
    timer->start(20);
    return answers + 1;
  }
  QString words(const char* name) { return bench->find<n2nq::ui::ElidedLabel>(QLatin1String(name))->full_text(); }
  double share() { return bench->find<n2nq::ui::ProgressLine>(QStringLiteral("cases_progress"))->share(); }
  /// Of the own case alone, which has six runs and not all of them.
  void says_how_far_it_is() {
    const int left = 6 - row().runs_done;
    const QString runs = left == 1 ? QStringLiteral("1 run") : QStringLiteral("%1 runs").arg(left);
    const QString said = QStringLiteral("%1 of 6 runs done; Resume goes on with %2, about ").arg(row().runs_done).arg(runs);
    const QString doing = words("cases_doing");
    QVERIFY2(doing.startsWith(said) && doing.endsWith(QStringLiteral(" s")), qPrintable(doing));
    QCOMPARE(words("cases_left"), QStringLiteral("1 of 8 cases ticked"));
    QCOMPARE(share(), row().runs_done / 6.0);
  }
  /// In words like "1 min 05 s left".
  static int seconds_in(const QString& text) {
    static const QRegularExpression span(QStringLiteral("(?:([0-9]+) min )?([0-9]+) s\\b"));
    const QRegularExpressionMatch match = span.match(text);
    return match.hasMatch() ? match.captured(1).toInt() * 60 + match.captured(2).toInt() : -1;
  }
  bool is_read() {
    return BenchWindow::wait_for([this] { return row().runner && row().runner->state() != n2nq::app::CaseRunner::State::reading; });
  }
  /// Writes into the summaries of so many of the own case's runs that they were broken, and has the next session read it; fewer: failed.
  QStringList break_runs(int amount) {
    QStringList out;
    if (!is_read()) return out;
    for (const n2nq::app::CaseRunResult* run : row().runner->results().all()) {
      if (out.size() == amount) break;
      const QString path = run->folder + QStringLiteral("/summary.json");
      QByteArray text = n2nq::ui_test::file_text(path);
      text.replace("\"verdict\": \"clean\"", "\"verdict\": \"broken\"").replace("\"verdict\": \"degraded\"", "\"verdict\": \"broken\"");
      if (n2nq::ui_test::write_text(path, text)) out += run->folder;
    }
    bench->reopen();
    bench->window().resize(1280, 720);
    show_cases();
    return is_read() ? out : QStringList();
  }
  /// What the own case gives that run when it is made again.
  double seconds_of(const QString& run) {
    const n2nq::app::CaseResults& results = row().runner->results();
    for (const n2nq::app::CaseRunResult* each : results.all()) {
      if (each->folder == run) return each->planned_s + results.overhead_s(0);
    }
    return std::nan("");
  }
  QPoint box_of(int at) {
    QStyleOptionViewItem option;
    option.initFrom(table());
    option.rect = table()->visualRect(table()->model()->index(at, 0));
    option.features = QStyleOptionViewItem::HasCheckIndicator | QStyleOptionViewItem::HasDisplay;
    return table()->style()->subElementRect(QStyle::SE_ItemViewItemCheckIndicator, &option, table()).center();
  }
  void click_box(int at) { QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, box_of(at)); }

 private slots:
  void the_seven_and_ones_own_are_listed() {
    QCOMPARE(table()->model()->rowCount(), 8);
    QCOMPARE(cell(2, 1), QStringLiteral("Delay"));
    QCOMPARE(cell(2, 3), QStringLiteral("Fig. 16–19"));
    QCOMPARE(cell(own, 1), QStringLiteral("Small sweep"));
    QCOMPARE(cell(own, 2), QStringLiteral("1–3 services"));
    QCOMPARE(cell(own, 4), QStringLiteral("0/6"));
    QVERIFY(cell(own, 5).contains(QStringLiteral("not begun")));
    QVERIFY(button("scale_quick")->text().contains(QStringLiteral("min")));
    QVERIFY(bench->find<QTextBrowser>(QStringLiteral("case_notes"))->toPlainText().contains(QStringLiteral("p. 1: it rises")));
    // As a person does: the boxes of the rows.
    QCOMPARE(desk().ticked_rows().size(), 7u);
    for (int at = 0; at < own; ++at) click_box(at);
    QVERIFY(desk().ticked_rows().empty());
    QVERIFY(!button("button_cases_run")->isEnabled());
    QCOMPARE(button("button_cases_run")->toolTip(), QStringLiteral("No case is ticked"));
    table()->setCurrentIndex(table()->model()->index(own, 1));
    QTest::keyClick(table(), Qt::Key_Space);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    QVERIFY(button("button_cases_run")->isEnabled());
  }

  void nothing_of_the_list_is_cut() {
    // At 1280 x 720: the figures' numbers stand in the list of figures then.
    for (int column = 1; column < table()->model()->columnCount(); ++column) {
      if (table()->isColumnHidden(column)) continue;
      for (int at = 0; at < table()->model()->rowCount(); ++at) {
        const int needed = table()->fontMetrics().horizontalAdvance(cell(at, column));
        QVERIFY2(needed < table()->columnWidth(column), qPrintable(cell(at, column)));
      }
    }
    QVERIFY(table()->horizontalHeader()->length() <= table()->viewport()->width());
    table()->setCurrentIndex(table()->model()->index(2, 1));
    QVERIFY(bench->find<QComboBox>(QStringLiteral("case_figure"))->itemText(0).startsWith(QStringLiteral("16 · Latency by delay")));
    table()->setCurrentIndex(table()->model()->index(own, 1));
    QVERIFY(settled());
  }

  void a_number_that_is_none_is_refused() {
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("0")));
    QVERIFY(!button("button_cases_run")->isEnabled());
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("3")));
    QVERIFY(settled());
    QCOMPARE(cell(own, 4), QStringLiteral("0/9"));
    bench->find<QLineEdit>(QStringLiteral("case_repeats"))->clear();
    emit bench->find<QLineEdit>(QStringLiteral("case_repeats"))->textEdited({});
    QVERIFY(settled());
    QCOMPARE(cell(own, 4), QStringLiteral("0/6"));
  }

  void a_number_that_is_refused_is_said_by_both_run_buttons_and_in_nobodys_way_at_stress() {
    const auto are_refused = [this](const char* what) {
      bool both = true;
      for (const char* name : {"button_cases_run", "button_cases_run_all"}) {
        both = both && !button(name)->isEnabled() && button(name)->toolTip().startsWith(QString::fromLatin1(what));
      }
      return both;
    };
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("0")));
    QVERIFY2(are_refused("Repeats of each run must be"), qPrintable(button("button_cases_run")->toolTip()));
    QCOMPARE(words("cases_problem"), QStringLiteral("✕ ") + button("button_cases_run")->toolTip());
    // The field cannot be mended there, and nothing goes by it.
    QVERIFY(bench->click(QStringLiteral("scale_stress")));
    QVERIFY(settled());
    QVERIFY(button("button_cases_run_all")->isEnabled());
    QVERIFY(bench->type(QStringLiteral("case_warm_up"), QStringLiteral("2")));
    QVERIFY(desk().choice().warm_up_s == 2.0);
    QVERIFY(bench->type(QStringLiteral("case_warm_up"), QStringLiteral("x")));
    QVERIFY2(are_refused("Warm-up must be"), qPrintable(button("button_cases_run")->toolTip()));
    QVERIFY(bench->type(QStringLiteral("case_warm_up"), QString()));
    QVERIFY(settled());
    QVERIFY(button("button_cases_run_all")->isEnabled() && !desk().choice().warm_up_s);
    QVERIFY(bench->click(QStringLiteral("scale_quick")));
    QVERIFY(settled());
    QVERIFY2(are_refused("Repeats of each run must be"), qPrintable(button("button_cases_run")->toolTip()));
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QString()));
    QVERIFY(settled());
    QVERIFY(button("button_cases_run")->isEnabled() && !desk().choice().repeats);
    QCOMPARE(words("cases_problem"), QString());
    show_cases();
  }

  void what_cannot_be_run_at_a_scale_says_why_and_is_left_out() {
    QCOMPARE(button("button_cases_run_all")->text(), QStringLiteral("Run all 8"));
    QVERIFY(bench->click(QStringLiteral("scale_stress")));
    QVERIFY(settled());
    QVERIFY(!button("button_cases_run")->isEnabled());
    for (const char* name : {"button_cases_run", "button_cases_run_all"}) {
      const QString why = button(name)->toolTip();
      QVERIFY2(why.contains(QStringLiteral("Small sweep: ")) && why.contains(QStringLiteral("knee")), qPrintable(why));
    }
    QCOMPARE(button("button_cases_run_all")->text(), QStringLiteral("Run all 7"));
    QVERIFY(bench->click(QStringLiteral("scale_quick")));
    QVERIFY(settled());
    QVERIFY(button("button_cases_run")->isEnabled());
    QCOMPARE(button("button_cases_run")->toolTip(), QStringLiteral("Begins the ticked cases, one after the other"));
    show_cases();
  }

  void runs_until_it_is_paused() {
    // What the strips above and below say while it runs.
    const auto* progress = bench->find<n2nq::ui::ProgressStrip>(QStringLiteral("progress"));
    const auto* light = bench->find<n2nq::ui::StateLight>(QStringLiteral("light_N2NQ"));
    const auto* status = bench->find<n2nq::ui::StatusStrip>(QStringLiteral("status_strip"));
    QStringList lights, progresses, statuses;
    const auto watched = connect(&desk(), &CasesDesk::progressed, this, [&] {
      lights += light->word();
      progresses += progress->text();
      statuses += status->text();
    });
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return row().runs_done >= 1; }));
    QVERIFY(!button("scale_thesis")->isEnabled());
    // Nor can a box be changed, and what begins cases says what is in the way.
    click_box(own);
    QTest::keyClick(table(), Qt::Key_Space);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    QHelpEvent asks(QEvent::ToolTip, box_of(own), table()->viewport()->mapToGlobal(box_of(own)));
    QApplication::sendEvent(table()->viewport(), &asks);
    QCOMPARE(QToolTip::text(), QStringLiteral("A test case runs: what is chosen belongs to it"));
    QToolTip::hideText();
    for (const char* name : {"button_cases_run", "button_cases_run_all", "button_cases_resume"}) {
      QVERIFY2(!button(name)->isEnabled(), name);
      QCOMPARE(button(name)->toolTip(), QStringLiteral("A test case runs: pause or stop it first"));
    }
    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(!button("button_start_all")->isEnabled());
    QVERIFY2(button("button_stop_all")->toolTip().contains(QStringLiteral("Stop on the page Test cases")),
             qPrintable(button("button_stop_all")->toolTip()));
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(bench->click(QStringLiteral("button_cases_pause")));
    QVERIFY(wait_off());
    QVERIFY(row().runs_done >= 2);
    QVERIFY(row().runs_done < 6);
    disconnect(watched);
    QVERIFY2(lights.contains(QStringLiteral("running")), qPrintable(lights.join(u'\n')));
    static const QRegularExpression which(QStringLiteral("^run [1-6] of 6( · [0-9]+ %)?$"));
    // What tells a run from the others stands before what all have in common, which is cut first.
    static const QRegularExpression whole(QStringLiteral("^run 1 of 6: .+ · Small sweep · (broadcaster|load balancer) · "));
    QVERIFY2(!progresses.filter(which).isEmpty(), qPrintable(progresses.join(u'\n')));
    QVERIFY2(!statuses.filter(whole).isEmpty(), qPrintable(statuses.join(u'\n')));
    // Behind it, that of the page Bench.
    QCOMPARE(light->word(), QStringLiteral("not started"));
    QCOMPARE(progress->text(), QStringLiteral("not started"));
    QVERIFY2(status->text().contains(QStringLiteral("no run yet")), qPrintable(status->text()));
    QVERIFY2(cell(own, 5).contains(QStringLiteral("paused")), qPrintable(cell(own, 5)));
    says_how_far_it_is();
    QVERIFY(button("button_cases_resume")->property("main").toBool() && !button("button_cases_run_all")->property("main").toBool());
    QVERIFY(values()->rowCount() >= 1);
    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(button("button_start_all")->isEnabled());
  }

  void what_was_begun_at_another_scale_is_not_gone_on_with() {
    show_cases();
    const QString folder = row().folder;
    const auto runs_there = [&folder] {
      return QDir(folder + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size();
    };
    const auto before = runs_there();
    QCOMPARE(desk().resumable(), std::vector<int>{own});
    QVERIFY(bench->click(QStringLiteral("scale_thesis")));
    // The list at that scale is not read yet.
    QVERIFY(desk().is_busy() && !button("button_cases_resume")->isEnabled());
    QVERIFY(row().folder.isEmpty() && row().runs_done == 0 && row().state == CasesDesk::State::not_begun);
    desk().run(desk().resumable(), CasesDesk::Begin::go_on);
    QVERIFY(!desk().is_on());
    QVERIFY(settled());
    QVERIFY(!desk().is_on() && row().folder.isEmpty());
    QCOMPARE(runs_there(), before);
    QVERIFY(bench->click(QStringLiteral("scale_quick")));
    show_cases();
    QVERIFY(BenchWindow::wait_for([this] { return row().runner && row().state == CasesDesk::State::stopped; }));
    QCOMPARE(row().folder, folder);
  }

  void goes_on_in_another_session() {
    const int done = row().runs_done;
    const QString folder = row().folder;
    begin_with("build", "another one", folder);
    bench->reopen();
    bench->window().resize(1280, 720);
    show_cases();
    QVERIFY(BenchWindow::wait_for([this, done] { return row().runner && row().runs_done == done; }));
    QCOMPARE(row().folder, folder);
    // Boxes and scale are as they were left.
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    QVERIFY(button("scale_quick")->isChecked());
    QVERIFY2(cell(own, 5).contains(QStringLiteral("stopped")), qPrintable(cell(own, 5)));
    says_how_far_it_is();
    // By another build than the one that began it: asked, and nothing happens where it is left.
    int answered = answer_about_build(QStringLiteral("Leave it"));
    QVERIFY(bench->click(QStringLiteral("button_cases_resume")));
    QVERIFY(BenchWindow::wait_for([&] { return answers == answered && !desk().is_on() && !desk().is_busy(); }));
    QCOMPARE(QDir(folder + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), done);
    // Where it cannot be noted that there is another one, that is told, and the case waits for nothing.
    const QString state = folder + QStringLiteral("/case.json"), aside = folder + QStringLiteral("/aside.json");
    answered = answer_about_build(QStringLiteral("Go on all the same"),
                                  [&] { QVERIFY(QFile::rename(state, aside) && QDir().mkdir(state)); });
    auto left = CasesDesk::State::queued;
    const auto watched = connect(&desk(), &CasesDesk::on_changed, this, [&] {
      if (!desk().is_on() && left == CasesDesk::State::queued) left = row().state;  // before the list is read anew
    });
    QVERIFY(bench->click(QStringLiteral("button_cases_resume")));
    QVERIFY(BenchWindow::wait_for([&] { return answers == answered && !desk().is_on() && !desk().is_busy(); }));
    disconnect(watched);
    QCOMPARE(left, CasesDesk::State::stopped);
    QVERIFY2(bench->messages().contains(QStringLiteral("Cannot write ") + state), qPrintable(bench->messages()));
    QVERIFY(QDir().rmdir(state) && QFile::rename(aside, state));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QVERIFY(BenchWindow::wait_for([this, done] { return row().runner && row().runs_done == done; }));
    answered = answer_about_build(QStringLiteral("Go on all the same"));
    QVERIFY(bench->click(QStringLiteral("button_cases_resume")));
    QVERIFY(BenchWindow::wait_for([&] { return answers == answered; }));
    QVERIFY(BenchWindow::wait_for([this] { return !desk().is_on() && row().state == CasesDesk::State::done; }));
    QCOMPARE(words("cases_doing"), QStringLiteral("6 of 6 runs done"));
    QCOMPARE(share(), 1.0);
    QCOMPARE(row().folder, folder);
    QCOMPARE(QDir(folder + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 6);
    QCOMPARE(values()->rowCount(), 3);
    const auto& figure = bench->find<n2nq::ui::FigureView>(QStringLiteral("case_figure_view"))->figure();
    QCOMPARE(figure.series.size(), 1u);
    QCOMPARE(figure.series.front().points.size(), 3u);
    QCOMPARE(figure.series.front().points.front().repeats, 2);
  }

  void what_was_begun_with_another_choice_has_as_many_runs_as_were_chosen_then() {
    begin_with("repeats", 3, row().folder);
    bench->reopen();
    bench->window().resize(1280, 720);
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(settled());
    QVERIFY(!row().runner);  // nobody has opened it
    QCOMPARE(table()->model()->index(own, n2nq::ui::CasesModel::runs).data().toString(), QStringLiteral("6/9"));
    begin_with("repeats", nullptr, row().folder);
    bench->reopen();
    bench->window().resize(1280, 720);
    show_cases();
  }

  void boxes_and_scale_are_kept_even_where_none_is_ticked() {
    QTest::keyClick(table(), Qt::Key_Space);
    QVERIFY(bench->click(QStringLiteral("scale_thesis")));
    QVERIFY(settled());
    bench->reopen();
    bench->window().resize(1280, 720);
    show_cases();
    QVERIFY(desk().ticked_rows().empty());
    QVERIFY(button("scale_thesis")->isChecked());
    QVERIFY(bench->click(QStringLiteral("scale_quick")));
    QVERIFY(settled());
    click_box(own);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    show_cases();
  }

  void a_marked_point_is_run_again() {
    // A run that was broken: its summary says so.
    const QString folder = row().folder;
    const QString run =
        folder + QStringLiteral("/runs/") + QDir(folder + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).first();
    QFile summary(run + QStringLiteral("/summary.json"));
    QVERIFY(summary.open(QIODevice::ReadOnly));
    QByteArray text = summary.readAll();
    summary.close();
    text.replace("\"verdict\": \"clean\"", "\"verdict\": \"broken\"").replace("\"verdict\": \"degraded\"", "\"verdict\": \"broken\"");
    QVERIFY(summary.open(QIODevice::WriteOnly));
    summary.write(text);
    summary.close();
    bench->reopen();
    bench->window().resize(1280, 720);
    show_cases();
    QVERIFY(BenchWindow::wait_for([this] { return row().runner && row().runs_done == 6 && values()->rowCount() == 3; }));
    int marked = -1;
    for (int at = 0; at < 3; ++at) {
      if (values()->item(at, 1)->toolTip().contains(QStringLiteral("broken"))) marked = at;
    }
    QVERIFY(marked >= 0);
    QVERIFY(!button("button_case_again")->isEnabled());
    // Where it was deleted meanwhile, that is told and nothing runs on.
    const QString aside = bench->folder() + QStringLiteral("/aside");
    QVERIFY(QDir().rename(run, aside));
    emit values()->cellClicked(marked, 1);
    QVERIFY(bench->click(QStringLiteral("button_case_again")));
    QVERIFY(wait_off());
    QVERIFY2(bench->messages().contains(run + QStringLiteral("/settings.yaml")), qPrintable(bench->messages()));
    QCOMPARE(row().state, CasesDesk::State::done);
    QVERIFY(QDir().rename(aside, run));
    emit values()->cellClicked(marked, 1);
    QVERIFY(bench->click(QStringLiteral("button_case_again")));
    QVERIFY(desk().is_on());
    QVERIFY2(desk().share() < 1, "of what is made again");
    QVERIFY(!desk().time_text().contains(QStringLiteral("Resume")));
    QVERIFY(wait_off());
    QVERIFY(QDir(folder + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size() >= 7);
    const QString told = values()->item(marked, 1)->toolTip();
    QVERIFY2(!told.contains(QStringLiteral("broken")), qPrintable(told));
    // The chosen point is that of the new run: on a busy machine it may be marked as well.
    QCOMPARE(bench->find<QLabel>(QStringLiteral("case_point"))->toolTip(), QString(told).replace(u'\n', QStringLiteral(" · ")));
    QCOMPARE(button("button_case_again")->isEnabled(), values()->item(marked, 1)->text().endsWith(u'◯'));
    QVERIFY(QFile::exists(run + QStringLiteral("/summary.json")));
  }

  void a_run_that_was_deleted_is_run_by_resume_wherever_its_case_stands_in_the_list() {
    // One that is the only one of its point and repeat: what was run again has a higher number.
    QString gone;
    for (const n2nq::app::CaseRunResult* run : row().runner->results().all()) {
      if (QFileInfo(run->folder).fileName() < QStringLiteral("0007")) gone = run->folder;
    }
    QVERIFY(!gone.isEmpty());
    QVERIFY(QDir(gone).removeRecursively());
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QVERIFY(BenchWindow::wait_for([this] { return row().runs_done == 5 && row().state == CasesDesk::State::stopped; }));
    // A case above it: it moves, with all that was read of it.
    const auto* runner = row().runner.get();
    const QString above = bench->folder() + QStringLiteral("/cases/above.yaml");
    QVERIFY(QFile::copy(bench->folder() + QStringLiteral("/cases/sweep.yaml"), above));
    bench->window().show_page(QStringLiteral("Bench"));
    bench->window().show_page(QStringLiteral("Test cases"));
    QVERIFY(settled());
    QCOMPARE(table()->model()->rowCount(), own + 2);
    const auto moved = [this]() -> const CasesDesk::Row& { return desk().rows()[own + 1]; };
    QCOMPARE(moved().runner.get(), runner);
    QVERIFY(bench->click(QStringLiteral("button_cases_resume")));
    QVERIFY(wait_off());
    QCOMPARE(moved().runs_done, 6);
    QCOMPARE(moved().state, CasesDesk::State::done);
    QCOMPARE(row().state, CasesDesk::State::not_begun);
    QVERIFY(QFile::remove(above));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(row().runner.get(), runner);
    QCOMPARE(row().state, CasesDesk::State::done);
  }

  void a_case_that_is_begun_anew_in_place_of_marked_runs_counts_all_its_runs() {
    const QString before = row().folder;
    begin_with("build", "another one", before);
    const QStringList broken = break_runs(1);
    QCOMPARE(broken.size(), 1);
    QStringList wrong, texts;
    const auto look = [&] {
      if (!desk().is_on()) return;
      const bool begun = row().folder != before;
      const double done = begun ? row().runs_done : 0, shown = desk().share();
      if (shown < done / 6 || shown > (done + 1) / 6) wrong += QStringLiteral("%1 with %2 of 6 runs done").arg(shown).arg(done);
      if (begun) texts += desk().time_text();
    };
    const auto progress = connect(&desk(), &CasesDesk::progressed, this, look);
    const auto counts = connect(&desk(), &CasesDesk::row_changed, this, look);
    const int answered = answer_about_build(QStringLiteral("Begin anew"));
    desk().run_again(own, broken);
    QVERIFY(desk().is_on());
    QVERIFY(BenchWindow::wait_for([&] { return answers == answered; }));
    QVERIFY(BenchWindow::wait_for([&] { return !desk().is_on() && row().folder != before && row().state == CasesDesk::State::done; }));
    disconnect(progress);
    disconnect(counts);
    QVERIFY(settled());
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    QVERIFY(!texts.isEmpty());
    QCOMPARE(texts.filter(QStringLiteral(", Resume goes on")), texts);
    QCOMPARE(row().runs_done, 6);
  }

  void of_runs_that_are_made_again_those_that_were_begun_count_also_where_the_others_are_called_off() {
    const QStringList broken = break_runs(3);
    QCOMPARE(broken.size(), 3);
    const auto runs_there = [folder = row().folder] {
      return QDir(folder + QStringLiteral("/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size();
    };
    const auto before = runs_there();
    const double others_s = seconds_of(broken[1]) + seconds_of(broken[2]);
    double most = 0;
    const auto watched = connect(&desk(), &CasesDesk::progressed, this, [&] {
      if (desk().is_on()) most = std::max(most, desk().share());
    });
    desk().run_again(own, broken);
    QVERIFY(desk().run() != nullptr);
    // With those behind the one in progress.
    const QString left = desk().time_text();
    QVERIFY2(seconds_in(left) >= others_s, qPrintable(left));
    QVERIFY2(!left.contains(QStringLiteral("Resume")), qPrintable(left));
    QVERIFY(bench->click(QStringLiteral("button_cases_pause")));
    QVERIFY2(desk().share() <= 1 / 3.0, qPrintable(QString::number(desk().share())));
    QVERIFY(wait_off());
    disconnect(watched);
    QVERIFY2(most <= 1 / 3.0, qPrintable(QString::number(most)));
    QVERIFY(settled());
    QCOMPARE(runs_there(), before + 1);
  }

  void a_run_that_is_made_again_in_an_unfinished_case_is_all_that_takes_time() {
    const QStringList broken = break_runs(1);
    QCOMPARE(broken.size(), 1);
    // Of the others, three are to come.
    QStringList folders;
    for (const n2nq::app::CaseRunResult* run : row().runner->results().all()) folders += run->folder;
    QCOMPARE(folders.size(), 6);
    // What is marked is told by its place.
    static const QRegularExpression marked(QStringLiteral("◯ (services [123][^:\\n]*|all points): [^\\n]*broken"));
    const auto* notes = bench->find<QTextBrowser>(QStringLiteral("case_notes"));
    QVERIFY2(BenchWindow::wait_for([notes] { return notes->toPlainText().contains(marked); }), qPrintable(notes->toPlainText()));
    for (const QString& gone : folders.mid(3)) QVERIFY(QDir(gone).removeRecursively());
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QVERIFY(BenchWindow::wait_for([this] { return row().runs_done == 3 && row().state == CasesDesk::State::stopped; }));
    QVERIFY(is_read());
    const double one_s = seconds_of(broken.first());
    desk().run_again(own, broken);
    QVERIFY(desk().run() != nullptr);
    const QString left = desk().time_text();
    QVERIFY2(seconds_in(left) >= 0 && seconds_in(left) <= std::ceil(one_s), qPrintable(QStringLiteral("%1: %2").arg(one_s).arg(left)));
    QVERIFY(wait_off());
    QVERIFY(settled());
    QCOMPARE(row().runs_done, 3);
    QCOMPARE(row().state, CasesDesk::State::stopped);
  }

  void resume_takes_as_long_as_was_said_before_it() {
    // Behind the one that is half done, another of which one run is to come.
    const QString file = bench->folder() + QStringLiteral("/cases/tail.yaml");
    QVERIFY(QFile::copy(bench->folder() + QStringLiteral("/cases/sweep.yaml"), file));
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(table()->model()->rowCount(), own + 2);
    const auto tail = [this]() -> const CasesDesk::Row& { return desk().rows()[own + 1]; };
    desk().set_ticked(own + 1, true);
    desk().run({own + 1}, CasesDesk::Begin::anew);
    QVERIFY(BenchWindow::wait_for([&] { return !desk().is_on() && tail().state == CasesDesk::State::done; }));
    QVERIFY(settled());
    const QString folder = tail().folder;
    QVERIFY(QDir(tail().runner->results().all().front()->folder).removeRecursively());
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QVERIFY(BenchWindow::wait_for([&] { return tail().runs_done == 5 && tail().state == CasesDesk::State::stopped; }));
    QVERIFY(is_read());
    QVERIFY(BenchWindow::wait_for([&] { return !tail().runner || tail().runner->state() != n2nq::app::CaseRunner::State::reading; }));
    QCOMPARE(desk().resumable(), (std::vector<int>{own, own + 1}));
    const QString said = words("cases_doing");
    QVERIFY2(said.startsWith(QStringLiteral("8 of 12 runs done; Resume goes on with 4 runs, about ")), qPrintable(said));
    QElapsedTimer since;
    since.start();
    desk().run(desk().resumable(), CasesDesk::Begin::go_on);
    QVERIFY(desk().run() != nullptr);
    const QString left = desk().time_text();
    // Less what has passed meanwhile, and no more.
    const int passed_s = static_cast<int>(since.elapsed() / 1000) + 1;
    const QString both = said + u'\n' + left;
    QVERIFY2(seconds_in(left) <= seconds_in(said) && seconds_in(left) >= seconds_in(said) - passed_s, qPrintable(both));
    desk().stop_now();
    QVERIFY(wait_off());
    QVERIFY(QFile::remove(file) && QDir(folder).removeRecursively());
    bench->window().show_page(QStringLiteral("Bench"));
    show_cases();
    QCOMPARE(table()->model()->rowCount(), own + 1);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
  }

  void between_hosts_the_table_says_what_their_clocks_leave_open() {
    n2nq::app::Figure figure;
    figure.x = {.title = QStringLiteral("place"), .names = {QStringLiteral("both external")}};
    figure.y = {.title = QStringLiteral("Latency, mean of the lowest 95 %"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 0, .y = 256, .low = 252, .high = 260, .clock_bound = 202}}}};
    n2nq::ui::CaseFigureCard card(bench->window().theme());
    card.show_figure(figure);
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    QCOMPARE(table->item(0, 1)->text(), QStringLiteral("256 ±4.00 (clocks ±202)"));
    // What clocks leave open is a limit, and takes in what 256 leaves out; an interval is none.
    figure.series = {{.points = {{.x = 0, .y = 256.4, .low = 252.386, .high = 260.41, .clock_bound = 201.7}}}};
    card.show_figure(figure);
    QCOMPARE(table->item(0, 1)->text(), QStringLiteral("256 ±4.01 (clocks ±203)"));
    QVERIFY2(table->columnWidth(1) > table->fontMetrics().horizontalAdvance(table->horizontalHeaderItem(1)->text()),
             "nor is its title cut");
  }

  void a_chosen_point_is_told_as_it_is_now() {
    n2nq::app::Figure figure;
    figure.id = QStringLiteral("latency");
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {
        {.points = {{.x = 1, .y = 31},
                    {.x = 2, .y = 90, .why = QStringLiteral("broken: no receiver"), .folders = {QStringLiteral("/a")}}}}};
    n2nq::ui::CaseFigureCard card(bench->window().theme());
    card.set_again(true, {});
    card.show_figure(figure);
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    const auto* point = card.findChild<QLabel*>(QStringLiteral("case_point"));
    const auto* again = card.findChild<QAbstractButton*>(QStringLiteral("button_case_again"));
    const QString none = point->text();
    emit table->cellClicked(1, 1);
    QVERIFY2(point->text().contains(QStringLiteral("broken: no receiver")), qPrintable(point->text()));
    QVERIFY(again->isEnabled());
    // Run again, and with a point before it.
    figure.series.front().points = {{.x = 0.5, .y = 20}, {.x = 1, .y = 31}, {.x = 2, .y = 64, .folders = {QStringLiteral("/b")}}};
    card.show_figure(figure);
    QVERIFY2(point->text().contains(QStringLiteral("64")) && !point->text().contains(QStringLiteral("broken")), qPrintable(point->text()));
    QVERIFY(!again->isEnabled());
    figure.series.front().points.pop_back();
    card.show_figure(figure);
    QCOMPARE(point->text(), none);
    emit table->cellClicked(0, 1);
    QVERIFY(point->text() != none);
    card.forget_point();  // another case's figure of the same name follows
    card.show_figure(figure);
    QCOMPARE(point->text(), none);
  }

  void a_point_is_chosen_in_the_table_by_enter() {
    n2nq::app::Figure figure;
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 1, .y = 31}, {.x = 2, .y = 90, .why = QStringLiteral("broken: no receiver")}}}};
    n2nq::ui::CaseFigureCard card(bench->window().theme());
    card.show_figure(figure);
    card.show();
    auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    table->setCurrentCell(1, 1);
    QTest::keyClick(table, Qt::Key_Return);
    const QString told = card.findChild<QLabel*>(QStringLiteral("case_point"))->text();
    QVERIFY2(told.contains(QStringLiteral("broken: no receiver")), qPrintable(told));
  }

  void what_is_marked_is_told_by_its_place_for_each_reason_once() {
    n2nq::app::Figure figure;
    figure.x = {.title = QStringLiteral("Message size"), .unit = QStringLiteral("kB")};
    figure.series = {{.points = {{.x = 1, .y = 31, .why = QStringLiteral("disturbed")},
                                 {.x = 4, .y = 90, .why = QStringLiteral("broken: no receiver")},
                                 {.x = 16, .y = 95, .why = QStringLiteral("disturbed")}}}};
    QCOMPARE(n2nq::app::marked_notes(figure), QStringList({QStringLiteral("◯ message size 1 kB; message size 16 kB: disturbed"),
                                                           QStringLiteral("◯ message size 4 kB: broken: no receiver")}));
  }

  void what_tells_little_is_grey_and_says_why() {
    n2nq::app::Figure figure;
    figure.x = {.title = QStringLiteral("Services")};
    figure.y = {.title = QStringLiteral("Latency, median"), .unit = QStringLiteral("µs")};
    figure.series = {{.points = {{.x = 1, .y = 31, .near_floor_us = 20.5}, {.x = 2, .y = 90, .few_samples = true}, {.x = 5, .y = 95}}}};
    n2nq::ui::CaseFigureCard card(bench->window().theme());
    card.show_figure(figure);
    const auto* table = card.findChild<QTableWidget*>(QStringLiteral("case_table"));
    const auto color = [table](int row) { return table->item(row, 1)->foreground().color(); };
    QCOMPARE(color(0), color(1));
    QVERIFY(color(0) != color(2));
    QVERIFY2(table->item(0, 1)->toolTip().contains(QStringLiteral("below twice its floor, an echo over loopback (20.5 µs)")),
             qPrintable(table->item(0, 1)->toolTip()));
    QVERIFY(table->item(1, 1)->toolTip().contains(QStringLiteral("fewer than 10 samples above it")));
    QVERIFY(!table->item(2, 1)->toolTip().contains(QStringLiteral("floor")));
  }

  void while_a_run_is_on_no_case_can_be_begun_and_that_is_said_no_longer() {
    QVERIFY(button("button_cases_run")->isEnabled() && button("button_cases_run_all")->isEnabled());
    bench->window().presets().choose(QStringLiteral("quick"));
    bench->set({{"senders.messages", "none"}, {"senders.delay_ms", "20"}});
    QVERIFY(bench->click(QStringLiteral("button_start_all")));
    QVERIFY(bench->wait_for_state(n2nq::app::RunState::running));
    const QString why = QStringLiteral("A run is on, on the page Bench: stop it first (Shift+F5)");
    for (const char* name : {"button_cases_run", "button_cases_run_all", "button_cases_resume"}) {
      QVERIFY2(!button(name)->isEnabled(), name);
      QCOMPARE(button(name)->toolTip(), why);
    }
    // Who asks all the same is told so, and only as long as it is so.
    desk().run({own}, CasesDesk::Begin::anew);
    QVERIFY(!desk().is_on());
    QVERIFY2(bench->messages().contains(why), qPrintable(bench->messages()));
    QVERIFY(bench->click(QStringLiteral("button_stop_all")));
    QVERIFY(bench->wait_for_state(n2nq::app::RunState::finished));
    QVERIFY2(!bench->messages().contains(why), qPrintable(bench->messages()));
    QVERIFY(button("button_cases_run")->isEnabled() && button("button_cases_run_all")->isEnabled());
    QCOMPARE(button("button_cases_run")->toolTip(), QStringLiteral("Begins the ticked cases, one after the other"));
  }

  void what_was_stopped_says_so_and_how_far_it_is() {
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return desk().is_on() && row().runs_done >= 1; }));
    QVERIFY(bench->click(QStringLiteral("button_cases_stop")));
    QVERIFY(wait_off());
    QVERIFY(settled());
    QVERIFY2(cell(own, 5).contains(QStringLiteral("stopped")), qPrintable(cell(own, 5)));
    says_how_far_it_is();
  }

  void closing_stops_in_order_and_loses_nothing_finished() {
    // So many runs that it still runs when the question is there.
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("50")));
    QVERIFY(settled());
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return desk().is_on() && row().runs_done >= 1; }));
    QTimer::singleShot(0, this, [this] {
      BenchWindow::wait_for([] { return QApplication::activeModalWidget() != nullptr; });
      QTest::mouseClick(QApplication::activeModalWidget()->findChild<QAbstractButton*>(QStringLiteral("close_case_stop")), Qt::LeftButton);
    });
    bench->window().close();
    QVERIFY(BenchWindow::wait_for([this] { return !bench->window().isVisible(); }));
    QCOMPARE(n2nq::ui_test::child_pid("n2nq-broker"), 0);
  }
};

QTEST_MAIN(TestCases)
#include "test_cases.moc"
