// SPDX-License-Identifier: GPL-3.0-or-later
// Test cases over pretend processes: order, pause, stop, resume, failures, figures.
#include "app/cases/case_runner.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cases/case_figures.h"
#include "app/cases/case_library.h"
#include "app/cases/case_sides.h"
#include "app/settings/whole_file.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_launcher.h"

namespace n2nq::app {
namespace {

using namespace n2nq::app::testing;

const char* const run_case = R"(format: 1
title: Small
without_hosts: leave-out
settings: { senders: { messages: 4, delay_ms: 1 } }
axes:
  place:
    values:
      - { name: internal, place: { senders: internal, receivers: internal } }
      - { name: external, place: { senders: external, receivers: external } }
  services:
    title: Services
    keys: [senders.amount, receivers.amount]
    values: [1, 2, 3]
repeats: 3
figures:
  - { id: fig-1, title: Latency by services, x: services, y: latency_us.mean_lowest_95, series: place,
      known: [{ text: "p. 1: it rises", x: 2, y: 100, series: internal }] }
  - { id: fig-2, title: By percentile, kind: percentiles, series: services, where: { place: internal } }
)";

struct CaseRunnerTest : WithEventLoop {
  QTemporaryDir folder;
  PretendHost host;
  std::unique_ptr<CaseRunner> runner;
  QStringList messages;
  std::vector<QString> finished;

  CasePlan plan(std::optional<int> repeats = {}) const {
    const ReadCase read = read_case_text(run_case, "small.yaml");
    QStringList errors;
    return *CasePlan::make(*read.file, {.scale = Scale::thesis, .repeats = repeats}, errors);
  }
  QString path() const { return folder.filePath("case"); }

  void use(CasePlan with, CaseFolder opened) {
    CaseRunner::Options options;
    options.deadlines.start_lead = 0;
    runner = std::make_unique<CaseRunner>(
        std::make_shared<PlannedCase>(std::move(with)), std::move(opened), [this] { return std::make_unique<PretendFactory>(host); },
        options);
    QObject::connect(runner.get(), &CaseRunner::message, [this](const QString& text) { messages += text; });
    QObject::connect(runner.get(), &CaseRunner::run_finished, [this](const QString& of) { finished.push_back(of); });
  }
  void make(std::optional<int> repeats = {}) {
    QString error;
    auto made = CaseFolder::make({}, path(), "small", plan(repeats), "build 1", QDateTime::currentDateTime(), error);
    ASSERT_TRUE(made) << error.toStdString();
    ASSERT_EQ(made->lock(), "");
    use(plan(repeats), std::move(*made));
  }
  void reopen() {
    runner.reset();
    QString error;
    auto opened = CaseFolder::open(path(), error);
    ASSERT_TRUE(opened) << error.toStdString();
    ASSERT_EQ(opened->lock(), "");
    QStringList errors;
    auto again = CasePlan::make(opened->file(), opened->choice(), errors);
    ASSERT_TRUE(again);
    use(std::move(*again), std::move(*opened));
  }
  bool wait_state(CaseRunner::State state) {
    return wait_until([=, this] { return runner->state() == state; });
  }
  QStringList run_folders() const { return QDir(path() + "/runs").entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name); }
  /// The identity of each run folder, in their order.
  std::vector<std::string> identities() const {
    std::vector<std::string> out;
    for (const QString& run : run_folders()) {
      const ReadSettings read = read_settings_file((path() + "/runs/" + run + "/settings.yaml").toStdString());
      out.push_back(read.settings ? settings_sha256(*read.settings) : "none");
    }
    return out;
  }
  void expect_complete_without_twice() {
    const auto all = identities();
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 9u);
    std::vector<std::string> planned;
    for (const CaseRun& run : plan().runs(3)) planned.push_back(run.sha256);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()), std::set<std::string>(planned.begin(), planned.end()));
  }
};

