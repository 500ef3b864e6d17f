// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_figures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/control/live_figures.h"
#include "app/figure/figure_doubts.h"
#include "app/figure/number_text.h"
#include "app/results/run_figures.h"
#include "app/results/statistics.h"
#include "app/results/stored_run.h"
#include "app/results/unusual_settings.h"
#include "app/settings/qt_text.h"
#include "app/settings/settings_json.h"

namespace n2nq::app {

namespace {

constexpr double percentile_end = 10'000;  // 99.99 %
constexpr double middle_percentile = 2;    // 50 %

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool sets(const CaseAxis& axis, Scale scale, std::string_view key) {
  const auto is_it = [key](const CaseSetting& setting) { return setting.key == key; };
  return std::any_of(axis.at(scale).begin(), axis.at(scale).end(),
                     [&](const CaseValue& value) { return std::any_of(value.settings.begin(), value.settings.end(), is_it); });
}

class CaseDrawing {
 public:
  CaseDrawing(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results, const CaseFigure& asked)
      : plan_(plan), schedule_(schedule), results_(results), asked_(asked), points_(schedule.points(results)) {
    points_.erase(std::remove_if(points_.begin(), points_.end(), [this](const MeasuredPoint& point) { return !is_shown(point.point); }),
                  points_.end());
  }

  Figure figure() {
    out_.id = qt_text(asked_.id);
    out_.title = qt_text(asked_.title);
    for (const MeasuredPoint& point : points_) {
      const QString name = series_of(point.point);
      if (!series_.contains(name)) names_ += name;
      series_[name].push_back(&point);
    }
    name_legend();
    asked_.kind == CaseFigure::Kind::lines ? add_lines() : add_percentiles();
    for (const CaseKnown& known : asked_.known) {
      out_.references.push_back({.text = qt_text(known.text), .x = known.x, .y = known.y, .series = qt_text(known.series)});
    }
    if (plan_.seeks_knee()) add_knees();
    add_remarks();
    return std::move(out_);
  }

 private:
  std::size_t axis_place(const std::string& id) const {
    const auto& axes = plan_.file().axes;
    return static_cast<std::size_t>(std::find_if(axes.begin(), axes.end(), [&](const CaseAxis& axis) { return axis.id == id; }) -
                                    axes.begin());
  }
  /// It asks for one load, or for none: those that were tried are others, and more.
  bool has_curve_for_each_load() const {
    return plan_.seeks_knee() && !is_load(asked_.x) && std::none_of(asked_.series.begin(), asked_.series.end(), [this](const auto& id) { return is_load(id); });
  }
  bool is_load(const std::string& id) const { return plan_.seeks_knee() && plan_.file().knee->axis == id; }

  bool is_shown(const CasePoint& point) const {
    return std::all_of(asked_.where.begin(), asked_.where.end(), [&](const auto& held) {
      // Which loads there are is not the file's to say there.
      if (is_load(held.first)) return true;
      const std::string& name = point.values[axis_place(held.first)].name;
      return std::find(held.second.begin(), held.second.end(), name) != held.second.end();
    });
  }

  /// "1", "10", "50" alone tell a reader nothing.
  void name_legend() {
    if (asked_.series.size() != 1 || names_.isEmpty()) return;
    const CaseAxis& axis = plan_.file().axes[axis_place(asked_.series.front())];
    const bool bare = std::all_of(names_.begin(), names_.end(), [](const QString& name) {
      bool is_number = false;
      name.toDouble(&is_number);
      return is_number;
    });
    if (bare) out_.legend = qt_text(axis.title);
  }

  QString series_of(const CasePoint& point) const {
    QStringList names;
    for (const std::string& axis : asked_.series) names += qt_text(point.values[axis_place(axis)].name);
    if (has_curve_for_each_load()) {
      const CaseAxis& load = plan_.file().axes[axis_place(plan_.file().knee->axis)];
      const QString name = qt_text(point.values[axis_place(load.id)].name);
      names += load.unit.empty() ? qt_text(load.counted()) + ' ' + name : name;
    }
    return names.join(", ");
  }

  FigureSeries& add_series(const QString& name) {
    FigureSeries& series = out_.series.emplace_back();
    series.name = name;
    const auto& points = series_[name];
    const bool none = std::all_of(points.begin(), points.end(), [](const MeasuredPoint* point) { return !point->point.not_run.isEmpty(); });
    if (none) series.not_run = points.front()->point.not_run;
    return series;
  }

