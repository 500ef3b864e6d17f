// SPDX-License-Identifier: GPL-3.0-or-later
// What a person needs to know for a run, on one page: the steps, the words, the verdicts, the keys.
#pragma once

#include <QWidget>

#include "ui/theme/theme.h"

class QTextBrowser;

namespace n2nq::ui {

class HelpPage : public QWidget {
  Q_OBJECT
 public:
  /// `runs_folder`: where the runs are, for saying so.
  HelpPage(const Theme& theme, const QString& runs_folder, QWidget* parent = nullptr);

 private:
  void refresh();

  const Theme& theme_;
  QString runs_folder_;
  QTextBrowser* text_;
};

}  // namespace n2nq::ui
