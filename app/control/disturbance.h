// SPDX-License-Identifier: GPL-3.0-or-later
// Whether other programs got in the way of a run: its processes had something to do, and no core to do it on.
#pragma once

#include <QStringList>

#include "app/control/run_record.h"

namespace n2nq::app {

/// One sentence about the processes that waited for a core for most of the time in which they had something to do (`core_times` of a bye:
/// the kernel's count, proc(5) schedstat). That the parts of a run wait for each other where they have too few cores counts as well: it
/// does the same to the latencies. Empty: none did, or none knows.
QStringList disturbances(const RunRecord& record);

}  // namespace n2nq::app
