// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a test case, and that whoever asks for it can do without it at any moment.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QDir>
#include <QTemporaryDir>
#include <atomic>
#include <optional>

#include "app/cases/case_folder.h"
#include "app/cases/case_schedule.h"
#include "app/report/case_report.h"
#include "app/report/report_files.h"
#include "app/report/result_report.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

const char* const small_case = R"(format: 1
title: Small
settings: { senders: { messages: 4, delay_ms: 1 } }
axes:
  services: { title: Services, keys: [senders.amount, receivers.amount], values: [1, 2] }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)";

struct CaseReport : testing::Test {
  void SetUp() override {
    const ReadCase read = read_case_text(small_case, "small.yaml");
    ASSERT_TRUE(read.file);
    QStringList errors;
    plan = CasePlan::make(*read.file, {.scale = Scale::quick}, errors);
    ASSERT_TRUE(plan) << errors.join('\n').toStdString();
    const auto made = CaseFolder::make(place.path(), folder, "small", *plan, "0.1.0 abc", QDateTime::currentDateTime(), error);
    ASSERT_TRUE(made) << error.toStdString();
    make_run(folder + "/runs/0001-1-r1", {});
  }

  const QTemporaryDir place;
  const QString folder = place.filePath("case");
  std::optional<CasePlan> plan;
  QString error;
};

TEST_F(CaseReport, TellsOfEachRunWhatItsClocksLeaveOpen) {
  const QString run_folder = folder + "/runs/0001-1-r1";
  QFile settings(run_folder + "/settings.yaml");
  ASSERT_TRUE(settings.open(QIODevice::WriteOnly | QIODevice::Truncate));
  const CaseSchedule schedule(*plan);
  settings.write(QByteArray::fromStdString(settings_yaml(schedule.next({})->settings)));
  settings.close();
  const auto told = [&](nlohmann::json bound_us) {
    change_summary(run_folder, [&](nlohmann::json& summary) {
      summary["plan"]["attempted_messages"] = 1;
      summary["latency_us"].update({{"p50", 50}, {"bound_us", bound_us}});
    });
    const auto report = report_of_case(folder, error);
    EXPECT_TRUE(report) << error.toStdString();
    if (!report || report->tables.front().rows.size() != 1) return QStringList("no run");
    EXPECT_EQ(report->verdict, "unfinished") << "other runs are to come";
    const Table& table = report->tables.front();
    QStringList cells;
    for (const char* column : {"latency_us.p50, clocks ± (µs)", "latency_us.p50, clocks"})
      cells += cell_text(table.rows[0].at(static_cast<std::size_t>(table.columns.indexOf(QString::fromUtf8(column)))));
    return cells;
  };
  EXPECT_EQ(told(49), QStringList({"49", ""}));
  EXPECT_EQ(told(71), QStringList({"71", "more than the value itself"}));
  EXPECT_EQ(told(nullptr), QStringList({"?", "not known how far they are apart"}));
}

TEST_F(CaseReport, SaysOfOverlaidCasesWhichOfThemARemarkIsOf) {
  // A case of one run, on a machine of its own.
  const auto case_on = [&](const char* name, const char* cpu) {
    const QString path = place.filePath(name);
    const auto made = CaseFolder::make(place.path(), path, "small", *plan, "0.1.0 abc", QDateTime::currentDateTime(), error);
    EXPECT_TRUE(made) << error.toStdString();
    const QString run = path + "/runs/0001-1-r1";
    make_run(run, {});
    make_settings(run, CaseSchedule(*plan).next({})->settings);
    change_summary(run, [cpu](nlohmann::json& summary) {
      summary["plan"]["attempted_messages"] = 1;
      summary["environment"]["hosts"]["broker"] = {{"cores", 2}, {"cpu", cpu}, {"kernel", "6.1"}};
    });
    return path;
  };
  const QString old_one = case_on("old", "Old"), new_one = case_on("new", "New"), old_again = case_on("again", "Old");
  const auto remarks = [](const QStringList& folders) {
    const auto figures = figures_of_cases(folders);
    return figures.size() == 1 ? figures[0].remarks : QStringList("no figure");
  };
  const QString shared = "Scale quick: short runs, to see the shape.";
  EXPECT_EQ(remarks({old_one, new_one}),
            QStringList({shared, "A: Machine: 2 cores, Old, kernel 6.1.", "B: Machine: 2 cores, New, kernel 6.1."}));
  EXPECT_EQ(remarks({old_one, old_again}), QStringList({shared, "Machine: 2 cores, Old, kernel 6.1."}));
  EXPECT_EQ(remarks({old_one, new_one, old_again}),
            QStringList({shared, "A, C: Machine: 2 cores, Old, kernel 6.1.", "B: Machine: 2 cores, New, kernel 6.1."}));
  // An own case that was edited between the two: what it draws now is another quantity.
  QFile text(new_one + "/case.yaml");
  ASSERT_TRUE(text.open(QIODevice::ReadWrite));
  const QByteArray edited = text.readAll().replace("y: latency_us.p50", "y: rates.received_per_s");
  ASSERT_TRUE(text.resize(0) && text.seek(0) && text.write(edited) == edited.size());
  text.close();
  const auto figures = figures_of_cases({old_one, new_one});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].series.size(), 1u);
  EXPECT_EQ(figures[0].remarks.last(), "B: drawn over other values, left out.");
}

