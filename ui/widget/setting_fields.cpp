// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/setting_fields.h"

#include <QAbstractItemView>
#include <QKeyEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyleOptionComboBox>
#include <QStylePainter>

#include "app/settings/qt_text.h"
#include "ui/theme/glyph_icon.h"
#include "ui/widget/card.h"

namespace n2nq::ui {

namespace {

constexpr int chevron_px = 16;
constexpr int chevron_room_px = 20;
constexpr int field_text_max = 1000;  // characters; longer than any valid value

QString unit_of(const QString& key) {
  const app::KeyInfo* info = app::find_key(key.toStdString());
  return info ? qt_text(info->unit) : QString();
}

}  // namespace

QString field_tooltip(const SettingsForm& form, const QString& key) {
  const QString meaning = SettingsForm::explanation(key);
  const QString closed = form.closed(key);
  return closed.isEmpty() ? meaning : meaning + QStringLiteral("\n\n") + closed;
}

QString field_object_name(const QString& key) {
  QString name = QStringLiteral("field_") + key;
  return name.replace(u'.', u'_');
}

UnitEdit::UnitEdit(const QString& unit, QWidget* parent) : QLineEdit(parent) {
  setMaxLength(field_text_max);
  set_unit(unit);
}

void UnitEdit::set_unit(const QString& unit) {
  unit_ = unit;
  const int room = unit.isEmpty() ? 0 : fontMetrics().horizontalAdvance(unit) + space::in_row;
  setTextMargins(0, 0, room, 0);
  update();
}

void UnitEdit::set_locked(const QString& reason, const QString& tooltip) {
  setReadOnly(!reason.isEmpty());
  set_style_property(this, "locked", !reason.isEmpty());
  setToolTip(tooltip);
}

void UnitEdit::set_refused(bool refused) {
  set_style_property(this, "refused", refused);
}

void UnitEdit::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  if (unit_.isEmpty()) return;
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(rect().adjusted(0, 0, -space::between - 1, 0), Qt::AlignRight | Qt::AlignVCenter, unit_);
}

TextField::TextField(SettingsForm& form, const QString& key, QWidget* parent) : UnitEdit(unit_of(key), parent), form_(form), key_(key) {
  setObjectName(field_object_name(key));
  setAccessibleName(SettingsForm::label(key));
  connect(this, &QLineEdit::textEdited, this, [this](const QString& text) { form_.set_needed(key_, text); });
  connect(&form_, &SettingsForm::changed, this, &TextField::show_value);
  connect(&form_, &SettingsForm::lock_changed, this, &TextField::show_lock);
  show_value();
}

void TextField::focusInEvent(QFocusEvent* event) {
  UnitEdit::focusInEvent(event);
  form_.begin_edit(key_);
}

void TextField::focusOutEvent(QFocusEvent* event) {
  UnitEdit::focusOutEvent(event);
  // A menu or another window that comes in between ends no edit.
  if (event->reason() != Qt::PopupFocusReason && event->reason() != Qt::ActiveWindowFocusReason) form_.end_edit();
  show_lock();
}

void TextField::show_value() {
  const QString text = form_.text(key_);
  // "1.50" is 1.5 already while it is being typed; the cursor must not jump.
  if (!hasFocus() || form_.problem(key_).isEmpty()) {
    app::Settings typed = form_.settings();
    const bool same = hasFocus() && !app::set_value(typed, key_.toStdString(), this->text().toStdString()) &&
                      app::value_text(typed, key_.toStdString()) == text.toStdString();
    if (!same && this->text() != text) setText(text);
  }
  set_refused(!form_.problem(key_).isEmpty());
  setAccessibleDescription(form_.problem(key_));
  show_lock();
}

void TextField::show_lock() {
  // What is being typed is not locked on the way: a text that was refused is mended whether it counts or not.
  const bool being_typed = hasFocus() && !isReadOnly();
  set_locked(being_typed ? form_.locked(key_) : form_.closed(key_), field_tooltip(form_, key_));
}

