// SPDX-License-Identifier: GPL-3.0-or-later
// Recomputes what a run's files say from its service logs, and tells where they differ: figures of each service and of all, the ledger,
// rates, latencies against stamps, receivers' lines against senders', messages.tsv and latency.hgrm. What only the broker or the processes
// themselves knew (stages but for their sum, environment, offsets) is in no log and is not looked at.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>

#include "app/results/stored_run.h"

namespace n2nq::app {

struct Verification {
  QString not_possible;        // why nothing was compared, or what could not be beside what was, with its path; empty: all was
  std::int64_t compared = 0;   // values
  QStringList differences;     // each names the file or figure and both values; at most differences_max
  std::int64_t differing = 0;  // all of them
  static constexpr int differences_max = 100;
};

/// May take seconds. Any thread.
Verification verify_run(const StoredRun& run, const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