TEST_F(CaseRunnerTest, runs_everything_once_in_the_planned_order) {
  make();
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  std::vector<std::string> planned;
  for (const CaseRun& run : plan().runs(3)) planned.push_back(run.sha256);
  EXPECT_EQ(identities(), planned);
  EXPECT_EQ(runner->runs_done(), 9);
  EXPECT_EQ(runner->runs_total(), 9);
  EXPECT_EQ(runner->seconds_left(), 0);
  EXPECT_EQ(runner->results().count(), 9);
  EXPECT_EQ(host.alive, 0);
  EXPECT_TRUE(run_folders().first().startsWith("0001-internal-"));
}

TEST_F(CaseRunnerTest, pauses_after_the_run_in_progress_and_goes_on) {
  make();
  QObject::connect(runner.get(), &CaseRunner::run_started, [this] {
    if (runner->runs_done() == 3) runner->pause();
  });
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::idle) || runner->runs_done() == 4);
  ASSERT_TRUE(wait_until([this] { return runner->state() == CaseRunner::State::idle && runner->runs_done() == 4; }));
  EXPECT_EQ(run_folders().size(), 4);
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  EXPECT_EQ(run_folders().size(), 9);
  expect_complete_without_twice();
}

TEST_F(CaseRunnerTest, a_stopped_run_is_kept_and_run_again) {
  make();
  host.behaviour[Role::senders].runs_on = true;
  runner->start();
  ASSERT_TRUE(wait_until([this] { return runner->run() && runner->run()->process(Role::senders).state == ProcessState::running; }));
  runner->stop_now();
  ASSERT_TRUE(wait_state(CaseRunner::State::idle));
  EXPECT_EQ(runner->runs_done(), 0);
  host.behaviour.clear();
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  EXPECT_EQ(run_folders().size(), 10);
  expect_complete_without_twice();
}

TEST_F(CaseRunnerTest, goes_on_where_a_killed_bench_left_off) {
  make();
  QObject::connect(runner.get(), &CaseRunner::run_started, [this] {
    if (runner->runs_done() == 5) host.behaviour[Role::senders].runs_on = true;
  });
  runner->start();
  ASSERT_TRUE(wait_until([this] {
    return runner->runs_done() == 5 && runner->run() && runner->run()->process(Role::senders).state == ProcessState::running;
  }));
  std::map<QString, QDateTime> written;
  for (const QString& run : run_folders()) written[run] = QFileInfo(path() + "/runs/" + run + "/summary.json").lastModified();
  host.behaviour.clear();
  reopen();
  ASSERT_TRUE(wait_state(CaseRunner::State::idle));
  EXPECT_EQ(runner->runs_done(), 5);
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  expect_complete_without_twice();
  int finished_ones = 0;
  for (const QString& run : run_folders()) finished_ones += QFileInfo::exists(path() + "/runs/" + run + "/summary.json");
  EXPECT_EQ(finished_ones, 9) << "the tenth is what was lost";
  for (const auto& [run, when] : written) {
    if (!when.isValid()) continue;
    EXPECT_EQ(QFileInfo(path() + "/runs/" + run + "/summary.json").lastModified(), when) << run.toStdString();
  }
}

TEST_F(CaseRunnerTest, gives_up_when_nothing_can_be_started) {
  make();
  host.behaviour[Role::receivers].fails_to_start = true;
  runner->start();
  ASSERT_TRUE(wait_until([this] { return runner->state() == CaseRunner::State::idle && !runner->problem().isEmpty(); }));
  EXPECT_TRUE(runner->problem().startsWith("3 runs in a row sent nothing: ")) << runner->problem().toStdString();
  EXPECT_EQ(run_folders().size(), 3);
  EXPECT_EQ(runner->runs_done(), 0);
  host.behaviour.clear();
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  expect_complete_without_twice();
}

TEST_F(CaseRunnerTest, runs_whose_results_cannot_be_written_are_told_as_such) {
  make();
  QObject::connect(runner.get(), &CaseRunner::run_started, [this] {
    RunControl* run = runner->run();
    QObject::connect(run, &RunControl::state_changed, [run] {
      if (run->state() == RunState::running) QDir(run->folder()).mkdir("summary.json");  // no file takes its place
    });
  });
  runner->start();
  ASSERT_TRUE(wait_until([this] { return runner->state() == CaseRunner::State::idle && !runner->problem().isEmpty(); }));
  const QString expected = "3 runs in a row left no result: Cannot write " + path() + "/runs/" + run_folders().value(2) + "/summary.json: ";
  EXPECT_TRUE(runner->problem().startsWith(expected)) << runner->problem().toStdString();
  EXPECT_EQ(run_folders().size(), 3);
  EXPECT_EQ(runner->runs_done(), 0);
}

