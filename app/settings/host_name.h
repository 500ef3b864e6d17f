// SPDX-License-Identifier: GPL-3.0-or-later
// What a host is called in settings: "local" for this machine, else the name of a lab machine. Nothing here knows which ones there are.
#pragma once

#include <string>
#include <string_view>

#include "app/settings/text_value.h"

namespace n2nq::app {

/// This machine, in every key that names a host.
inline constexpr std::string_view local_host = "local";

/// The name of a lab machine: 1 to 64 of A–Z a–z 0–9 . _ -, beginning with a letter or digit, and not "local".
Problem parse_host_name(std::string_view text, std::string& out);

}  // namespace n2nq::app
