// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

#include "app/control/live_figures.h"
#include "app/figure/figure_doubts.h"
#include "app/figure/number_text.h"
#include "app/results/requests_words.h"
#include "app/settings/qt_text.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr std::size_t differing_told_max = 4;  // in the sentence; the tables have all
constexpr qsizetype requests_told_max = 2;     // likewise

struct Row {
  const char* path;
  const char* name;
};
constexpr Row figure_rows[] = {{"latency_us", "latency"},
                               {"latency_from_plan_us", "latency from plan"},
                               {"lag_us", "lag"},
                               {"delay_ms", "delay"},
                               {"stages.lag_us", "stage: lag"},
                               {"stages.to_broker_us", "stage: to broker"},
                               {"stages.in_queue_us", "stage: in queue"},
                               {"stages.to_receiver_us", "stage: to receiver"}};
constexpr Row rate_rows[] = {{"over_s", "time of sending, s"},
                             {"sent_per_s", "messages sent per second"},
                             {"sent_bytes_per_s", "payload bytes sent per second"},
                             {"received_over_s", "time of receiving, s"},
                             {"received_per_s", "deliveries per second"},
                             {"received_bytes_per_s", "payload bytes received per second"}};
constexpr Row plan_rows[] = {{"kept", "plan kept"},
                             {"offered_messages", "messages planned"},
                             {"attempted_messages", "messages attempted"},
                             {"offered_per_s", "messages planned per second"},
                             {"achieved_per_s", "messages attempted per second"},
                             {"last_message_late_ms", "last message late by, ms"},
                             {"lag_growth_ms", "growth of the lag, ms"}};
// Each sum in front of its parts, then findings, then what is there for comparison: as in the ledger of the page Bench.
constexpr const char* ledger_order[] = {"attempted",       "accepted",   "refused",              "lost_before_queue",
                                        "accepted_copies", "delivered",  "expired",              "unrequested",
                                        "parked",          "cut_off",    "still_queued",         "lost",
                                        "unexplained",     "duplicated", "duplicated_unflagged", "parked_delivered",
                                        "out_of_order",    "negative",   "unexpected",           "bad_checksum",
                                        "unasked",         "received",   "redelivered"};
// bound_us is there between two clocks only, and first then: it is about all that stands right of it.
constexpr const char* figure_columns[] = {"bound_us", "count", "mean", "mean_lowest_95", "left_out", "min",
                                          "p50",      "p90",   "p95",  "p99",            "p99_9",    "max"};

Cell cell_of(const Json& value) {
  // Of a larger whole number, such as a seed, a double would have other digits.
  constexpr double exact_max = 9'007'199'254'740'992;
  if (value.is_number_integer() && std::abs(value.get<double>()) > exact_max) return qt_text(value.dump());
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return {};
  return json_words(value);
}

Cell cell_at(const Json& summary, const std::string& path) {
  const auto value = figure_at(summary, path);
  if (!value) return {};
  // A ± that is null nobody knows; any other figure is not there then.
  if (std::isnan(*value)) return path.ends_with(".bound_us") ? clock_cell(INFINITY) : Cell();
  return *value;
}

/// Of a percentile of few samples, or of a time that is no finer than the clocks, or says more about the machine than about the queue; empty:
/// it is none of these.
QStringList doubts_of(const Cell& cell, bool has_few, double clock_limit_us, double floor_us) {
  const auto* value = std::get_if<double>(&cell);
  if (!value) return {};
  QStringList doubts;
  if (has_few) doubts += few_samples_words();
  if (const QString clocks = clock_doubt(*value, clock_limit_us); !clocks.isEmpty()) doubts += clocks;
  if (const QString near = near_floor_words(floor_us, *value); !near.isEmpty()) doubts += near;
  return doubts;
}

QString column_name(const std::string& key) {
  return key == "bound_us" ? QString::fromUtf8("clocks ±") : qt_text(key);
}

QString words_with_unit(const std::string& path) {
  const QString unit = qt_text(unit_of_path(path)), words = words_of_path(path);
  return unit.isEmpty() || words == "bytes" ? words : words + ' ' + unit;
}

