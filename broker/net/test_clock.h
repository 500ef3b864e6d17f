// SPDX-License-Identifier: GPL-3.0-or-later
// The key of `configure` that gives a process a clock which is wrong on purpose. No settings file offers it.
#pragma once

#include "broker/net/section.h"

namespace n2nq::net {

/// Reads `test_clock`, {"offset_ns":…,"drift_ppb":…,"step_ns":…,"step_after_ns":…}, if it is there, and sets it. Throws SectionError.
void take_test_clock(Section& configure);

}  // namespace n2nq::net
