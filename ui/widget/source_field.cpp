// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/source_field.h"

#include <QSignalBlocker>

namespace n2nq::ui {

namespace {
// Longer names are cut where there is no room, and whole in the tooltip.
constexpr int width_min_px = 62, width_max_px = 168;
}

SourceField::SourceField(SettingsForm& form, const QString& key, const app::HostBook& book, const Theme& theme, QWidget* parent)
    : ChoiceBox(theme, parent), form_(form), key_(key), book_(book) {
  setObjectName(field_object_name(key));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(this, &QComboBox::activated, this, [this](int index) { form_.set(key_, itemData(index).toString()); });
  connect(&form_, &SettingsForm::changed, this, &SourceField::fill);
  connect(&form_, &SettingsForm::lock_changed, this, &SourceField::show_lock);
  connect(&book_, &app::HostBook::changed, this, &SourceField::fill);
  fill();
}

QSize SourceField::sizeHint() const {
  const QSize wanted = ChoiceBox::sizeHint();
  return {qBound(width_min_px, wanted.width(), width_max_px), wanted.height()};
}

QSize SourceField::minimumSizeHint() const {
  return {width_min_px, ChoiceBox::sizeHint().height()};
}

void SourceField::fill() {
  const QSignalBlocker quiet(this);
  const QString local = QString::fromUtf8(app::local_host.data(), static_cast<qsizetype>(app::local_host.size()));
  const QString chosen = form_.text(key_);
  QStringList names;
  for (const app::Host& host : book_.hosts().hosts) names << QString::fromStdString(host.name);
  const bool unknown = chosen != local && !names.contains(chosen);
  if (unknown) names << chosen;
  QStringList shown;
  for (int i = 1; i < count(); ++i) shown << itemData(i).toString();
  // Not while it is open for no reason: the list would close under the pointer.
  if (count() == 0 || shown != names) {
    clear();
    addItem(QStringLiteral("Local"), local);
    for (const QString& name : names) addItem(name, name);
  }
  setCurrentIndex(findData(chosen));
  updateGeometry();
  setAccessibleName(QStringLiteral("Source: %1%2").arg(currentText(), unknown ? QStringLiteral(" (unknown)") : QString()));
  show_lock();
}

void SourceField::show_lock() {
  const QString tooltip = QStringLiteral("%1\nChosen: %2. Machines are added on the page Hosts.").arg(field_tooltip(form_, key_), currentText());
  set_locked(form_.locked(key_), tooltip);
}

}  // namespace n2nq::ui
