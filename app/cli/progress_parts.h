// SPDX-License-Identifier: GPL-3.0-or-later
// What the line of progress of a run says, and what of it on a narrow terminal.
#pragma once

#include <QString>
#include <vector>

#include "app/control/live_figures.h"

namespace n2nq::app {

/// While a group is silent nobody knows what is in flight: its last counts would be taken for those of now.
bool knows_in_flight(const LiveFigures& figures);

struct LinePart {
  QString text;  // with what sets it apart from the one before
  int rank = 0;  // the higher, the sooner it is left out; 0: never
};

/// "  sent 991/2 500 at 100/s  received 32 000 at 5 000/s  in flight 12  p50 94.8 p99 512 µs" in parts; "–" for what is not known.
std::vector<LinePart> live_parts(const LiveFigures& figures);

/// As much as fits into so many columns, in the order of the line, whole parts by rank, and " …" where some are left out. Longer only
/// where what is never left out is.
QString fitted(const std::vector<LinePart>& parts, int columns);

}  // namespace n2nq::app
