// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/segmented_control.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

#include "app/settings/qt_text.h"
#include "ui/widget/card.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

SegmentedControl::SegmentedControl(SettingsForm& form, const QString& key, const QStringList& shown, QWidget* parent)
    : QWidget(parent), form_(form), key_(key) {
  setObjectName(field_object_name(key));
  setAccessibleName(SettingsForm::label(key));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  auto* group = new QButtonGroup(this);
  const app::KeyInfo* info = app::find_key(key.toStdString());
  const std::size_t words = info ? info->words.size() : 0;
  for (std::size_t i = 0; i < words; ++i) {
    const QString word = qt_text(info->words[i]);
    auto* button = new QPushButton(shown.value(static_cast<qsizetype>(i), word));
    button->setCheckable(true);
    button->setProperty("segment", i == 0 ? QStringLiteral("first") : QStringLiteral("last"));
    button->setProperty("word", word);
    described(button, qPrintable(objectName() + u'_' + word), QStringLiteral("%1: %2").arg(accessibleName(), button->text()), QString());
    group->addButton(button);
    row->addWidget(button, 1);
    buttons_.push_back(button);
    connect(button, &QPushButton::clicked, this, [this, word] { form_.set(key_, word); });
  }
  connect(&form_, &SettingsForm::changed, this, &SegmentedControl::show_value);
  connect(&form_, &SettingsForm::lock_changed, this, &SegmentedControl::show_lock);
  show_value();
  show_lock();
}

void SegmentedControl::show_value() {
  const QString value = form_.text(key_);
  for (QPushButton* button : buttons_) {
    if (button->property("word").toString() == value) button->setChecked(true);
  }
}

void SegmentedControl::show_lock() {
  for (QPushButton* button : buttons_) {
    button->setEnabled(form_.locked(key_).isEmpty());
    button->setToolTip(field_tooltip(form_, key_));
  }
}

}  // namespace n2nq::ui
