// SPDX-License-Identifier: GPL-3.0-or-later
// Which run comes next, and when a stop rule has enough of them.
#include "app/cases/case_schedule.h"

#include <functional>

#include "app/cases/case_figures.h"
#include "tests/app/cases/small_case.h"

namespace n2nq::app {
namespace {

TEST(case_schedule, repeats_until_the_interval_is_as_tight_as_asked) {
  const CasePlan plan = small_plan("1, 2", until_tight);
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

TEST(case_schedule, a_repeat_keeps_its_number_where_others_are_not_there) {
  const CasePlan plan = small_plan("1", until_tight);
  const CaseSchedule schedule(plan);
  CaseResults results, only_the_second;
  for (int made = 0; made < 3; ++made) {
    const auto run = schedule.next(results);
    ASSERT_TRUE(run);
    results.add(finished(*run, 100));
    if (run->repeat == 2) only_the_second.add(finished(*run, 100));
  }
  EXPECT_EQ(schedule.points(results).front().numbers, std::vector<int>({1, 2, 3}));
  EXPECT_EQ(schedule.points(only_the_second).front().numbers, std::vector<int>({2}));
}

TEST(case_schedule, makes_an_interval_anew_only_of_other_repeats) {
  const CasePlan plan = small_plan("1, 2", until_tight);
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

/// Makes all runs that a search for the knee asks for; `keeps_up` says which loads are not too much.
CaseResults searched(const CaseSchedule& schedule, const std::function<bool(const Settings&)>& keeps_up,
                     const std::function<double(const Settings&)>& p50_us = [](const Settings&) { return 100.; }) {
  CaseResults results;
  while (const auto run = schedule.next(results)) {
    if (results.count() == 50) return ADD_FAILURE() << "it does not end", results;
    CaseRunResult result = finished(*run, p50_us(run->settings));
    result.keeps_up = keeps_up(run->settings);
    results.add(result);
  }
  return results;
}

TEST(case_schedule, what_settings_do_not_allow_is_no_knee) {
  const CasePlan plan = small_plan("10, 40", R"(knee: { axis: services, from: 10, to: 10000 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)",
                                Scale::stress);
  const CaseSchedule schedule(plan);
  const CaseResults results = searched(schedule, [](const Settings&) { return true; });
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
  const CasePlan plan = small_plan("10, 40", R"(knee: { axis: services, from: 10, to: 40 }
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

/// At a load of 1 all three sets are one sender and one receiver.
const char* const crossing = R"(  set:
    title: Set
    values:
      - { name: both }
      - { name: senders, set: { receivers.amount: 1 } }
      - { name: receivers, set: { senders.amount: 1 } }
      - { name: both again, set: { log: all } }
knee: { axis: services, from: 1, to: 16 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50, series: set }
)";

TEST(case_schedule, curves_that_are_the_same_at_one_load_alone_are_looked_at_each) {
  const CasePlan plan = small_plan("1, 16", crossing, Scale::stress);
  const CaseSchedule schedule(plan);
  EXPECT_EQ(plan.distinct_points(), std::vector<std::size_t>({0, 1, 2}));
  const CaseResults results = searched(schedule, [](const Settings& settings) { return settings.senders.amount + settings.receivers.amount <= 8; });
  const auto curves = schedule.curves(results);
  ASSERT_EQ(curves.size(), 4u);
  EXPECT_EQ(curves[0].first.curve, "both");
  EXPECT_EQ(curves[0].knee.low, 4);
  EXPECT_EQ(curves[1].knee.low, 7);
  EXPECT_EQ(curves[2].knee.low, 7);
  EXPECT_EQ(curves[3].knee.low, 4) << "it shares what was tried";
  EXPECT_EQ(schedule.done(results), results.count()) << "the run at 1 counts once";
  EXPECT_EQ(schedule.total(results), results.count());
  const Figure figure = case_figure(plan, schedule, results, 0);
  ASSERT_EQ(figure.references.size(), 4u) << "each has its knee";
  EXPECT_EQ(figure.references[1].text, "senders: knee between 7 and 8 services");
}

TEST(case_schedule, curves_are_told_apart_also_where_settings_do_not_allow_the_last_load) {
  QStringList errors;
  const CasePlan plan = small_plan("1, 16", QString(crossing).replace("to: 16", "to: 3000").toStdString(), Scale::stress);
  EXPECT_EQ(plan.distinct_points(), std::vector<std::size_t>({0, 1, 2}));
}

TEST(case_schedule, at_stress_a_figure_that_holds_the_load_has_a_curve_for_each_that_was_tried) {
  const CasePlan plan = small_plan("10, 40", R"(  size: { title: Size, key: senders.size_bytes, unit: kB, divide: 1000, values: [1000, 2000] }
knee: { axis: services, from: 10, to: 20 }
figures:
  - { id: fig-1, title: At 10 services, x: size, y: latency_us.p50, where: { services: 10 } }
)",
                                   Scale::stress);
  const CaseSchedule schedule(plan);
  const CaseResults results = searched(schedule, [](const Settings&) { return true; },
                                       [](const Settings& settings) -> double { return settings.senders.amount; });
  const Figure figure = case_figure(plan, schedule, results, 0);
  ASSERT_EQ(figure.series.size(), 2u);
  EXPECT_EQ(figure.series[0].name, "services 10");
  EXPECT_EQ(figure.series[1].name, "services 20");
  for (const FigureSeries& series : figure.series) ASSERT_EQ(series.points.size(), 2u) << series.name.toStdString();
  EXPECT_EQ(figure.series[1].points[0].y, 20);
  ASSERT_FALSE(figure.remarks.empty());
  EXPECT_TRUE(figure.remarks[0].startsWith("Scale stress: each load")) << figure.remarks[0].toStdString();
}

TEST(case_schedule, a_knee_is_told_as_its_axis_counts) {
  const KneeSearch::State between{.next = {}, .low = 4000, .high = 4100};
  EXPECT_EQ(between.words("kB", 1000), "knee between 4 and 4.1 kB");
}

}  // namespace
}  // namespace n2nq::app