TEST_F(CaseRunnerTest, a_run_that_reads_back_as_another_is_not_run_for_ever) {
  make();
  QObject::connect(runner.get(), &CaseRunner::run_started, [this] {
    RunControl* run = runner->run();
    QObject::connect(run, &RunControl::state_changed, [run] {
      if (run->state() != RunState::running) return;
      EXPECT_EQ(write_whole(run->folder() + "/settings.yaml", QByteArray::fromStdString(settings_yaml(Settings()))), "");
    });
  });
  runner->start();
  ASSERT_TRUE(wait_until([this] { return runner->state() == CaseRunner::State::idle && !runner->problem().isEmpty(); }));
  ASSERT_EQ(run_folders().size(), 1);
  EXPECT_EQ(runner->problem(),
            path() + "/runs/" + run_folders().first() +
                "/settings.yaml reads back as other settings than were planned, so it does not count as the run that it was");
  EXPECT_EQ(runner->runs_done(), 0);
}

TEST_F(CaseRunnerTest, says_why_nothing_is_begun) {
  make();
  host.problem = "There is no such host.";
  runner->start();
  ASSERT_TRUE(wait_until([this] { return runner->state() == CaseRunner::State::idle && !runner->problem().isEmpty(); }));
  EXPECT_EQ(runner->problem(), "There is no such host.");
  EXPECT_TRUE(run_folders().isEmpty());
  host.looked_at_again = [this] { host.problem.clear(); };  // somebody has mended it
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  expect_complete_without_twice();
}

TEST_F(CaseRunnerTest, a_broken_run_is_marked_and_can_be_run_again_alone) {
  make(1);
  QObject::connect(runner.get(), &CaseRunner::run_started,
                   [this] { host.behaviour[Role::senders].dies = runner->runs_done() == 1 ? Moment::running : Moment::never; });
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  ASSERT_EQ(runner->results().marked(), 1);
  const CaseRunResult* broken = nullptr;
  for (const CaseRunResult* each : runner->results().all()) {
    if (!runner->results().why(*each).isEmpty()) broken = each;
  }
  ASSERT_TRUE(broken);
  EXPECT_TRUE(broken->marked.startsWith("broken: ")) << broken->marked.toStdString();
  const Figure drawn = case_figure(runner->plan(), runner->schedule(), runner->results(), 0);
  ASSERT_EQ(drawn.series.size(), 2u);
  ASSERT_EQ(drawn.series[0].points.size(), 3u) << "no point is hidden";
  EXPECT_EQ(std::count_if(drawn.series[0].points.begin(), drawn.series[0].points.end(),
                          [](const FigurePoint& point) { return !point.why.isEmpty(); }),
            1);

  const QString first = broken->folder;
  runner->run_again(first);
  ASSERT_TRUE(wait_until([this] { return finished.size() == 4; }));
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  EXPECT_TRUE(QFileInfo::exists(first + "/summary.json")) << "it is kept";
  EXPECT_EQ(run_folders().size(), 4);
  EXPECT_EQ(runner->results().marked(), 0);
  EXPECT_EQ(runner->runs_done(), 3);
}

TEST_F(CaseRunnerTest, a_run_that_was_deleted_is_not_run_again_and_the_case_stands_still) {
  make(1);
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  const QString gone = runner->results().all().front()->folder, there = runner->results().all().back()->folder;
  ASSERT_TRUE(QDir(gone).removeRecursively());
  int times_still = 0;
  QObject::connect(runner.get(), &CaseRunner::stood_still, [&] { ++times_still; });
  runner->run_again(gone);
  EXPECT_EQ(times_still, 1);
  EXPECT_EQ(runner->state(), CaseRunner::State::done);
  EXPECT_TRUE(runner->problem().contains(gone + "/settings.yaml")) << runner->problem().toStdString();
  EXPECT_TRUE(messages.contains(runner->problem()));
  runner->run_again(there);
  ASSERT_TRUE(wait_until([&] { return times_still == 2; }));
  EXPECT_EQ(runner->state(), CaseRunner::State::done);
  EXPECT_EQ(runner->problem(), "");
  EXPECT_EQ(finished.size(), 4u);
}

