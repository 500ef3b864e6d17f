// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/settings_form.h"

#include "app/settings/qt_text.h"
#include "ui/text/figures.h"

namespace n2nq::ui {

namespace {

QString number_text(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value)) ? count_text(static_cast<std::int64_t>(value))
                                                                        : QString::number(value);
}

QString range_text(const app::KeyInfo& info) {
  constexpr double exact_max = 9e15;  // beyond it the upper end says nothing to a reader
  if (!info.words.empty() || (info.min == 0 && info.max == 0) || info.max > exact_max) return {};
  QString text = QStringLiteral("%1 to %2").arg(number_text(info.min), number_text(info.max));
  if (!info.unit.empty()) text += QChar(u' ') + qt_text(info.unit);
  return text;
}

}  // namespace

void SettingsForm::load(const app::Settings& settings) {
  settings_ = before_edit_ = settings;
  refused_.clear();
  last_edited_key_.clear();
  check();
}

bool SettingsForm::set(const QString& key, const QString& text) {
  last_edited_key_ = key;
  app::Settings edited = settings_;
  if (const auto error = app::set_value(edited, key.toStdString(), text.toStdString())) {
    refuse(key, text, qt_text(error->message));
    return false;
  }
  const bool was_refused = refused_.remove(key) > 0;
  if (edited == settings_ && !was_refused) return true;
  settings_ = edited;
  check();
  return true;
}

bool SettingsForm::set_needed(const QString& key, const QString& text) {
  if (!text.trimmed().isEmpty()) return set(key, text);
  last_edited_key_ = key;
  const app::KeyInfo* info = app::find_key(key.toStdString());
  refuse(key, text, info ? QStringLiteral("must be given: %1").arg(range_text(*info)) : QString());
  return false;
}

void SettingsForm::forget(const QString& key) {
  if (refused_.remove(key) > 0) check();
}

void SettingsForm::refuse(const QString& key, const QString& text, const QString& problem) {
  refused_.insert(key, {text, problem});
  if (key == edited_key_) settings_ = before_edit_;
  check();
}

QString SettingsForm::text(const QString& key) const {
  const auto refused = refused_.constFind(key);
  return refused != refused_.cend() ? refused->text : qt_text(app::value_text(settings_, key.toStdString()));
}

QString SettingsForm::problem(const QString& key) const {
  const auto refused = refused_.constFind(key);
  return refused != refused_.cend() ? refused->problem : conflicts_.value(key);
}

QStringList SettingsForm::problem_keys() const {
  QStringList typed, conflicting;
  for (const app::KeyInfo& info : app::keys()) {
    const QString key = qt_text(info.key);
    if (problem(key).isEmpty()) continue;
    (refused_.contains(key) ? typed : conflicting) << key;
  }
  QStringList keys = typed + conflicting;
  if (keys.removeOne(last_edited_key_)) keys.prepend(last_edited_key_);
  return keys;
}

void SettingsForm::begin_edit(const QString& key) {
  if (edited_key_ == key) return;
  edited_key_ = key;
  before_edit_ = settings_;
}

void SettingsForm::end_edit() {
  edited_key_.clear();
}

QStringList SettingsForm::remarks() const {
  QStringList out;
  for (const std::string& remark : app::remarks(settings_)) out << QString::fromStdString(remark);
  return out;
}

void SettingsForm::set_lock_rule(std::function<QString(const QString& key)> rule) {
  lock_rule_ = std::move(rule);
  emit lock_changed();
}

QString SettingsForm::locked(const QString& key) const {
  const QString reason = lock_rule_ ? lock_rule_(key) : QString();
  return reason.isEmpty() ? reason : QStringLiteral("Locked: %1. Stop the run to change this.").arg(reason);
}

QString SettingsForm::without_effect(const QString& key) const {
  const QString why = qt_text(app::why_without_effect(settings_, key.toStdString()));
  return why.isEmpty() || !problem(key).isEmpty() ? QString() : QStringLiteral("Without effect: %1").arg(why);
}

QString SettingsForm::closed(const QString& key) const {
  const QString lock = locked(key);
  return lock.isEmpty() ? without_effect(key) : lock;
}

QString SettingsForm::label(const QString& key) {
  const app::KeyInfo* info = app::find_key(key.toStdString());
  return info ? qt_text(info->label) : key;
}

QString SettingsForm::explanation(const QString& key) {
  const app::KeyInfo* info = app::find_key(key.toStdString());
  if (!info) return {};
  const QString range = range_text(*info);
  return range.isEmpty() ? qt_text(info->meaning) : QStringLiteral("%1\nFrom %2.").arg(qt_text(info->meaning), range);
}

void SettingsForm::check() {
  conflicts_.clear();
  for (const app::SettingsError& error : app::validate(settings_)) {
    const QString key = QString::fromStdString(error.key);
    if (!conflicts_.contains(key)) conflicts_.insert(key, QString::fromStdString(error.message));
  }
  emit changed();
}

}  // namespace n2nq::ui
