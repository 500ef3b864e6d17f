// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/workbook.h"

#include <xlsxwriter.h>

#include <QFile>
#include <set>

#include "app/figure/figure_painter.h"
#include "app/figure/figure_scale.h"

namespace n2nq::app {

namespace {

constexpr int sheet_name_max = 31;
constexpr int column_width_max = 60;

/// Excel takes no names twice, none longer than 31 letters, and no []:*?/\ in them.
QByteArray sheet_name(const QString& id, std::set<QString>& used) {
  QString name = id.left(sheet_name_max);
  for (int i = 2; used.contains(name.toLower()); ++i) name = id.left(sheet_name_max - 4) + '-' + QString::number(i);
  used.insert(name.toLower());
  return name.toUtf8();
}

struct Formats {
  lxw_format *head = nullptr, *grey = nullptr;
};

/// A workbook's cell takes no more, and is left empty otherwise; the table's other forms have all of it.
QByteArray cell_bytes(const QString& text) {
  constexpr qsizetype letters_max = 32'767;  // as the format says
  const QString told = QString::fromUtf8("… (cut: a cell takes no more; the CSV and JSON have all of it)");
  return (text.size() <= letters_max ? text : text.left(letters_max - told.size()) + told).toUtf8();
}

void write_table(lxw_worksheet* sheet, const Table& table, const Formats& formats) {
  for (qsizetype c = 0; c < table.columns.size(); ++c) {
    const auto column = static_cast<lxw_col_t>(c);
    worksheet_write_string(sheet, 0, column, table.columns[c].toUtf8().constData(), formats.head);
    qsizetype width = table.columns[c].size() * 5 / 4;  // bold
    for (const auto& row : table.rows) width = std::max(width, cell_text(row[static_cast<std::size_t>(c)]).size());
    worksheet_set_column(sheet, column, column, static_cast<double>(std::min<qsizetype>(width + 2, column_width_max)), nullptr);
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      const auto row = static_cast<lxw_row_t>(r + 1);
      const auto column = static_cast<lxw_col_t>(c);
      lxw_format* format = table.doubt(r, c).isEmpty() ? nullptr : formats.grey;
      if (const auto* number = std::get_if<double>(&table.rows[r][c])) {
        worksheet_write_number(sheet, row, column, *number, format);
      } else if (const auto* text = std::get_if<QString>(&table.rows[r][c])) {
        worksheet_write_string(sheet, row, column, cell_bytes(*text).constData(), format);
      }
    }
  }
  worksheet_freeze_panes(sheet, 1, 1);
  // On paper as wide as a page, with the head on each.
  worksheet_set_landscape(sheet);
  worksheet_fit_to_pages(sheet, 1, 0);
  worksheet_repeat_rows(sheet, 0, 0);
}

/// In which column of figure_table() a series' y stands.
lxw_col_t column_of(const Table& table, const Figure& figure, const FigureSeries& series) {
  const QString name = series_title(figure, series);
  const QString head = figure.y.unit.isEmpty() ? name : QString("%1 (%2)").arg(name, figure.y.unit);
  return static_cast<lxw_col_t>(std::max<qsizetype>(0, table.columns.indexOf(head)));
}

/// Heat maps and boxes have no native counterpart: their tables stand alone.
void add_chart(lxw_workbook* book, lxw_worksheet* sheet, const QByteArray& name, const Figure& figure, const Table& table) {
  if (figure.kind == Figure::Kind::heat || figure.kind == Figure::Kind::boxes || table.rows.empty()) return;
  const bool bars = figure.kind == Figure::Kind::bars;
  const bool named = !figure.x.names.isEmpty();
  const std::uint8_t type = bars ? LXW_CHART_COLUMN : named ? LXW_CHART_LINE : LXW_CHART_SCATTER_STRAIGHT_WITH_MARKERS;
  lxw_chart* chart = workbook_add_chart(book, type);
  const auto last = static_cast<lxw_row_t>(table.rows.size());
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const FigureSeries& of = figure.series[i];
    const lxw_col_t column = column_of(table, figure, of);
    lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
    chart_series_set_categories(series, name.constData(), 1, 0, last, 0);
    chart_series_set_values(series, name.constData(), 1, column, last, column);
    chart_series_set_name(series, series_title(figure, of).toUtf8().constData());
    const QColor color = print_ink().series[(of.look < 0 ? i : static_cast<std::size_t>(of.look)) % print_ink().series.size()];
    lxw_chart_line line{};
    line.color = color.rgb() & 0xFFFFFF;
    line.width = 1.5f;
    if (of.hollow) line.dash_type = LXW_CHART_LINE_DASH_DASH;  // beside one of its colour
    lxw_chart_fill fill{};
    fill.color = line.color;
    if (bars) {
      chart_series_set_fill(series, &fill);
    } else {
      chart_series_set_line(series, &line);
      chart_series_set_marker_type(series, of.points.size() > 40 ? LXW_CHART_MARKER_NONE : LXW_CHART_MARKER_AUTOMATIC);
    }
  }
  chart_title_set_name(chart, figure.title.toUtf8().constData());
  // A workbook's percentiles are plain percents: their axis is not the logarithmic one of the drawn figure.
  const QString x_title = figure.x.percentiles ? figure.x.title + " (%)" : axis_title(figure.x);
  chart_axis_set_name(chart->x_axis, x_title.toUtf8().constData());
  chart_axis_set_name(chart->y_axis, axis_title(figure.y).toUtf8().constData());
  if (figure.x.logarithmic && !named) chart_axis_set_log_base(chart->x_axis, 10);
  if (figure.y.logarithmic) chart_axis_set_log_base(chart->y_axis, 10);
  if (figure.series.size() == 1) chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
  lxw_chart_options options{};
  options.x_scale = 1.6;
  options.y_scale = 1.6;
  worksheet_insert_chart_opt(sheet, 1, static_cast<lxw_col_t>(table.columns.size() + 1), chart, &options);
}

}  // namespace

QString write_workbook(const QString& path, const Report& report) {
  // Written beside and renamed, as every file is.
  const QString beside = path + ".part";
  lxw_workbook* book = workbook_new(QFile::encodeName(beside).constData());
  if (book == nullptr) return QString("Cannot write %1").arg(path);
  Formats formats{workbook_add_format(book), workbook_add_format(book)};
  format_set_bold(formats.head);
  format_set_font_color(formats.grey, 0x808080);
  std::set<QString> used;
  const auto add = [&](const Table& table) {
    const QByteArray name = sheet_name(table.id, used);
    lxw_worksheet* sheet = workbook_add_worksheet(book, name.constData());
    write_table(sheet, table, formats);
    return std::pair(sheet, name);
  };
  for (const Table& table : report.tables) add(with_remarks(table));
  for (const Figure& figure : report.figures) {
    const Table table = with_remarks(figure_table(figure));
    const auto [sheet, name] = add(table);
    add_chart(book, sheet, name, figure, table);
  }
  for (const Table& table : report.appendix) add(with_remarks(table));
  const lxw_error error = workbook_close(book);
  if (error != LXW_NO_ERROR) {
    QFile::remove(beside);
    return QString("Cannot write %1: %2").arg(path, lxw_strerror(error));
  }
  QFile::remove(path);
  return QFile::rename(beside, path) ? QString() : QString("Cannot write %1").arg(path);
}

}  // namespace n2nq::app
