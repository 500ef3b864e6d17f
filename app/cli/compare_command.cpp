// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/compare_command.h"

#include <algorithm>
#include <cmath>

#include "app/cases/case_sides.h"
#include "app/cli/result_table.h"
#include "app/cli/run_command.h"
#include "app/results/requests_words.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

constexpr int gap = 2;
/// What is told of each point where there are several; --json and the report have all.
const char* const figures_of_many[] = {"latency_us.mean_lowest_95", "latency_us.p50", "latency_us.p99"};

/// Columns as wide as their widest cell, the first to the left, the others to the right.
QString in_columns(const std::vector<QStringList>& rows) {
  std::vector<int> widths;
  for (const QStringList& row : rows) {
    widths.resize(std::max<std::size_t>(widths.size(), static_cast<std::size_t>(row.size())));
    for (qsizetype i = 0; i < row.size(); ++i) {
      auto& width = widths[static_cast<std::size_t>(i)];
      width = std::max(width, static_cast<int>(row[i].size()));
    }
  }
  QString out;
  for (const QStringList& row : rows) {
    QString line;
    for (qsizetype i = 0; i < row.size(); ++i) {
      const int width = widths[static_cast<std::size_t>(i)];
      line += i == 0 ? left_aligned(row[i], width + gap) : right_aligned(row[i], width) + QString(gap, ' ');
    }
    while (line.endsWith(' ')) line.chop(1);
    out += line + '\n';
  }
  return out;
}

QString texts_block(const QString& title, const std::vector<ComparedText>& texts, const std::vector<ComparedSide>& sides) {
  if (texts.empty()) return title + ": the same\n\n";
  std::vector<QStringList> rows{{title + " that differ"}};
  for (const ComparedSide& side : sides) rows.front() += side.name;
  for (const ComparedText& text : texts) {
    QStringList& row = rows.emplace_back(QStringList("  " + text.path));
    for (const QString& value : text.texts) row += one_line(text.path == requests_path ? requests_words(value) : value);
  }
  return in_columns(rows) + '\n';
}

/// Counts are whole, but of several runs their mean is not.
QString value_text_of(const ComparedFigure& figure, double value) {
  const bool whole = figure.unit.empty() && !std::isnan(value) && value == std::floor(value);
  return whole ? grouped(static_cast<std::int64_t>(value)) : figure_text(value);
}

QString difference_text(const ComparedFigure& figure, std::size_t side) {
  const Difference& difference = figure.differences[side];
  if (std::isnan(difference.difference) || (difference.from == 0 && difference.to == 0)) return difference.words(figure.is_time());
  const QString sign = difference.difference > 0 ? "+" : difference.difference < 0 ? QString::fromUtf8("−") : "";
  QString text = sign + value_text_of(figure, std::abs(difference.difference));
  const double bound = difference.clock_bound;
  if (!std::isnan(bound)) text += QString::fromUtf8(" ± ") + clock_bound_text(bound, difference.difference);
  if (!std::isnan(difference.percent)) {
    const QString percent = QString::number(std::abs(difference.percent), 'f', std::abs(difference.percent) < 10 ? 1 : 0);
    text += QString::fromUtf8(" (%1%2 %)").arg(sign, percent);
  }
  return text + ", " + difference.words(figure.is_time());
}

bool told(const ComparedFigure& figure, bool many_points) {
  if (!many_points) {
    return std::any_of(figure.values.begin(), figure.values.end(), [](double value) { return !std::isnan(value); });
  }
  return std::any_of(std::begin(figures_of_many), std::end(figures_of_many), [&](const char* path) { return figure.path == path; });
}

/// A line for each side that has latencies which say more about its machine than about the queue.
QString near_floor_lines(const ComparedPoint& point, const std::vector<ComparedSide>& sides, bool many_points) {
  QString out;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    QStringList near;
    double floor_us = 0;
    for (const ComparedFigure& figure : point.figures) {
      if (!told(figure, many_points) || !figure.is_near_floor(i)) continue;
      near += qt_text(figure.path);
      floor_us = figure.floors_us[i];
    }
    if (!near.isEmpty()) out += "  " + sides[i].name + ", " + below_floor_text(floor_us) + ": " + near.join(", ") + '\n';
  }
  return out;
}

/// A line for each side that has figures which the clocks of its hosts hide.
QString hidden_by_clocks_lines(const ComparedPoint& point, const std::vector<ComparedSide>& sides, bool many_points) {
  QString out;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    QStringList hidden;
    for (const ComparedFigure& figure : point.figures) {
      const double bound_us = figure.clock_bounds[i];
      if (told(figure, many_points) && std::isfinite(bound_us) && std::abs(figure.values[i]) < bound_us) hidden += qt_text(figure.path);
    }
    if (!hidden.isEmpty()) out += "  " + sides[i].name + QString::fromUtf8(", less than its ±: ") + hidden.join(", ") + '\n';
  }
  return out;
}

