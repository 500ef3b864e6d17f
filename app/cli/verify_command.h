// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench verify DIR…`: is what the files of a run say what its service logs say?
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"

namespace n2nq::app {

/// Returns the exit code: 0 they agree, 1 they differ or cannot be compared, 2 bad input.
int verify_runs(const Arguments& arguments, Terminal& terminal);

}  // namespace n2nq::app
