// SPDX-License-Identifier: GPL-3.0-or-later
// Test cases that are compared: their points are those of their own files' axes.
#pragma once

#include <atomic>
#include <vector>

#include "app/results/comparison.h"

namespace n2nq::app {

/// Gives each run its place where all sides are folders of one kind of test case, and leaves out runs that do not count in it; else nothing
/// changes. Takes a moment for each run, and is of no use once `cancelled` is set; any thread.
void place_in_cases(std::vector<ComparedSide>& sides, const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
