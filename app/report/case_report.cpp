// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/case_report.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <set>

#include "app/cases/case_figures.h"
#include "app/cases/case_folder.h"
#include "app/control/live_figures.h"
#include "app/figure/figure_doubts.h"
#include "app/results/case_verdict.h"
#include "app/results/stored_run.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

/// What the clocks leave open of a value, and in words where it tells little.
void add_clock_cells(std::vector<Cell>& row, const CaseRunResult& run, const std::string& path) {
  const double bound_us = run.clock_limit_us_of(path);
  if (std::isnan(bound_us)) {
    row.insert(row.end(), {Cell(), QString("of one clock")});
  } else if (std::isinf(bound_us)) {
    row.insert(row.end(), {clock_cell(bound_us), QString("not known how far they are apart")});
  } else {
    const bool is_below = std::abs(run.values.at(path)) < bound_us;
    row.insert(row.end(), {clock_cell(bound_us), is_below ? Cell(QString("more than the value itself")) : Cell()});
  }
}

/// Of a latency or a percentile; empty: it tells what it says.
QStringList doubts_of(const CaseRunResult& run, const std::string& path) {
  QStringList doubts;
  if (run.has_few_samples(path)) doubts += few_samples_words();
  // Each run has a floor of its own, in a column: one sentence for all of them.
  if (is_near_floor(run.floor_us_of(path), run.values.at(path)))
    doubts += below_floor_words("its floor, an echo over loopback");
  return doubts;
}

QString load_words(const CaseRunResult& run) {
  const QString words = run.keeps_up.value_or(false) ? QString("yes") : "no: " + run.load_why;
  return run.load_remark.isEmpty() ? words : words + " (" + run.load_remark + ')';
}

Table runs_table(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results) {
  Table table{.id = "runs", .title = "Runs", .columns = {"point", "repeat", "verdict"}, .rows = {}, .doubts = {}};
  const auto paths = paths_of(plan);
  std::set<std::string> bounded;  // paths of which a run has a time between two clocks
  const auto runs = results.all();
  for (const CaseRunResult* run : runs) {
    for (const auto& [path, limit_us] : run->clock_limits_us) bounded.insert(path);
  }
  for (const std::string& path : paths) {
    const std::string unit(unit_of_path(path));
    const QString words = words_of_path(path);
    table.columns += qt_text(unit.empty() ? path : path + " (" + unit + ")");
    table.words[table.columns.last()] = unit.empty() ? words : words + ' ' + qt_text(unit);
    if (!bounded.contains(path)) continue;
    for (const QString& part : {QString::fromUtf8(", clocks ± (µs)"), QString(", clocks")}) {
      table.columns += qt_text(path) + part;
      table.words[table.columns.last()] = words + (part.endsWith(')') ? QString::fromUtf8(", clocks ± µs") : part);
    }
  }
  const bool floors = std::any_of(runs.begin(), runs.end(), [](const CaseRunResult* run) { return !std::isnan(run->floor_us); });
  if (floors) {
    table.columns += QString::fromUtf8("floor (µs)");
    table.words[table.columns.last()] = QString::fromUtf8("floor µs");
  }
  if (plan.seeks_knee()) table.columns += "keeps up";
  table.columns += {"marked", "folder"};
  QStringList seen;
  for (const MeasuredPoint& point : schedule.points(results)) {
    // Points with the same settings share their runs.
    if (point.repeats.empty() || seen.contains(point.repeats.front()->folder)) continue;
    seen += point.repeats.front()->folder;
    for (std::size_t i = 0; i < point.repeats.size(); ++i) {
      const CaseRunResult* run = point.repeats[i];
      std::vector<Cell> row{point.point.label, static_cast<double>(point.numbers[i]), run->verdict};
      std::vector<QStringList> doubts;
      for (const std::string& path : paths) {
        const double value = run->values.at(path);
        row.push_back(std::isnan(value) ? Cell() : Cell(value));
        doubts.resize(row.size());
        if (!std::isnan(value)) doubts.back() = doubts_of(*run, path);
        if (bounded.contains(path)) add_clock_cells(row, *run, path);
      }
      if (floors) row.push_back(std::isnan(run->floor_us) ? Cell() : Cell(run->floor_us));
      if (plan.seeks_knee()) row.push_back(load_words(*run));
      row.push_back(results.why(*run));
      row.push_back(QFileInfo(run->folder).fileName());
      table.rows.push_back(std::move(row));
      table.doubts.push_back(std::move(doubts));
    }
  }
  return table;
}

Table knees_table(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results) {
  Table table{.id = "knees", .title = "Knees", .columns = {"curve", "keeps up at", "not at", "in words"}, .rows = {}, .doubts = {}};
  const CaseAxis& axis = *plan.file().find_axis(plan.file().knee->axis);
  for (const MeasuredCurve& curve : schedule.curves(results)) {
    const auto load = [&axis](double value) { return value > 0 ? Cell(value / axis.divide) : Cell(); };
    table.rows.push_back(
        {curve.first.curve, load(curve.knee.low), load(curve.knee.high), curve.knee.next ? "not found yet" : curve.knee.words(qt_text(axis.counted()), axis.divide)});
  }
  return table;
}

