// SPDX-License-Identifier: GPL-3.0-or-later
// What is made of finished runs: which of them are marked and why, and when a stop rule has enough of them.
#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <cmath>

#include "app/cases/case_figures.h"
#include "app/cases/case_folder.h"
#include "app/cases/case_schedule.h"
#include "app/cli/case_table.h"
#include "app/figure/figure_doubts.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

/// Of a small case with these amounts of services; `rest` is what stands behind the axis.
CasePlan plan_of(const std::string& services, const std::string& rest, Scale scale = Scale::thesis) {
  const ReadCase read = read_case_text(R"(format: 1
title: Small
settings: { senders: { messages: 4, delay_ms: 1 } }
axes:
  services: { title: Services, keys: [senders.amount, receivers.amount], values: [)" +
                                           services + "] }\n" + rest,
                                       "small.yaml");
  EXPECT_TRUE(read.file) << (read.errors.empty() ? "" : read.errors.front().text());
  QStringList errors;
  return *CasePlan::make(*read.file, {.scale = scale}, errors);
}

const char* const until_tight = R"(repeats: 3
stop: { interval_percent: 5, repeats_max: 8 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)";

CaseRunResult finished(const ScheduledRun& run, double p50_us) {
  CaseRunResult out;
  out.sha256 = run.sha256;
  out.verdict = "clean";
  out.values = {{"latency_us.p50", p50_us}, {"latency_us.mean_lowest_95", p50_us}};
  out.counts = true;
  return out;
}

TEST(case_schedule, repeats_until_the_interval_is_as_tight_as_asked) {
  const CasePlan plan = plan_of("1, 2", until_tight);
  const CaseSchedule schedule(plan);
  CaseResults results;
  std::map<int, int> repeats;
  // One service: hardly any spread. Two: far more than 5 %.
  while (const auto run = schedule.next(results)) {
    const int services = run->settings.senders.amount, repeat = ++repeats[services];
    ASSERT_LE(repeat, 8);
    results.add(finished(*run, services == 1 ? 100 + 0.1 * repeat : 100 + 40 * (repeat % 3)));
  }
  EXPECT_EQ(repeats[1], 3) << "tight at once";
  EXPECT_EQ(repeats[2], 8) << "never tight: the most that are allowed";
  EXPECT_EQ(schedule.done(results), 11);
  EXPECT_EQ(schedule.total(results), 11);
}

TEST(case_schedule, makes_an_interval_anew_only_of_other_repeats) {
  const CasePlan plan = plan_of("1, 2", until_tight);
  const CaseSchedule schedule(plan);
  CaseResults results;
  std::optional<ScheduledRun> last;
  while (const auto run = schedule.next(results)) {
    last = run;
    results.add(finished(*run, 100 * run->settings.senders.amount + 0.1 * run->repeat));
  }
  const auto ask = [&] {
    case_figure(plan, schedule, results, 0);
    return std::pair(schedule.total(results), schedule.seconds_left(results) > 0);
  };
  EXPECT_EQ(ask(), std::pair(6, false)) << "both are tight";
  EXPECT_EQ(schedule.intervals().made(), 2u);
  results.add(finished(*last, 5000));  // run again
  EXPECT_TRUE(schedule.next(results));
  EXPECT_EQ(ask(), std::pair(11, true)) << "no longer";
  EXPECT_EQ(schedule.intervals().made(), 3u);
  results.add(finished(*last, 100 * last->settings.senders.amount + 0.1 * last->repeat));
  EXPECT_EQ(ask(), std::pair(6, false));
  EXPECT_EQ(schedule.intervals().made(), 3u) << "known from before";
}

TEST(case_schedule, what_settings_do_not_allow_is_no_knee) {
  const CasePlan plan = plan_of("10, 40", R"(knee: { axis: services, from: 10, to: 10000 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  const CaseSchedule schedule(plan);
  CaseResults results;
  while (const auto run = schedule.next(results)) {
    ASSERT_LT(results.count(), 50);
    CaseRunResult result = finished(*run, 100);
    result.keeps_up = true;
    results.add(result);
  }
  const auto curves = schedule.curves(results);
  ASSERT_EQ(curves.size(), 1u);
  const QString words =
      "keeps up to 2000 services, the highest tried that settings allow (senders.amount must be a whole number from 1 to 2000, not \"2040\")";
  EXPECT_EQ(curves[0].knee.low, 2000);
  EXPECT_EQ(curves[0].knee.high, 0) << "a load that was never run is no upper end";
  EXPECT_EQ(curves[0].knee.words("services"), words);
  const Figure figure = case_figure(plan, schedule, results, 0);
  ASSERT_EQ(figure.references.size(), 1u);
  EXPECT_TRUE(figure.references[0].text.endsWith(words)) << figure.references[0].text.toStdString();
  EXPECT_FALSE(figure.references[0].x);
}

TEST(case_schedule, looks_for_the_knee_on_where_the_first_run_of_a_load_is_missing) {
  const CasePlan plan = plan_of("10, 40", R"(knee: { axis: services, from: 10, to: 40 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  const CaseSchedule schedule(plan);
  std::vector<CaseRunResult> results;
  const auto all_but = [&](std::size_t left_out) {
    CaseResults out;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i != left_out) out.add(results[i]);
    }
    return out;
  };
  // Nothing keeps up: two bad runs of the first load are enough.
  while (const auto run = schedule.next(all_but(results.size()))) {
    ASSERT_LT(results.size(), 2u);
    results.push_back(finished(*run, 100));
    results.back().keeps_up = false;
  }
  ASSERT_EQ(results.size(), 2u);
  for (const std::size_t missing : {0u, 1u}) {
    CaseResults left = all_but(missing);
    const auto next = schedule.next(left);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->sha256, results[missing].sha256);
    EXPECT_EQ(next->repeat, static_cast<int>(missing) + 1);
    left.add(results[missing]);
    EXPECT_FALSE(schedule.next(left));
  }
}

