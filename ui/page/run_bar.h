// SPDX-License-Identifier: GPL-3.0-or-later
// The bar on top: start and stop everything, the preset, the processes' states, how far the run is. While test cases run, the states and the
// progress are of their run.
#pragma once

#include <QFrame>

#include "ui/model/cases_desk.h"
#include "ui/model/preset_choice.h"
#include "ui/model/run_actions.h"
#include "ui/theme/theme.h"

class QMenu;
class QPushButton;
class QHBoxLayout;

namespace n2nq::ui {

class HintButton;
class MenuButton;
class ProgressStrip;
class StateLight;

class RunBar : public QFrame {
  Q_OBJECT
 public:
  RunBar(SettingsForm& form, PresetChoice& presets, RunActions& actions, const Theme& theme, QWidget* parent = nullptr);

  /// From now on what these run is shown while they do; none is asked any more once the window goes.
  void follow(const CasesDesk& cases);
  /// The time goes on between state changes.
  void refresh_progress();
  /// Fills a menu with all presets, the chosen one checked, and to be deleted where it is one's own; used by the main menu as well.
  void fill_preset_menu(QMenu* menu);
  void ask_save_as();

 signals:
  void problem(const QString& text);

 private:
  void add_buttons(QHBoxLayout* row);
  void add_presets(QHBoxLayout* row);
  void add_states(QHBoxLayout* row);
  void ask_delete_preset();
  void refresh();
  void refresh_preset();
  void refresh_lights();
  void show_case_progress();
  bool knows_share_sent() const;
  double share_sent() const;
  void show_end();

  SettingsForm& form_;
  PresetChoice& presets_;
  RunActions& actions_;
  const Theme& theme_;
  const CasesDesk* cases_ = nullptr;
  HintButton *start_, *stop_;
  MenuButton* preset_;
  QPushButton* save_;
  StateLight* lights_[3];
  ProgressStrip* progress_;
  double came_ = 0;  // as far as the plan was carried out; the strip shows other things than that behind its end
};

}  // namespace n2nq::ui
