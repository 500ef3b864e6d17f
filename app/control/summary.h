// SPDX-License-Identifier: GPL-3.0-or-later
// summary.json: everything a run came to, with units in the names and null for what is not known.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "app/control/master_file.h"
#include "app/control/result.h"
#include "workers/measure/figures.h"

namespace n2nq::app {

inline constexpr int summary_format = 1;

nlohmann::ordered_json summary_json(const RunRecord& record, const measure::Ledger& ledger, const RunOutcome& outcome,
                                    const MasterFile& master);

/// The counts that a row of a service of that group (senders or receivers) can have, beside its figures.
std::span<const char* const> service_counts(Role group);

/// The counts that N2NQ's own account can have.
std::span<const char* const> broker_counts();

/// The run's mean rates as they stand in the summary: over_s, sent_per_s, received_per_s and both in bytes; null for what is not known.
nlohmann::ordered_json run_rates(const RunRecord& record, const measure::Ledger& ledger);

/// One figures object in the unit that `unit_ns` nanoseconds make: percentiles to the nanosecond, means to a thousandth of it.
nlohmann::ordered_json figures_json(const measure::Figures& figures, double unit_ns);

}  // namespace n2nq::app
