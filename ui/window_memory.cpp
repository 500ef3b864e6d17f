// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window_memory.h"

#include "app/settings/qt_text.h"

namespace n2nq::ui {

namespace {

const QString theme_key = QStringLiteral("view/theme");
const QString geometry_key = QStringLiteral("view/geometry");
const QString cards_key = QStringLiteral("view/cards");
const QString rows_key = QStringLiteral("view/rows");
const QString preset_key = QStringLiteral("run/preset");
const QString ticked_key = QStringLiteral("cases/ticked");
const QString scale_key = QStringLiteral("cases/scale");
const QString settings_group = QStringLiteral("settings");

}  // namespace

ThemeChoice WindowMemory::theme() const {
  const QString word = store_->value(theme_key).toString();
  if (word == QStringLiteral("light")) return ThemeChoice::light;
  return word == QStringLiteral("dark") ? ThemeChoice::dark : ThemeChoice::system;
}

void WindowMemory::set_theme(ThemeChoice choice) {
  const char* word = choice == ThemeChoice::light ? "light" : choice == ThemeChoice::dark ? "dark" : "system";
  store_->setValue(theme_key, QString::fromLatin1(word));
}

bool WindowMemory::is_first_start() const {
  return !store_->contains(preset_key);
}

QString WindowMemory::preset() const {
  return store_->value(preset_key).toString();
}

app::Settings WindowMemory::settings() const {
  app::Settings settings;
  store_->beginGroup(settings_group);
  // Both of a pair are cleared before one of them is set, so that "until stopped" is remembered as well.
  for (const char* key : {"senders.messages", "senders.duration_s"}) {
    if (store_->contains(QString::fromLatin1(key))) app::set_value(settings, key, "none");
  }
  for (const app::KeyInfo& info : app::keys()) {
    const QString text = store_->value(qt_text(info.key)).toString();
    if (!text.isEmpty()) app::set_value(settings, info.key, text.toStdString());
  }
  store_->endGroup();
  return settings;
}

void WindowMemory::set_settings(const app::Settings& settings, const QString& preset) {
  store_->setValue(preset_key, preset);
  store_->beginGroup(settings_group);
  for (const app::KeyInfo& info : app::keys())
    store_->setValue(qt_text(info.key), QString::fromStdString(app::value_text(settings, info.key)));
  store_->endGroup();
}

std::optional<WindowMemory::Cases> WindowMemory::cases() const {
  if (!store_->contains(ticked_key)) return {};
  Cases out{store_->value(ticked_key).toStringList(), {}};
  const QString word = store_->value(scale_key).toString();
  for (const app::Scale scale : app::all_scales) {
    if (word == qt_text(app::scale_word(scale))) out.scale = scale;
  }
  return out;
}

void WindowMemory::set_cases(const QStringList& ticked, app::Scale scale) {
  store_->setValue(ticked_key, ticked);
  store_->setValue(scale_key, qt_text(app::scale_word(scale)));
}

WindowMemory::Layout WindowMemory::layout() const {
  return {store_->value(geometry_key).toByteArray(), store_->value(cards_key).toByteArray(), store_->value(rows_key).toByteArray()};
}

void WindowMemory::set_layout(const Layout& layout) {
  store_->setValue(geometry_key, layout.geometry);
  store_->setValue(cards_key, layout.cards);
  store_->setValue(rows_key, layout.rows);
}

}  // namespace n2nq::ui
