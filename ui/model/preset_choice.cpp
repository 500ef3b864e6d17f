// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/preset_choice.h"

namespace n2nq::ui {

PresetChoice::PresetChoice(SettingsForm& form, app::Presets presets, QObject* parent)
    : QObject(parent), form_(form), presets_(std::move(presets)) {
  connect(&form_, &SettingsForm::changed, this, &PresetChoice::changed);
}

QString PresetChoice::choose(const QString& name) {
  const app::ReadSettings read = presets_.load(name.toStdString());
  if (!read.settings) return read.errors.empty() ? QString() : QString::fromStdString(read.errors.front().text());
  name_ = name;
  saved_ = *read.settings;
  form_.load(saved_);
  emit chosen();
  return {};
}

QString PresetChoice::save_as(const QString& name) {
  for (const QString& key : form_.problem_keys()) {
    if (form_.is_refused(key)) return SettingsForm::label(key) + u' ' + form_.problem(key);
  }
  app::Settings settings = form_.settings();
  settings.title = name.toStdString();
  settings.description.clear();
  if (const auto problem = presets_.save(name.toStdString(), settings)) return QString::fromStdString(*problem);
  name_ = name;
  saved_ = settings;
  form_.load(settings);
  return {};
}

QString PresetChoice::remove_chosen() {
  if (const auto problem = presets_.remove(name_.toStdString())) return QString::fromStdString(*problem);
  name_.clear();
  for (const char* named : {"title", "description"}) form_.set(QLatin1String(named), QString());  // or a run would be called as it was
  saved_ = form_.settings();
  emit changed();
  return {};
}

void PresetChoice::restore(const QString& name) {
  const app::ReadSettings read = presets_.load(name.toStdString());
  name_ = read.settings ? name : QString();
  saved_ = read.settings.value_or(form_.settings());  // a run of others is not called as these are
  emit changed();
}

void PresetChoice::take_up(const app::Settings& settings) {
  const std::string preset = presets_.name_of(settings);
  if (!preset.empty() && choose(QString::fromStdString(preset)).isEmpty()) return;
  name_.clear();
  saved_ = settings;
  form_.load(settings);
}

QString PresetChoice::title() const {
  if (name_.isEmpty()) return QStringLiteral("no preset");
  return saved_.title.empty() ? name_ : QString::fromStdString(saved_.title);
}

bool PresetChoice::is_modified() const {
  return !name_.isEmpty() && !(form_.settings() == saved_);
}

app::Settings PresetChoice::settings_to_run() const {
  return app::named_as_modified(form_.settings(), saved_);
}

}  // namespace n2nq::ui
