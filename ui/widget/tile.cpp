// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/tile.h"

#include <QFontMetrics>
#include <QPainter>

#include "ui/text/tabular.h"
#include "ui/text/tooltip.h"

namespace n2nq::ui {

namespace {
constexpr int pad_px = space::between;
constexpr int pad_vertical_px = 6;
constexpr int minimum_width_px = 72;

QString taint_words(Taint taint) {
  if (taint == Taint::none) return {};
  return taint == Taint::breaks ? QStringLiteral("breaks the run") : QStringLiteral("degrades the run");
}

}  // namespace

Tile::Tile(const Theme& theme, Size size, const QString& meaning, QWidget* parent)
    : QWidget(parent), theme_(theme), size_(size), meaning_(meaning) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&theme, &Theme::changed, this, [this] { update(); });
  describe();
}

void Tile::put(QString& field, const QString& text) {
  if (field == text) return;
  field = text;
  describe();
  update();
}

void Tile::set_figure(const Figure& figure, const QString& exact, const QString& shorter) {
  if (figure.value == figure_.value && figure.unit == figure_.unit && exact == exact_) return;
  figure_ = figure;
  exact_ = exact;
  shorter_ = shorter;
  describe();
  update();
}

void Tile::set_taint(Taint taint) {
  if (taint_ == taint) return;
  taint_ = taint;
  describe();
  update();
}

void Tile::set_dimmed(bool dimmed) {
  if (dimmed_ == dimmed) return;
  dimmed_ = dimmed;
  update();
}

void Tile::describe() {
  const QString value = exact_.isEmpty() ? figure_.text() : exact_;
  const QString taint = taint_words(taint_);
  const QString whole = taint.isEmpty() ? value : value + QStringLiteral("; ") + taint;
  setToolTip(tooltip_of(QStringLiteral("%1: %2\n%3").arg(caption_, whole, meaning_)));
  setAccessibleName(caption_);
  QStringList parts{value, taint, second_, detail_};
  parts.removeAll(QString());
  setAccessibleDescription(parts.join(QStringLiteral(", ")).replace(u'\n', u' '));
}

QString Tile::caption() const {
  return second_.isEmpty() ? caption_ : caption_ + QStringLiteral("; ") + second_;
}

QSize Tile::sizeHint() const {
  const int caption = QFontMetrics(theme_.font(TextStyle::caption)).height();
  const bool large = size_ == Size::large;
  const int value = QFontMetrics(theme_.font(large ? TextStyle::aggregate : TextStyle::strong)).height();
  return {minimum_width_px, 2 * pad_vertical_px + value + (large ? 2 : 1) * caption};
}

QSize Tile::minimumSizeHint() const {
  return sizeHint();
}

void Tile::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(t.background);
  painter.drawRoundedRect(rect(), radius_px, radius_px);

  const bool large = size_ == Size::large;
  const QFont value_font = theme_.font(large ? TextStyle::aggregate : TextStyle::strong);
  const QFont unit_font = theme_.font(large ? TextStyle::body : TextStyle::caption);
  const QFontMetricsF value_metrics(value_font);
  const QFontMetrics caption_metrics(theme_.font(TextStyle::caption));
  const int room = width() - 2 * pad_px;
  const int unit_width = figure_.unit.isEmpty() ? 0 : space::in_row + QFontMetrics(unit_font).horizontalAdvance(figure_.unit);
  const QString sign = taint_sign(taint_);  // at the figure: beside the longest caption there is no room
  QString value = sign + figure_.value;
  if (!shorter_.isEmpty() && tabular_width(value_metrics, value) + unit_width > room) value = sign + shorter_;

  double baseline = pad_vertical_px + value_metrics.ascent();
  painter.setFont(value_font);
  painter.setPen(taint_ == Taint::breaks ? t.bad : taint_ == Taint::degrades ? t.warning : dimmed_ ? t.secondary : t.text);
  draw_tabular(painter, QPointF(pad_px, baseline), value);
  if (!figure_.unit.isEmpty()) {
    painter.setFont(unit_font);
    painter.drawText(QPointF(pad_px + tabular_width(value_metrics, value) + space::in_row, baseline), figure_.unit);
  }
  baseline += value_metrics.descent() + caption_metrics.ascent();
  painter.setFont(theme_.font(TextStyle::caption));
  painter.setPen(t.secondary);
  draw_tabular(painter, QPointF(pad_px, baseline), caption_metrics.elidedText(caption(), Qt::ElideRight, room));
  if (large)
    draw_tabular(painter, QPointF(pad_px, baseline + caption_metrics.height()), caption_metrics.elidedText(detail_, Qt::ElideRight, room));
}

}  // namespace n2nq::ui
