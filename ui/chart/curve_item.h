// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the curves of a live chart into the plot area of a QChart.
//
// Not QLineSeries, because that cannot leave a gap where a figure was not known, drops a point without neighbours, and asks the chart to
// lay out again with each sample. Each curve carries a marker of its own shape every few seconds, so that colour is not needed to tell them
// apart.
#pragma once

#include <QGraphicsItem>
#include <vector>

#include "ui/chart/chart_history.h"
#include "ui/theme/theme.h"

class QChart;

namespace n2nq::ui {

enum class MarkerShape { circle, square, triangle };

/// Draws one marker; also for legends.
void draw_marker(QPainter& painter, MarkerShape shape, const QPointF& at, const QColor& color);

/// How values of a series become heights in the plot.
struct ValueScale {
  double min = 0, max = 1;
  bool logarithmic = false;
  /// 0 at the bottom of the plot, 1 at its top; NaN where the scale has no place for the value.
  double share(double value) const;
};

class CurveItem : public QGraphicsItem {
 public:
  struct Curve {
    std::size_t series;
    QColor color;
    MarkerShape marker;
    ValueScale scale;
  };

  CurveItem(QChart* chart, const ChartHistory& history);

  void set_curves(std::vector<Curve> curves) { curves_ = std::move(curves); }
  /// `surface` is what labels stand on.
  void set_colors(const QColor& text, const QColor& setting, const QColor& fault, const QColor& surface) {
    text_ = text, setting_ = setting, fault_ = fault, surface_ = surface;
  }
  void set_font(const QFont& font) { font_ = font; }
  /// The time at the plot's left and right edge, and up to when there is something to draw.
  void set_window(double from_s, double to_s, double drawn_to_s) { from_s_ = from_s, to_s_ = to_s, drawn_to_s_ = drawn_to_s; }
  void refresh() { update(); }

  QRectF boundingRect() const override;
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

  double x_of(double t_s) const;
  double t_of(double x) const;

 private:
  void draw_curve(QPainter& painter, const Curve& curve);
  void draw_mark_lines(QPainter& painter, const std::vector<ChartMark>& marks);
  void draw_mark_words(QPainter& painter, const std::vector<ChartMark>& marks);

  QChart* chart_;
  const ChartHistory& history_;
  std::vector<Curve> curves_;
  QColor text_, setting_, fault_, surface_;
  QFont font_;
  double from_s_ = 0, to_s_ = 60, drawn_to_s_ = 0;
  std::vector<QPointF> points_;  // reused
};

}  // namespace n2nq::ui