TEST_F(CaseRunnerTest, a_run_made_again_that_comes_to_nothing_is_tried_as_often_as_others_and_told) {
  make(1);
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  int times_still = 0;
  QObject::connect(runner.get(), &CaseRunner::stood_still, [&] { ++times_still; });
  const QString first = runner->results().all().front()->folder;
  host.behaviour[Role::receivers].fails_to_start = true;
  host.sent_each = 0;
  runner->run_again(first);
  ASSERT_TRUE(wait_until([&] { return times_still == 1; }));
  EXPECT_EQ(run_folders().size(), 3 + 3);
  EXPECT_EQ(runner->state(), CaseRunner::State::done);
  EXPECT_FALSE(runner->makes_again());
  EXPECT_TRUE(runner->problem().startsWith("3 runs in a row sent nothing: ")) << runner->problem().toStdString();
  EXPECT_TRUE(messages.contains(runner->problem()));

  // Once it can be started at the second attempt nothing is told.
  int begun = 0;
  QObject::connect(runner.get(), &CaseRunner::run_started, [&] { host.behaviour[Role::receivers].fails_to_start = ++begun == 1; });
  runner->run_again(first);
  ASSERT_TRUE(wait_until([&] { return times_still == 2; }));
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(runner->problem(), "");
}

TEST_F(CaseRunnerTest, a_run_made_again_that_comes_to_nothing_is_not_tried_again_where_it_is_to_pause_or_stop) {
  make(1);
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  const QString first = runner->results().all().front()->folder;
  host.behaviour[Role::receivers].fails_to_start = true;
  host.sent_each = 0;
  void (CaseRunner::*const how[])() = {&CaseRunner::pause, &CaseRunner::stop_now};
  qsizetype folders = 3;
  for (const auto ends : how) {
    const auto connection = QObject::connect(runner.get(), &CaseRunner::run_started, [this, ends] { (runner.get()->*ends)(); });
    runner->run_again(first);
    ASSERT_TRUE(wait_state(CaseRunner::State::done));
    EXPECT_EQ(run_folders().size(), ++folders);
    EXPECT_EQ(runner->problem(), "");
    QObject::disconnect(connection);
  }
}

TEST_F(CaseRunnerTest, draws_medians_with_intervals_and_says_what_was_not_run) {
  make();
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  const auto figures = case_figures(runner->plan(), runner->schedule(), runner->results());
  ASSERT_EQ(figures.size(), 2u);
  const Figure& lines = figures[0];
  EXPECT_EQ(lines.id, "fig-1");
  EXPECT_EQ(lines.y.unit, QString::fromUtf8("µs"));
  ASSERT_EQ(lines.series.size(), 2u);
  EXPECT_EQ(lines.series[0].name, "internal");
  ASSERT_EQ(lines.series[0].points.size(), 3u);
  EXPECT_EQ(lines.series[0].points[2].x, 3);
  EXPECT_EQ(lines.series[0].points[2].repeats, 3);
  EXPECT_TRUE(lines.series[0].points[2].low);
  EXPECT_EQ(lines.series[0].points[2].folders.size(), 3);
  EXPECT_EQ(lines.series[1].name, "external");
  EXPECT_TRUE(lines.series[1].points.empty());
  EXPECT_EQ(lines.series[1].not_run, "no hosts were given for external sets");
  ASSERT_EQ(lines.references.size(), 1u);
  EXPECT_EQ(lines.references[0].y, 100);
  EXPECT_EQ(figures[1].series.size(), 3u);
  EXPECT_TRUE(figures[1].x.percentiles);
}