QString point_block(const ComparedPoint& point, const std::vector<ComparedSide>& sides, bool many_points) {
  std::vector<QStringList> rows{{point.label.isEmpty() ? QString("figure") : point.label}};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    rows.front() += QString("%1 (%2 run%3)").arg(sides[i].name, QString::number(point.repeats[i]), point.repeats[i] == 1 ? "" : "s");
    if (i > 0) rows.front() += QString("against %1").arg(sides[0].name);
  }
  QStringList& verdicts = rows.emplace_back(QStringList("  verdict"));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    verdicts += point.verdict_text(i);
    if (i > 0) verdicts += QString();
  }
  for (const ComparedFigure& figure : point.figures) {
    if (!told(figure, many_points)) continue;
    QStringList row("  " + qt_text(figure.path) + (figure.unit.empty() ? QString() : " " + qt_text(figure.unit)));
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const double value = figure.values[i], bound = figure.clock_bounds[i];
      row += value_text_of(figure, value) + (std::isnan(bound) ? QString() : QString::fromUtf8(" ± ") + clock_bound_text(bound, value));
      if (i > 0) row += difference_text(figure, i);
    }
    rows.push_back(row);
  }
  return in_columns(rows) + hidden_by_clocks_lines(point, sides, many_points) + near_floor_lines(point, sides, many_points) + '\n';
}

/// Null also where a bound is not known: the field beside it says that.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json texts_json(const std::vector<ComparedText>& texts) {
  auto out = nlohmann::ordered_json::object();
  for (const ComparedText& text : texts) {
    for (const QString& value : text.texts) out[text.path.toStdString()].push_back(value.toStdString());
  }
  return out;
}

nlohmann::ordered_json figure_json(const ComparedFigure& figure) {
  nlohmann::ordered_json out = {{"unit", figure.unit}, {"sides", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < figure.values.size(); ++i) {
    nlohmann::ordered_json side = {
        {"value", number(figure.values[i])},
        {"clock_bound_us", number(figure.clock_bounds[i])},
        {"clock_bound_unknown", std::isinf(figure.clock_bounds[i])},
        {"floor_us", number(figure.floors_us[i])},
        {"samples", figure.samples[i]}};
    if (i > 0) {
      const Difference& difference = figure.differences[i];
      side["difference"] = number(difference.difference);
      side["percent"] = number(difference.percent);
      side["difference_clock_bound_us"] = number(difference.clock_bound);
      side["difference_clock_bound_unknown"] = std::isinf(difference.clock_bound);
      const bool has = difference.kind >= Difference::Kind::not_shown;
      side["percent_95"] =
          has ? nlohmann::ordered_json{difference.percent_interval.low, difference.percent_interval.high} : nlohmann::ordered_json();
      side["said"] = difference.words(figure.is_time()).toStdString();
    }
    out["sides"].push_back(std::move(side));
  }
  return out;
}

}  // namespace

QString comparison_text(const Comparison& comparison) {
  QString out =
      texts_block("settings", comparison.settings, comparison.sides) + texts_block("environment", comparison.environment, comparison.sides);
  const bool many = comparison.points.size() > 1;
  for (const ComparedPoint& point : comparison.points) out += point_block(point, comparison.sides, many);
  for (const ComparedSide& side : comparison.sides) {
    for (const QString& left_out : side.left_out) out += "left out: " + left_out + '\n';
  }
  return out;
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  nlohmann::ordered_json out;
  for (const ComparedSide& side : comparison.sides) {
    out["sides"].push_back({{"name", side.name.toStdString()}, {"folder", side.folder.toStdString()}, {"runs", side.runs.size()}});
  }
  out["settings"] = texts_json(comparison.settings);
  out["environment"] = texts_json(comparison.environment);
  out["points"] = nlohmann::ordered_json::array();
  for (const ComparedPoint& point : comparison.points) {
    nlohmann::ordered_json entry = {{"point", point.label.toStdString()}, {"repeats", point.repeats}, {"disturbed", point.disturbed}};
    for (const auto& verdicts : point.verdicts) {
      auto& counts = entry["verdicts"].emplace_back(nlohmann::ordered_json::object());
      for (const auto& [verdict, count] : verdicts) counts[verdict.toStdString()] = count;
    }
    for (const ComparedFigure& figure : point.figures) entry["figures"][figure.path] = figure_json(figure);
    out["points"].push_back(std::move(entry));
  }
  return out;
}

int compare_results(const Arguments& arguments, Terminal& terminal) {
  std::vector<ComparedSide> sides;
  for (const std::string& folder : arguments.folders) {
    QString error;
    terminal.progress("reading " + qt_text(folder));
    auto side = read_side(qt_text(folder), error);
    if (!side) {
      terminal.say("n2nq-bench: " + error);
      return exit_bad_input;
    }
    sides.push_back(std::move(*side));
  }
  place_in_cases(sides);
  const Comparison comparison = compare(std::move(sides));
  const bool printed =
      arguments.json ? terminal.print_json(comparison_json(comparison).dump()) : terminal.print(comparison_text(comparison));
  return printed ? exit_good : exit_failed;
}

}  // namespace n2nq::app