TEST_F(CaseReport, NamesWhatMakesItsLatenciesIncomparableWhereNoAxisDoes) {
  int made = 0;
  const auto case_with = [&](const char* in_place_of, const char* text) {
    const ReadCase read = read_case_text(QByteArray(small_case).replace(in_place_of, text).toStdString(), "small.yaml");
    EXPECT_TRUE(read.file) << (read.errors.empty() ? "" : read.errors.front().text());
    QStringList errors;
    const auto its_plan = read.file ? CasePlan::make(*read.file, {.scale = Scale::thesis}, errors) : std::nullopt;
    const QString path = place.filePath(QString("case-%1").arg(++made));
    EXPECT_TRUE(its_plan && CaseFolder::make(place.path(), path, "small", *its_plan, "0.1.0 abc", QDateTime::currentDateTime(), error))
        << errors.join('\n').toStdString() << error.toStdString();
    return path;
  };
  const auto told = [&](const QString& path) {
    const auto report = report_of_case(path, error);
    EXPECT_TRUE(report) << error.toStdString();
    if (!report) return QStringList("no report");
    QStringList words = report->figures.front().remarks.filter("Made with");
    for (const auto& row : report->appendix.front().rows) {
      if (cell_text(row[0]) == "made with") words += cell_text(row[1]);
    }
    return words;
  };
  EXPECT_EQ(told(folder), QStringList()) << "all is as usual";
  const QString all = QString::fromUtf8("N2NQ spins for 50 µs, receivers are not kept off N2NQ's core, by Unix-domain sockets");
  EXPECT_EQ(told(case_with("settings: {", "settings: { transport: unix, broker: { spin_us: 50, keep_core: false },")),
            QStringList({"Made with: " + all + '.', all}));
  EXPECT_EQ(told(case_with("figures:", "scales: { thesis: { settings: { broker.io: io_uring } } }\nfigures:")),
            QStringList({"Made with: N2NQ writes by io_uring.", "N2NQ writes by io_uring"}));
  EXPECT_EQ(told(case_with("values: [1, 2]", "values: [{ name: 1 by Unix, value: 1, set: { transport: unix } }]")), QStringList());
  const auto figures = figures_of_cases({case_with("settings: {", "settings: { transport: unix,"), folder});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_TRUE(figures[0].remarks.contains("A: Made with: by Unix-domain sockets.")) << figures[0].remarks.join('\n').toStdString();
}

TEST_F(CaseReport, RunsThatCountAndThoseThatItTookAreKnownWithoutReadingWhatTheyMeasured) {
  EXPECT_EQ(CaseFolder::runs_that_count(folder), 0) << "it sent nothing";
  const CaseSchedule schedule(*plan);
  const auto make = [&](const char* name, const Settings& settings, const char* verdict) {
    const QString run = folder + "/runs/" + name;
    make_run(run, {.verdict = verdict});
    make_settings(run, settings);
    change_summary(run, [](nlohmann::json& summary) { summary["plan"]["attempted_messages"] = 1; });
  };
  const Settings first = schedule.next({})->settings;
  Settings other = first;
  other.seed = first.seed + 1;
  make("0002-1-r1", first, "clean");
  make("0003-1-r1", first, "degraded");
  make("0004-1-r1", other, "stopped");
  EXPECT_EQ(CaseFolder::runs_that_count(folder), 1) << "one was made twice, one was stopped";
  auto opened = CaseFolder::open(folder, error);
  ASSERT_TRUE(opened) << error.toStdString();
  EXPECT_EQ(opened->runs_planned(), 2);
  EXPECT_EQ(opened->note_runs(7), "");
  EXPECT_EQ(CaseFolder::open(folder, error)->runs_planned(), 7);
}

