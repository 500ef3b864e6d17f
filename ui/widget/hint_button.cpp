// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/hint_button.h"

#include <QStyleOptionButton>
#include <QStylePainter>

#include "ui/theme/tokens.h"

namespace n2nq::ui {

namespace {
constexpr int icon_px = 16;
constexpr int side_px = space::card;
constexpr double hint_opacity = 0.65;
}  // namespace

HintButton::HintButton(const QString& text, const QString& hint, QWidget* parent) : QPushButton(text, parent), hint_(hint) {
  setIconSize(QSize(icon_px, icon_px));
}

QSize HintButton::sizeHint() const {
  int width = 2 * side_px + fontMetrics().horizontalAdvance(text());
  if (!icon().isNull()) width += icon_px + space::in_row;
  if (!hint_.isEmpty()) width += space::between + fontMetrics().horizontalAdvance(hint_);
  return {width, control_height_px};
}

void HintButton::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  QStylePainter painter(this);
  QStyleOptionButton option;
  initStyleOption(&option);
  option.text.clear();
  option.icon = QIcon();
  painter.drawControl(QStyle::CE_PushButtonBevel, option);

  // The style sheet's text colour arrives in the palette only through the style, so the label is drawn by it, piece by piece.
  const auto draw_text = [&](const QRect& box, const QString& text) {
    QStyleOptionButton piece = option;
    piece.rect = box;
    piece.text = text;
    painter.drawControl(QStyle::CE_PushButtonLabel, piece);
  };
  int content = fontMetrics().horizontalAdvance(text());
  if (!icon().isNull()) content += icon_px + space::in_row;
  if (!hint_.isEmpty()) content += space::between + fontMetrics().horizontalAdvance(hint_);
  int x = (width() - content) / 2;
  if (!icon().isNull()) {
    icon().paint(&painter, QRect(x, (height() - icon_px) / 2, icon_px, icon_px), Qt::AlignCenter,
                 isEnabled() ? QIcon::Normal : QIcon::Disabled);
    x += icon_px + space::in_row;
  }
  const int text_width = fontMetrics().horizontalAdvance(text());
  draw_text(QRect(x - side_px, 0, text_width + 2 * side_px, height()), text());
  if (hint_.isEmpty()) return;
  x += text_width + space::between;
  painter.setOpacity(hint_opacity);
  draw_text(QRect(x - side_px, 0, fontMetrics().horizontalAdvance(hint_) + 2 * side_px, height()), hint_);
}

}  // namespace n2nq::ui
