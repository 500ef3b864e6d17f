// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/reading_item.h"

#include <QChart>
#include <QFontMetrics>
#include <QPainter>
#include <algorithm>

namespace n2nq::ui {

namespace {
constexpr int marker_room_px = 14;
constexpr int column_gap_px = space::card;
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
  return chart_->plotArea() | strip();
}

// Between the units of the axes.
QRectF ReadingItem::strip() const {
  const QRectF plot = chart_->plotArea();
  return {plot.left(), 0, plot.width(), QFontMetrics(font_).height() + 2.0};
}

double ReadingItem::width_px(bool named) const {
  const QFontMetrics metrics(font_);
  double width = metrics.horizontalAdvance(title_);
  for (const Line& line : lines_) {
    width += column_gap_px + marker_room_px + metrics.horizontalAdvance(line.value);
    if (named) width += metrics.horizontalAdvance(line.name) + space::in_row;
  }
  return width;
}

void ReadingItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) {
  Q_UNUSED(option);
  Q_UNUSED(widget);
  const QRectF plot = chart_->plotArea(), room = strip();
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(secondary_, 1));
  painter->drawLine(QPointF(x_, plot.top()), QPointF(x_, plot.bottom()));
  painter->setFont(font_);
  const QFontMetrics metrics(font_);
  const double baseline = room.top() + metrics.ascent();
  double x = room.left();
  painter->setPen(secondary_);
  painter->drawText(QPointF(x, baseline), title_);
  x += metrics.horizontalAdvance(title_) + column_gap_px;
  const bool named = names_series();
  for (const Line& line : lines_) {
    draw_marker(*painter, line.marker, QPointF(x + space::in_row, room.top() + metrics.height() / 2.0), line.color);
    x += marker_room_px;
    if (named) {
      painter->setPen(secondary_);
      painter->drawText(QPointF(x, baseline), line.name);
      x += metrics.horizontalAdvance(line.name) + space::in_row;
    }
    painter->setPen(text_);
    painter->drawText(QPointF(x, baseline), line.value);
    x += metrics.horizontalAdvance(line.value) + column_gap_px;
  }
  painter->restore();
}

}  // namespace n2nq::ui
