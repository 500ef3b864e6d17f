// SPDX-License-Identifier: GPL-3.0-or-later
// Which preset the settings in the window came from, and whether they still equal it.
#pragma once

#include <QObject>
#include <QString>

#include "app/settings/presets.h"
#include "ui/model/settings_form.h"

namespace n2nq::ui {

class PresetChoice : public QObject {
  Q_OBJECT
 public:
  PresetChoice(SettingsForm& form, app::Presets presets, QObject* parent = nullptr);

  std::vector<app::Preset> list() const { return presets_.list(); }
  /// Loads it into the form. Empty result: done; else why not, with file, line and key.
  QString choose(const QString& name);
  /// Saves the form's settings under `name`, which becomes the chosen one. Empty result: done; else why not, as where a text was refused
  /// in a field, which stays there.
  QString save_as(const QString& name);
  /// Deletes the chosen one, which is one's own; its settings stay in the form, as no preset's. Empty result: done; else why not.
  QString remove_chosen();
  /// Takes up what a former session left: the name, while the form keeps its settings. An unknown name, or none, means no preset.
  void restore(const QString& name);

  /// Loads the settings of a run into the form: as the preset that has them, also where the run was called otherwise, else as no preset's.
  void take_up(const app::Settings& settings);

  const QString& name() const { return name_; }
  /// The title for the menu; "no preset" when there is none.
  QString title() const;
  bool is_modified() const;
  /// Of the form, with the names that a run of them has.
  app::Settings settings_to_run() const;

 signals:
  void changed();
  void chosen();  // one was loaded into the form

 private:
  SettingsForm& form_;
  app::Presets presets_;
  QString name_;
  app::Settings saved_;  // the preset's; where there is none those that were taken up
};

}  // namespace n2nq::ui
