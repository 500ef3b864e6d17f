// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench compare DIR DIR…`: two to eight runs, sets of repeats or test cases beside each other.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"
#include "app/results/comparison.h"

namespace n2nq::app {

/// Returns the exit code.
int compare_results(const Arguments& arguments, Terminal& terminal);

QString comparison_text(const Comparison& comparison);
nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace n2nq::app
