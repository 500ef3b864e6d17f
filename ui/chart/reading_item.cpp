// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/reading_item.h"

#include <QChart>
#include <QFontMetrics>
#include <QPainter>
#include <algorithm>

namespace n2nq::ui {

namespace {
constexpr int marker_room_px = 14;
constexpr int column_gap_px = 16;
}  // namespace

ReadingItem::ReadingItem(QChart* chart) : QGraphicsItem(chart), chart_(chart) {
  setZValue(20);
  setAcceptedMouseButtons(Qt::NoButton);
  hide();
}

void ReadingItem::show_at(double x, const QString& title, std::vector<Line> lines) {
  prepareGeometryChange();
  x_ = x;
  title_ = title;
  lines_ = std::move(lines);
  show();
  update();
}

void ReadingItem::set_style(const Tokens& tokens, const QFont& font) {
  surface_ = tokens.surface;
  border_ = tokens.border;
  text_ = tokens.text;
  secondary_ = tokens.secondary;
  font_ = font;
}

QStringList ReadingItem::texts() const {
  if (!isVisible()) return {};
  QStringList out{title_};
  for (const Line& line : lines_) out << line.name + QStringLiteral(": ") + line.value;
  return out;
}

QRectF ReadingItem::boundingRect() const {
  return chart_->plotArea();
}

QRectF ReadingItem::box() const {
  const QFontMetrics metrics(font_);
  int name = metrics.horizontalAdvance(title_) - marker_room_px, value = 0;
  for (const Line& line : lines_) {
    name = std::max(name, metrics.horizontalAdvance(line.name));
    value = std::max(value, metrics.horizontalAdvance(line.value));
  }
  const double width = 2 * space::between + marker_room_px + name + column_gap_px + value;
  const double height = 2 * space::in_row + metrics.height() * static_cast<double>(lines_.size() + 1) + space::in_row;
  const QRectF plot = chart_->plotArea();
  const bool right = x_ + space::between + width <= plot.right();
  const double left = right ? x_ + space::between : std::max(plot.left(), x_ - space::between - width);
  return {left, plot.top() + space::in_row, width, height};
}

void ReadingItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) {
  Q_UNUSED(option);
  Q_UNUSED(widget);
  const QRectF plot = chart_->plotArea();
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(secondary_, 1));
  painter->drawLine(QPointF(x_, plot.top()), QPointF(x_, plot.bottom()));
  const QRectF frame = box();
  painter->setPen(QPen(border_, 1));
  painter->setBrush(surface_);
  painter->drawRoundedRect(frame, radius_px, radius_px);
  painter->setFont(font_);
  const QFontMetrics metrics(font_);
  double y = frame.top() + space::in_row;
  painter->setPen(secondary_);
  painter->drawText(QPointF(frame.left() + space::between, y + metrics.ascent()), title_);
  y += metrics.height() + space::in_row;
  for (const Line& line : lines_) {
    draw_marker(*painter, line.marker, QPointF(frame.left() + space::between + 4, y + metrics.height() / 2.0), line.color);
    painter->setPen(text_);
    painter->drawText(QPointF(frame.left() + space::between + marker_room_px, y + metrics.ascent()), line.name);
    painter->drawText(QPointF(frame.right() - space::between - metrics.horizontalAdvance(line.value), y + metrics.ascent()), line.value);
    y += metrics.height();
  }
  painter->restore();
}

}  // namespace n2nq::ui
