// SPDX-License-Identifier: GPL-3.0-or-later
// Linked into a program, this replaces its operator new by one that counts.
#pragma once

#include <cstdint>

namespace n2nq::support {

/// Calls of operator new by any thread since the start.
uint64_t allocations();

}  // namespace n2nq::support
