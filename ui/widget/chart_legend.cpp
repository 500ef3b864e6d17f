// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/chart_legend.h"

#include <QFontMetrics>
#include <QPainter>

namespace n2nq::ui {

namespace {
constexpr int line_px = 18;
}

ChartLegend::ChartLegend(const Theme& theme, const LiveChart& chart, QWidget* parent)
    : QWidget(parent), theme_(theme), spec_(chart.spec()) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  take_names();
  connect(&chart, &LiveChart::series_named, this, &ChartLegend::take_names);
  connect(&theme, &Theme::changed, this, [this] { updateGeometry(); });
}

void ChartLegend::take_names() {
  QStringList names;
  for (const auto& series : spec_.series) names << series.name;
  setAccessibleName(QStringLiteral("Series: ") + names.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

QSize ChartLegend::sizeHint() const {
  const QFontMetrics metrics(theme_.font(TextStyle::caption));
  int width = 0;
  for (const auto& series : spec_.series) width += line_px + space::in_row + metrics.horizontalAdvance(series.name) + space::card;
  return {width, metrics.height() + space::in_row};
}

void ChartLegend::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  const QFont font = theme_.font(TextStyle::caption);
  const QFontMetrics metrics(font);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font);
  int x = 0;
  for (const auto& series : spec_.series) {
    const QColor color = t.series[series.color];
    const double middle = height() / 2.0;
    painter.setPen(QPen(color, series_line_px));
    painter.drawLine(QPointF(x, middle), QPointF(x + line_px, middle));
    draw_marker(painter, series.marker, QPointF(x + line_px / 2.0, middle), color);
    x += line_px + space::in_row;
    painter.setPen(t.text);
    painter.drawText(QPointF(x, middle + (metrics.ascent() - metrics.descent()) / 2.0), series.name);
    x += metrics.horizontalAdvance(series.name) + space::card;
  }
}

}  // namespace n2nq::ui
