// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run found what it should: nothing, but for what a busy machine does to the clock.
#pragma once

#include <algorithm>

#include "app/control/run_control.h"

namespace n2nq::app::testing {

/// Messages that left late, for the machine had no time for who sends them: no fault of what is tested.
inline bool is_sound(Verdict verdict, const QStringList& reasons) {
  const auto is_late = [](const QString& reason) { return reason.startsWith("plan not kept") || reason.startsWith("senders were held back"); };
  return verdict == Verdict::clean || (verdict == Verdict::degraded && !reasons.isEmpty() && std::ranges::all_of(reasons, is_late));
}

inline bool is_sound(const RunOutcome& outcome) {
  return is_sound(outcome.verdict, outcome.reasons);
}

}  // namespace n2nq::app::testing