  void add_lines() {
    const std::size_t place = axis_place(asked_.x);
    const CaseAxis& axis = plan_.file().axes[place];
    const bool numbers = is_load(axis.id) || axis.has_numbers(plan_.choice().scale);
    out_.x = {.title = qt_text(axis.title), .unit = qt_text(axis.unit)};
    if (!numbers) {
      out_.kind = Figure::Kind::bars;
      for (const CaseValue& value : axis.at(plan_.choice().scale)) out_.x.names += qt_text(value.name);
    }
    out_.y = {.title = asked_.y_title.empty() ? title_of_path(asked_.y) : qt_text(asked_.y_title),
              .unit = qt_text(std::string(unit_of_path(asked_.y))),
              .logarithmic = asked_.y_logarithmic,
              .from_zero = !asked_.y_logarithmic};
    for (const QString& name : names_) {
      FigureSeries& series = add_series(name);
      for (const MeasuredPoint* point : series_[name]) {
        if (point->repeats.empty()) continue;
        const CaseValue& value = point->point.values[place];
        FigurePoint drawn = drawn_point(*point);
        drawn.x = numbers ? value.number.value_or(0) : static_cast<double>(out_.x.names.indexOf(qt_text(value.name)));
        series.points.push_back(std::move(drawn));
      }
      std::stable_sort(series.points.begin(), series.points.end(), [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    }
  }

  FigurePoint drawn_point(const MeasuredPoint& point) const {
    FigurePoint out;
    std::vector<double> values;
    double floor_us = std::nan("");  // the largest of its runs
    bool few = true;
    for (const CaseRunResult* run : point.repeats) {
      out.folders += run->folder;
      const double value = run->values.at(asked_.y);
      if (std::isnan(value)) continue;  // and nothing that could be off
      values.push_back(value);
      out.add_clock_limit(run->clock_limit_us_of(asked_.y));
      floor_us = std::fmax(floor_us, run->floor_us_of(asked_.y));
      few = few && run->has_few_samples(asked_.y);
    }
    out.repeats = static_cast<int>(point.repeats.size());
    out.why = why_of(point);
    if (values.empty()) {
      if (out.why.isEmpty()) out.why = no_such_figure;
      return out;
    }
    out.y = median(values);
    out.few_samples = few;
    if (is_near_floor(floor_us, out.y)) out.near_floor_us = floor_us;
    if (values.size() >= repeats_for_interval) {
      const Spread interval = schedule_.intervals().of(values);
      out.low = std::min(interval.low, out.y);
      out.high = std::max(interval.high, out.y);
    }
    return out;
  }

  QString why_of(const MeasuredPoint& point) const {
    int marked = 0;
    QString first;
    for (const CaseRunResult* run : point.repeats) {
      const QString why = results_.why(*run);
      if (!why.isEmpty() && marked++ == 0) first = why;
    }
    if (marked <= 1) return first;
    return QString("%1 (and %2 more of %3 runs)").arg(first, QString::number(marked - 1), QString::number(point.repeats.size()));
  }

  void add_percentiles() {
    out_.x = {.title = "Percentile", .percentiles = true};
    out_.y = {.title = "Latency", .unit = QString::fromUtf8("µs"), .logarithmic = true};
    bool several = false;
    for (const QString& name : names_) {
      FigureSeries& series = add_series(name);
      for (const MeasuredPoint* point : series_[name]) {
        if (point->repeats.empty()) continue;
        several = several || point->repeats.size() > 1;
        add_curve(*point, series);
      }
    }
    if (several) out_.remarks += "Of several repeats the middle one is drawn, by the mean of its lowest 95 %.";
  }

  /// Null where none has a latency.
  static const CaseRunResult* middle_of(const MeasuredPoint& point) {
    std::vector<double> means;
    for (const CaseRunResult* run : point.repeats) means.push_back(run->values.at("latency_us.mean_lowest_95"));
    const auto place = place_of_middle(means);
    return place ? point.repeats[*place] : nullptr;
  }

  void add_curve(const MeasuredPoint& point, FigureSeries& series) const {
    const std::size_t first = series.points.size();
    const CaseRunResult* middle = middle_of(point);
    if (middle != nullptr) add_percentiles_of(*middle, series);
    QString why = why_of(point);
    if (series.points.size() == first) {
      FigurePoint& valueless = series.points.emplace_back();
      valueless.x = middle_percentile;
      for (const CaseRunResult* run : point.repeats) valueless.folders += run->folder;
      if (why.isEmpty()) why = middle != nullptr ? "the run's latency.hgrm is missing or empty" : no_such_figure;
    }
    // One mark for the run, not one for each of its percentiles.
    series.points[first].why = why;
  }

  static void add_percentiles_of(const CaseRunResult& run, FigureSeries& series) {
    const auto rows = read_hgrm(run.folder + "/latency.hgrm");
    for (const PercentileRow& row : rows) {
      if (row.inverse_rest > percentile_end * 1.01) break;
      FigurePoint point;
      point.x = row.inverse_rest;
      point.y = row.value_us;
      point.add_clock_limit(run.clock_limit_us_of("latency_us.mean_lowest_95"));  // one of all its latencies
      point.few_samples = has_few_samples(row, rows.back().count);
      if (is_near_floor(run.floor_us, point.y)) point.near_floor_us = run.floor_us;
      point.folders = {run.folder};
      series.points.push_back(std::move(point));
    }
  }

  void add_knees() {
    const CaseAxis& axis = *plan_.file().find_axis(plan_.file().knee->axis);
    for (const MeasuredCurve& curve : schedule_.curves(results_)) {
      if (!is_shown(curve.first) || curve.knee.next) continue;
      const QString name = asked_.x == axis.id ? series_of(curve.first) : curve.first.curve;
      FigureReference knee;
      knee.text = (name.isEmpty() ? QString() : name + ": ") + curve.knee.words(qt_text(axis.counted()), axis.divide);
      if (asked_.x == axis.id && curve.knee.low > 0 && curve.knee.high > 0) knee.x = (curve.knee.low + curve.knee.high) / 2 / axis.divide;
      knee.series = name;
      // Curves that this figure draws as one share it.
      const bool told = std::any_of(out_.references.begin(), out_.references.end(), [&](const FigureReference& other) { return other.text == knee.text; });
      if (!told) out_.references.push_back(std::move(knee));
    }
  }

  void add_remarks() {
    for (const std::string& remark : asked_.remarks) out_.remarks += qt_text(remark);
    if (has_curve_for_each_load()) out_.remarks += "Scale stress: each load that was tried has a curve of its own, whatever load the title names.";
    const auto any = [this](auto&& is) {
      return std::any_of(points_.begin(), points_.end(), [&](const MeasuredPoint& point) { return !point.repeats.empty() && is(point); });
    };
    // First: it changes what the figure's own names say.
    if (any([](const MeasuredPoint& point) { return point.point.runs_here; })) {
      out_.remarks.prepend("External services ran on this machine, as no hosts were given.");
    }
    if (any([](const MeasuredPoint& point) { return point.repeats.front()->one_machine; })) {
      out_.remarks += "These hosts are one machine and share its cores: what the location does is not to be seen here.";
    }
    if (asked_.y == "latency_us.mean_lowest_95") add_left_out();
    tell_unknown_clocks(out_);
    tell_values_below_clock_bounds(out_);
    if (plan_.choice().scale == Scale::quick) out_.remarks += "Scale quick: short runs, to see the shape.";
    if (const QString words = made_with(plan_); !words.isEmpty()) out_.remarks += "Made with: " + words + '.';
    add_machines();
  }

  /// A case that was begun with one hosts file and is gone on with another, or on another computer, has runs of both under the same names.
  void add_machines() {
    QString first;  // N2NQ's
    std::map<QString, QStringList> machines;
    for (const MeasuredPoint& point : points_) {
      for (const CaseRunResult* run : point.repeats) {
        if (first.isEmpty()) first = run->machine;
        for (const auto& [host, machine] : run->machines) {
          if (!machine.isEmpty() && !machines[host].contains(machine)) machines[host] += machine;
        }
      }
    }
    bool same = true;
    for (const auto& [host, of_host] : machines) {
      if (of_host.size() <= 1) continue;
      same = false;
      out_.remarks += QString("Not all runs had the same machine as %1: %2. What differs between points may be the machines'.")
                          .arg(host, of_host.join("; "));
    }
    if (same && !first.isEmpty()) out_.remarks += "Machine: " + first + '.';
  }

  /// Such a mean never stands without how many it leaves out.
  void add_left_out() {
    double least = INFINITY, most = 0;
    for (const MeasuredPoint& point : points_) {
      for (const CaseRunResult* run : point.repeats) {
        const double left_out = run->values.at("latency_us.left_out");
        least = std::fmin(least, left_out), most = std::fmax(most, left_out);
      }
    }
    if (least > most) return;
    out_.remarks += QString("Left out of these means are the highest 5 % of each run, %1 deliveries.")
                        .arg(least == most ? short_number(least) : QString("%1 to %2").arg(short_number(least), short_number(most)));
  }

  const CasePlan& plan_;
  const CaseSchedule& schedule_;
  const CaseResults& results_;
  const CaseFigure& asked_;
  std::vector<MeasuredPoint> points_;
  QStringList names_;
  std::map<QString, std::vector<const MeasuredPoint*>> series_;
  Figure out_;
};

}  // namespace

QString made_with(const CasePlan& plan) {
  if (plan.points().empty()) return {};
  const auto& axes = plan.file().axes;
  QStringList parts;
  for (const UnusualSetting& unusual : unusual_settings(settings_json(plan.points().front().settings))) {
    const auto sets_it = [&](const CaseAxis& axis) { return sets(axis, plan.choice().scale, unusual.key); };
    if (std::none_of(axes.begin(), axes.end(), sets_it)) parts += unusual.words;
  }
  return parts.join(", ");
}

Figure case_figure(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results, std::size_t which) {
  return CaseDrawing(plan, schedule, results, plan.file().figures[which]).figure();
}

std::vector<Figure> case_figures(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results) {
  std::vector<Figure> out;
  for (std::size_t i = 0; i < plan.file().figures.size(); ++i) out.push_back(case_figure(plan, schedule, results, i));
  return out;
}

}  // namespace n2nq::app
