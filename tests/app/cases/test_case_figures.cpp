// SPDX-License-Identifier: GPL-3.0-or-later
// What a case's figures show of its runs, and what they say about it.
#include "app/cases/case_figures.h"

#include <QTemporaryDir>
#include <cmath>
#include <functional>
#include <map>

#include "app/cli/case_table.h"
#include "app/figure/figure_doubts.h"
#include "tests/app/cases/small_case.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

TEST(case_figures, what_clocks_leave_open_is_rounded_up_and_an_interval_is_not) {
  Figure figure;
  figure.x = {.title = "Place", .names = {"both external"}};
  figure.y = {.title = "Latency", .unit = QString::fromUtf8("µs")};
  figure.series = {{.points = {{.x = 0, .y = 256.4, .low = 252.386, .high = 260.41, .clock_bound = 201.7}}}};
  const std::string page = figure_page(figure).toStdString();
  EXPECT_NE(page.find("256 ±4.01 (clocks ±203)"), std::string::npos) << "with what 256 leaves out: " << page;
}

TEST(case_figures, between_hosts_what_their_clocks_leave_open_stands_beside_each_value) {
  const CasePlan plan = small_plan("1, 2", until_tight);
  const CaseSchedule schedule(plan);
  CaseResults apart, same;
  for (CaseResults* results : {&apart, &same}) {
    while (const auto run = schedule.next(*results)) {
      CaseRunResult result = finished(*run, 100);
      if (results == &apart) result.clock_limits_us["latency_us.p50"] = run->settings.senders.amount == 1 ? 30 : 200;
      results->add(result);
    }
  }
  const std::string page = figure_page(case_figure(plan, schedule, apart, 0)).toStdString();
  EXPECT_NE(page.find("100 ±0.000 (clocks ±30.0)"), std::string::npos) << page;
  EXPECT_NE(page.find("100 ±0.000 (clocks ±200)"), std::string::npos) << page;
  const char* const words = "smaller than what the clocks of its hosts are known to";
  EXPECT_NE(page.find(words), std::string::npos) << page;
  const std::string exact = figure_page(case_figure(plan, schedule, same, 0)).toStdString();
  EXPECT_EQ(exact.find("clocks"), std::string::npos) << exact;
}

