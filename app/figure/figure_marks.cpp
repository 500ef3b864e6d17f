// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_marks.h"

#include <array>

namespace n2nq::app {

void draw_mark(QPainter& painter, int look, QPointF at, double radius) {
  const double r = radius, x = at.x(), y = at.y();
  const auto polygon = [&](std::initializer_list<QPointF> corners) { painter.drawPolygon(QPolygonF(QList<QPointF>(corners))); };
  switch (look % mark_shapes) {
    case 0:
      return painter.drawEllipse(at, r, r);
    case 1:
      return painter.drawRect(QRectF(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76));
    case 2:
      return polygon({{x, y - r * 1.2}, {x + r * 1.1, y + r * 0.8}, {x - r * 1.1, y + r * 0.8}});
    case 3:
      return polygon({{x, y - r * 1.25}, {x + r * 1.25, y}, {x, y + r * 1.25}, {x - r * 1.25, y}});
    case 4:
      return polygon({{x, y + r * 1.2}, {x + r * 1.1, y - r * 0.8}, {x - r * 1.1, y - r * 0.8}});
    case 5:
      painter.drawLine(QPointF(x - r, y), QPointF(x + r, y));
      return painter.drawLine(QPointF(x, y - r), QPointF(x, y + r));
    case 6:
      painter.drawLine(QPointF(x - r, y - r), QPointF(x + r, y + r));
      return painter.drawLine(QPointF(x - r, y + r), QPointF(x + r, y - r));
    default:
      return polygon({{x - r * 1.2, y}, {x, y - r * 0.7}, {x + r * 1.2, y}, {x, y + r * 0.7}});
  }
}

QPen series_pen(int look, const QColor& color, double width) {
  static const std::array<QList<qreal>, 4> dashes = {QList<qreal>{}, {6, 3}, {2, 2.5}, {8, 3, 2, 3}};
  QPen pen(color, width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
  const QList<qreal>& dash = dashes[static_cast<std::size_t>(look) % dashes.size()];
  if (!dash.isEmpty()) pen.setDashPattern(dash);
  return pen;
}

}  // namespace n2nq::app
