// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/log/log_heading.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTextDocument>
#include <algorithm>

namespace n2nq::ui {

namespace {

/// With a gap: the longest stamp, a minute in µs, eight digits.
int letters_of(const QString& column) {
  if (column.endsWith(QLatin1String("_ns"))) return 16;
  return std::max(column.endsWith(QLatin1String("_us")) ? 12 : 9, static_cast<int>(column.size()) + 1);
}

}  // namespace

LogHeading::LogHeading(const QPlainTextEdit& view, const Theme& theme, QWidget* parent) : QWidget(parent), view_(view), theme_(theme) {
  setObjectName(QStringLiteral("log_heading"));
  setAccessibleName(QStringLiteral("Columns of the log"));
  setToolTip(QStringLiteral("What stands in each column; stamps are nanoseconds of the host named in the log's head"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(view.horizontalScrollBar(), &QScrollBar::valueChanged, this, qOverload<>(&QWidget::update));
  hide();
}

void LogHeading::set_columns(const QString& columns) {
  if (columns == columns_) return;
  columns_ = columns;
  setAccessibleDescription(QString(columns).replace(u'\t', QStringLiteral(", ")));
  setVisible(!columns.isEmpty());
  update();
}

QList<double> LogHeading::stops() const {
  const double letter_px = QFontMetricsF(view_.font()).horizontalAdvance('0');
  QList<double> out;
  double at = 0;
  for (const QString& column : columns_.split(u'\t')) out += at += letters_of(column) * letter_px;
  return out;
}

QSize LogHeading::sizeHint() const {
  return {0, QFontMetrics(view_.font()).height()};
}

void LogHeading::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  QPainter painter(this);
  painter.setFont(view_.font());
  painter.setPen(theme_.tokens().secondary);
  const double left = view_.frameWidth() + view_.document()->documentMargin() - view_.horizontalScrollBar()->value();
  const int baseline = QFontMetrics(view_.font()).ascent();
  const QStringList names = columns_.split(u'\t');
  const QList<double> ends = stops();
  for (qsizetype at = 0; at < names.size(); ++at) {
    painter.drawText(QPointF(left + (at == 0 ? 0 : ends[at - 1]), baseline), names[at]);
  }
}

}  // namespace n2nq::ui