/// Rows of figures: name, unit, and what a figures object has.
Table figures_table(const Json& summary) {
  Table table{.id = "figures", .title = "Figures", .columns = {"figure", "unit"}, .rows = {}, .doubts = {}};
  // A bound stands beside figures between two clocks, which may be those of stages alone; where all share one there is none.
  const bool bounded = std::ranges::any_of(
      figure_rows, [&](const Row& row) { return !std::isnan(clock_limit_at(summary, std::string(row.path) + ".p50")); });
  const auto used = std::span(figure_columns).subspan(bounded ? 0 : 1);
  for (const char* column : used) {
    table.columns += column_name(column);
    table.words[column_name(column)] = words_of_path(column);
  }
  table.words["stage: to broker"] = "stage: to N2NQ";
  for (const Row& row : figure_rows) {
    std::vector<Cell> cells{QString(row.name), qt_text(unit_of_path(row.path))};
    std::vector<QStringList> doubts(2);
    for (const char* column : used) {
      const std::string path = std::string(row.path) + '.' + column;
      cells.push_back(cell_at(summary, path));
      doubts.push_back(doubts_of(cells.back(), has_few_samples(summary, path), clock_limit_at(summary, path), floor_us_at(summary, path)));
    }
    table.rows.push_back(std::move(cells));
    table.doubts.push_back(std::move(doubts));
  }
  return table;
}

/// "key", "value" of every leaf.
void add_leaves(Table& table, const Json& from, const QString& path) {
  if (from.is_object()) {
    for (const auto& [key, value] : from.items()) add_leaves(table, value, path.isEmpty() ? qt_text(key) : path + '.' + qt_text(key));
  } else {
    const Cell cell = cell_of(from);
    table.rows.push_back({path, cell});
    if (path == requests_path) table.words[cell_text(cell)] = requests_words(cell_text(cell));
  }
}

/// By the keys in their first column; those that are not among `keys` stay behind the others as they were.
void order_rows(Table& table, const QStringList& keys) {
  std::ranges::stable_sort(table.rows, {}, [&keys](const std::vector<Cell>& row) {
    const qsizetype place = keys.indexOf(cell_text(row.front()));
    return place < 0 ? keys.size() : place;
  });
}

Table leaves(const char* id, const char* title, const Json& of, std::span<const Row> known = {}) {
  Table table{.id = id, .title = title, .columns = {"key", "value"}, .rows = {}, .doubts = {}};
  add_leaves(table, of, {});
  QStringList keys;
  for (const Row& row : known) {
    keys += row.path;
    table.words[row.path] = row.name;
  }
  order_rows(table, keys);
  return table;
}

Table plan_table(const Json& plan) {
  Table table = leaves("plan", "Plan", plan, plan_rows);
  table.words["true"] = "yes";
  table.words["false"] = "no";
  return table;
}

/// One row for each object of a list, a column for each of its numbers, of figures objects for some of them, those first: the rest is
/// mostly 0.
Table services_table(const char* id, const char* title, const Json& summary, Role role) {
  const Json& services = summary.at("services").at(role_key(role));
  const char letter = role == Role::senders ? 'S' : 'R';
  Table table{.id = id, .title = title, .columns = {"service"}, .rows = {}, .doubts = {}};
  std::vector<std::string> paths;
  Json all = Json::object();  // what any of them has: some counts stand only where they are above 0
  for (const Json& service : services) all.update(service);
  for (const Row& figure : figure_rows) {
    if (!all.contains(figure.path)) continue;
    for (const char* part : {"bound_us", "p50", "p99", "mean", "max", "count"}) {
      if (all.at(figure.path).contains(part)) paths.push_back(std::string(figure.path) + '.' + part);
    }
  }
  for (const auto& [key, value] : all.items()) {
    if (key != "number" && value.is_number()) paths.push_back(key);
  }
  // Their histograms are the coarse ones.
  if (std::ranges::any_of(paths, [](const std::string& path) { return path.ends_with(".p50"); }))
    table.remark = "p50 and p99 of one service are known to 0.8 %.";
  for (const std::string& path : paths) {
    const QString unit = qt_text(unit_of_path(path));
    const std::size_t dot = path.find(".bound_us");
    const QString name = dot == std::string::npos ? qt_text(path) : qt_text(path.substr(0, dot)) + ", " + column_name("bound_us");
    table.columns += unit.isEmpty() ? name : name + " (" + unit + ')';
    table.words[table.columns.last()] = words_with_unit(path);
  }
  for (const Json& service : services) {
    const auto number = service.value("number", 0u);
    std::vector<Cell> row{qt_text(measure::service_name(letter, number))};
    std::vector<QStringList> doubts(1);
    for (const std::string& path : paths) {
      row.push_back(cell_at(service, path));
      doubts.push_back(doubts_of(row.back(), has_few_samples(service, path), clock_limit_at(service, path), floor_us_at(summary, path)));
    }
    table.rows.push_back(std::move(row));
    table.doubts.push_back(std::move(doubts));
  }
  return table;
}

