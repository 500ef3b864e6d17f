// SPDX-License-Identifier: GPL-3.0-or-later
// Test cases that are compared: their points are those of their own files' axes.
#pragma once

#include <vector>

#include "app/results/comparison.h"

namespace n2nq::app {

/// Gives each run its place where all sides are folders of one kind of test case, and leaves out runs that do not count in it; else nothing
/// changes. Takes a moment for each run; any thread.
void place_in_cases(std::vector<ComparedSide>& sides);

}  // namespace n2nq::app
