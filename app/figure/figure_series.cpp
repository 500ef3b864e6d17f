// SPDX-License-Identifier: GPL-3.0-or-later
// The part of FigurePainter that draws what was measured: curves, steps, bars, boxes and heat maps.
#include <algorithm>
#include <cmath>

#include "app/figure/figure_marks.h"
#include "app/figure/figure_painter.h"
#include "app/figure/number_text.h"

namespace n2nq::app {

namespace {

constexpr double mark_px = 3.4;
constexpr std::size_t hollow_marks = 12;  // along a curve of many points
constexpr double ring_px = 7.5;
constexpr double cap_px = 3.5;     // half the width of a whisker's end
constexpr double bound_bar_px = 6, bound_bar_share = 0.22, band_share = 0.1;  // how wide, and how much of the curve's colour
constexpr double bar_share = 0.7;  // of the room between two places

QColor with_alpha(QColor color, double share) {
  color.setAlphaF(static_cast<float>(share));
  return color;
}

/// For what tells less than it seems to.
QColor pale(const FigureInk& ink) {
  return QColor((ink.secondary.red() + ink.paper.red()) / 2, (ink.secondary.green() + ink.paper.green()) / 2,
                (ink.secondary.blue() + ink.paper.blue()) / 2);
}

/// The least distance of two places on the x axis, as a share of the plot's width.
double least_step(const Figure& figure, const FigureScale& scale) {
  if (!figure.x.names.isEmpty()) return 1.0 / static_cast<double>(figure.x.names.size());
  double least = 1;
  for (const FigureSeries& series : figure.series) {
    for (std::size_t i = 1; i < series.points.size(); ++i) {
      const double step = scale.place(series.points[i].x) - scale.place(series.points[i - 1].x);
      if (step > 0) least = std::min(least, step);
    }
  }
  return std::min(least, 0.12);
}

}  // namespace

void FigurePainter::draw_series(QPainter& painter, int series) {
  switch (figure_.kind) {
    case Figure::Kind::bars:
      return draw_bars(painter, series);
    case Figure::Kind::boxes:
      return draw_boxes(painter, series);
    default:
      return draw_line(painter, series);
  }
}

void FigurePainter::draw_line(QPainter& painter, int series) {
  const FigureSeries& of = figure_.series[static_cast<std::size_t>(series)];
  const std::vector<FigurePoint>& points = of.points;
  const QColor ink = color(series);
  const bool steps = figure_.kind == Figure::Kind::steps;
  const bool marks = has_marks(of);
  // Every how manieth value has a mark; 0: none.
  const std::size_t marked = marks ? 1 : of.hollow ? (points.size() + hollow_marks - 1) / hollow_marks : 0;
  std::size_t values = 0;
  if (has_band(of)) draw_bound_band(painter, points, ink);
  QPolygonF line;
  bool grey = false;  // the piece being drawn leads to what tells less than it seems to
  const auto flush = [&] {
    painter.setPen(series_pen(look(series), grey ? pale(style_.ink) : ink, series_line_px));
    painter.setBrush(Qt::NoBrush);
    if (line.size() > 1) painter.drawPolyline(line);
    line.clear();
  };
  for (const FigurePoint& point : points) {
    const QPointF at = position(point.x, point.y);
    if (std::isnan(at.x()) || std::isnan(at.y())) {
      flush();
      continue;
    }
    if (point.is_grey() != grey) {
      const QPolygonF before = line;
      flush();
      if (!before.isEmpty()) line << before.last();
      grey = point.is_grey();
    }
    if (steps && !line.isEmpty()) line << QPointF(at.x(), line.last().y());
    line << at;
  }
  flush();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FigurePoint& point = points[i];
    QPointF at = position(point.x, point.y);
    if (std::isnan(at.x())) continue;
    const bool valueless = std::isnan(at.y());
    if (valueless) at.setY(plot_.bottom());
    if (marks) draw_bound(painter, point, at.x(), ink);
    draw_whiskers(painter, point, at.x(), ink);
    if (valueless && point.why.isEmpty()) {  // a gap: nothing came there, or 0 on a logarithmic axis
      remember(series, static_cast<int>(i), at);
      continue;
    }
    if (valueless) {
      painter.setPen(QPen(style_.ink.bad, 1.6));
      draw_mark(painter, 6, at, 4);
    } else if ((marked > 0 && values++ % marked == 0) || !point.why.isEmpty()) {
      const QColor shade = point.is_grey() ? style_.ink.secondary : ink;
      painter.setPen(QPen(shade, 1.2));
      painter.setBrush(point.is_grey() || of.hollow ? style_.ink.paper : shade);
      draw_mark(painter, look(series), at, mark_px);
    }
    draw_ring(painter, point, at);
    remember(series, static_cast<int>(i), at);
  }
}

std::pair<double, double> FigurePainter::bound_ends(const FigurePoint& point) const {
  const double top = position(point.x, point.y + point.clock_bound).y(), bottom = position(point.x, point.y - point.clock_bound).y();
  return {std::max(top, plot_.top()), std::isnan(bottom) ? plot_.bottom() : std::min(bottom, plot_.bottom())};
}

