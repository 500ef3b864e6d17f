// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a run: its verdict, and the reasons for it. Any thread; judge() looks for files, which is nothing for an event loop's.
#pragma once

#include "app/control/live_figures.h"
#include "app/control/run_record.h"
#include "workers/measure/ledger.h"

namespace n2nq::app {

/// "clean", "stopped", "degraded", "broken".
const char* verdict_word(Verdict verdict);

/// Deaths and what the ledger finds broken come first, then what degrades, then whether a person stopped it.
/// `troubles`: what could not be read of the accounts. Logs that are missing in the record's folder are among the reasons.
RunOutcome judge(const RunRecord& record, const measure::Ledger& ledger, const QStringList& troubles);

// Reasons that make no verdict.

/// Whoever reads a latency, or a part of one, has to know when clocks say more about it than messages do.
void tell_clock_bound(const LiveFigures& figures, QStringList& reasons);
/// "Senders started 73.1 ms ± 1.2 ms behind the common start"; empty: it is not worth a word.
QString late_start(Role role, const ProcessRecord& process);
/// The lead of the common start is not enough where a machine is far from the bench: what it measured is right, but not from the start on.
/// Who was started later by the person is late on purpose.
void tell_late_start(const RunRecord& record, QStringList& reasons);

}  // namespace n2nq::app
