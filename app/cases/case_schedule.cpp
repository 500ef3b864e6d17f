// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_schedule.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace n2nq::app {

namespace {

constexpr int trials_max = 3;  // of one load

ScheduledRun scheduled(const CasePoint& point, const Settings& settings, int repeat, std::string sha256) {
  return {point.label, repeat, settings, std::move(sha256)};
}

}  // namespace

CaseSchedule::CaseSchedule(const CasePlan& plan) : plan_(plan) {
  const CaseRules& rules = plan.rules();
  if (!plan.seeks_knee()) planned_ = plan.runs(rules.interval_percent > 0 ? std::max(rules.repeats, rules.repeats_max) : rules.repeats);
  for (const CaseRun& run : planned_) planned_ids_[plan.points()[run.point].key][run.repeat] = run.sha256;
}

std::optional<ScheduledRun> CaseSchedule::next(const CaseResults& results) const {
  if (plan_.seeks_knee()) return next_load(results);
  std::optional<ScheduledRun> first;
  each_missing(results, [&](const CaseRun& run) {
    first = scheduled(plan_.points()[run.point], run.settings, run.repeat, run.sha256);
    return false;
  });
  return first;
}

void CaseSchedule::each_missing(const CaseResults& results, const std::function<bool(const CaseRun&)>& visit) const {
  std::map<std::size_t, bool> tight;  // each point is asked once
  for (const CaseRun& run : planned_) {
    if (results.find(run.sha256)) continue;
    if (run.repeat > plan_.rules().repeats) {
      const auto [known, is_new] = tight.try_emplace(run.point);
      if (is_new) known->second = is_tight(run.point, results);
      if (known->second) continue;
    }
    if (!visit(run)) return;
  }
}

/// Whether the interval of the point's first drawn figure is as narrow as asked.
bool CaseSchedule::is_tight(std::size_t point, const CaseResults& results) const {
  const auto& figures = plan_.file().figures;
  const auto drawn = std::find_if(figures.begin(), figures.end(), [](const CaseFigure& figure) { return !figure.y.empty(); });
  const std::string path = drawn == figures.end() ? paths_of(plan_).front() : drawn->y;
  std::vector<double> samples;
  for (const CaseRunResult* run : measured(plan_.points()[point], results).repeats) {
    if (const double value = run->values.at(path); !std::isnan(value)) samples.push_back(value);
  }
  if (samples.size() < repeats_for_interval) return false;
  const Spread interval = intervals_.of(samples);
  return (interval.high - interval.low) / 2 <= std::abs(trimmed_mean(samples)) * plan_.rules().interval_percent / 100;
}

MeasuredPoint CaseSchedule::measured(const CasePoint& point, const CaseResults& results) const {
  MeasuredPoint out{point};
  if (point.key.empty()) return out;
  const auto take = [&](const std::string& sha256, int number) {
    const CaseRunResult* run = results.find(sha256);
    if (run != nullptr) out.repeats.push_back(run), out.numbers.push_back(number);
  };
  if (const auto ids = planned_ids_.find(point.key); ids != planned_ids_.end()) {
    for (const auto& [repeat, sha256] : ids->second) take(sha256, repeat);
  }
  return out;
}

std::shared_ptr<const CaseSchedule::Load> CaseSchedule::load_of(const CasePoint& first, double load) const {
  std::pair<std::vector<std::string>, double> key({}, load);
  for (const CaseValue& value : first.values) key.first.push_back(value.name);
  {
    const std::lock_guard lock(loads_mutex_);
    if (const auto known = loads_.find(key); known != loads_.end()) return known->second;
  }
  auto made = std::make_shared<Load>();
  made->point = plan_.at_load(first, load, made->problem);
  for (int repeat = 1; repeat <= trials_max; ++repeat) made->ids.push_back(settings_sha256(settings_of_repeat(made->point.settings, repeat)));
  made->point.settings = {};
  const std::lock_guard lock(loads_mutex_);
  return loads_.try_emplace(key, std::move(made)).first->second;
}

MeasuredPoint CaseSchedule::measured(const Load& load, const CaseResults& results) const {
  MeasuredPoint out{load.point};
  // Settings that cannot be are not what was measured where they are the same but for that.
  for (std::size_t i = 0; i < load.ids.size() && load.problem.isEmpty(); ++i) {
    const CaseRunResult* run = results.find(load.ids[i]);
    if (run != nullptr) out.repeats.push_back(run), out.numbers.push_back(static_cast<int>(i) + 1);
  }
  return out;
}