void FigurePainter::draw_bound(QPainter& painter, const FigurePoint& point, double x, const QColor& ink) const {
  if (point.clock_bound <= 0 || std::isnan(point.y)) return;
  const auto [top, bottom] = bound_ends(point);
  painter.fillRect(QRectF(QPointF(x - bound_bar_px / 2, top), QPointF(x + bound_bar_px / 2, bottom)), with_alpha(ink, bound_bar_share));
}

/// Of a curve of many points, where bars would be a wall.
void FigurePainter::draw_bound_band(QPainter& painter, const std::vector<FigurePoint>& points, const QColor& ink) const {
  QPolygonF upper, lower;
  painter.setPen(Qt::NoPen);
  painter.setBrush(with_alpha(ink, band_share));
  const auto flush = [&] {
    std::reverse(lower.begin(), lower.end());
    if (upper.size() > 1) painter.drawPolygon(upper + lower);
    upper.clear();
    lower.clear();
  };
  for (const FigurePoint& point : points) {
    const QPointF at = position(point.x, point.y);
    if (std::isnan(at.x()) || std::isnan(at.y()) || point.clock_bound <= 0) {
      flush();
      continue;
    }
    const auto [top, bottom] = bound_ends(point);
    upper << QPointF(at.x(), top);
    lower << QPointF(at.x(), bottom);
  }
  flush();
}

/// As the points of the first curve that has it show it: a band, or a bar.
void FigurePainter::draw_bound_sample(QPainter& painter, QRectF box) const {
  const bool band = figure_.kind != Figure::Kind::bars && has_band(figure_.series.front());
  // Of one curve in its own colour; that of several is the same in each one's.
  const bool own = figure_.kind != Figure::Kind::bars && figure_.series.size() == 1;
  const double half_width = band ? box.width() / 2 : bound_bar_px / 2, half_height = band ? 5 : 7;
  painter.fillRect(QRectF(box.center().x() - half_width, box.center().y() - half_height, half_width * 2, half_height * 2),
                   with_alpha(own ? color(0) : style_.ink.text, band ? band_share : bound_bar_share));
  if (!band) return;
  painter.setPen(series_pen(look(0), color(0), series_line_px));
  painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()));
}

void FigurePainter::draw_whiskers(QPainter& painter, const FigurePoint& point, double x, const QColor& ink) const {
  if (!point.low || !point.high) return;
  const double top = position(point.x, *point.high).y();
  double bottom = position(point.x, *point.low).y();
  if (std::isnan(bottom) || bottom > plot_.bottom()) bottom = plot_.bottom();
  painter.setPen(QPen(ink, 1.2));
  painter.drawLine(QPointF(x, top), QPointF(x, bottom));
  for (const double y : {top, bottom}) painter.drawLine(QPointF(x - cap_px, y), QPointF(x + cap_px, y));
}

void FigurePainter::draw_ring(QPainter& painter, const FigurePoint& point, QPointF at) const {
  if (point.why.isEmpty()) return;
  painter.setPen(QPen(style_.ink.warning, 1.6));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(at, ring_px, ring_px);
}

void FigurePainter::draw_bars(QPainter& painter, int series) {
  const auto count = static_cast<double>(figure_.series.size());
  const double room = least_step(figure_, x_) * plot_.width() * bar_share, width = room / count;
  const std::vector<FigurePoint>& points = figure_.series[static_cast<std::size_t>(series)].points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FigurePoint& point = points[i];
    const double centre = position(point.x, 0).x(), left = centre - room / 2 + width * series;
    const double foot = figure_.y.logarithmic ? plot_.bottom() : position(point.x, 0).y();
    const double y = position(point.x, point.y).y();
    const double top = std::isnan(y) ? foot : y;
    const QRectF bar = QRectF(QPointF(left, top), QPointF(left + width * 0.92, foot)).normalized();
    // Whose bar a grey one is, its edge says.
    painter.setPen(point.is_grey() ? QPen(color(series), 1.2) : QPen(Qt::NoPen));
    painter.setBrush(point.is_grey() ? with_alpha(style_.ink.secondary, 0.5) : color(series));
    painter.drawRect(bar);
    const double middle = bar.center().x();
    draw_bound(painter, point, middle, style_.ink.text);
    draw_whiskers(painter, point, middle, style_.ink.text);
    if (std::isnan(point.y)) {
      painter.setPen(QPen(style_.ink.bad, 1.6));
      draw_mark(painter, 6, {middle, foot}, 4);
    }
    draw_ring(painter, point, {middle, top});
    placed_.push_back({{series, static_cast<int>(i)}, bar});
  }
}

