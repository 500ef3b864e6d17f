// SPDX-License-Identifier: GPL-3.0-or-later
// How many files this process may have open.
#pragma once

#include <cstddef>
#include <string>

namespace n2nq::net {

/// Raises the limit for open files as far as the system lets it, and returns it; SIZE_MAX where the system does not say.
size_t raise_file_limit();

/// The same. Returns what to say to a person when that is less than needed; empty when it is enough.
std::string raise_file_limit(size_t files_needed);

}  // namespace n2nq::net