Table case_table(const CaseFolder& folder, const CasePlan& plan) {
  Table table{.id = "case", .title = "Test case", .columns = {"key", "value"}, .rows = {}, .doubts = {}};
  const auto add = [&](const char* key, Cell value) { table.rows.push_back({QString(key), std::move(value)}); };
  add("case", qt_text(folder.name()));
  add("about", qt_text(folder.file().about));
  add("source", qt_text(folder.file().source));
  table.words["source"] = "taken from";  // where a group runs is its Source
  add("scale", qt_text(scale_word(plan.choice().scale)));
  if (!plan.seeks_knee()) add("repeats", static_cast<double>(plan.rules().repeats));
  add("warm-up (s)", plan.rules().warm_up_s);
  if (const auto& hosts = plan.choice().hosts) {
    add("N2NQ's host", qt_text(hosts->broker));
    add("host of external senders", qt_text(hosts->senders));
    add("host of external receivers", qt_text(hosts->receivers));
  }
  if (const QString words = made_with(plan); !words.isEmpty()) add("made with", words);
  add("build", folder.build());
  return table;
}

/// Empty: `error` says why.
std::optional<CasePlan> plan_of(const CaseFolder& folder, QString& error) {
  QStringList errors;
  auto plan = CasePlan::make(folder.file(), folder.choice(), errors);
  if (!plan) error = folder.path() + ": " + errors.first();
  return plan;
}

/// A figure that sides share, with the curves of each. What is said below it is of those sides that say it.
class OverlaidFigure {
 public:
  explicit OverlaidFigure(const Figure& first) : all_(first) { all_.series.clear(), all_.references.clear(), all_.remarks.clear(); }

  const QString& id() const { return all_.id; }

  void add(const Figure& one, const QString& side) {
    const auto same_axis = [](const FigureAxis& a, const FigureAxis& b) { return a.title == b.title && a.unit == b.unit && a.names == b.names; };
    if (all_.kind != one.kind || !same_axis(all_.x, one.x) || !same_axis(all_.y, one.y)) {
      left_out_ += side + ": drawn over other values, left out.";
      return;
    }
    sides_ += side;
    for (FigureSeries series : one.series) {
      series.name = series.name.isEmpty() ? side : side + ": " + series.name;
      all_.series.push_back(std::move(series));
    }
    for (const QString& remark : one.remarks) {
      const auto same = std::find_if(told_.begin(), told_.end(), [&](const Told& each) { return each.remark == remark; });
      Told& told = same == told_.end() ? told_.emplace_back(Told{remark, {}}) : *same;
      if (!told.sides.contains(side)) told.sides += side;
    }
  }

  Figure figure() && {
    for (const Told& told : told_) all_.remarks += told.sides == sides_ ? told.remark : told.sides.join(", ") + ": " + told.remark;
    all_.remarks += left_out_;
    return std::move(all_);
  }

 private:
  struct Told {
    QString remark;
    QStringList sides;
  };
  Figure all_;
  QStringList sides_, left_out_;
  std::vector<Told> told_;  // in the order in which they are said first
};

}  // namespace

std::vector<Figure> figures_of_cases(const QStringList& folders, const std::atomic<bool>* cancelled) {
  std::vector<OverlaidFigure> overlaid;
  std::string kind;
  for (qsizetype i = 0; i < folders.size(); ++i) {
    QString ignored;
    const auto folder = CaseFolder::is_one(folders[i]) ? CaseFolder::open(folders[i], ignored) : std::nullopt;
    if (!folder || (i > 0 && folder->name() != kind)) return {};
    const auto plan = plan_of(*folder, ignored);
    if (!plan) return {};
    kind = folder->name();
    const CaseResults results = CaseFolder::read_results(folder->path(), *plan, nullptr, cancelled);
    if (cancelled && *cancelled) return {};
    const auto figures = case_figures(*plan, CaseSchedule(*plan), results);
    const QString side = side_letter(static_cast<std::size_t>(i));
    for (const Figure& figure : figures) {
      if (i == 0) overlaid.emplace_back(figure);
      const auto same = std::find_if(overlaid.begin(), overlaid.end(), [&](const OverlaidFigure& each) { return each.id() == figure.id; });
      if (same != overlaid.end()) same->add(figure, side);
    }
  }
  std::vector<Figure> out;
  for (OverlaidFigure& figure : overlaid) out.push_back(std::move(figure).figure());
  return out;
}

std::optional<Report> report_of_case(const QString& path, QString& error, const std::atomic<bool>* cancelled) {
  const auto folder = CaseFolder::open(path, error);
  if (!folder) return {};
  const auto plan = plan_of(*folder, error);
  if (!plan) return {};
  const CaseSchedule schedule(*plan);
  QStringList unreadable;
  const CaseResults results = CaseFolder::read_results(folder->path(), *plan, &unreadable, cancelled);
  if (cancelled && *cancelled) return {};
  Report report;
  report.title = QString("Test case: %1").arg(qt_text(folder->file().title));
  if (!folder->file().about.empty()) report.lead += qt_text(folder->file().about);
  report.lead +=
      QString("%1 of %2 runs, %3 of them marked.").arg(schedule.done(results)).arg(schedule.total(results)).arg(results.marked());
  for (const QString& problem : unreadable) report.lead += "Left out: " + problem;
  QStringList verdicts;
  for (const CaseRunResult* run : results.all()) {
    verdicts += run->verdict;
    report.is_disturbed = report.is_disturbed || run->is_disturbed;
  }
  report.verdict = case_verdict(verdicts, schedule.total(results) - schedule.done(results));
  report.figures = case_figures(*plan, schedule, results);
  if (plan->seeks_knee()) report.tables.push_back(knees_table(*plan, schedule, results));
  report.tables.push_back(runs_table(*plan, schedule, results));
  report.appendix = {case_table(*folder, *plan)};
  return report;
}

}  // namespace n2nq::app
