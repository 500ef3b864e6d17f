// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/progress_line.h"

#include <QPainter>
#include <algorithm>

namespace n2nq::ui {

namespace {
constexpr int line_px = 6;
}

ProgressLine::ProgressLine(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setFixedHeight(line_px);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ProgressLine::set_share(double share) {
  share = std::clamp(share, 0.0, 1.0);
  if (share == share_) return;
  share_ = share;
  update();
}

void ProgressLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_.tokens().border);
  painter.drawRoundedRect(rect(), line_px / 2.0, line_px / 2.0);
  if (share_ <= 0) return;
  painter.setBrush(theme_.tokens().good);
  painter.drawRoundedRect(QRectF(0, 0, std::max<double>(line_px, width() * share_), line_px), line_px / 2.0, line_px / 2.0);
}

}  // namespace n2nq::ui
