// SPDX-License-Identifier: GPL-3.0-or-later
// The head of a process's card: where it runs, the button that starts it and while it runs stops it, and what happened when it died.
#pragma once

#include <QObject>

#include "ui/model/run_actions.h"
#include "ui/theme/theme.h"

class QPushButton;

namespace n2nq::ui {

class Card;
class ProcessNotice;

class ProcessHead : public QObject {
  Q_OBJECT
 public:
  /// Puts its controls into the card's title row and its notice on top of the card's body.
  ProcessHead(Card& card, app::Role role, RunActions& actions, const Theme& theme);

 private:
  void refresh();

  app::Role role_;
  RunActions& actions_;
  const Theme& theme_;
  QPushButton* button_;
  ProcessNotice* notice_;
};

}  // namespace n2nq::ui