MeasuredCurve CaseSchedule::curve(const CasePoint& first, const CaseResults& results) const {
  const CaseKnee& knee = *plan_.file().knee;
  const KneeSearch search(knee.from, knee.to, knee.within_percent);
  std::map<double, LoadTrials> tried;
  std::map<double, MeasuredPoint> points;
  std::map<double, QString> refused;
  MeasuredCurve out{.first = first, .knee = {}, .tried = {}};
  while (true) {
    out.knee = search.state(tried);
    if (!out.knee.next || points.contains(*out.knee.next)) break;
    const auto load = load_of(first, *out.knee.next);
    MeasuredPoint at = measured(*load, results);
    LoadTrials& trials = tried[*out.knee.next];
    for (const CaseRunResult* run : at.repeats) (run->keeps_up.value_or(false) ? trials.good : trials.bad)++;
    // No load beyond it can be tried.
    if (!load->problem.isEmpty()) trials.bad = 2, refused[*out.knee.next] = load->problem;
    points.insert_or_assign(*out.knee.next, std::move(at));
  }
  // That load was never run: it says nothing of the system.
  if (const auto at = refused.find(out.knee.high); at != refused.end()) out.knee.high = 0, out.knee.limit = at->second;
  for (auto& [load, point] : points) {
    if (!point.repeats.empty()) out.tried.push_back(std::move(point));
  }
  return out;
}

std::optional<ScheduledRun> CaseSchedule::next_load(const CaseResults& results) const {
  for (const std::size_t place : plan_.distinct_points()) {
    const CasePoint& first = plan_.points()[place];
    const MeasuredCurve at = curve(first, results);
    if (!at.knee.next) continue;
    QString problem;
    const CasePoint point = plan_.at_load(first, *at.knee.next, problem);
    // The first that is not there: one in between may be missing.
    for (int repeat = 1; repeat <= trials_max; ++repeat) {
      const Settings settings = settings_of_repeat(point.settings, repeat);
      const std::string sha256 = settings_sha256(settings);
      if (!results.find(sha256)) return scheduled(point, settings, repeat, sha256);
    }
  }
  return {};
}

int CaseSchedule::done(const CaseResults& results) const {
  if (plan_.seeks_knee()) {
    std::set<const CaseRunResult*> runs;  // curves that cross share the run of that load
    for (const MeasuredCurve& each : distinct_curves(results)) {
      for (const MeasuredPoint& point : each.tried) runs.insert(point.repeats.begin(), point.repeats.end());
    }
    return static_cast<int>(runs.size());
  }
  return static_cast<int>(std::count_if(planned_.begin(), planned_.end(), [&](const CaseRun& run) { return results.find(run.sha256) != nullptr; }));
}

int CaseSchedule::total(const CaseResults& results) const {
  if (plan_.seeks_knee()) {
    const CaseKnee& knee = *plan_.file().knee;
    const int expected = KneeSearch(knee.from, knee.to, knee.within_percent).runs_expected();
    int to_come = 0;
    for (const MeasuredCurve& each : distinct_curves(results)) {
      int tried = 0;
      for (const MeasuredPoint& point : each.tried) tried += static_cast<int>(point.repeats.size());
      if (each.knee.next) to_come += std::max(expected - tried, 1);
    }
    return done(results) + to_come;
  }
  int runs = done(results);
  each_missing(results, [&](const CaseRun&) { return ++runs, true; });
  return runs;
}

double CaseSchedule::seconds_left(const CaseResults& results) const {
  const double overhead_s = results.overhead_s(CasePlan::overhead_first_s);
  if (plan_.seeks_knee()) {
    const auto left = next_load(results);
    return left ? (total(results) - done(results)) * CasePlan::seconds_of(left->settings, overhead_s) : 0;
  }
  double seconds = 0;
  each_missing(results, [&](const CaseRun& run) { return seconds += CasePlan::seconds_of(run.settings, overhead_s), true; });
  return seconds;
}

std::vector<MeasuredPoint> CaseSchedule::points(const CaseResults& results) const {
  std::vector<MeasuredPoint> out;
  if (!plan_.seeks_knee()) {
    for (const CasePoint& point : plan_.points()) out.push_back(measured(point, results));
    return out;
  }
  // Curves that share their settings share what was tried.
  for (const CasePoint& first : plan_.points()) {
    const MeasuredCurve at = first.key.empty() ? MeasuredCurve() : curve(first, results);
    if (at.tried.empty()) out.push_back({first});
    out.insert(out.end(), at.tried.begin(), at.tried.end());
  }
  return out;
}

std::vector<MeasuredCurve> CaseSchedule::curves(const CaseResults& results) const {
  std::vector<MeasuredCurve> out;
  for (const CasePoint& first : plan_.points()) {
    if (first.not_run.isEmpty()) out.push_back(curve(first, results));
  }
  return out;
}

std::vector<MeasuredCurve> CaseSchedule::distinct_curves(const CaseResults& results) const {
  std::vector<MeasuredCurve> out;
  for (const std::size_t place : plan_.distinct_points()) out.push_back(curve(plan_.points()[place], results));
  return out;
}

}  // namespace n2nq::app
