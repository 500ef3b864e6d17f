// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace n2nq::net {

/// Raises this process's limit of open files as far as it goes. A sentence that says what to do when that is less than `files_needed`, else
/// empty. Every connection is an open file, and many systems allow 1,024 at first.
std::string raise_file_limit(size_t files_needed);

}  // namespace n2nq::net
