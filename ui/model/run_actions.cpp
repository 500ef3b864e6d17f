// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/run_actions.h"

namespace n2nq::ui {

namespace {
constexpr const char* lock_reason = "Locked while a run is on: every figure belongs to one set of settings. Stop the run to change it.";
}

RunActions::RunActions(app::RunControl& run, SettingsForm& form, const PresetChoice& presets, QObject* parent)
    : QObject(parent), run_(run), form_(form), presets_(presets) {
  // First of those who hear of it. What does not come as far leaves the last run on the screen.
  connect(&run_, &app::RunControl::state_changed, this, [this] {
    if (run_.state() == app::RunState::preparing) emit fresh_run();
  });
  form_.set_lock_rule([this](const QString& key) { return run_.lock_reason(key.toStdString()); });
  connect(&run_, &app::RunControl::state_changed, &form_, &SettingsForm::refresh_locks);
  connect(&run_, &app::RunControl::process_changed, &form_, &SettingsForm::refresh_locks);
}

bool RunActions::is_on() const {
  return run_.state() != app::RunState::idle && run_.state() != app::RunState::finished;
}

bool RunActions::can_start(app::Role role) const {
  return hold_.isEmpty() && run_.can_start(role);
}

void RunActions::set_hold(const QString& reason) {
  if (reason == hold_) return;
  hold_ = reason;
  emit hold_changed();
}

bool RunActions::can_start_all() const {
  return hold_.isEmpty() &&
         (run_.can_start(app::Role::broker) || run_.can_start(app::Role::senders) || run_.can_start(app::Role::receivers));
}

// While it is being prepared, a group that is not started yet is started with what the form says by then.
const app::Settings& RunActions::shown_settings() const {
  const bool of_form = run_.state() == app::RunState::idle || run_.state() == app::RunState::preparing;
  return of_form ? form_.settings() : run_.run_settings();
}

bool RunActions::hand_over() {
  emit about_to_start();
  const QString key = form_.first_problem_key();
  if (!key.isEmpty()) {
    emit refused(key);
    return false;
  }
  run_.set_settings(presets_.settings_to_run());
  return true;
}

void RunActions::start_all() {
  if (!can_start_all() || !hand_over()) return;
  beginning_ = true;
  run_.start_all();
  beginning_ = false;
}

void RunActions::start(app::Role role) {
  if (!can_start(role) || !hand_over()) return;
  beginning_ = true;
  run_.start(role);
  beginning_ = false;
}

void RunActions::stop(app::Role role) {
  if (run_.can_stop(role)) run_.stop(role);
}

void RunActions::stop_all() {
  if (is_on()) run_.stop_all();
}

}  // namespace n2nq::ui
