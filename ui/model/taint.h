// SPDX-License-Identifier: GPL-3.0-or-later
// What a count makes of a run, in the same terms as its verdict: so that no count is marked that the verdict has nothing against.
#pragma once

#include <cstdint>

#include "app/control/run_control.h"

namespace n2nq::ui {

enum class Taint { none, degrades, breaks };

/// Duplicates that did not say that they are sent again; only these degrade a run. Told by the ledger once the run is finished; until then
/// what is certain: at least so many.
std::int64_t unannounced_duplicates(const app::RunControl& run, const app::LiveFigures& figures);

/// What the figures make of the run so far.
Taint taint_so_far(const app::RunControl& run, const app::LiveFigures& figures);

}  // namespace n2nq::ui
