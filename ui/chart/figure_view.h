// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a figure. The mouse (or the arrow keys) says what the nearest point is; a click (or Enter) tells which run folders it came from.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "app/figure/figure_painter.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class FigureView : public QWidget {
  Q_OBJECT
 public:
  explicit FigureView(Theme& theme, QWidget* parent = nullptr);

  /// Whoever reads a point goes on reading it, if the figure still has it.
  void set_figure(const app::Figure& figure);
  const app::Figure& figure() const { return figure_; }
  /// Below the plot, as in print: what is marked and why, what publications say, remarks. On by default.
  void set_notes(bool shown);
  /// Where a point was drawn, in this widget; null before it was shown.
  QPointF place_of(const app::FigureHit& hit) const { return painter_->place_of(hit); }

  QSize minimumSizeHint() const override { return {280, 200}; }
  QSize sizeHint() const override { return {640, 400}; }

 signals:
  void point_clicked(n2nq::app::FigureHit hit, const QStringList& folders);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void renew();
  void show_hit(std::optional<app::FigureHit> hit);
  void tell_hit();
  void draw_hit(QPainter& painter) const;
  int point_count(int series) const;
  int series_with_points(int from, int by) const;
  void step(int by);
  void step_over(int by);
  void click();

  Theme& theme_;
  app::Figure figure_;
  bool notes_ = true;
  std::unique_ptr<app::FigurePainter> painter_;
  std::optional<app::FigureHit> hit_;
};

/// The point of a figure that was made anew, by what it stands for.
std::optional<app::FigureHit> find_point(const app::Figure& figure, const QString& series, double x);

/// The theme's colours for drawing figures.
app::FigureStyle figure_style(const Theme& theme);

}  // namespace n2nq::ui
