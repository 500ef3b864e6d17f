// SPDX-License-Identifier: GPL-3.0-or-later
// Linked into a program, this replaces its operator new by one that counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace n2nq::support {

/// Calls of operator new by any thread since the start.
uint64_t allocations();
/// What operator new gave out and was not given back yet, as the allocator counts it, with what it takes for itself.
size_t allocated_bytes();

}  // namespace n2nq::support