TEST_F(CaseReport, StopsReadingRunsWhenItIsCancelled) {
  std::atomic<bool> cancelled = false;
  const auto report = report_of_case(folder, error, &cancelled);
  ASSERT_TRUE(report) << error.toStdString();
  EXPECT_EQ(report->title, "Test case: Small");
  EXPECT_EQ(figures_of_cases({folder, folder}, &cancelled).size(), 1u);

  // A run that cannot be read is told, if anybody comes to it.
  QFile damaged(folder + "/runs/0001-1-r1/summary.json");
  ASSERT_TRUE(damaged.open(QIODevice::WriteOnly | QIODevice::Truncate));
  damaged.close();
  const auto with_damaged = report_of_case(folder, error);
  ASSERT_TRUE(with_damaged);
  EXPECT_TRUE(with_damaged->lead.last().startsWith("Left out: ")) << with_damaged->lead.join('\n').toStdString();
  cancelled = true;
  QStringList unreadable;
  CaseFolder::read_results(folder, *plan, &unreadable, &cancelled);
  EXPECT_TRUE(unreadable.isEmpty()) << "nobody came to it";
  error.clear();
  EXPECT_FALSE(report_of_case(folder, error, &cancelled));
  EXPECT_EQ(error, "") << "whoever cancelled it knows why";
  EXPECT_FALSE(report_of_results({folder}, error, {}, &cancelled));
  EXPECT_EQ(error, "");
  EXPECT_TRUE(figures_of_cases({folder, folder}, &cancelled).empty());
}

TEST_F(CaseReport, LeavesNothingOfAFormerOneThatReadsAsAWholeWhenItsWritingIsCancelled) {
  auto report = report_of_case(folder, error);
  ASSERT_TRUE(report) << error.toStdString();
  report->figures.clear();  // nothing is drawn here
  const QStringList whole = {"report.html", "report.json", "report.xlsx"};
  const auto left = [&] { return QDir(folder).entryList({"report.*"}, QDir::Files, QDir::Name); };
  std::atomic<bool> cancelled = false;
  const auto write_until = [&](const QString& last) {
    cancelled = false;
    return write_report(folder, *report, [&, last](const QString& what) { cancelled = what == last; }, &cancelled);
  };
  ASSERT_EQ(write_until({}), "");
  EXPECT_EQ(left(), whole);
  EXPECT_EQ(write_until("report.html"), "");
  EXPECT_EQ(left(), QStringList({"report.json", "report.xlsx"})) << "both are new";
  ASSERT_EQ(write_until({}), "");
  EXPECT_EQ(write_until("tables"), "");
  EXPECT_EQ(left(), QStringList());
  EXPECT_TRUE(QFileInfo(folder + "/charts").isDir());
  ASSERT_EQ(write_until({}), "");
  cancelled = true;
  EXPECT_EQ(write_report(folder, *report, {}, &cancelled), "");
  EXPECT_EQ(left(), whole) << "nothing was begun";
}

TEST_F(CaseReport, SaysThatAHistogramCannotBeReadAndIsWrittenAllTheSame) {
  auto report = report_of_case(folder, error);
  ASSERT_TRUE(report) << error.toStdString();
  report->figures.clear();  // nothing is drawn here
  const QString out = place.filePath("out");
  report->hgrm = place.filePath("latency.hgrm");
  EXPECT_EQ(write_report(out, *report), "") << "a run may have none";
  ASSERT_EQ(::mkfifo(QFile::encodeName(report->hgrm).constData(), 0600), 0);
  EXPECT_EQ(write_report(out, *report),
            QString("Cannot read %1: it is a pipe, and no file; all else of the report is written").arg(report->hgrm));
  EXPECT_TRUE(QFile::exists(out + "/report.html"));
  EXPECT_FALSE(QFile::exists(out + "/latency.hgrm"));
}

TEST_F(CaseReport, MakesNoFolderInPlaceOfTheCasesThatIsGone) {
  auto report = report_of_case(folder, error);
  ASSERT_TRUE(report) << error.toStdString();
  report->figures.clear();  // nothing is drawn here
  const QString aside = place.filePath("aside"), its_own = place.filePath("reports/new");
  ASSERT_TRUE(QDir().rename(folder, aside));
  EXPECT_TRUE(write_report(folder, *report, {}, nullptr, ReportFolder::of_a_result).contains("is not there any more"));
  EXPECT_FALSE(QFileInfo::exists(folder));
  // Moved in the middle of it: what is told is the same, and it can be moved back.
  ASSERT_TRUE(QDir().rename(aside, folder));
  const auto move_away = [&](const QString& what) {
    if (what == "report.xlsx") QDir().rename(folder, aside);
  };
  EXPECT_TRUE(write_report(folder, *report, move_away, nullptr, ReportFolder::of_a_result).contains("is not there any more"));
  EXPECT_FALSE(QFileInfo::exists(folder));
  EXPECT_TRUE(QDir().rename(aside, folder));
  EXPECT_EQ(write_report(its_own, *report), "") << "one of its own is made";
  EXPECT_TRUE(QFile::exists(its_own + "/report.html"));
}

}  // namespace
}  // namespace n2nq::app
