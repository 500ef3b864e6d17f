// SPDX-License-Identifier: GPL-3.0-or-later
// The reasons of a ledger's verdict, as sentences: what is lost, unexplained or contradicts itself breaks it; what was given up, told, late
// or not kept degrades it.
#pragma once

#include <vector>

#include "workers/measure/ledger.h"

namespace n2nq::measure {

/// Of a ledger whose counts are complete; those that break come first. `is_warm_up`: the input is that of the warm-up alone, of which the
/// broker and the workers say nothing apart.
std::vector<Finding> findings_of(const LedgerInput& input, const Ledger& ledger, bool is_warm_up);

}  // namespace n2nq::measure
