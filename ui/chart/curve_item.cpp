// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/curve_item.h"

#include <QChart>
#include <QFontMetrics>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

namespace n2nq::ui {

namespace {

/// A line is drawn in pieces of so many points: filling the outline of a long one costs far more than filling those of its pieces.
constexpr std::size_t piece_points = 12;
constexpr double marker_every_s = 5;
constexpr double marker_px = 3;
constexpr int mark_rows_max = 5;
constexpr int mark_ground_alpha = 216;  // what is behind a word is still seen
constexpr int mark_word_px = 340;
constexpr double gap_after_s = 1.0;  // samples come ten a second; a longer silence is not bridged by a line

}  // namespace

void draw_marker(QPainter& painter, MarkerShape shape, const QPointF& at, const QColor& color) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  switch (shape) {
    case MarkerShape::circle:
      painter.drawEllipse(at, marker_px, marker_px);
      break;
    case MarkerShape::square:
      painter.drawRect(QRectF(at.x() - marker_px + 0.4, at.y() - marker_px + 0.4, 2 * marker_px - 0.8, 2 * marker_px - 0.8));
      break;
    case MarkerShape::triangle:
      painter.drawPolygon(QPolygonF{{at.x(), at.y() - marker_px - 0.6},
                                    {at.x() + marker_px + 0.6, at.y() + marker_px},
                                    {at.x() - marker_px - 0.6, at.y() + marker_px}});
      break;
  }
}

double ValueScale::share(double value) const {
  if (!logarithmic) return (value - min) / (max - min);
  if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::log(value / min) / std::log(max / min);
}

CurveItem::CurveItem(QChart* chart, const ChartHistory& history) : QGraphicsItem(chart), chart_(chart), history_(history) {
  setZValue(10);
  setAcceptedMouseButtons(Qt::NoButton);
}

QRectF CurveItem::boundingRect() const {
  return chart_->plotArea();
}

double CurveItem::x_of(double t_s) const {
  const QRectF plot = chart_->plotArea();
  return plot.left() + (t_s - from_s_) / (to_s_ - from_s_) * plot.width();
}

double CurveItem::t_of(double x) const {
  const QRectF plot = chart_->plotArea();
  return plot.width() <= 0 ? to_s_ : from_s_ + (x - plot.left()) / plot.width() * (to_s_ - from_s_);
}

void CurveItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) {
  Q_UNUSED(option);
  Q_UNUSED(widget);
  painter->save();
  painter->setClipRect(chart_->plotArea());
  painter->setRenderHint(QPainter::Antialiasing);
  const std::vector<ChartMark> marks = history_.marks_between(from_s_, drawn_to_s_);
  draw_mark_lines(*painter, marks);
  for (const Curve& curve : curves_) draw_curve(*painter, curve);
  draw_mark_words(*painter, marks);
  painter->restore();
}

void CurveItem::draw_mark_lines(QPainter& painter, const std::vector<ChartMark>& marks) {
  const QRectF plot = chart_->plotArea();
  for (const ChartMark& mark : marks) {
    painter.setPen(QPen(mark.is_fault ? fault_ : setting_, 1, Qt::DashLine));
    painter.drawLine(QPointF(x_of(mark.t_s), plot.top()), QPointF(x_of(mark.t_s), plot.bottom()));
  }
}

// Where one has room: on one of a few lines of text, so that words never cover each other.
void CurveItem::draw_mark_words(QPainter& painter, const std::vector<ChartMark>& marks) {
  const QRectF plot = chart_->plotArea();
  QColor ground = surface_;
  ground.setAlpha(mark_ground_alpha);
  painter.setFont(font_);
  const QFontMetrics metrics(font_);
  const auto rows = static_cast<std::size_t>(std::clamp(static_cast<int>(plot.height() / 3 / metrics.height()), 1, mark_rows_max));
  std::vector<double> taken_to(rows, -1e9);
  for (const ChartMark& mark : marks) {
    const double x = x_of(mark.t_s);
    const QString word = metrics.elidedText(mark.word, Qt::ElideRight, std::min(mark_word_px, static_cast<int>(plot.width() / 2)));
    const double width = metrics.horizontalAdvance(word);
    const double left = x + space::in_row + width < plot.right() ? x + space::in_row : x - space::in_row - width;
    const auto row = std::find_if(taken_to.begin(), taken_to.end(), [left](double end) { return end < left; });
    if (row == taken_to.end()) continue;
    *row = left + width + space::between;
    const double top = plot.top() + static_cast<double>(row - taken_to.begin()) * metrics.height();
    painter.fillRect(QRectF(left - 1, top, width + 2, metrics.height()), ground);
    painter.setPen(text_);
    painter.drawText(QPointF(left, top + metrics.ascent()), word);
  }
}

void CurveItem::draw_curve(QPainter& painter, const Curve& curve) {
  const QRectF plot = chart_->plotArea();
  // One sample more on either side, so that lines run to the edges.
  std::size_t at = history_.index_from(from_s_);
  if (at > 0) --at;
  std::size_t end = std::min(history_.index_from(drawn_to_s_) + 1, history_.size());
  const QPen pen(curve.color, series_line_px, Qt::SolidLine, Qt::FlatCap, Qt::BevelJoin);
  std::vector<QPointF> markers;
  points_.clear();
  const auto flush = [&] {
    if (points_.size() == 1) markers.push_back(points_.front());
    if (points_.size() > 1) {
      painter.setPen(pen);
      painter.setBrush(Qt::NoBrush);
      for (std::size_t from = 0; from + 1 < points_.size(); from += piece_points - 1) {
        painter.drawPolyline(points_.data() + from, static_cast<int>(std::min(piece_points, points_.size() - from)));
      }
    }
    points_.clear();
  };
  double before_s = 0;
  for (; at < end; ++at) {
    const double t_s = history_.time(at);
    const double share = curve.scale.share(history_.value(curve.series, at));
    if (std::isnan(share) || (!points_.empty() && t_s - before_s > gap_after_s)) flush();
    if (std::isnan(share)) continue;
    const QPointF point(x_of(t_s), plot.bottom() - std::clamp(share, -1.0, 2.0) * plot.height());
    if (!points_.empty() && std::floor(t_s / marker_every_s) != std::floor(before_s / marker_every_s)) markers.push_back(point);
    points_.push_back(point);
    before_s = t_s;
  }
  flush();
  for (const QPointF& marker : markers) draw_marker(painter, curve.marker, marker, curve.color);
}

}  // namespace n2nq::ui