ChoiceBox::ChoiceBox(const Theme& theme, QWidget* parent) : QComboBox(parent), theme_(theme) {
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  setFocusPolicy(Qt::StrongFocus);
}

void ChoiceBox::set_locked(const QString& reason, const QString& tooltip) {
  locked_ = !reason.isEmpty();
  set_style_property(this, "locked", locked_);
  setToolTip(tooltip);
}

QSize ChoiceBox::sizeHint() const {
  int widest = 0;
  for (int i = 0; i < count(); ++i) widest = qMax(widest, fontMetrics().horizontalAdvance(itemText(i)));
  const int around = is_plain() ? space::in_row + space::between + chevron_px : space::card + chevron_room_px;
  return {widest + around, control_height_px};
}

void ChoiceBox::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  QStylePainter painter(this);
  QStyleOptionComboBox option;
  initStyleOption(&option);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  if (!is_plain()) {
    constexpr int before_px = 1;  // which the style leaves left of the text; the rest is clipped at the right end
    const int room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this).width() - before_px;
    option.currentText = fontMetrics().elidedText(option.currentText, Qt::ElideMiddle, room);
  }
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
  if (locked_) return;
  // A box without a frame has its chevron behind its text, as a word that can be changed.
  const double left = is_plain() ? fontMetrics().horizontalAdvance(currentText()) + space::between : width() - chevron_room_px;
  const QRectF box(left, (height() - chevron_px) / 2.0, chevron_px, chevron_px);
  draw_glyph(painter, Glyph::chevron_down, box, theme_.tokens().secondary);
}

bool ChoiceBox::is_plain() const {
  return property("plain").isValid();
}

// The list would be as wide as the box, which may have no room for a whole name.
void ChoiceBox::showPopup() {
  view()->setMinimumWidth(view()->sizeHintForColumn(0) + space::card);
  QComboBox::showPopup();
}

// Scrolling a page must not change a setting under the pointer.
void ChoiceBox::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

void ChoiceBox::mousePressEvent(QMouseEvent* event) {
  if (!locked_) QComboBox::mousePressEvent(event);
}

void ChoiceBox::keyPressEvent(QKeyEvent* event) {
  if (locked_) return event->ignore();
  QComboBox::keyPressEvent(event);
}

WordField::WordField(SettingsForm& form, const QString& key, const QStringList& shown, const Theme& theme, QWidget* parent)
    : ChoiceBox(theme, parent), form_(form), key_(key) {
  setObjectName(field_object_name(key));
  setAccessibleName(SettingsForm::label(key));
  const app::KeyInfo* info = app::find_key(key.toStdString());
  for (std::size_t i = 0; info && i < info->words.size(); ++i) {
    const QString word = qt_text(info->words[i]);
    addItem(shown.value(static_cast<qsizetype>(i), word), word);
  }
  connect(this, &QComboBox::activated, this, [this](int index) { form_.set(key_, itemData(index).toString()); });
  connect(&form_, &SettingsForm::changed, this, &WordField::show_value);
  connect(&form_, &SettingsForm::lock_changed, this, &WordField::show_value);
  show_value();
}

void WordField::show_value() {
  setCurrentIndex(findData(form_.text(key_)));
  set_locked(form_.closed(key_), field_tooltip(form_, key_));
}

ProblemLine::ProblemLine(SettingsForm& form, const QStringList& keys, QWidget* parent)
    : ElidedLabel("problem", 1, parent), form_(form), keys_(keys) {
  setObjectName(QStringLiteral("problem_") + field_object_name(keys.first()).mid(6));
  offer_copy();
  connect(&form_, &SettingsForm::changed, this, &ProblemLine::refresh);
  refresh();
}

void ProblemLine::refresh() {
  QStringList lines;
  for (const QString& key : keys_) {
    const QString problem = form_.problem(key);
    // Stands right below its field, which has the label.
    if (!problem.isEmpty()) lines << (keys_.size() > 1 ? SettingsForm::label(key) + u' ' + problem : problem);
  }
  set_text(lines.isEmpty() ? QString() : QStringLiteral("✕ ") + lines.join(QStringLiteral("; ")));
}

}  // namespace n2nq::ui
