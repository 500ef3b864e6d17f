// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace n2nq::app {

/// Every key of a settings file with default, range, unit and meaning, as the Markdown page docs/settings.md.
std::string settings_page();

}  // namespace n2nq::app