TEST(case_figures, what_clocks_leave_open_is_rounded_up_and_an_interval_is_not) {
  Figure figure;
  figure.x = {.title = "Place", .names = {"both external"}};
  figure.y = {.title = "Latency", .unit = QString::fromUtf8("µs")};
  figure.series = {{.points = {{.x = 0, .y = 256.4, .low = 252.386, .high = 260.41, .clock_bound = 201.7}}}};
  const std::string page = figure_page(figure).toStdString();
  EXPECT_NE(page.find("256 ±4.01 (clocks ±203)"), std::string::npos) << "with what 256 leaves out: " << page;
}

TEST(case_figures, between_hosts_what_their_clocks_leave_open_stands_beside_each_value) {
  const CasePlan plan = plan_of("1, 2", until_tight);
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

TEST(case_figures, tell_which_runs_had_another_machine_of_the_same_name) {
  const CasePlan plan = plan_of("1, 2", until_tight);
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

TEST(case_results, each_host_has_its_machine_by_the_name_in_the_settings) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", until_tight);
  const QString path = folder.filePath("run");
  make_run(path, {});
  change_summary(path, [](nlohmann::json& summary) {
    const auto host = [](int cores) { return nlohmann::json{{"cores", cores}, {"cpu", "Fast"}, {"kernel", "6.1"}, {"load_1min", 0}}; };
    summary["settings"]["broker"]["host"] = "n2nq-vm";
    summary["settings"]["senders"]["host"] = "senders-vm";
    summary["settings"]["receivers"]["host"] = "receivers-vm";
    summary["environment"]["hosts"] = {{"broker", host(2)}, {"senders", host(8)}, {"receivers", "unknown"}};
  });
  QString problem;
  const auto run = read_case_run(path, plan, problem);
  ASSERT_TRUE(run) << problem.toStdString();
  EXPECT_EQ(run->machine, "2 cores, Fast, kernel 6.1");
  const std::map<QString, QString> machines = {
      {"n2nq-vm", "2 cores, Fast, kernel 6.1"}, {"senders-vm", "8 cores, Fast, kernel 6.1"}, {"receivers-vm", ""}};
  EXPECT_EQ(run->machines, machines);
}

TEST(case_results, each_value_has_the_bound_of_its_own_clocks) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", R"(figures:
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

TEST(case_figures, a_point_has_the_largest_bound_of_its_runs_beside_those_that_nobody_knows) {
  const CasePlan plan = plan_of("1, 2", R"(repeats: 3
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  std::map<int, int> repeats;
  while (const auto run = schedule.next(results)) {
    CaseRunResult result = finished(*run, 100);
    // Of two services one run is of one clock, one of clocks that nobody knows, one of known ones; of one service all are of one clock.
    const int services = run->settings.senders.amount, repeat = repeats[services]++;
    if (services == 2 && repeat > 0) result.clock_limits_us["latency_us.p50"] = repeat == 1 ? INFINITY : 30;
    results.add(result);
  }
  const Figure figure = case_figure(plan, schedule, results, 0);
  const std::vector<FigurePoint>& points = figure.series.at(0).points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].clock_bound, 0);
  EXPECT_FALSE(points[0].clock_bound_unknown);
  EXPECT_EQ(points[1].clock_bound, 30);
  EXPECT_TRUE(points[1].clock_bound_unknown);
}

TEST(case_figures, a_repeat_without_a_value_says_nothing_about_the_others) {
  const CasePlan plan = plan_of("1, 2", R"(repeats: 3
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p99 }
)");
  const CaseSchedule schedule(plan);
  CaseResults results;
  std::map<int, int> repeats;
  while (const auto run = schedule.next(results)) {
    CaseRunResult result = finished(*run, 100);
    result.folder = QString::number(results.count());
    // Of one service the last repeat gave nothing, of two none gave anything.
    const int services = run->settings.senders.amount, repeat = repeats[services]++;
    const bool is_empty = services == 2 || repeat == 2;
    result.values["latency_us.p99"] = is_empty ? std::nan("") : 100;
    result.few_samples = {"latency_us.p99"};
    if (is_empty) {
      result.clock_limits_us["latency_us.p99"] = INFINITY;
      result.floor_us = 90;
      result.few_samples.clear();
    }
    results.add(result);
  }
  const Figure figure = case_figure(plan, schedule, results, 0);
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

TEST(case_results, a_latency_below_twice_the_floor_of_its_runs_is_told_to_be) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2, 5", R"(repeats: 2
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

TEST(case_results, a_curve_of_percentiles_is_grey_below_twice_the_floor_of_its_run) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", R"(figures:
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

TEST(case_results, a_curve_of_percentiles_has_the_bound_of_its_runs_latencies) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2, 5", R"(figures:
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

TEST(case_results, a_curve_of_percentiles_is_that_of_a_repeat_with_a_latency) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", R"(repeats: 3
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

/// 2,000 messages, one each millisecond, and ever fewer lines of what came.
TEST(case_results, lines_that_the_logs_dropped_are_no_copies_in_flight) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("10, 40", R"(knee: { axis: services, from: 10, to: 40, p99_max_us: 100000 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  constexpr std::int64_t ms = 1'000'000;
  constexpr int messages = 2000;
  std::vector<measure::SentLine> sent;
  std::vector<measure::ReceivedLine> received;
  for (int i = 0; i < messages; ++i) {
    const std::int64_t due_ns = 1'000'000 * ms + i * ms;
    sent.push_back({.index = i, .size = 50, .intended_ns = due_ns, .sent_ns = due_ns, .lag_ns = 0, .delay_ns = {}});
    if (i * 7919 % messages < i * 3 / 4) continue;
    received.push_back({.index = i, .sender = 1, .intended_ns = due_ns, .sent_ns = due_ns, .received_ns = due_ns + ms, .latency_ns = ms});
  }
  const auto came = static_cast<int>(received.size());
  const QString path = folder.filePath("run");
  make_run(path, {});
  make_log(path + "/senders/S001.log", measure::sent_columns, sent);
  make_log(path + "/receivers/R001.log", measure::received_columns, received);
  const auto judged = [&](const char* mode, int dropped, int received_in_all) {
    change_summary(path, [&](nlohmann::json& summary) {
      summary["settings"]["senders"]["delay_ms"] = 1;
      summary["plan"] = {{"kept", true}, {"attempted_messages", messages}};
      summary["rates"]["over_s"] = 2;
      summary["latency_from_plan_us"]["p99"] = 1000;
      summary["logs"] = {{"mode", mode}, {"senders", {{"dropped", 0}}}, {"receivers", {{"dropped", dropped}}}};
      summary["services"] = {{"senders", {{{"number", 1}, {"attempted", messages}}}},
                             {"receivers", {{{"number", 1}, {"received", received_in_all}}}}};
    });
    QString problem;
    const auto run = read_case_run(path, plan, problem);
    EXPECT_TRUE(run) << problem.toStdString();
    return *run;
  };
  const CaseRunResult lost = judged("all", 0, came);
  EXPECT_EQ(lost.keeps_up, false) << "what is missing did not come";
  EXPECT_EQ(lost.load_why, "copies in flight rise");
  const CaseRunResult dropped = judged("all", messages - came, messages);
  EXPECT_EQ(dropped.keeps_up, true) << dropped.load_why.toStdString();
  const CaseRunResult elsewhere = judged("all", 0, messages);
  EXPECT_EQ(elsewhere.keeps_up, true) << "lines are missing for another reason: " << elsewhere.load_why.toStdString();
  const CaseRunResult sampled = judged("sampled", 0, 2 * messages);
  EXPECT_EQ(sampled.load_why, "copies in flight rise") << "of the same messages at both ends";
  const CaseRunResult without = judged("off", 0, messages);
  EXPECT_EQ(without.keeps_up, true) << without.load_why.toStdString();
  EXPECT_TRUE(without.load_remark.startsWith("told by its summary alone: ")) << without.load_remark.toStdString();
}

TEST(case_results, a_floor_that_moved_marks_the_run) {
  CaseResults results;
  for (int i = 0; i < 7; ++i) {
    CaseRunResult run;
    run.sha256 = std::to_string(i);
    run.echoes_ns["local"] = i == 5 ? 25'000 : 10'000 + i * 100;
    run.counts = true;
    results.add(run);
  }
  EXPECT_EQ(results.why(*results.find("1")), "");
  EXPECT_TRUE(results.why(*results.find("5")).startsWith("floor moved: an echo over loopback took 25.0 µs before this run, 10.3 µs"))
      << results.why(*results.find("5")).toStdString();
  EXPECT_EQ(results.marked(), 1);
}

TEST(case_results, a_floor_is_held_against_that_of_the_same_host) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", until_tight);
  CaseResults results;
  const auto add = [&](int number, const char* senders_host, double senders_us, double receivers_us) {
    const QString path = folder.filePath(QString::number(number));
    make_run(path, {});
    change_summary(path, [&](nlohmann::json& summary) {
      summary["settings"]["senders"]["host"] = senders_host;
      summary["settings"]["receivers"]["host"] = "receivers-vm";
      summary["environment"]["floor"] = {{"senders", {{"loopback_echo_p50_ns", senders_us * 1000}}},
                                         {"receivers", {{"loopback_echo_p50_ns", receivers_us * 1000}}}};
    });
    QString problem;
    auto run = read_case_run(path, plan, problem);
    ASSERT_TRUE(run) << problem.toStdString();
    run->sha256 = std::to_string(number);
    run->counts = true;
    results.add(*run);
  };
  // More than half of the runs have senders on the faster machine.
  for (int i = 0; i < 5; ++i) add(i, "fast-vm", 20, 30);
  for (int i = 5; i < 8; ++i) add(i, "slow-vm", 45, 30);
  EXPECT_EQ(results.marked(), 0);
  add(2, "fast-vm", 20, 75);
  EXPECT_EQ(results.marked(), 1);
  EXPECT_EQ(results.why(*results.find("2")),
            QString::fromUtf8("floor moved: an echo over loopback of receivers-vm took 75.0 µs before this run, 30.0 µs before the others"));
  add(2, "fast-vm", 20, 30);
  EXPECT_EQ(results.marked(), 0) << "made again";
  add(8, "new-vm", 20, 30), add(9, "new-vm", 60, 30);
  EXPECT_EQ(results.marked(), 0) << "two runs have no usual one";
}

TEST(case_results, of_groups_on_one_host_the_longer_echo_counts) {
  const QTemporaryDir folder;
  make_run(folder.path(), {});
  change_summary(folder.path(), [](nlohmann::json& summary) {
    for (const char* group : {"senders", "receivers"}) summary["settings"][group]["host"] = "lab-1";
    summary["environment"]["floor"]["senders"]["loopback_echo_p50_ns"] = 30'000;
  });
  QString problem;
  const auto run = read_case_run(folder.path(), plan_of("1, 2", until_tight), problem);
  ASSERT_TRUE(run) << problem.toStdString();
  EXPECT_EQ(run->echoes_ns, (std::map<QString, double>{{"lab-1", 30'000}}));
}

TEST(case_results, senders_that_died_without_an_account_did_not_keep_up) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("10, 40", R"(knee: { axis: services, from: 10, to: 40, p99_max_us: 100000 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  make_run(folder.path(), {.verdict = "broken"});
  const auto judged = [&](const nlohmann::json& kept, const nlohmann::json& over_s) {
    change_summary(folder.path(), [&](nlohmann::json& summary) {
      summary["settings"]["senders"]["delay_ms"] = 1;
      summary["reasons"] = {"Senders died: signal 9 (Killed)", "plan not kept: 3000 of 10000 messages sent"};
      summary["plan"] = {{"kept", kept}, {"attempted_messages", 3000}, {"offered_messages", 10000}};
      summary["rates"]["over_s"] = over_s;
      summary["latency_from_plan_us"]["p99"] = 1000;
    });
    QString problem;
    const auto run = read_case_run(folder.path(), plan, problem);
    EXPECT_TRUE(run) << problem.toStdString();
    return run ? *run : CaseRunResult();
  };
  const CaseRunResult died = judged(nullptr, nullptr);
  EXPECT_EQ(died.keeps_up, false);
  EXPECT_EQ(died.load_why, "the plan was not kept");
  EXPECT_EQ(judged(false, nullptr).keeps_up, false);
  EXPECT_EQ(judged(true, 10).keeps_up, true) << "what broke the run was another thing";
  EXPECT_EQ(judged(nullptr, 10).keeps_up, true) << "with their account: somebody stopped them, and the other signs have to do";
}

TEST(case_results, of_more_than_9999_runs_the_later_ones_count_too) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", until_tight);
  for (const auto& [name, p50_us] : {std::pair{"2000-1-r1", 100.0}, {"9999-1-r1", 150.0}, {"10012-1-r1", 200.0}}) {
    const QString path = folder.filePath(QString("runs/") + name);
    make_run(path, {.p50_us = p50_us});
    change_summary(path, [](nlohmann::json& summary) { summary["plan"]["attempted_messages"] = 4; });
  }
  const CaseResults results = CaseFolder::read_results(folder.path(), plan);
  ASSERT_EQ(results.count(), 1);
  EXPECT_EQ(results.all().front()->values.at("latency_us.p50"), 200);
}

TEST(case_results, a_busy_host_marks_the_run) {
  const QTemporaryDir folder;
  const CasePlan plan = plan_of("1, 2", until_tight);
  for (const auto& [load, why] : {std::pair{1.5, ""}, {9.0, "host busy before the run: a load above 2 for each core"}}) {
    const QString path = folder.filePath(QString::number(load));
    make_run(path, {});
    change_summary(path, [&of_host = load](nlohmann::json& summary) {
      summary["environment"]["hosts"]["broker"] = {{"cores", 2}, {"load_1min", of_host}};
    });
    QString problem;
    const auto run = read_case_run(path, plan, problem);
    ASSERT_TRUE(run) << problem.toStdString();
    EXPECT_EQ(run->marked, why) << load;
  }
}

}  // namespace
}  // namespace n2nq::app