Table ledger_table(const Json& ledger) {
  Table table{.id = "ledger", .title = "Ledger", .columns = {"count", "all"}, .rows = {}, .doubts = {}};
  const bool warm_up = ledger.contains("warmup");
  if (warm_up) table.columns += "warm-up";
  for (const auto& [key, value] : ledger.at("total").items()) {
    if (!value.is_number()) continue;
    std::vector<Cell> row{qt_text(key), value.get<double>()};
    table.words[qt_text(key)] = words_of_path(key);
    if (warm_up) row.push_back(cell_at(ledger.at("warmup"), key));
    table.rows.push_back(std::move(row));
  }
  order_rows(table, QStringList(std::begin(ledger_order), std::end(ledger_order)));
  return table;
}

Report report_of_one(const DrawnRun& drawn) {
  const Json& summary = drawn.run.summary;
  Report report;
  report.title = drawn.run.name();
  report.verdict = qt_text(drawn.run.verdict());
  for (const Json& reason : summary.at("reasons")) report.lead += grouped_in(qt_text(reason.get<std::string>()));
  const QStringList disturbances = drawn.run.disturbances();
  report.is_disturbed = !disturbances.isEmpty();
  for (const QString& disturbance : disturbances) report.lead += "disturbed: " + disturbance;
  if (!drawn.digest)
    report.lead += "Not drawn, because " + drawn.no_digest + ": histogram, figures over time, by receiver and by pair of services.";
  report.figures = run_figures({drawn});
  report.tables = {figures_table(summary),
                   ledger_table(summary.at("ledger")),
                   leaves("rates", "Rates", summary.at("rates"), rate_rows),
                   plan_table(summary.value("plan", Json::object())),
                   services_table("senders", "Senders", summary, Role::senders),
                   services_table("receivers-table", "Receivers", summary, Role::receivers)};
  report.appendix = {leaves("settings", "Settings", summary.at("settings")),
                     leaves("environment", "Environment", summary.at("environment"))};
  report.hgrm = drawn.run.folder + "/latency.hgrm";
  return report;
}

Table texts_table(const char* id, const char* title, const std::vector<ComparedText>& texts, const QStringList& names) {
  Table table{.id = id, .title = title, .columns = QStringList{"key"} + names, .rows = {}, .doubts = {}};
  table.has_keys_in_all = true;
  for (const ComparedText& text : texts) {
    std::vector<Cell> row{text.path};
    for (const QString& value : text.texts) {
      row.push_back(value);
      if (text.path == requests_path) table.words[value] = requests_words(value);
    }
    table.rows.push_back(std::move(row));
  }
  if (texts.empty()) table.remark = "All of it is the same.";
  return table;
}

/// In a sentence, for what stands above: "Settings that differ: queue.mode broadcaster / load-balancer".
QString differing_words(const QString& what, const QString& verb, const std::vector<ComparedText>& texts) {
  if (texts.empty()) return (what.endsWith(',') ? what.chopped(1) : what) + ": the same";
  QStringList parts;
  for (std::size_t i = 0; i < std::min(texts.size(), differing_told_max); ++i) {
    QStringList values = texts[i].texts;
    if (texts[i].path == requests_path) {
      for (QString& value : values) value = requests_words(value, requests_told_max);
    }
    parts += texts[i].path + ' ' + values.join(" / ");
  }
  if (texts.size() > differing_told_max) parts += QString("%1 more in the tables").arg(texts.size() - differing_told_max);
  return QString("%1 that %2: %3").arg(what, verb, parts.join("; "));
}

/// What is compared differs in settings within a side, and its points say in which.
bool has_labels(const Comparison& comparison) {
  return std::ranges::any_of(comparison.points, [](const ComparedPoint& point) { return !point.label.isEmpty(); });
}

void tell_differing(Report& report, const Comparison& comparison) {
  const bool several = has_labels(comparison);
  report.lead += differing_words(several ? "Settings, but for those of each point," : "Settings", "differ", comparison.settings);
  report.lead += differing_words("Environment", "differs", comparison.environment);
}

