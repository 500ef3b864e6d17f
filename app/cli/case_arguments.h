// SPDX-License-Identifier: GPL-3.0-or-later
// What was typed behind "case": parse_arguments(), for one command.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments.h"

namespace n2nq::app {

/// words[0] is "case".
std::variant<Arguments, std::string> parse_case_arguments(const std::vector<std::string>& words);

}  // namespace n2nq::app
