// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench run`: one run from settings to verdict, without a window.
#pragma once

#include <QElapsedTimer>
#include <QStringList>
#include <memory>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"
#include "app/control/run_control.h"
#include "app/settings/settings.h"

namespace n2nq::app {

inline constexpr int exit_good = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_interrupted = 130;

/// Preset or file, with --set on top, checked. Empty result: `errors` says why, one line each.
std::optional<Settings> settings_of(const Arguments& arguments, QStringList& errors);

class RunCommand : public QObject {
  Q_OBJECT
 public:
  RunCommand(Arguments arguments, Terminal& terminal);
  /// Runs the application's event loop; returns the exit code.
  int execute();

 private:
  void interrupt();
  void show_progress();
  QString progress_text() const;
  /// The same as one line for machines.
  std::string progress_json() const;
  int report();

  Arguments arguments_;
  Terminal& terminal_;
  std::unique_ptr<RunControl> control_;
  QElapsedTimer since_progress_;  // told in JSON
  int interrupted_ = 0;           // so often
  bool asking_ = false;           // a question stands on the terminal
};

}  // namespace n2nq::app
