// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench report DIR…`: writes a report of a run, or of two to eight overlaid.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"

namespace n2nq::app {

/// Needs a QGuiApplication. Returns the exit code.
int write_reports(const Arguments& arguments, Terminal& terminal);

}  // namespace n2nq::app
