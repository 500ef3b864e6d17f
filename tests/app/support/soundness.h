// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run found what it should: nothing, but for what a busy machine does to the clock.
#pragma once

#include <algorithm>

#include "app/control/run_control.h"

namespace n2nq::app::testing {

/// Late starts, messages and figures, for the machine had no time for who makes them: no fault of what is tested.
inline bool is_sound(Verdict verdict, QStringList reasons) {
  // How well the clocks are known stands among the reasons, but makes no verdict.
  reasons.removeIf([](const QString& reason) { return reason.contains("tell nothing finer"); });
  const auto is_late = [](const QString& reason) {
    return reason.startsWith("plan not kept: the last message was ") || reason.startsWith("plan not kept: messages left later") ||
           reason.endsWith(" behind the common start") || reason.startsWith("this bench stood still");
  };
  return verdict == Verdict::clean || (verdict == Verdict::degraded && !reasons.isEmpty() && std::ranges::all_of(reasons, is_late));
}

inline bool is_sound(const RunOutcome& outcome) {
  return is_sound(outcome.verdict, outcome.reasons);
}

/// Likewise of a run that was stopped by hand: what the machine did to the clock counts for more.
inline bool was_stopped(Verdict verdict, QStringList reasons) {
  return reasons.removeAll(QStringLiteral("stopped by the user")) == 1 && (verdict == Verdict::stopped || is_sound(verdict, reasons));
}

inline bool was_stopped(const RunOutcome& outcome) {
  return was_stopped(outcome.verdict, outcome.reasons);
}

}  // namespace n2nq::app::testing
