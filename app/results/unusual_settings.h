// SPDX-License-Identifier: GPL-3.0-or-later
// What makes latencies incomparable with those of other runs, when it is not as usual.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>
#include <vector>

namespace n2nq::app {

struct UnusualSetting {
  const char* key;  // "broker.spin_us"
  QString words;    // "N2NQ spins for 50 µs"
};

/// `settings`: as settings_json() writes them, also of earlier versions. Throws nlohmann::json::exception when it is something else.
std::vector<UnusualSetting> unusual_settings(const nlohmann::json& settings);

}  // namespace n2nq::app