TEST(case_figures, say_first_that_external_services_ran_here) {
  const CasePlan plan = small_plan("1", R"(  place: { values: [{ name: external, place: { senders: external, receivers: external } }] }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50, where: { place: external }, remarks: [what its file says] }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  while (const auto run = schedule.next(results)) results.add(finished(*run, 100));
  const QStringList remarks = case_figure(plan, schedule, results, 0).remarks;
  ASSERT_GE(remarks.size(), 2) << remarks.join('\n').toStdString();
  EXPECT_EQ(remarks[0], "External services ran on this machine, as no hosts were given.");
  EXPECT_EQ(remarks[1], "what its file says");
}

TEST(case_figures, tell_which_runs_had_another_machine_of_the_same_name) {
  const CasePlan plan = small_plan("1, 2", until_tight);
  const CaseSchedule schedule(plan);
  const QString old_one = "2 cores, Old, kernel 6.1", new_one = "8 cores, New, kernel 6.1", other = "4 cores, Other, kernel 6.1";
  CaseResults apart, same;
  for (CaseResults* results : {&apart, &same}) {
    int count = 0;
    while (const auto run = schedule.next(*results)) {
      CaseRunResult result = finished(*run, 100);
      result.machine = old_one;
      // Gone on with other hosts behind the second run: the senders' machine is another one.
      result.machines = {{"n2nq-vm", old_one}, {"senders-vm", results == &apart && ++count > 2 ? new_one : other}};
      results->add(result);
    }
  }
  const Figure mixed = case_figure(plan, schedule, apart, 0);
  const QStringList told = mixed.remarks.filter("machine");
  ASSERT_EQ(told.size(), 1) << mixed.remarks.join('\n').toStdString();
  EXPECT_TRUE(told[0].startsWith("Not all runs had the same machine as senders-vm: ")) << told[0].toStdString();
  EXPECT_TRUE(told[0].contains(new_one) && told[0].contains(other) && !told[0].contains(old_one)) << told[0].toStdString();
  EXPECT_TRUE(mixed.remarks.filter("Machine: ").isEmpty()) << "it would be that of the first run";
  const QStringList of_one = case_figure(plan, schedule, same, 0).remarks;
  EXPECT_TRUE(of_one.contains("Machine: " + old_one + '.')) << of_one.join('\n').toStdString();
  EXPECT_TRUE(of_one.filter("Not all runs").isEmpty()) << of_one.join('\n').toStdString();
}

TEST(case_figures, each_value_has_the_bound_of_its_own_clocks) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", R"(figures:
  - { id: a, title: To broker, x: services, y: stages.to_broker_us.mean }
  - { id: b, title: To receiver, x: services, y: stages.to_receiver_us.mean }
  - { id: c, title: In queue, x: services, y: stages.in_queue_us.mean }
  - { id: d, title: Latency, x: services, y: latency_us.p50 }
  - { id: e, title: Deliveries, x: services, y: latency_us.count }
)");
  const CaseSchedule schedule(plan);
  const QString path = folder.filePath("run");
  make_run(path, {});
  change_summary(path, [](nlohmann::json& summary) {
    summary["latency_us"]["bound_us"] = 70;
    summary["stages"] = {{"to_broker_us", {{"mean", 12.5}, {"bound_us", 30}}},
                         {"in_queue_us", {{"mean", 8}}},
                         {"to_receiver_us", {{"mean", 90}, {"bound_us", nullptr}}}};
  });
  QString problem;
  auto run = read_case_run(path, plan, problem);
  ASSERT_TRUE(run) << problem.toStdString();
  run->sha256 = schedule.next({})->sha256;
  run->counts = true;
  CaseResults results;
  results.add(*run);
  const auto page = [&](std::size_t which) { return figure_page(case_figure(plan, schedule, results, which)).toStdString(); };
  EXPECT_NE(page(0).find("12.5 (clocks ±30.0)"), std::string::npos) << page(0);
  EXPECT_NE(page(0).find("smaller than what the clocks of its hosts are known to"), std::string::npos) << page(0);
  const auto json = figure_json(case_figure(plan, schedule, results, 0));
  EXPECT_EQ(json.at("series").at(0).at("points").at(0).at("clock_bound"), 30) << json.dump();
  EXPECT_EQ(json.at("series").at(0).at("points").at(0).at("clock_bound_unknown"), false) << json.dump();
  for (const auto& [which, unknown] : {std::pair<std::size_t, bool>{1, true}, {2, false}}) {
    const auto point = figure_json(case_figure(plan, schedule, results, which)).at("series").at(0).at("points").at(0);
    EXPECT_TRUE(point.at("clock_bound").is_null()) << point.dump();
    EXPECT_EQ(point.at("clock_bound_unknown"), unknown) << point.dump();
  }
  EXPECT_NE(page(1).find("not known how far they are apart"), std::string::npos) << page(1);
  EXPECT_EQ(page(2).find("clocks"), std::string::npos) << "of one clock: " << page(2);
  EXPECT_NE(page(3).find("100 (clocks ±70.0)"), std::string::npos) << page(3);
  EXPECT_EQ(page(4).find("clocks"), std::string::npos) << "a count is no time: " << page(4);
}

/// Of three repeats with one service and three with two; `change`: what such a run was like, by its services and which of these it is.
Figure figure_of_repeats(const std::string& value, const std::function<void(CaseRunResult& run, int services, int repeat)>& change) {
  const CasePlan plan = small_plan("1, 2", "repeats: 3\nfigures:\n  - { id: fig-1, title: Latency, x: services, y: " + value + " }\n");
  const CaseSchedule schedule(plan);
  CaseResults results;
  std::map<int, int> repeats;
  while (const auto run = schedule.next(results)) {
    CaseRunResult result = finished(*run, 100);
    result.folder = QString::number(results.count());
    const int services = run->settings.senders.amount;
    change(result, services, repeats[services]++);
    results.add(result);
  }
  return case_figure(plan, schedule, results, 0);
}

