// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/glyph_icon.h"

#include <QPainter>
#include <QPainterPath>

namespace n2nq::ui {

namespace {

constexpr double grid = 16;  // every glyph is drawn on a grid of 16 x 16

void polyline(QPainter& painter, std::initializer_list<QPointF> points) {
  painter.drawPolyline(points.begin(), static_cast<int>(points.size()));
}

void draw_outlined(QPainter& p, Glyph glyph) {
  switch (glyph) {
    case Glyph::list:
      for (const double y : {4.5, 8.0, 11.5}) p.drawLine(QPointF(3, y), QPointF(13, y));
      break;
    case Glyph::menu:
      for (const double y : {4.0, 8.0, 12.0}) p.drawLine(QPointF(2.5, y), QPointF(13.5, y));
      break;
    case Glyph::chevron_down:
      polyline(p, {{4.5, 6.5}, {8, 10}, {11.5, 6.5}});
      break;
    case Glyph::chevron_up:
      polyline(p, {{4.5, 9.5}, {8, 6}, {11.5, 9.5}});
      break;
    case Glyph::chevron_right:
      polyline(p, {{6.5, 4.5}, {10, 8}, {6.5, 11.5}});
      break;
    case Glyph::close:
      p.drawLine(QPointF(4.5, 4.5), QPointF(11.5, 11.5));
      p.drawLine(QPointF(11.5, 4.5), QPointF(4.5, 11.5));
      break;
    case Glyph::check:
      polyline(p, {{3.5, 8.5}, {6.5, 11.5}, {12.5, 4.5}});
      break;
    case Glyph::copy:
      p.drawRoundedRect(QRectF(5.5, 5.5, 7, 8), 1.5, 1.5);
      polyline(p, {{10, 2.5}, {3, 2.5}, {3, 10.5}});
      break;
    case Glyph::folder:
      p.drawPolygon(QPolygonF{{2.5, 4}, {6.5, 4}, {8, 5.8}, {13.5, 5.8}, {13.5, 12.5}, {2.5, 12.5}});
      break;
    case Glyph::search:
      p.drawEllipse(QPointF(7, 7), 4, 4);
      p.drawLine(QPointF(10, 10), QPointF(13, 13));
      break;
    case Glyph::external:
      polyline(p, {{7, 3}, {3, 3}, {3, 13}, {13, 13}, {13, 9}});
      polyline(p, {{9.5, 3}, {13, 3}, {13, 6.5}});
      p.drawLine(QPointF(13, 3), QPointF(7.5, 8.5));
      break;
    default:
      break;
  }
}

void draw_filled(QPainter& p, Glyph glyph) {
  switch (glyph) {
    case Glyph::play:
      p.drawPolygon(QPolygonF{{4.5, 3}, {13, 8}, {4.5, 13}});
      break;
    case Glyph::stop:
      p.drawRoundedRect(QRectF(4, 4, 8, 8), 1, 1);
      break;
    case Glyph::pause:
      p.drawRect(QRectF(4.5, 4, 2.5, 8));
      p.drawRect(QRectF(9, 4, 2.5, 8));
      break;
    case Glyph::live:
      p.drawPolygon(QPolygonF{{3.5, 4}, {9.5, 8}, {3.5, 12}});
      p.drawRect(QRectF(10.5, 4, 2, 8));
      break;
    default:
      break;
  }
}

bool is_filled(Glyph glyph) {
  return glyph == Glyph::play || glyph == Glyph::stop || glyph == Glyph::pause || glyph == Glyph::live;
}

}  // namespace

void draw_glyph(QPainter& painter, Glyph glyph, const QRectF& box, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(box.topLeft());
  painter.scale(box.width() / grid, box.height() / grid);
  if (is_filled(glyph)) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    draw_filled(painter, glyph);
  } else {
    painter.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    draw_outlined(painter, glyph);
  }
  painter.restore();
}

QIcon glyph_icon(Glyph glyph, const QColor& color, const QColor& disabled) {
  QIcon icon;
  for (const double ratio : {1.0, 2.0}) {
    for (const auto mode : {QIcon::Normal, QIcon::Disabled}) {
      QPixmap pixmap(QSize(16, 16) * ratio);
      pixmap.setDevicePixelRatio(ratio);
      pixmap.fill(Qt::transparent);
      QPainter painter(&pixmap);
      draw_glyph(painter, glyph, QRectF(0, 0, 16, 16), mode == QIcon::Normal ? color : disabled);
      painter.end();
      icon.addPixmap(pixmap, mode);
    }
  }
  return icon;
}

}  // namespace n2nq::ui