TEST_F(CaseRunnerTest, is_compared_by_the_axes_of_its_own_file) {
  make();
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  QString error;
  const auto side = read_side(path(), error);
  ASSERT_TRUE(side) << error.toStdString();
  std::vector<ComparedSide> sides = {*side, *side};
  place_in_cases(sides);
  const Comparison comparison = compare(sides);
  ASSERT_EQ(comparison.points.size(), 3u);
  EXPECT_EQ(comparison.points[0].label, "services 1");
  EXPECT_EQ(comparison.points[2].label, "services 3");
  EXPECT_EQ(comparison.points[2].at, (std::vector<std::pair<QString, QString>>{{"Services", "3"}}));
  EXPECT_EQ(comparison.points[2].repeats, (std::vector<int>{3, 3}));
  // A folder that is no test case beside one: by settings.
  std::vector<ComparedSide> mixed = {*side, *side};
  mixed[1].folder = folder.path();
  place_in_cases(mixed);
  EXPECT_TRUE(mixed[0].places.empty());
  EXPECT_EQ(compare(mixed).points[0].label, "receivers.amount 1, senders.amount 1");
}

TEST_F(CaseRunnerTest, points_that_only_one_side_ran_stand_beside_none_of_the_other) {
  make(1);
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  QString error;
  auto here = read_side(path(), error);
  ASSERT_TRUE(here) << error.toStdString();
  // The same with hosts, and so with the external set as well.
  const QString with_hosts = folder.filePath("with hosts");
  const ReadCase read = read_case_text(run_case, "small.yaml");
  QStringList errors;
  auto plan = CasePlan::make(*read.file, {.scale = Scale::thesis, .repeats = 1, .hosts = CaseHosts{"h1", "h2", "h3"}}, errors);
  ASSERT_TRUE(plan);
  auto made = CaseFolder::make({}, with_hosts, "small", *plan, "build 1", QDateTime::currentDateTime(), error);
  ASSERT_TRUE(made) << error.toStdString();
  use(*plan, std::move(*made));
  runner->start();
  ASSERT_TRUE(wait_state(CaseRunner::State::done));
  const auto there = read_side(with_hosts, error);
  ASSERT_TRUE(there) << error.toStdString();
  std::vector<ComparedSide> sides = {*here, *there};
  place_in_cases(sides);
  const Comparison comparison = compare(sides);
  ASSERT_EQ(comparison.points.size(), 6u);
  EXPECT_EQ(comparison.points[0].label, "internal, services 1") << "though all that ran here was internal";
  EXPECT_EQ(comparison.points[0].repeats, (std::vector<int>{1, 1}));
  EXPECT_EQ(comparison.points[5].label, "external, services 3");
  EXPECT_EQ(comparison.points[5].repeats, (std::vector<int>{0, 1}));
}

TEST_F(CaseRunnerTest, remembers_what_was_chosen_and_lets_one_bench_in) {
  make(2);
  QString error;
  auto opened = CaseFolder::open(path(), error);
  ASSERT_TRUE(opened) << error.toStdString();
  EXPECT_EQ(opened->name(), "small");
  EXPECT_EQ(opened->choice(), runner->plan().choice());
  EXPECT_EQ(opened->build(), "build 1");
  EXPECT_EQ(opened->file().text, run_case);
  EXPECT_TRUE(opened->lock().startsWith("Another bench works on "));
  runner.reset();
  EXPECT_EQ(opened->lock(), "");
  EXPECT_EQ(opened->accept_build("build 2"), "");
  EXPECT_EQ(CaseFolder::open(path(), error)->build(), "build 2");
  EXPECT_EQ(CaseFolder::newest(folder.path(), "small", Scale::thesis), path());
  EXPECT_EQ(CaseFolder::newest(folder.path(), "small", Scale::quick), "");
}