TEST(case_figures, a_point_has_the_largest_bound_of_its_runs_beside_those_that_nobody_knows) {
  // Of two services one run is of one clock, one of clocks that nobody knows, one of known ones; of one service all are of one clock.
  const Figure figure = figure_of_repeats("latency_us.p50", [](CaseRunResult& run, int services, int repeat) {
    if (services == 2 && repeat > 0) run.clock_limits_us["latency_us.p50"] = repeat == 1 ? INFINITY : 30;
  });
  const std::vector<FigurePoint>& points = figure.series.at(0).points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].clock_bound, 0);
  EXPECT_FALSE(points[0].clock_bound_unknown);
  EXPECT_EQ(points[1].clock_bound, 30);
  EXPECT_TRUE(points[1].clock_bound_unknown);
  EXPECT_TRUE(std::isnan(points[0].clock_limit()));
  EXPECT_TRUE(std::isinf(points[1].clock_limit())) << "30 is not the limit of all of them";
  const std::string page = figure_page(figure).toStdString();
  EXPECT_NE(page.find("(clocks ±?)"), std::string::npos) << page;
  EXPECT_EQ(page.find("clocks ±3"), std::string::npos) << page;
}

TEST(case_figures, a_repeat_without_a_value_says_nothing_about_the_others) {
  // Of one service the last repeat gave nothing, of two none gave anything.
  const Figure figure = figure_of_repeats("latency_us.p99", [](CaseRunResult& run, int services, int repeat) {
    const bool is_empty = services == 2 || repeat == 2;
    run.values["latency_us.p99"] = is_empty ? std::nan("") : 100;
    if (!is_empty) run.few_samples = {"latency_us.p99"};
    if (is_empty) run.clock_limits_us["latency_us.p99"] = INFINITY, run.floor_us = 90;
  });
  const std::vector<FigurePoint>& points = figure.series.at(0).points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].y, 100);
  EXPECT_FALSE(points[0].clock_bound_unknown);
  EXPECT_EQ(points[0].near_floor_us, 0);
  EXPECT_TRUE(points[0].few_samples) << "of all that gave one";
  EXPECT_EQ(points[0].folders.size(), 3);
  EXPECT_TRUE(std::isnan(points[1].y));
  EXPECT_FALSE(points[1].clock_bound_unknown);
  EXPECT_EQ(points[1].why, no_such_figure);
}

/// A run that was never made, as its folder tells it, under the identity of one of the plan.
CaseRunResult told_by_folder(const QString& path, const CasePlan& plan, const ScheduledRun& as, double p50_us, double floor_us, int count) {
  make_run(path, {.p50_us = p50_us});
  change_summary(path, [&](nlohmann::json& summary) {
    summary["environment"]["floor"] = {{"senders", {{"loopback_echo_p50_ns", floor_us * 500}}},
                                       {"receivers", {{"loopback_echo_p50_ns", floor_us * 1000}}}};
    summary["latency_us"]["count"] = count;
    summary["stages"]["in_queue_us"] = {{"count", 20}, {"p50", 1}, {"p99", 2}};
  });
  QString problem;
  auto run = read_case_run(path, plan, problem);
  EXPECT_TRUE(run) << problem.toStdString();
  run->sha256 = as.sha256;
  run->counts = true;
  return *run;
}