Table compared_table(const Comparison& comparison, const QStringList& names) {
  Table table{.id = "comparison", .title = "Comparison", .columns = {"figure", "unit"}, .rows = {}, .doubts = {}};
  const bool several = has_labels(comparison);
  if (several) table.columns.insert(1, "at");
  std::vector<bool> bounded(static_cast<std::size_t>(names.size()));  // sides with figures between two clocks
  for (const ComparedPoint& point : comparison.points) {
    for (const ComparedFigure& figure : point.figures) {
      for (std::size_t i = 0; i < figure.clock_bounds.size(); ++i) bounded[i] = bounded[i] || !std::isnan(figure.clock_bounds[i]);
    }
  }
  const auto has_bound = [&](qsizetype i) { return bounded[static_cast<std::size_t>(i)] || bounded[0]; };  // a difference
  for (qsizetype i = 0; i < names.size(); ++i) {
    table.columns += names[i];
    if (bounded[static_cast<std::size_t>(i)]) table.columns += names[i] + QString::fromUtf8(", clocks ±");
    if (i == 0) continue;
    // What is said of both before what it is said by: on a small screen the end of a row is out of sight.
    table.columns += names[i] + " against " + names[0];
    const QString difference = names[i] + QString::fromUtf8(" − ") + names[0];
    table.columns += difference;
    if (has_bound(i)) table.columns += difference + QString::fromUtf8(", clocks ±");
    table.columns += difference + " (%)";
  }
  const auto number = [](double value) { return std::isfinite(value) ? Cell(value) : Cell(); };
  for (const ComparedPoint& point : comparison.points) {
    std::vector<Cell> verdicts{QString("verdict")};
    if (several) verdicts.push_back(point.label);
    verdicts.push_back(QString());
    for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
      verdicts.push_back(point.verdict_text(i));
      if (bounded[i]) verdicts.emplace_back();
      for (int empty = i == 0 ? 0 : has_bound(static_cast<qsizetype>(i)) ? 4 : 3; empty > 0; --empty) verdicts.emplace_back();
    }
    table.rows.push_back(std::move(verdicts));
    table.doubts.emplace_back();
    for (const ComparedFigure& figure : point.figures) {
      std::vector<Cell> row{qt_text(figure.path)};
      table.words[qt_text(figure.path)] = words_of_path(figure.path);
      if (several) row.push_back(point.label);
      row.push_back(qt_text(figure.unit));
      std::vector<QStringList> doubts;
      for (std::size_t i = 0; i < figure.values.size(); ++i) {
        row.push_back(number(figure.values[i]));
        doubts.resize(row.size());
        doubts.back() = doubts_of(row.back(), figure.few_samples[i], figure.clock_bounds[i], figure.floors_us[i]);
        if (bounded[i]) row.push_back(clock_cell(figure.clock_bounds[i]));
        if (i == 0) continue;
        const bool few_in_one = figure.few_samples[0] || figure.few_samples[i];
        const auto add_of_both = [&](double value) {
          row.push_back(number(value));
          doubts.resize(row.size());
          if (few_in_one && std::isfinite(value)) doubts.back() += few_samples_words("one of the two");
        };
        row.push_back(figure.differences[i].words(figure.is_time()));
        add_of_both(figure.differences[i].difference);
        if (has_bound(static_cast<qsizetype>(i))) row.push_back(clock_cell(figure.differences[i].clock_bound));
        add_of_both(figure.differences[i].percent);
      }
      table.rows.push_back(std::move(row));
      table.doubts.push_back(std::move(doubts));
    }
  }
  return table;
}

/// Why a point of several runs is marked: the first of them that is not as it should be.
QString why_of(const ComparedSide& side, const QStringList& folders) {
  int marked = 0;
  QString first;
  for (const StoredRun& run : side.runs) {
    const QString mark = folders.contains(run.folder) ? run.mark() : QString();
    if (!mark.isEmpty() && marked++ == 0) first = mark;
  }
  return marked > 1 ? QString("%1 (and %2 more runs)").arg(first, QString::number(marked - 1)) : first;
}

