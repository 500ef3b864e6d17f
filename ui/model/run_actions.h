// SPDX-License-Identifier: GPL-3.0-or-later
// What a person can do to a run, from wherever they do it: settings are checked and handed over in one place before anything starts.
#pragma once

#include <QObject>

#include "app/control/run_control.h"
#include "ui/model/preset_choice.h"
#include "ui/model/settings_form.h"

namespace n2nq::ui {

class RunActions : public QObject {
  Q_OBJECT
 public:
  RunActions(app::RunControl& run, SettingsForm& form, const PresetChoice& presets, QObject* parent = nullptr);

  void start_all();
  void start(app::Role role);
  void stop(app::Role role);
  void stop_all();

  /// Processes are there or coming.
  bool is_on() const;
  bool can_start_all() const;
  bool can_start(app::Role role) const;
  /// A run was asked for from here, and has not begun: what is said now is why it cannot.
  bool is_beginning() const { return beginning_ && !is_on(); }
  /// Why nothing is started from here now, although nothing runs here: something else uses the machines. Empty: nothing does.
  const QString& hold() const { return hold_; }
  void set_hold(const QString& reason);
  /// What the window's figures, counts and rows belong to: the run that is on or over; before there is one, what the form asks for.
  const app::Settings& shown_settings() const;
  app::RunControl& run() const { return run_; }

 signals:
  /// Whoever knows what may have changed unseen looks again now: what is checked next counts on it.
  void about_to_start();
  /// Nothing was started because of this key.
  void refused(const QString& key);
  /// A run begins that has nothing to do with what is shown: figures of the former one are to be cleared.
  void fresh_run();
  void hold_changed();

 private:
  bool hand_over();

  app::RunControl& run_;
  SettingsForm& form_;
  const PresetChoice& presets_;
  QString hold_;
  bool beginning_ = false;
};

}  // namespace n2nq::ui