TEST(case_figures, a_latency_below_twice_the_floor_of_its_runs_is_told_to_be) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2, 5", R"(repeats: 2
figures:
  - { id: a, title: Latency, x: services, y: latency_us.p50 }
  - { id: b, title: Slow ones, x: services, y: latency_us.p99 }
  - { id: c, title: In queue, x: services, y: stages.in_queue_us.p50 }
  - { id: d, title: Deliveries, x: services, y: latency_us.count }
  - { id: e, title: Slow in queue, x: services, y: stages.in_queue_us.p99 }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  int number = 0;
  std::map<int, int> repeats;
  while (const auto run = schedule.next(results)) {
    const int services = run->settings.senders.amount, repeat = repeats[services]++;
    // Of one service the floor of one repeat alone is near, of two it is not by a hair, of five both are.
    const double p50_us = services == 5 ? 31 : 50, floor_us = services == 1 ? 20 + 10 * repeat : services == 2 ? 25 : 40;
    results.add(told_by_folder(folder.filePath(QString::number(number++)), plan, *run, p50_us, floor_us, services == 5 ? 900 : 1000));
  }
  const auto figure = [&](std::size_t which) { return case_figure(plan, schedule, results, which); };
  const auto page = [&](std::size_t which) { return figure_page(figure(which)).toStdString(); };
  EXPECT_NE(page(0).find("50.0 (floor 30.0)"), std::string::npos) << page(0);
  EXPECT_NE(page(0).find("50.0\n"), std::string::npos) << page(0);
  EXPECT_NE(page(0).find("31.0 (floor 40.0)"), std::string::npos) << page(0);
  EXPECT_NE(page(0).find("In brackets: below twice the floor of its runs, an echo over loopback (30.0 to 40.0 µs): it says more about the "
                         "machine than about the queue.\n"),
            std::string::npos)
      << page(0);
  EXPECT_NE(page(1).find("155 (few samples)"), std::string::npos) << page(1);
  EXPECT_NE(page(1).find("In brackets: fewer than 10 samples above that percentile.\n"), std::string::npos) << page(1);
  EXPECT_NE(page(4).find("2.00 (few samples)"), std::string::npos) << "by its own count: " << page(4);
  for (const std::size_t other : {2, 3}) {
    EXPECT_EQ(page(other).find('('), page(other).find("(µs)")) << "a stage and a count have no floor: " << page(other);
    EXPECT_EQ(page(other).find("In brackets"), std::string::npos) << page(other);
  }
  const auto points = figure_json(figure(0)).at("series").at(0).at("points");
  EXPECT_EQ(points.at(0).at("near_floor_us"), 30) << points.dump();
  EXPECT_TRUE(points.at(1).at("near_floor_us").is_null()) << points.dump();
  EXPECT_EQ(points.at(0).at("few_samples"), false);
  EXPECT_EQ(figure_json(figure(1)).at("series").at(0).at("points").at(2).at("few_samples"), true);
  EXPECT_TRUE(grey_words(figure(0)).startsWith("Grey: below twice the floor of its runs, ")) << grey_words(figure(0)).toStdString();
  EXPECT_EQ(grey_words(figure(1)), "Grey: fewer than 10 samples above that percentile.");
  EXPECT_EQ(grey_words(figure(3)), "");
}

TEST(case_figures, a_curve_of_percentiles_is_grey_below_twice_the_floor_of_its_run) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", R"(figures:
  - { id: a, title: By percentile, kind: percentiles, series: services }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  while (const auto run = schedule.next(results)) {
    const QString path = folder.filePath(QString::number(run->settings.senders.amount));
    results.add(told_by_folder(path, plan, *run, 50, run->settings.senders.amount == 1 ? 30 : 10, 1000));
    QFile file(path + "/latency.hgrm");
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("Value Percentile TotalCount 1/(1-Percentile)\n\n50 0.5 500 2\n61 0.9 900 10\n70 0.99 990 100\n");
  }
  const Figure figure = case_figure(plan, schedule, results, 0);
  ASSERT_EQ(figure.series.size(), 2U);
  std::map<QString, std::vector<double>> floors;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) floors[series.name].push_back(point.near_floor_us);
  }
  EXPECT_EQ(floors["1"], (std::vector<double>{30, 0, 0})) << "61 is more than twice 30";
  EXPECT_EQ(floors["2"], (std::vector<double>{0, 0, 0}));
  EXPECT_NE(figure_page(figure).toStdString().find("50.0 (floor 30.0)"), std::string::npos) << figure_page(figure).toStdString();
}

