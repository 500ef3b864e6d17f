// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/clock_ways.h"

#include <algorithm>

namespace n2nq::app {

namespace {

constexpr double drift_us_per_ms = 0.5;  // 500 millionths

/// A machine, and the chain of ways that leads there.
struct Reached {
  ClockOffset offset;
  double bounds_us = 0;  // of the ways, without what the clocks may have drifted
  qint64 newest_ms = 0;
  std::vector<qint64> at_ms = {};
  bool is_final = false;
};

Reached over(const Reached& here, const std::string& name, const ClockWay& way) {
  Reached there = here;
  there.is_final = false;
  there.offset.offset_us += way.from == name ? way.offset_us : -way.offset_us;
  there.bounds_us += way.bound_us;
  there.newest_ms = here.at_ms.empty() ? way.at_ms : std::max(here.newest_ms, way.at_ms);
  if (!here.at_ms.empty()) there.offset.by.push_back(name);
  there.at_ms.push_back(way.at_ms);
  there.offset.bound_us = there.bounds_us;
  for (const qint64 at_ms : there.at_ms) there.offset.bound_us += drift_us_per_ms * static_cast<double>(there.newest_ms - at_ms);
  return there;
}

}  // namespace

std::map<std::string, ClockOffset> clock_offsets(const std::string& reference, const std::vector<ClockWay>& ways) {
  std::map<std::string, Reached> reached{{reference, {}}};
  for (;;) {
    auto nearest = reached.end();
    for (auto it = reached.begin(); it != reached.end(); ++it) {
      if (!it->second.is_final && (nearest == reached.end() || it->second.offset.bound_us < nearest->second.offset.bound_us)) nearest = it;
    }
    if (nearest == reached.end()) break;
    nearest->second.is_final = true;
    const std::string name = nearest->first;
    for (const ClockWay& way : ways) {
      if (way.from != name && way.to != name) continue;
      Reached there = over(nearest->second, name, way);
      const auto [known, is_new] = reached.try_emplace(way.from == name ? way.to : way.from, there);
      if (!is_new && !known->second.is_final && there.offset.bound_us < known->second.offset.bound_us) known->second = std::move(there);
    }
  }
  std::map<std::string, ClockOffset> out;
  for (auto& [name, there] : reached) out[name] = std::move(there.offset);
  return out;
}

}  // namespace n2nq::app
