// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/menu_button.h"

#include <QStyleOptionButton>
#include <QStylePainter>

#include "ui/theme/glyph_icon.h"

namespace n2nq::ui {

namespace {
constexpr int chevron_px = 16;
}

MenuButton::MenuButton(const Theme& theme, QWidget* parent) : QPushButton(parent), theme_(theme) {}

void MenuButton::set_text(const QString& text) {
  full_ = text;
  setAccessibleDescription(text);
  update();
}

void MenuButton::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  QStylePainter painter(this);
  QStyleOptionButton option;
  initStyleOption(&option);
  option.text.clear();
  option.features &= ~QStyleOptionButton::HasMenu;
  painter.drawControl(QStyle::CE_PushButtonBevel, option);
  const Tokens& t = theme_.tokens();
  const int chevron_left = width() - chevron_px - space::between;
  const QRect box(space::card, 0, chevron_left - space::in_row - space::card, height());
  painter.setPen(isEnabled() ? t.text : t.secondary);
  painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(full_, Qt::ElideMiddle, box.width()));
  if (isEnabled()) {
    draw_glyph(painter, Glyph::chevron_down, QRectF(chevron_left, (height() - chevron_px) / 2.0, chevron_px, chevron_px), t.secondary);
  }
}

}  // namespace n2nq::ui
