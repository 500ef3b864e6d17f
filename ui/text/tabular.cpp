// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/tabular.h"

#include <algorithm>

namespace n2nq::ui {

namespace {

struct Digits {
  double widest = 0;
  bool alike = true;
};

Digits digits_of(const QFontMetricsF& metrics) {
  Digits digits;
  double narrowest = metrics.horizontalAdvance(u'0');
  for (char16_t digit = u'0'; digit <= u'9'; ++digit) {
    const double width = metrics.horizontalAdvance(QChar(digit));
    digits.widest = std::max(digits.widest, width);
    narrowest = std::min(narrowest, width);
  }
  digits.alike = digits.widest - narrowest < 0.01;
  return digits;
}

}  // namespace

double tabular_width(const QFontMetricsF& metrics, const QString& text) {
  const Digits digits = digits_of(metrics);
  if (digits.alike) return metrics.horizontalAdvance(text);
  double width = 0;
  for (const QChar c : text) width += c.isDigit() ? digits.widest : metrics.horizontalAdvance(c);
  return width;
}

void draw_tabular(QPainter& painter, const QPointF& baseline, const QString& text) {
  const QFontMetricsF metrics(painter.font());
  const Digits digits = digits_of(metrics);
  if (digits.alike) return painter.drawText(baseline, text);
  double x = baseline.x();
  for (const QChar c : text) {
    const double width = metrics.horizontalAdvance(c);
    const double cell = c.isDigit() ? digits.widest : width;
    painter.drawText(QPointF(x + (cell - width) / 2, baseline.y()), QString(c));
    x += cell;
  }
}

}  // namespace n2nq::ui
