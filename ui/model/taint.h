// SPDX-License-Identifier: GPL-3.0-or-later
// What a count makes of a run, in the same terms as its verdict: so that no count is marked that the verdict has nothing against.
#pragma once

#include <QString>

#include "app/control/live_figures.h"

namespace n2nq::ui {

enum class Taint { none, degrades, breaks };

/// What the figures make of the run so far.
Taint taint_so_far(const app::LiveFigures& figures);
/// "▲ " or "✕ ", to stand before the count: never colour alone. Empty: it makes nothing of it.
QString taint_sign(Taint taint);

}  // namespace n2nq::ui
