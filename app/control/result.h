// SPDX-License-Identifier: GPL-3.0-or-later
// From a run's record to its result: ledger, verdict, figures, and the files that hold them. May take seconds: not for an event loop's
// thread.
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

/// The table of design section 5: deaths and what the ledger finds broken, then what degrades, then whether a person stopped it.
RunOutcome judge(const RunRecord& record, const measure::Ledger& ledger, const QStringList& troubles);

/// Works everything out and writes messages.tsv, latency.hgrm and, last, summary.json. Stops early once `cancelled` is set.
RunResult finish_run(const RunRecord& record, const std::atomic<bool>& cancelled);

/// "clean", "stopped", "degraded", "broken".
const char* verdict_word(Verdict verdict);

}  // namespace n2nq::app