void FigurePainter::draw_boxes(QPainter& painter, int series) {
  const auto count = static_cast<double>(figure_.series.size());
  const double room = least_step(figure_, x_) * plot_.width() * bar_share, width = room / count;
  const std::vector<FigurePoint>& points = figure_.series[static_cast<std::size_t>(series)].points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FigurePoint& point = points[i];
    const double x = position(point.x, 1).x() - room / 2 + width * (series + 0.5);
    const double y = position(point.x, point.y).y();
    if (!point.box || std::isnan(y)) {
      painter.setPen(QPen(style_.ink.bad, 1.6));
      draw_mark(painter, 6, {x, plot_.bottom()}, 4);
      remember(series, static_cast<int>(i), {x, plot_.bottom()});
      continue;
    }
    const auto at = [&](double value) {
      const double place = position(point.x, value).y();
      return std::isnan(place) ? plot_.bottom() : place;
    };
    const QColor ink = color(series);
    const double half = std::max(1.0, std::min(width * 0.42, 16.0));
    const QRectF box(QPointF(x - half, at(point.box->three_quarters)), QPointF(x + half, at(point.box->quarter)));
    painter.setPen(QPen(ink, 1));
    painter.drawLine(QPointF(x, at(point.box->high)), QPointF(x, box.top()));
    painter.drawLine(QPointF(x, box.bottom()), QPointF(x, at(point.box->low)));
    if (half > 3) {
      for (const double end : {at(point.box->high), at(point.box->low)})
        painter.drawLine(QPointF(x - half / 2, end), QPointF(x + half / 2, end));
    }
    painter.setBrush(with_alpha(ink, 0.3));
    painter.drawRect(box);
    painter.setPen(QPen(ink, 2));
    painter.drawLine(QPointF(x - half, y), QPointF(x + half, y));
    draw_ring(painter, point, {x, y});
    placed_.push_back(
        {{series, static_cast<int>(i)}, QRectF(QPointF(x - half, at(point.box->high)), QPointF(x + half, at(point.box->low)))});
  }
}

// ---- heat maps: pale is low, dark is high, an empty cell has a cross --------------------------------------------------------------------

QColor FigurePainter::heat_color(double value) const {
  const double share = std::clamp(y_.place(value), 0.0, 1.0);
  const QColor high = style_.ink.series[0], low = style_.ink.paper;
  const auto channel = [share](int from, int to) { return static_cast<int>(from + (to - from) * (0.08 + 0.92 * share)); };
  return QColor(channel(low.red(), high.red()), channel(low.green(), high.green()), channel(low.blue(), high.blue()));
}

void FigurePainter::draw_heat(QPainter& painter) {
  const auto rows = static_cast<double>(figure_.series.size());
  const double height = plot_.height() / std::max(1.0, rows), width = plot_.width() * least_step(figure_, x_);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QFontMetricsF metrics(font(style_.text_px - 1));
  painter.setFont(font(style_.text_px - 1));
  double free_from = -1e9;
  for (int row = 0; row < static_cast<int>(figure_.series.size()); ++row) {
    const FigureSeries& series = figure_.series[static_cast<std::size_t>(row)];
    const double top = plot_.top() + height * row;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const FigurePoint& point = series.points[i];
      const double x = plot_.left() + x_.place(point.x) * plot_.width();
      const QRectF cell(x - width / 2, top, width, height);
      if (std::isfinite(y_.place(point.y))) painter.fillRect(cell, heat_color(point.y));
      draw_ring(painter, point, cell.center());
      placed_.push_back({{row, static_cast<int>(i)}, cell});
    }
    if (top < free_from) continue;
    free_from = top + metrics.height();
    painter.save();
    painter.setClipping(false);
    painter.setPen(style_.ink.secondary);
    painter.drawText(QRectF(plot_.left() - 200, top + height / 2 - 10, 194, 20), Qt::AlignRight | Qt::AlignVCenter, series.name);
    painter.restore();
  }
  painter.setRenderHint(QPainter::Antialiasing);
}

void FigurePainter::draw_heat_scale(QPainter& painter, QRectF area) const {
  const QFontMetricsF metrics(font(style_.text_px - 1));
  const QString from = short_number(y_.from()), to = short_number(y_.to());
  constexpr double band_px = 120, height_px = 12, gap = 6;
  const double right = area.right() - metrics.horizontalAdvance(to) - gap * 3, left = right - band_px;
  constexpr int pieces = 40;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (int i = 0; i < pieces; ++i) {
    const double share = (i + 0.5) / pieces;
    const double value =
        figure_.y.logarithmic ? y_.from() * std::pow(y_.to() / y_.from(), share) : y_.from() + (y_.to() - y_.from()) * share;
    painter.fillRect(QRectF(left + band_px * i / pieces, area.center().y() - height_px / 2, band_px / pieces + 1, height_px),
                     heat_color(value));
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font(style_.text_px - 1));
  painter.setPen(style_.ink.secondary);
  painter.drawText(QRectF(left - 200 - gap, area.top(), 200, area.height()), Qt::AlignRight | Qt::AlignVCenter, from);
  painter.drawText(QRectF(right + gap, area.top(), 200, area.height()), Qt::AlignLeft | Qt::AlignVCenter, to);
}

}  // namespace n2nq::app
