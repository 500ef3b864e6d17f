// SPDX-License-Identifier: GPL-3.0-or-later
// The head of a process's card: where it runs, the button that starts it and while it runs stops it, and what happened when it died.
#pragma once

#include <QObject>

#include "app/host/host_book.h"
#include "ui/model/run_actions.h"
#include "ui/theme/theme.h"

class QLabel;
class QPushButton;

namespace n2nq::ui {

class Card;
class FaultMenu;
class ProcessNotice;

class ProcessHead : public QObject {
  Q_OBJECT
 public:
  /// Puts its controls into the card's title row.
  ProcessHead(Card& card, app::Role role, SettingsForm& form, RunActions& actions, const app::HostBook& hosts, const Theme& theme);
  /// What happened to the process; hidden until something did. The card puts it where it moves nothing that is read or clicked.
  ProcessNotice* notice() const { return notice_; }
  FaultMenu* faults() const { return faults_; }

 private:
  void refresh();
  void show_place();

  app::Role role_;
  SettingsForm& form_;
  RunActions& actions_;
  const app::HostBook& hosts_;
  const Theme& theme_;
  QLabel* place_ = nullptr;  // of a group: internal or external
  QPushButton* button_;
  ProcessNotice* notice_;
  QPushButton* faults_button_;
  FaultMenu* faults_;
};

}  // namespace n2nq::ui