TEST(case_folder, keeps_what_its_base_was) {
  const QTemporaryDir folder;
  const QString base = folder.filePath("lab.yaml"), file = folder.filePath("small.yaml"), path = folder.filePath("case");
  const auto write_base = [&](const char* log) { return write_whole(base, QByteArray("format: 1\nlog: ") + log + '\n'); };
  ASSERT_EQ(write_base("off"), "");
  std::string text = run_case;
  ASSERT_EQ(write_whole(file, QByteArray::fromStdString(text.insert(text.find("settings:"), "base: lab.yaml\n"))), "");
  const auto planned = [](const CaseFile& of) {
    QStringList errors;
    std::vector<std::string> out;
    for (const CaseRun& run : CasePlan::make(of, {.scale = Scale::thesis}, errors).value().runs(1)) out.push_back(run.sha256);
    return out;
  };
  const ReadCase read = read_case_file(file.toStdString());
  ASSERT_TRUE(read.file) << read.errors.front().text();
  const auto begun = planned(*read.file);
  QStringList errors;
  QString error;
  const auto plan = CasePlan::make(*read.file, {.scale = Scale::thesis}, errors);
  ASSERT_TRUE(CaseFolder::make({}, path, "small", *plan, "build 1", QDateTime::currentDateTime(), error)) << error.toStdString();

  const auto expect_as_begun = [&] {
    const auto opened = CaseFolder::open(path, error);
    ASSERT_TRUE(opened) << error.toStdString();
    EXPECT_EQ(opened->file().base.log, LogMode::off);
    EXPECT_EQ(planned(opened->file()), begun);
    const LibraryCase again = CaseLibrary("/nowhere").load((path + "/case.yaml").toStdString());
    ASSERT_TRUE(again.read.file) << again.read.errors.front().text();
    EXPECT_EQ(planned(*again.read.file), begun);
  };
  ASSERT_EQ(write_base("sampled"), "");
  expect_as_begun();
  EXPECT_NE(planned(*read_case_file(file.toStdString()).file), begun);
  ASSERT_TRUE(QFile::remove(base));
  expect_as_begun();
  ASSERT_TRUE(QFile::remove(path + "/base.yaml"));
  EXPECT_FALSE(CaseFolder::open(path, error)) << "an older one is read as it was then";
}

TEST_F(CaseRunnerTest, what_is_wrong_in_its_state_is_refused_by_name) {
  make();
  runner.reset();
  QFile state(path() + "/case.json");
  ASSERT_TRUE(state.open(QIODevice::ReadWrite));
  const auto whole = nlohmann::ordered_json::parse(state.readAll().toStdString());
  struct Wrong {
    nlohmann::ordered_json patch;  // null takes a key away
    std::string told;
  };
  const Wrong wrong[] = {{{{"runs", 1e300}}, "runs is 1e+300, it has to be a whole number that fits"},
                         {{{"case", 5}}, "case is 5, it has to be text"},
                         {{{"build", nullptr}}, "build is missing, it has to be text"},
                         {{{"begun", nlohmann::json::array()}}, "begun is a list, it has to be text"},
                         {{{"warm_up_s", "long"}}, "warm_up_s is \"long\", it has to be a number"},
                         {{{"hosts", {{"broker", 1}}}}, "hosts.broker is 1, it has to be text"}};
  for (const Wrong& each : wrong) {
    auto json = whole;
    json.merge_patch(each.patch);
    state.resize(0);
    state.seek(0);
    state.write(QByteArray::fromStdString(json.dump()));
    state.flush();
    QString error;
    EXPECT_FALSE(CaseFolder::open(path(), error));
    EXPECT_TRUE(error.toStdString().ends_with("case.json is not what n2nq-bench writes: " + each.told)) << error.toStdString();
    EXPECT_EQ(CaseFolder::newest(folder.path(), "small", Scale::thesis), each.told.starts_with("case") ? "" : path()) << each.told;
  }
  state.resize(0);
  state.seek(0);
  state.write("{\n  \"format\": 1\n  \"case\": \"small\"\n}\n");
  state.flush();
  QString error;
  EXPECT_FALSE(CaseFolder::open(path(), error));
  EXPECT_TRUE(error.endsWith("case.json is not JSON in line 3")) << error.toStdString();
}

TEST_F(CaseRunnerTest, another_folder_is_told_apart) {
  QString error;
  EXPECT_FALSE(CaseFolder::open(folder.path(), error));
  EXPECT_TRUE(error.endsWith(" has no case.json: it is not the folder of a test case")) << error.toStdString();
}

}  // namespace
}  // namespace n2nq::app
