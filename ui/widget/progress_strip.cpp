// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/progress_strip.h"

#include <QFontMetrics>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace n2nq::ui {

namespace {
constexpr int bar_px = 6;
// As long as they get; a run of more than an hour is told in hours and minutes.
constexpr const char* longest_texts[] = {"100 % · 59 min 59 s left", "open end · 59 min 59 s", "warm-up · 59 min 59 s",
                                         "draining ≤ 59 min 59 s"};
}  // namespace

ProgressStrip::ProgressStrip(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setObjectName(QStringLiteral("progress"));
  setAccessibleName(QStringLiteral("Progress of the run"));
  tell();
  connect(&theme, &Theme::changed, this, [this] { updateGeometry(); });
}

void ProgressStrip::set_progress(double share, const QString& text, Tone tone) {
  if (share == share_ && text == text_ && tone == tone_) return;
  share_ = share;
  tone_ = tone;
  text_ = text;
  setAccessibleDescription(text);
  tell();
  update();
}

void ProgressStrip::tell() {
  const QString meaning =
      QStringLiteral("How far the run is by its plan, and the time left, warm-up included (open end: the time since the start); at its end how much "
                     "of what was planned was sent");
  setToolTip(text_.isEmpty() ? meaning : text_ + u'\n' + meaning);
}

QSize ProgressStrip::sizeHint() const {
  // In fractions of a pixel: a text that is rounded down to what it gets is cut.
  const QFontMetricsF caption(theme_.font(TextStyle::caption));
  qreal widest = 0;
  for (const char* text : longest_texts) widest = std::max(widest, caption.horizontalAdvance(QString::fromUtf8(text)));
  return {static_cast<int>(std::ceil(widest)), bar_px + space::in_row + static_cast<int>(std::ceil(caption.height()))};
}

void ProgressStrip::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(t.border);
  painter.drawRoundedRect(QRectF(0, 2, width(), bar_px), bar_px / 2.0, bar_px / 2.0);
  if (share_ > 0) {
    painter.setBrush(tone_ == Tone::good ? t.good : t.bad);
    painter.drawRoundedRect(QRectF(0, 2, std::max<double>(bar_px, width() * std::min(share_, 1.0)), bar_px), bar_px / 2.0, bar_px / 2.0);
  }
  painter.setFont(theme_.font(TextStyle::caption));
  painter.setPen(t.secondary);
  painter.drawText(QRect(0, bar_px + space::in_row, width(), height() - bar_px - space::in_row), Qt::AlignLeft | Qt::AlignBottom,
                   painter.fontMetrics().elidedText(text_, Qt::ElideRight, width()));
}

}  // namespace n2nq::ui
