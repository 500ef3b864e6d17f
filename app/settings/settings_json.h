// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as JSON, for summary.json and for scripts: the keys' sections as objects, numbers as numbers, what is not set as null.
#pragma once

#include <nlohmann/json.hpp>

#include "app/settings/settings.h"

namespace n2nq::app {

nlohmann::ordered_json settings_json(const Settings& settings);

}  // namespace n2nq::app
