// SPDX-License-Identifier: GPL-3.0-or-later
// One thing at a time: runs, test cases and checks of lab machines would share the machines that are measured or looked at.
#pragma once

#include <QString>
#include <optional>

namespace n2nq::ui {

enum class Busy { run, cases, check };

/// Why `wanted` cannot begin beside what is `on`, as a tooltip and behind "Not begun: "; empty: nothing is on, or it is that itself.
QString why_not_now(Busy wanted, std::optional<Busy> on);

}  // namespace n2nq::ui
