// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/case_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/cli/result_table.h"
#include "app/cli/terminal.h"
#include "app/figure/figure_doubts.h"
#include "app/settings/all_digits.h"

namespace n2nq::app {

namespace {

constexpr int name_width_min = 14, column_width_min = 12;

QString with_unit(const FigureAxis& axis) {
  return axis.unit.isEmpty() ? axis.title : QString("%1 (%2)").arg(axis.title, axis.unit);
}

/// Of all percentiles a histogram has, those that people ask for.
bool is_shown(const Figure& figure, double x) {
  if (!figure.x.percentiles) return true;
  constexpr double percents[] = {50, 75, 90, 95, 97.5, 99.0625, 99.90234375};
  return std::any_of(std::begin(percents), std::end(percents),
                     [x](double percent) { return std::abs(x * (1 - percent / 100) - 1) < 0.005; });
}

QString x_text(const Figure& figure, double x) {
  if (figure.x.percentiles) return QString::number(figure.x.told(x), 'g', 5) + " %";
  if (figure.x.names.isEmpty()) return all_digits(x);
  return figure.x.names.value(static_cast<qsizetype>(x));
}

QString value_text_of(const FigurePoint& point, QStringList& marks) {
  QString text = std::isnan(point.y) ? QString::fromUtf8("–") : figure_text(point.y);
  if (point.low && point.high) text += QString::fromUtf8(" ±") + figure_text(std::max(*point.high - point.y, point.y - *point.low));
  QStringList beside;
  if (const double limit = point.clock_limit(); !std::isnan(limit)) beside += QString::fromUtf8("clocks ±") + clock_bound_text(limit, point.y);
  if (point.few_samples) beside += "few samples";
  if (point.near_floor_us > 0) beside += "floor " + figure_text(point.near_floor_us);
  if (!beside.isEmpty()) text += " (" + beside.join(", ") + ')';
  if (point.why.isEmpty()) return text;
  qsizetype mark = marks.indexOf(point.why);
  if (mark < 0) mark = marks.size(), marks += point.why;
  return text + QString(" [%1]").arg(mark + 1);
}

}  // namespace

QString figure_page(const Figure& figure) {
  // By x, one cell for each series.
  std::map<double, std::vector<QString>> rows;
  QStringList marks;
  Figure told;  // what of it stands there
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    told.series.emplace_back();
    for (const FigurePoint& point : figure.series[s].points) {
      if (!is_shown(figure, point.x)) continue;
      told.series.back().points.push_back(point);
      auto& row = rows[point.x];
      row.resize(figure.series.size());
      row[s] = value_text_of(point, marks);
    }
  }
  QString out = QString::fromUtf8("%1 · %2, %3\n").arg(figure.id, figure.title, with_unit(figure.y));
  const QString corner = with_unit(figure.x);
  int name_width = std::max(name_width_min, static_cast<int>(corner.size()));
  for (const auto& [x, cells] : rows) name_width = std::max(name_width, static_cast<int>(x_text(figure, x).size()));
  std::vector<int> widths;
  QString head = left_aligned(corner, name_width);
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    const QString name = figure.series[s].name.isEmpty() ? QString("all") : figure.series[s].name;
    int width = std::max(column_width_min, static_cast<int>(name.size()));
    for (const auto& [x, cells] : rows) width = std::max(width, static_cast<int>(cells[s].size()));
    widths.push_back(width);
    head += "  " + right_aligned(name, width);
  }
  out += head + '\n';
  for (const auto& [x, cells] : rows) {
    QString line = left_aligned(x_text(figure, x), name_width);
    for (std::size_t s = 0; s < cells.size(); ++s) line += "  " + right_aligned(cells[s], widths[s]);
    out += line + '\n';
  }
  for (qsizetype i = 0; i < marks.size(); ++i) out += QString("[%1] %2\n").arg(i + 1).arg(one_line(marks[i]));
  if (const QStringList doubts = doubts_of(told); !doubts.isEmpty()) out += "In brackets: " + doubts.join("; ") + ".\n";
  for (const FigureSeries& series : figure.series) {
    if (!series.not_run.isEmpty()) out += QString("%1: not run: %2\n").arg(series.name, one_line(series.not_run));
  }
  for (const FigureReference& reference : figure.references) out += QString::fromUtf8("◇ %1\n").arg(reference.text);
  for (const QString& remark : figure.remarks) out += remark + '\n';
  return out;
}

nlohmann::ordered_json figure_json(const Figure& figure) {
  using OrderedJson = nlohmann::ordered_json;
  const auto number = [](double value) { return std::isnan(value) ? OrderedJson() : OrderedJson(value); };
  const auto optional = [](const std::optional<double>& value) { return value ? OrderedJson(*value) : OrderedJson(); };
  OrderedJson out = {{"id", figure.id.toStdString()},
                     {"title", figure.title.toStdString()},
                     {"x", {{"title", figure.x.title.toStdString()}, {"unit", figure.x.percentiles ? "%" : figure.x.unit.toStdString()}}},
                     {"y", {{"title", figure.y.title.toStdString()}, {"unit", figure.y.unit.toStdString()}}},
                     {"series", OrderedJson::array()},
                     {"known", OrderedJson::array()},
                     {"remarks", OrderedJson::array()}};
  for (const FigureSeries& series : figure.series) {
    OrderedJson points = OrderedJson::array();
    for (const FigurePoint& point : series.points) {
      if (!is_shown(figure, point.x)) continue;
      OrderedJson folders = OrderedJson::array();
      for (const QString& folder : point.folders) folders.push_back(folder.toStdString());
      OrderedJson x = figure.x.told(point.x);
      if (!figure.x.names.isEmpty()) x = x_text(figure, point.x).toStdString();
      points.push_back({{"x", std::move(x)},
                        {"y", number(point.y)},
                        {"low", optional(point.low)},
                        {"high", optional(point.high)},
                        {"clock_bound", point.clock_bound > 0 ? OrderedJson(point.clock_bound) : OrderedJson()},
                        {"clock_bound_unknown", point.clock_bound_unknown},
                        {"few_samples", point.few_samples},
                        {"near_floor_us", point.near_floor_us > 0 ? OrderedJson(point.near_floor_us) : OrderedJson()},
                        {"repeats", point.repeats},
                        {"marked", point.why.isEmpty() ? OrderedJson() : OrderedJson(point.why.toStdString())},
                        {"folders", std::move(folders)}});
    }
    OrderedJson entry = {{"name", series.name.toStdString()}, {"points", std::move(points)}};
    if (!series.not_run.isEmpty()) entry["not_run"] = series.not_run.toStdString();
    out["series"].push_back(std::move(entry));
  }
  for (const FigureReference& reference : figure.references) {
    out["known"].push_back({{"text", reference.text.toStdString()}, {"x", optional(reference.x)}, {"y", optional(reference.y)}});
  }
  for (const QString& remark : figure.remarks) out["remarks"].push_back(remark.toStdString());
  return out;
}

QString duration_text(double seconds) {
  const auto all = static_cast<qint64>(std::llround(seconds));
  if (all >= 3600) return QString("%1 h %2 min").arg(all / 3600).arg(all / 60 % 60, 2, 10, QLatin1Char('0'));
  if (all >= 60) return QString("%1 min %2 s").arg(all / 60).arg(all % 60, 2, 10, QLatin1Char('0'));
  return QString("%1 s").arg(all);
}

}  // namespace n2nq::app
