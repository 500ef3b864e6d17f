// SPDX-License-Identifier: GPL-3.0-or-later
// Nanoseconds, as everything is measured in, in the units that are shown.
#pragma once

namespace n2nq::app {

inline constexpr double ns_in_us = 1e3, ns_in_ms = 1e6, ns_in_s = 1e9;

}  // namespace n2nq::app
