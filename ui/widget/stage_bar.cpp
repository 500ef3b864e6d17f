// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/stage_bar.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>
#include <cmath>
#include <utility>

#include "ui/text/figures.h"
#include "ui/text/tabular.h"

namespace n2nq::ui {

namespace {

constexpr int bar_px = 16;
constexpr int chip_px = 8;
constexpr std::array<const char*, 4> names = {"lag", "to N2NQ", "in queue", "to receiver"};
constexpr std::array<const char*, 4> meanings = {"planned to actual send", "actual send until N2NQ has read it",
                                                 "read by N2NQ until sent on", "sent on until the receiver has read it"};

}  // namespace

StageBar::StageBar(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setObjectName(QStringLiteral("stage_bar"));
  setAccessibleName(QStringLiteral("Where the time goes"));
  connect(&theme, &Theme::changed, this, [this] { update(); });
  clear();
}

void StageBar::clear() {
  means_us_.fill(app::unknown);
  tails_ = {};
  bounds_ = {};
  past_ = false;
  tell_heading();
  describe();
  update();
}

void StageBar::tell_heading() {
  if (const QString now = heading(); std::exchange(heading_told_, now) != now) emit heading_changed(now);
}

/// Beside a stage there is no room for words.
QString StageBar::heading() const {
  bool any_below = false;
  for (std::size_t i = 0; i < stage_count; ++i) any_below = any_below || is_below(bounds_[i], means_us_[i]);
  return past_       ? QStringLiteral("Where the time went, as far as the receivers told")
         : any_below ? QStringLiteral("Where the time goes (means; grey: no finer than their ±)")
                     : QStringLiteral("Where the time goes (means: they add up)");
}

void StageBar::set_figures(const app::LiveFigures& figures) {
  const auto& s = figures.stages;
  // Without a plan there is no lag; the others are known together or not at all.
  const bool known = !std::isnan(s.to_broker_us) && !std::isnan(s.in_queue_us) && !std::isnan(s.to_receiver_us);
  past_ = !known && !std::isnan(means_us_.back());
  if (!known) return tell_heading();
  means_us_ = {s.lag_us, s.to_broker_us, s.in_queue_us, s.to_receiver_us};
  const auto& tails = figures.stage_tails;
  tails_ = {tails.lag, tails.to_broker, tails.in_queue, tails.to_receiver};
  bounds_ = {app::ClockBound(), figures.clocks.to_broker, app::ClockBound(), figures.clocks.to_receiver};
  tell_heading();
  describe();
  update();
}

void StageBar::describe() {
  QStringList lines;
  for (std::size_t i = 0; i < stage_count; ++i) {
    QString line = QStringLiteral("%1: mean %2 (%3)")
                       .arg(QString::fromUtf8(names[i]), time_figure(means_us_[i]).text(), QString::fromUtf8(meanings[i]));
    if (bounds_[i].apart)
      line += QStringLiteral("\n    ") + bound_explained(bounds_[i], means_us_[i], Ways::one).replace(u'\n', QStringLiteral("\n    "));
    const app::Percentiles& tail = tails_[i];
    if (tail.count > 0) {
      line += QStringLiteral("\n    p50 %1, p95 %2, p99 %3, max %4")
                  .arg(time_figure(tail.p50_us).text(), time_figure(tail.p95_us).text(), time_figure(tail.p99_us).text(),
                       time_figure(tail.max_us).text());
    }
    lines << line;
  }
  setToolTip(lines.join(u'\n'));
  setAccessibleDescription(lines.join(QStringLiteral("; ")).simplified());
}

std::array<QColor, StageBar::stage_count> StageBar::colors() const {
  const Tokens& t = theme_.tokens();
  return {t.series[7], t.series[5], t.primary, t.series[4]};  // shades of one colour cannot be told apart in small squares
}

QSize StageBar::sizeHint() const {
  const int caption = QFontMetrics(theme_.font(TextStyle::caption)).height();
  const int value = QFontMetrics(theme_.font(TextStyle::body)).height();
  return {4 * 80, bar_px + space::between + caption + value + caption};  // the last line is that of the bounds
}

QSize StageBar::minimumSizeHint() const {
  return sizeHint();
}

void StageBar::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const auto color = colors();

  QPainterPath clip;
  clip.addRoundedRect(QRectF(0, 0, width(), bar_px), 3, 3);
  painter.save();
  painter.setClipPath(clip);
  painter.fillRect(QRectF(0, 0, width(), bar_px), t.border);
  double sum = 0;
  for (const double mean : means_us_) sum += std::isnan(mean) ? 0 : std::max(mean, 0.0);
  double x = 0;
  for (std::size_t i = 0; i < stage_count && sum > 0; ++i) {
    const double part = std::isnan(means_us_[i]) ? 0 : std::max(means_us_[i], 0.0) / sum * width();
    painter.fillRect(QRectF(x, 0, part, bar_px), color[i]);
    x += part;
  }
  painter.restore();

  const QFont caption_font = theme_.font(TextStyle::caption), value_font = theme_.font(TextStyle::body);
  const QFontMetrics caption(caption_font), value(value_font);
  const double column = width() / static_cast<double>(stage_count);
  for (std::size_t i = 0; i < stage_count; ++i) {
    const int left = static_cast<int>(column * static_cast<double>(i));
    const int top = bar_px + space::between;
    painter.fillRect(QRectF(left, top + (caption.height() - chip_px) / 2.0, chip_px, chip_px), color[i]);
    const int text_left = left + chip_px + space::in_row;
    painter.setFont(caption_font);
    painter.setPen(t.secondary);
    painter.drawText(text_left, top + caption.ascent(), QString::fromUtf8(names[i]));
    painter.setFont(value_font);
    painter.setPen(past_ || is_below(bounds_[i], means_us_[i]) ? t.secondary : t.text);
    draw_tabular(painter, QPointF(text_left, top + caption.height() + value.ascent()), time_figure(means_us_[i]).text());
    if (std::isnan(means_us_[i])) continue;
    painter.setFont(caption_font);
    painter.setPen(t.secondary);
    draw_tabular(painter, QPointF(text_left, top + caption.height() + value.height() + caption.ascent()), bound_text(bounds_[i]));
  }
}

}  // namespace n2nq::ui
