// SPDX-License-Identifier: GPL-3.0-or-later
// The line at the bottom: mode and ledger so far, counts that are known, the bench's own use of the processor, the run's folder; while test
// cases run, of which run that is.
//
// Painted by itself; it changes ten times a second.
#pragma once

#include <QWidget>

#include "ui/model/cases_desk.h"
#include "ui/model/run_actions.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class StatusStrip : public QWidget {
  Q_OBJECT
 public:
  StatusStrip(SettingsForm& form, RunActions& actions, const Theme& theme, QWidget* parent = nullptr);
  /// From now on what these run is shown while they do; none is asked any more once the window goes.
  void follow(const CasesDesk& cases);
  /// Share of one processor, in percent; NaN: not known yet.
  void set_bench_cpu(double percent);
  void refresh();
  QString text() const { return left_ + u' ' + counts_ + u' ' + right_; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  static QString ledger_words(const app::RunControl& run);
  void show_run(const app::RunControl& run, const app::Settings& settings);
  void show_no_run();

  RunActions& actions_;
  const Theme& theme_;
  const CasesDesk* cases_ = nullptr;
  double cpu_percent_;
  QString left_, counts_, right_;
};

}  // namespace n2nq::ui
