// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/figure/figure_doubts.h"
#include "app/figure/figure_scale.h"
#include "app/figure/number_text.h"
#include "app/settings/all_digits.h"

namespace n2nq::app {

namespace {

QString csv_field(const QString& text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return '"' + QString(text).replace('"', "\"\"") + '"';
}

Cell number(double value) {
  return std::isfinite(value) ? Cell(value) : Cell();
}

QString with_unit(const QString& name, const QString& unit) {
  return unit.isEmpty() ? name : QString("%1 (%2)").arg(name, unit);
}

/// What makes cells of a row tell little, each doubt once: "p50, p99: fewer than 10 samples above it; max: …".
QString remarks_on(const QStringList& columns, const std::vector<QStringList>& doubts) {
  QStringList said;
  std::map<QString, QStringList> columns_of;
  for (std::size_t c = 0; c < doubts.size(); ++c) {
    for (const QString& doubt : doubts[c]) {
      if (!said.contains(doubt)) said += doubt;
      columns_of[doubt] += columns[static_cast<qsizetype>(c)];
    }
  }
  for (QString& doubt : said) doubt = columns_of[doubt].join(", ") + ": " + doubt;
  return said.join("; ");
}

QStringList doubts_at(const FigurePoint* point) {
  if (!point || std::isnan(point->y)) return {};
  QStringList doubts = doubts_of(*point);
  if (const QString doubt = clock_doubt(point->y, point->clock_limit()); !doubt.isEmpty()) doubts += doubt;
  return doubts;
}

/// What the points of a series have beside their y.
struct Parts {
  bool interval = false, bound = false, box = false, why = false;
};

Parts parts_of(const Figure& figure, const FigureSeries& series) {
  Parts parts;
  for (const FigurePoint& point : series.points) {
    parts.interval = parts.interval || point.low || point.high;
    parts.bound = parts.bound || (point.clock_limit() > 0 && figure.kind != Figure::Kind::heat);  // there it is one for all
    parts.box = parts.box || point.box;
    parts.why = parts.why || !point.why.isEmpty();
  }
  return parts;
}

void add_columns(Table& table, const Figure& figure, const FigureSeries& series) {
  const Parts parts = parts_of(figure, series);
  const QString name = series_title(figure, series), unit = figure.y.unit;
  table.columns += with_unit(name, unit);
  if (parts.interval) table.columns += {with_unit(name + ", 95 % from", unit), with_unit(name + ", to", unit)};
  if (parts.bound) table.columns += with_unit(name + QString::fromUtf8(", clocks ±"), unit);
  if (parts.box) {
    for (const char* part : {"low", "quarter", "three quarters", "high"}) table.columns += with_unit(name + ", " + part, unit);
  }
  if (parts.why) table.columns += name + ", marked because";
}

void add_cells(std::vector<Cell>& row, const Figure& figure, const FigureSeries& series, const FigurePoint* point) {
  const Parts parts = parts_of(figure, series);
  const auto optional = [](const std::optional<double>& value) { return value ? number(*value) : Cell(); };
  row.push_back(point ? number(point->y) : Cell());
  if (parts.interval) row.push_back(point ? optional(point->low) : Cell()), row.push_back(point ? optional(point->high) : Cell());
  if (parts.bound) row.push_back(point ? clock_cell(point->clock_limit()) : Cell());
  if (parts.box) {
    for (const auto part : {&FigureBox::low, &FigureBox::quarter, &FigureBox::three_quarters, &FigureBox::high}) {
      row.push_back(point && point->box ? number((*point->box).*part) : Cell());
    }
  }
  if (parts.why) row.push_back(point && !point->why.isEmpty() ? Cell(point->why) : Cell());
}

/// The rest of an opening tag: what is read in words has its key in the title.
QString key_title(const Table& table, const QString& key) {
  return table.read(key) == key ? QString(">") : " title=\"" + key.toHtmlEscaped() + "\">";
}

/// What Figure::clock_bound is about.
const FigureAxis& bounded_axis(const Figure& figure) {
  return figure.kind == Figure::Kind::heat ? figure.y : figure.x;
}

}  // namespace

QString grey_words(std::span<const Table> tables) {
  QStringList doubts;
  for (const Table& table : tables) {
    for (const std::vector<QStringList>& row : table.doubts) {
      for (const QStringList& of_cell : row) doubts += of_cell;
    }
  }
  doubts.removeDuplicates();
  return doubts.isEmpty() ? QString() : "Grey: " + doubts.join("; ") + '.';
}

QString clock_doubt(double value, double limit) {
  if (std::isinf(limit)) return "between two clocks, and not known how far they are apart";
  return std::abs(value) < limit ? QString::fromUtf8("less than its ±: the clocks tell nothing finer") : QString();
}

Cell clock_cell(double limit) {
  return std::isinf(limit) ? Cell(QString("?")) : number(limit);
}

Table with_remarks(Table table) {
  QStringList remarks;
  for (const std::vector<QStringList>& doubts : table.doubts) remarks += remarks_on(table.columns, doubts);
  if (remarks.join(QString()).isEmpty()) return table;
  table.columns += "remarks";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const QString said = remarks.value(static_cast<qsizetype>(r));
    table.rows[r].push_back(said.isEmpty() ? Cell() : Cell(said));
  }
  return table;
}

