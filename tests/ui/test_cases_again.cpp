// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of a test case that are made again, on its page: marked ones, those that were deleted, and all of them by another build; and how far
// it is meanwhile.
#include <QAbstractButton>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QRegularExpression>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QTextBrowser>
#include <algorithm>
#include <cmath>

#include "tests/ui/support/cases_page_test.h"

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;

class TestCasesAgain : public n2nq::ui_test::CasesPageTest {
  Q_OBJECT

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

 private slots:
  void a_case_is_run_to_its_end() {
    for (int at = 0; at <= own; ++at) desk().set_ticked(at, at == own);
    QCOMPARE(desk().ticked_rows(), std::vector<int>{own});
    QVERIFY(bench->click(QStringLiteral("button_cases_run")));
    QVERIFY(BenchWindow::wait_for([this] { return !desk().is_on() && row().state == CasesDesk::State::done; }));
    QCOMPARE(row().runs_done, 6);
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

  void what_waits_behind_a_pause_goes_on_waiting_when_it_is_looked_at() {
    constexpr int before = own - 1;
    bench->reopen();
    bench->window().show_page(QStringLiteral("Test cases"));
    table()->setCurrentIndex(table()->model()->index(before, 1));
    QVERIFY(settled());
    QVERIFY(!row().runner);
    desk().set_ticked(before, true);
    desk().run(desk().ticked_rows(), CasesDesk::Begin::anew);
    QVERIFY(BenchWindow::wait_for([this] { return desk().rows()[before].runs_done >= 1; }));
    desk().pause();
    QVERIFY(wait_off());
    QCOMPARE(row().state, CasesDesk::State::queued);
    table()->setCurrentIndex(table()->model()->index(own, 1));
    QVERIFY(settled());
    QVERIFY(is_read());
    QVERIFY(row().runner);
    QCOMPARE(row().state, CasesDesk::State::queued);
    QCOMPARE(desk().resumable(), (std::vector<int>{before, own}));
  }
};

QTEST_MAIN(TestCasesAgain)
#include "test_cases_again.moc"
