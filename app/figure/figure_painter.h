// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a figure, the same on screen and in print. Knows no widget and no file; needs a QGuiApplication for its fonts.
//
//   heading (asked for)
//   legend, in as many rows as it takes
//   title of y (unit)
//   ┌ plot ───────────────────────────┐
//   └─────────────────────────────────┘
//                title of x (unit)
//   notes (asked for): what is marked and why, what publications say, remarks
//
// A point with a `why` has a ring around it; one that gave no value stands as a cross on the x axis; one of few samples, or near the floor, is grey.
#pragma once

#include <QColor>
#include <QPainter>
#include <QRectF>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "app/figure/figure.h"
#include "app/figure/figure_scale.h"

namespace n2nq::app {

struct FigureInk {
  QColor paper, text, secondary, grid, warning, bad;
  std::array<QColor, 8> series;  // told apart also by eyes that know no red or green; each has a mark and a dash of its own
};
/// Dark on white.
const FigureInk& print_ink();

struct FigureStyle {
  FigureInk ink = print_ink();
  QString family;       // empty: the application's
  double text_px = 13;  // of titles; numbers are one smaller
  bool heading = true;  // the figure's title
  bool notes = true;
};

class FigurePainter {
 public:
  FigurePainter(Figure figure, FigureStyle style);

  const Figure& figure() const { return figure_; }
  /// How high an area of this width has to be for a plot of `plot_height` and everything around it.
  double height_for(double width, double plot_height) const;
  /// Draws into `area` and remembers where the points came to lie.
  void paint(QPainter& painter, const QRectF& area);
  /// Of what paint() drew last: the nearest point that is at most `reach` away.
  std::optional<FigureHit> hit(QPointF at, double reach) const;
  QPointF place_of(const FigureHit& hit) const;
  QRectF plot() const { return plot_; }

 private:
  /// The plot with the room beside its outermost points.
  QRectF frame() const { return plot_.adjusted(-edge_, 0, edge_, 0); }
  struct Placed {
    FigureHit hit;
    QRectF spot;
  };

  QFont font(double px, bool strong = false) const;
  /// Which colour, dash and mark.
  int look(int series) const;
  QColor color(int series) const;
  QString legend_text(int series) const;
  /// What the clocks leave open of some point is drawn: a band around a curve of many points, else a bar behind each point.
  bool shows_bound() const;
  bool has_marks(const FigureSeries& series) const;
  bool has_band(const FigureSeries& series) const;
  QStringList notes(double width) const;
  /// Names along x that would cover each other are numbers there, and stand among the notes.
  bool is_numbered(double width) const;
  double notes_height(double width) const;
  double legend_rows(double width) const;
  double axis_width() const;
  double line_height(double px) const;

  void make_scales();
  void draw_legend(QPainter& painter, QRectF area) const;
  double draw_legend_entries(QPainter* painter, QRectF area) const;
  void draw_sample(QPainter& painter, int series, QRectF box) const;
  void draw_bound_sample(QPainter& painter, QRectF box) const;
  void draw_axes(QPainter& painter, bool numbered) const;
  void draw_references(QPainter& painter) const;
  void draw_notes(QPainter& painter, QRectF area) const;
  void draw_series(QPainter& painter, int series);
  void draw_line(QPainter& painter, int series);
  void draw_bars(QPainter& painter, int series);
  void draw_boxes(QPainter& painter, int series);
  void draw_heat(QPainter& painter);
  void draw_heat_scale(QPainter& painter, QRectF area) const;
  /// Where what the clocks leave open of a point begins and ends, from above.
  std::pair<double, double> bound_ends(const FigurePoint& point) const;
  void draw_bound(QPainter& painter, const FigurePoint& point, double x, const QColor& ink) const;
  void draw_bound_band(QPainter& painter, const std::vector<FigurePoint>& points, const QColor& ink) const;
  void draw_whiskers(QPainter& painter, const FigurePoint& point, double x, const QColor& color) const;
  void draw_ring(QPainter& painter, const FigurePoint& point, QPointF at) const;
  void remember(int series, int point, QPointF at);
  QPointF position(double x, double y) const;
  QColor heat_color(double value) const;
  bool is_heat() const { return figure_.kind == Figure::Kind::heat; }

  Figure figure_;
  FigureStyle style_;
  FigureScale x_, y_;
  QRectF plot_;
  double edge_ = 0;
  std::vector<Placed> placed_;
};

}  // namespace n2nq::app
