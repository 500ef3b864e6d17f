// SPDX-License-Identifier: GPL-3.0-or-later
// The page of test cases, clicked through over real runs: tick, run, pause, resume in another session; and the page Bench meanwhile.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QAbstractButton>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLineEdit>
#include <QMessageBox>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QStyle>
#include <QStyleOptionViewItem>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QToolTip>
#include <algorithm>

#include "app/results/folder_lock.h"
#include "tests/ui/support/cases_page_test.h"
#include "ui/chart/figure_view.h"
#include "ui/model/cases_model.h"
#include "ui/page/status_strip.h"
#include "ui/widget/progress_strip.h"
#include "ui/widget/state_light.h"

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;

class TestCases : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

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
    // Nobody who never asked for them gets hours of work by one click.
    QVERIFY(desk().ticked_rows().empty());
    QVERIFY(!button("button_cases_run")->isEnabled());
    QCOMPARE(button("button_cases_run")->text(), QStringLiteral("Run selected"));
    QCOMPARE(button("button_cases_run")->toolTip(), QStringLiteral("No case is ticked: click the box before a case, or press Space"));
    QVERIFY(button("button_cases_run_all")->isEnabled());
    const QString of_all = button("scale_quick")->text();
    QVERIFY2(button("scale_quick")->toolTip().endsWith(QStringLiteral("of all cases, as none is ticked")),
             qPrintable(button("scale_quick")->toolTip()));
    QCOMPARE(button("button_cases_run_all")->toolTip(),
             QStringLiteral("Ticks all cases and begins them anew, one after the other, about %1").arg(of_all.section(u'(', 1).chopped(1)));
    // As a person does: the boxes of the rows.
    for (int at : {0, 1}) click_box(at);
    QCOMPARE(desk().ticked_rows(), (std::vector<int>{0, 1}));
    QVERIFY(button("scale_quick")->text() != of_all);
    QVERIFY2(button("scale_quick")->toolTip().endsWith(QStringLiteral("of the ticked cases")), qPrintable(button("scale_quick")->toolTip()));
    for (int at : {0, 1}) click_box(at);
    QVERIFY(desk().ticked_rows().empty());
    table()->setCurrentIndex(table()->model()->index(own, 1));
    QTest::keyClick(table(), Qt::Key_Space);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    QVERIFY(button("button_cases_run")->isEnabled());
  }

  void nothing_of_the_list_is_cut() {
    // At 1280 x 720: the figures' numbers stand in the list of figures then.
    constexpr int around_px = 12;
    int most_runs = 0;
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("6")));
    for (const char* scale : {"scale_thesis", "scale_quick"}) {
      QVERIFY(bench->click(QString::fromLatin1(scale)));
      QVERIFY(settled());
      for (int column = 1; column < table()->model()->columnCount(); ++column) {
        if (table()->isColumnHidden(column)) continue;
        for (int at = 0; at < table()->model()->rowCount(); ++at) {
          const int runs = desk().rows()[static_cast<std::size_t>(at)].runs_all;
          most_runs = std::max(most_runs, runs);
          // Nor once all of them are done.
          const QString text = column == n2nq::ui::CasesModel::runs ? QStringLiteral("%1/%1").arg(runs) : cell(at, column);
          const int needed = table()->fontMetrics().horizontalAdvance(text) + around_px;
          QVERIFY2(needed <= table()->columnWidth(column), qPrintable(text));
        }
      }
      QVERIFY(table()->horizontalHeader()->length() <= table()->viewport()->width());
    }
    QCOMPARE(most_runs, 840);
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QString()));
    QVERIFY(settled());
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

  void what_another_bench_works_on_is_not_gone_on_with() {
    const pid_t other = ::fork();
    if (other == 0) {
      const auto lock = n2nq::app::FolderLock::take(row().folder + QStringLiteral("/case.lock"));
      if (lock) ::pause();
      ::_exit(1);
    }
    QVERIFY(other > 0);
    const auto end_other = qScopeGuard([other] {
      ::kill(other, SIGKILL);
      ::waitpid(other, nullptr, 0);
    });
    QVERIFY(BenchWindow::wait_for([this, other] { return n2nq::app::FolderLock::holder(row().folder + QStringLiteral("/case.lock")) == other; }));
    const auto read_before = row().runner;
    QVERIFY(read_before);
    desk().reload();
    QVERIFY(settled());
    QVERIFY(BenchWindow::wait_for([this] { return row().is_elsewhere; }));
    QVERIFY(desk().resumable().empty() && !button("button_cases_resume")->isEnabled());
    QCOMPARE(case_state_text(row()), QString::fromUtf8("● elsewhere"));
    // Nor is it begun anew, and the buttons count without it.
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    QCOMPARE(button("button_cases_run")->text(), QStringLiteral("Run selected"));
    QVERIFY(!button("button_cases_run")->isEnabled());
    QCOMPARE(button("button_cases_run")->toolTip(), QStringLiteral("Small sweep: another bench works on it"));
    QCOMPARE(button("button_cases_run_all")->text(), QStringLiteral("Run all 7"));
    QVERIFY2(button("button_cases_run_all")->toolTip().endsWith(QStringLiteral("without:\nSmall sweep: another bench works on it")),
             qPrintable(button("button_cases_run_all")->toolTip()));
    desk().set_ticked(2, true);
    QCOMPARE(button("button_cases_run")->text(), QStringLiteral("Run selected 1"));
    QVERIFY(button("button_cases_run")->isEnabled());
    QVERIFY2(button("button_cases_run")->toolTip().endsWith(QStringLiteral("without:\nSmall sweep: another bench works on it")),
             qPrintable(button("button_cases_run")->toolTip()));
    desk().set_ticked(2, false);
    desk().run({own}, CasesDesk::Begin::anew);
    QVERIFY(!desk().is_on());
    QVERIFY2(bench->messages().contains(QStringLiteral("Not begun: Another bench works on it")), qPrintable(bench->messages()));
    ::kill(other, SIGKILL);
    QVERIFY(BenchWindow::wait_for([this] { return n2nq::app::FolderLock::holder(row().folder + QStringLiteral("/case.lock")) == 0; }));
    desk().reload();
    QVERIFY(settled());
    QVERIFY(BenchWindow::wait_for([this] { return !row().is_elsewhere && row().state == CasesDesk::State::stopped; }));
    // What the other one has run is read, too.
    QVERIFY(BenchWindow::wait_for([&] { return row().runner && row().runner != read_before; }));
    QCOMPARE(desk().resumable(), std::vector<int>{own});
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
    // What is known of it from elsewhere is in it, or not. (Source is where a group runs.)
    QCOMPARE(button("button_case_references")->text(), QStringLiteral("Reference values"));
    QCOMPARE(figure.references.size(), 1u);
    QVERIFY(bench->click(QStringLiteral("button_case_references")));
    QCOMPARE(figure.references.size(), 0u);
    QVERIFY(bench->click(QStringLiteral("button_case_references")));
    QCOMPARE(figure.references.size(), 1u);
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
    // Nothing is read beside it, which would take a core for a while where there are many runs: what has changed is seen behind it.
    const std::size_t rows = desk().rows().size();
    const QString late = bench->folder() + QStringLiteral("/cases/late.yaml");
    QVERIFY(n2nq::ui_test::write_text(late, n2nq::ui_test::file_text(bench->folder() + QStringLiteral("/cases/sweep.yaml"))));
    QVERIFY(bench->come_back());
    QVERIFY(!desk().is_busy());
    QVERIFY(bench->click(QStringLiteral("button_stop_all")));
    QVERIFY(bench->wait_for_state(n2nq::app::RunState::finished));
    QVERIFY(BenchWindow::wait_for([&] { return desk().rows().size() == rows + 1; }));
    QVERIFY(QFile::remove(late));
    QVERIFY(bench->come_back());
    QVERIFY(BenchWindow::wait_for([&] { return desk().rows().size() == rows; }));
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

  void a_question_about_a_case_goes_when_the_case_ends_by_itself() {
    QVERIFY(bench->type(QStringLiteral("case_repeats"), QStringLiteral("1")));
    QVERIFY(settled());
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return desk().is_on(); }));
    bool asked = false, stays = false;
    QTimer::singleShot(0, this, [&] {
      auto* question = bench->find<QMessageBox>(QStringLiteral("close_case_question"));
      if (question == nullptr) return;
      asked = true;
      connect(&desk(), &CasesDesk::on_changed, question, [&, question] {
        // Behind all who hear of it; a box that stays would wait for ever.
        if (!desk().is_on()) QTimer::singleShot(0, question, [&, question] {
          stays = question->isVisible();
          question->reject();
        });
      });
    });
    QVERIFY2(!bench->window().close(), "what was asked was not answered");
    QVERIFY(asked);
    QVERIFY2(!stays, "nothing is left to stop");
    QVERIFY(!desk().is_on());
    QVERIFY(row().state == CasesDesk::State::done);
    QVERIFY(bench->window().isVisible());
    QVERIFY(settled());
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
    if (desk().is_on()) QVERIFY2(bench->messages().contains(QStringLiteral("then the window closes")), qPrintable(bench->messages()));
    QVERIFY(BenchWindow::wait_for([this] { return !bench->window().isVisible(); }));
    QCOMPARE(n2nq::ui_test::child_pid("n2nq-broker"), 0);
  }
};

QTEST_MAIN(TestCases)
#include "test_cases.moc"
