// SPDX-License-Identifier: GPL-3.0-or-later
// N2NQ, the queue between senders and receivers: its mode and rules, what became of the messages, and where the time goes.
#pragma once

#include "ui/model/run_actions.h"
#include "ui/widget/card.h"

class QPushButton;
class QLabel;

namespace n2nq::ui {

class AdvancedPanel;
class FormRows;
class RunPanel;
class StageBar;
class Theme;

class BrokerCard : public Card {
  Q_OBJECT
 public:
  BrokerCard(SettingsForm& form, RunActions& actions, const Theme& theme, QWidget* parent = nullptr);

  void show_figures(const app::LiveFigures& figures);
  void clear_figures();
  /// Unfolds the advanced settings, so that a field in there can be seen.
  void show_advanced(bool shown);
  bool is_advanced_shown() const;

 signals:
  void log_requested();
  void open_folder_requested();

 private:
  void add_rules(const Theme& theme);
  void add_fold_row();
  void add_middle(const Theme& theme);
  void add_stages(const Theme& theme);
  void refresh();

  SettingsForm& form_;
  RunActions& actions_;
  const Theme& theme_;
  QWidget *remove_row_, *dispatch_row_;
  QPushButton *fold_, *log_;
  RunPanel* panel_;
  AdvancedPanel* advanced_;
  StageBar* stages_;
};

}  // namespace n2nq::ui
