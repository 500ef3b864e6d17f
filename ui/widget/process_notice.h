// SPDX-License-Identifier: GPL-3.0-or-later
// Why a process died, or what may keep it from N2NQ, in its card: a sentence, and its last lines folded behind it.
#pragma once

#include <QFrame>

#include "app/control/run_control.h"

class QPushButton;

namespace n2nq::ui {

class ElidedLabel;

class ProcessNotice : public QFrame {
  Q_OBJECT
 public:
  explicit ProcessNotice(app::Role role, QWidget* parent = nullptr);
  /// Shows itself when the process died, or where there is advice; hides itself otherwise.
  void set_status(const app::ProcessStatus& status);

 private:
  app::Role role_;
  ElidedLabel* text_;
  QPushButton* fold_;
  QString popup_title_;
  QStringList lines_;
};

}  // namespace n2nq::ui