QString cell_text(const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) return all_digits(*value);
  if (const auto* text = std::get_if<QString>(&cell)) return *text;
  return {};
}

QString cell_short(const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) return short_number(*value);
  return std::holds_alternative<std::monostate>(cell) ? dash() : cell_text(cell);
}

QByteArray csv(const Table& table) {
  const Table told = with_remarks(table);
  QStringList fields;
  for (const QString& column : told.columns) fields += csv_field(column);
  QString out = fields.join(',') + '\n';
  for (const auto& row : told.rows) {
    fields.clear();
    for (const Cell& cell : row) fields += csv_field(cell_text(cell));
    out += fields.join(',') + '\n';
  }
  return out.toUtf8();
}

nlohmann::ordered_json table_json(const Table& table) {
  const Table told = with_remarks(table);
  nlohmann::ordered_json out = {{"id", table.id.toStdString()}, {"title", table.title.toStdString()}};
  out["columns"] = nlohmann::ordered_json::array();
  for (const QString& column : told.columns) out["columns"].push_back(column.toStdString());
  out["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : told.rows) {
    auto cells = nlohmann::ordered_json::array();
    for (const Cell& cell : row) {
      if (const auto* value = std::get_if<double>(&cell)) {
        cells.push_back(*value);
      } else {
        const auto* text = std::get_if<QString>(&cell);
        cells.push_back(text ? nlohmann::ordered_json(text->toStdString()) : nlohmann::ordered_json());
      }
    }
    out["rows"].push_back(std::move(cells));
  }
  return out;
}

bool Table::has_numbers(std::size_t column) const {
  return !is_of_keys() && std::any_of(rows.begin(), rows.end(), [column](const auto& row) {
    return column < row.size() && std::holds_alternative<double>(row[column]);
  });
}

QString html(const Table& table) {
  QString out =
      QString("<table id=\"table-%1\"%2>\n<thead><tr>").arg(table.id.toHtmlEscaped(), table.is_of_keys() ? " class=\"keys\"" : "");
  std::vector<bool> numbers;  // by column
  for (const QString& column : table.columns) {
    numbers.push_back(table.has_numbers(numbers.size()));
    out += (numbers.back() ? "<th class=\"number\"" : "<th") + key_title(table, column) + table.read(column).toHtmlEscaped() + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      const Cell& cell = table.rows[r][c];
      const bool is_key = table.has_keys(c) && std::holds_alternative<QString>(cell);
      const QString text = is_key ? table.read(cell_text(cell)) : cell_short(cell);
      QString head = (c < numbers.size() && numbers[c] ? "<td class=\"word\"" : "<td") +
                     (is_key ? key_title(table, cell_text(cell)) : QString(">"));
      if (std::holds_alternative<double>(cell)) {
        const QString all = cell_text(cell);
        const QString doubt = table.doubt(r, c);
        head = doubt.isEmpty() ? "<td class=\"number\"" : "<td class=\"number few\"";
        const QString title = doubt.isEmpty() ? all : all + " (" + doubt + ')';
        head += text == title ? QString(">") : " title=\"" + title.toHtmlEscaped() + "\">";
      }
      out += head + text.toHtmlEscaped() + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

Table figure_table(const Figure& figure) {
  Table table{.id = figure.id, .title = figure.title, .columns = {}, .rows = {}, .doubts = {}};
  table.columns += axis_title(figure.x);
  if (figure.x.percentiles) table.columns.first() = figure.x.title + " (%)";
  std::map<double, std::vector<const FigurePoint*>> rows;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    add_columns(table, figure, figure.series[s]);
    for (const FigurePoint& point : figure.series[s].points) {
      auto& row = rows[point.x];
      row.resize(figure.series.size());
      row[s] = &point;
    }
  }
  const bool has_bound = figure.clock_bound > 0;
  if (has_bound) table.columns += with_unit(bounded_axis(figure).title + QString::fromUtf8(", clocks ±"), bounded_axis(figure).unit);
  for (const auto& [x, points] : rows) {
    const auto name = static_cast<qsizetype>(x);
    const bool named = name >= 0 && name < figure.x.names.size();
    std::vector<Cell> row{named ? Cell(figure.x.names[name]) : number(figure.x.told(x))};
    std::vector<QStringList> doubts;
    for (std::size_t s = 0; s < figure.series.size(); ++s) {
      doubts.resize(row.size());
      doubts.push_back(doubts_at(points[s]));
      add_cells(row, figure, figure.series[s], points[s]);
    }
    if (has_bound) row.push_back(number(figure.clock_bound));
    table.rows.push_back(std::move(row));
    table.doubts.push_back(std::move(doubts));
  }
  return table;
}

}  // namespace n2nq::app