TEST(case_figures, a_curve_of_percentiles_has_the_bound_of_its_runs_latencies) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2, 5", R"(figures:
  - { id: a, title: By percentile, kind: percentiles, series: services }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  while (const auto run = schedule.next(results)) {
    const int services = run->settings.senders.amount;
    const QString path = folder.filePath(QString::number(services));
    make_run(path, {});
    change_summary(path, [services](nlohmann::json& summary) {
      if (services == 2) summary["latency_us"]["bound_us"] = 12.5;
      if (services == 5) summary["latency_us"]["bound_us"] = nullptr;
    });
    QFile file(path + "/latency.hgrm");
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("Value Percentile TotalCount 1/(1-Percentile)\n\n50 0.5 500 2\n61 0.9 900 10\n");
    file.close();
    QString problem;
    auto result = read_case_run(path, plan, problem);
    ASSERT_TRUE(result) << problem.toStdString();
    result->sha256 = run->sha256;
    result->counts = true;
    results.add(*result);
  }
  const Figure figure = case_figure(plan, schedule, results, 0);
  ASSERT_EQ(figure.series.size(), 3u);
  for (const FigureSeries& series : figure.series) {
    EXPECT_EQ(series.points.size(), 2u) << series.name.toStdString();
    for (const FigurePoint& point : series.points) {
      EXPECT_EQ(point.clock_bound, series.name == "2" ? 12.5 : 0) << series.name.toStdString();
      EXPECT_EQ(point.clock_bound_unknown, series.name == "5") << series.name.toStdString();
    }
  }
}

TEST(case_figures, a_curve_of_percentiles_is_that_of_a_repeat_with_a_latency) {
  const QTemporaryDir folder;
  const CasePlan plan = small_plan("1, 2", R"(repeats: 3
figures:
  - { id: a, title: By percentile, kind: percentiles, series: services }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  std::map<int, int> repeats;
  while (const auto run = schedule.next(results)) {
    const int services = run->settings.senders.amount, repeat = repeats[services]++;
    const double p50_us = repeat == 0 ? 300 : 100;
    const QString path = folder.filePath(QString("%1-%2").arg(services).arg(repeat));
    CaseRunResult result = told_by_folder(path, plan, *run, p50_us, 1, 100);
    if (services == 2 || repeat == 1) {
      result.values["latency_us.mean_lowest_95"] = std::nan("");  // nothing came
      result.marked = "broken: all is lost";
    } else {
      QFile file(path + "/latency.hgrm");
      ASSERT_TRUE(file.open(QIODevice::WriteOnly));
      file.write("Value Percentile TotalCount 1/(1-Percentile)\n\n");
      for (const char* row : {"0.5 50 2", "0.9 90 10", "0.95 95 20", "1 100"}) file.write(QByteArray::number(p50_us) + ' ' + row + '\n');
    }
    results.add(result);
  }
  const Figure figure = case_figure(plan, schedule, results, 0);
  ASSERT_EQ(figure.series.size(), 2u);
  const std::vector<FigurePoint>&some = figure.series[0].points, &none = figure.series[1].points;
  ASSERT_EQ(some.size(), 3u);
  EXPECT_EQ(some[0].y, 100) << "the lower of two";
  EXPECT_EQ(some[0].why, "broken: all is lost");
  EXPECT_FALSE(some[1].few_samples) << "ten of a hundred are above 90 %";
  EXPECT_TRUE(some[2].few_samples);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_TRUE(std::isnan(none[0].y));
  EXPECT_EQ(none[0].why, "broken: all is lost (and 2 more of 3 runs)");
  EXPECT_EQ(none[0].folders.size(), 3);
  EXPECT_NE(figure_page(figure).toStdString().find(none[0].why.toStdString()), std::string::npos) << figure_page(figure).toStdString();
  const auto json = figure_json(figure);
  EXPECT_EQ(json.at("x").at("unit"), "%");
  std::vector<double> percents;
  for (const auto& point : json.at("series").at(0).at("points")) percents.push_back(point.at("x"));
  ASSERT_EQ(percents.size(), 3u) << json.dump();
  EXPECT_DOUBLE_EQ(percents[0], 50);
  EXPECT_DOUBLE_EQ(percents[1], 90);
  EXPECT_DOUBLE_EQ(percents[2], 95);
}

}  // namespace
}  // namespace n2nq::app
