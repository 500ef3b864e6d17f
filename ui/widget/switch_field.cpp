// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/switch_field.h"

#include <QFontMetrics>
#include <QPainter>

#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

namespace {
constexpr int track_width_px = 30;
constexpr int track_height_px = 16;
constexpr int knob_margin_px = 2;
const QString off_word = QStringLiteral("false");
}  // namespace

SwitchField::SwitchField(SettingsForm& form, const QString& key, const QString& meaning, const Theme& theme, QWidget* parent)
    : QAbstractButton(parent), form_(form), key_(key), meaning_(meaning), last_on_(QStringLiteral("true")), theme_(theme) {
  setObjectName(field_object_name(key));
  setAccessibleName(SettingsForm::label(key));
  setText(SettingsForm::label(key));
  setCheckable(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(this, &QAbstractButton::clicked, this, &SwitchField::turn);
  connect(&form_, &SettingsForm::changed, this, &SwitchField::show_value);
  connect(&form_, &SettingsForm::lock_changed, this, &SwitchField::show_lock);
  connect(&theme, &Theme::changed, this, [this] { updateGeometry(); });
  show_value();
  show_lock();
}

void SwitchField::turn(bool on) {
  const QString value = form_.text(key_);
  if (!on && value != off_word) last_on_ = value;
  form_.set(key_, on ? last_on_ : off_word);
  emit switched(on);
}

void SwitchField::show_value() {
  const bool on = form_.text(key_) != off_word;
  setChecked(on);
  setAccessibleDescription(on ? QStringLiteral("on") : QStringLiteral("off"));
}

void SwitchField::show_lock() {
  setEnabled(form_.locked(key_).isEmpty());
  setToolTip(meaning_ + QStringLiteral("\n\n") + field_tooltip(form_, key_));
}

QSize SwitchField::sizeHint() const {
  const QFontMetrics metrics(theme_.font(TextStyle::strong));
  return {track_width_px + space::between + metrics.horizontalAdvance(text()) + space::in_row, metrics.height() + 2 * space::in_row};
}

void SwitchField::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor on_color = isEnabled() ? t.good : mixed(t.good, t.surface, 0.55);
  const QColor off_color = mixed(t.secondary, t.surface, isEnabled() ? 0.55 : 0.3);
  const QRectF track(1, (height() - track_height_px) / 2.0, track_width_px, track_height_px);
  painter.setPen(Qt::NoPen);
  painter.setBrush(isChecked() ? on_color : off_color);
  painter.drawRoundedRect(track, track_height_px / 2.0, track_height_px / 2.0);
  const double knob = track_height_px - 2 * knob_margin_px;
  const double knob_left = isChecked() ? track.right() - knob_margin_px - knob : track.left() + knob_margin_px;
  painter.setBrush(t.surface);
  painter.drawEllipse(QRectF(knob_left, track.top() + knob_margin_px, knob, knob));
  if (hasFocus()) {
    painter.setPen(QPen(t.primary, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  }
  const QFont font = theme_.font(TextStyle::strong);
  const QFontMetrics metrics(font);
  painter.setFont(font);
  painter.setPen(isEnabled() ? t.text : t.secondary);
  painter.drawText(QPointF(track.right() + space::between - 1, (height() + metrics.ascent() - metrics.descent()) / 2.0), text());
}

}  // namespace n2nq::ui
