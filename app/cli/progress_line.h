// SPDX-License-Identifier: GPL-3.0-or-later
// What the line of progress of a run says of its figures.
#pragma once

#include <QString>

#include "app/control/live_figures.h"

namespace n2nq::app {

/// While a group is silent nobody knows what is in flight: its last counts would be taken for those of now.
bool knows_in_flight(const LiveFigures& figures);

/// "  sent 991/2 500 at 100/s  received 32 000 at 5 000/s  in flight 12  p50 94.8 p99 512 µs"; "–" for what is not known.
QString live_text(const LiveFigures& figures);

}  // namespace n2nq::app
