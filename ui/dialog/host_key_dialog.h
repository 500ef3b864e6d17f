// SPDX-License-Identifier: GPL-3.0-or-later
// Asks whether a machine that nobody knows yet is the right one. Whoever only presses Enter or Escape says no.
#pragma once

#include <QDialog>

#include "app/host/ssh_questions.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class HostKeyDialog : public QDialog {
  Q_OBJECT
 public:
  HostKeyDialog(const app::HostKeyQuestion& question, const Theme& theme, QWidget* parent = nullptr);
};

}  // namespace n2nq::ui