/// One figure of the summary over the points; by number where all that the points differ in is one number.
Figure figure_by_point(const Comparison& comparison, const QStringList& names, std::size_t which) {
  const std::string& path = comparison.points.front().figures[which].path;
  Figure out;
  out.id = qt_text(path).replace('.', '-').replace('_', '-');
  out.title = title_of_path(path);
  out.y = {.title = title_of_path(path), .unit = qt_text(comparison.points.front().figures[which].unit), .from_zero = true};
  bool numbers = true;
  for (const ComparedPoint& point : comparison.points) {
    bool is_number = point.at.size() == 1;
    if (is_number) point.at.front().second.toDouble(&is_number);
    numbers = numbers && is_number;
  }
  if (numbers) out.x.title = comparison.points.front().at.front().first;
  if (!numbers) out.x.title = "Settings", out.kind = Figure::Kind::bars;
  for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
    FigureSeries series{.name = comparison.sides.size() == 1 ? QString() : names[static_cast<qsizetype>(side)]};
    for (std::size_t i = 0; i < comparison.points.size(); ++i) {
      const ComparedPoint& point = comparison.points[i];
      const ComparedFigure& figure = point.figures[which];
      if (side == 0 && !numbers) out.x.names += point.label.isEmpty() ? QString("all") : point.label;
      if (point.repeats[side] == 0) continue;
      FigurePoint drawn{.x = numbers ? point.at.front().second.toDouble() : static_cast<double>(i),
                        .y = figure.values[side],
                        .repeats = point.repeats[side],
                        .few_samples = figure.few_samples[side],
                        .near_floor_us = figure.is_near_floor(side) ? figure.floors_us[side] : 0,
                        .why = why_of(comparison.sides[side], point.folders[side]),
                        .folders = point.folders[side]};
      drawn.add_clock_limit(figure.clock_bounds[side]);
      if (figure.samples[side].size() >= repeats_for_interval) {
        const Spread interval = interval_95(figure.samples[side]);
        drawn.low = interval.low, drawn.high = interval.high;
      }
      if (std::isnan(drawn.y) && drawn.why.isEmpty()) drawn.why = no_such_figure;
      series.points.push_back(std::move(drawn));
    }
    out.series.push_back(std::move(series));
  }
  tell_values_below_clock_bounds(out);
  tell_unknown_clocks(out);
  return out;
}

Report report_of_several(const std::vector<DrawnRun>& runs) {
  std::vector<ComparedSide> sides;
  for (const DrawnRun& run : runs) sides.push_back({.name = {}, .folder = run.run.folder, .runs = {run.run}, .left_out = {}});
  const Comparison comparison = compare(std::move(sides));
  std::vector<DrawnRun> named = runs;
  QStringList names, titles;
  Report report;
  for (std::size_t i = 0; i < named.size(); ++i) {
    names += side_letter(i);
    titles += comparison.sides[i].name;
    named[i].name = names.last() + QString::fromUtf8(" · ") + titles.last();
    const QString disturbed = named[i].run.disturbances().isEmpty() ? QString() : ", disturbed";
    report.lead += QString("%1: %2, %3%4").arg(names.last(), titles.last(), qt_text(named[i].run.verdict()), disturbed);
    if (!named[i].digest) report.lead += QString("%1 is left out of the figures that need logs: %2.").arg(names.last(), named[i].no_digest);
  }
  tell_differing(report, comparison);
  report.title = titles.join(", ");
  report.figures = run_figures(named);
  report.tables = {compared_table(comparison, names)};
  report.appendix = {texts_table("settings", "Settings that differ", comparison.settings, names),
                     texts_table("environment", "Environment that differs", comparison.environment, names)};
  return report;
}

}  // namespace

QString side_letter(std::size_t side) {
  return QString(QChar(static_cast<char16_t>(u'A' + side)));
}

Report report_of(const Comparison& comparison) {
  Report report;
  QStringList names, titles;
  for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
    const ComparedSide& side = comparison.sides[i];
    names += side_letter(i);
    titles += side.name;
    const QString count = QString::number(side.runs.size());
    report.lead += QString("%1: %2, %3 run%4").arg(names.last(), titles.last(), count, side.runs.size() == 1 ? "" : "s");
    for (const QString& left_out : side.left_out) report.lead += "Left out: " + left_out;
  }
  tell_differing(report, comparison);
  report.title = titles.join(", ");
  for (const char* path : {"latency_us.mean_lowest_95", "latency_us.p50", "latency_us.p99", "rates.received_per_s"}) {
    const auto found = std::find(compared_figures().begin(), compared_figures().end(), path);
    report.figures.push_back(figure_by_point(comparison, names, static_cast<std::size_t>(found - compared_figures().begin())));
  }
  report.tables = {compared_table(comparison, names)};
  report.appendix = {texts_table("settings", "Settings that differ", comparison.settings, names),
                     texts_table("environment", "Environment that differs", comparison.environment, names)};
  return report;
}

Report report_of(const std::vector<DrawnRun>& runs) {
  return runs.size() == 1 ? report_of_one(runs.front()) : report_of_several(runs);
}

}  // namespace n2nq::app
