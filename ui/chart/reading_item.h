// SPDX-License-Identifier: GPL-3.0-or-later
// A line at one instant of a chart, and above the plot, where no data is, the values of all series there.
#pragma once

#include <QGraphicsItem>
#include <QStringList>
#include <vector>

#include "ui/chart/curve_item.h"

namespace n2nq::ui {

class ReadingItem : public QGraphicsItem {
 public:
  struct Line {
    QString name, value;
    QColor color;
    MarkerShape marker;
  };

  explicit ReadingItem(QChart* chart);
  /// `x` in the chart's coordinates.
  void show_at(double x, const QString& title, std::vector<Line> lines);
  void set_style(const Tokens& tokens, const QFont& font);
  QStringList texts() const;
  /// Whether there is room for the names beside the marks, which the legend has, too. A number is never cut.
  bool names_series() const { return width_px(true) <= strip().width(); }

  QRectF boundingRect() const override;
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  QRectF strip() const;
  double width_px(bool named) const;

  QChart* chart_;
  double x_ = 0;
  QString title_;
  std::vector<Line> lines_;
  QColor text_, secondary_;
  QFont font_;
};

}  // namespace n2nq::ui
