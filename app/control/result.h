// SPDX-License-Identifier: GPL-3.0-or-later
// From a run's record to its result: ledger, verdict (verdict.h), figures, and the files that hold them. May take seconds: not for an event
// loop's thread.
#pragma once

#include <atomic>

#include "app/control/live_figures.h"
#include "app/control/run_record.h"
#include "workers/measure/ledger.h"

namespace n2nq::app {

struct RunResult {
  RunOutcome outcome;
  LiveFigures figures;  // the final ones, with the rows of all services
};

/// The accounts of those processes that gave one, balanced. What cannot be read is told in `troubles`.
measure::Ledger ledger_of(const RunRecord& record, QStringList& troubles);

/// Works everything out and writes messages.tsv, latency.hgrm and, last, summary.json. Stops early once `cancelled` is set.
RunResult finish_run(const RunRecord& record, const std::atomic<bool>& cancelled);

}  // namespace n2nq::app
