// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/unusual_settings.h"

namespace n2nq::app {

std::vector<UnusualSetting> unusual_settings(const nlohmann::json& settings) {
  const nlohmann::json& broker = settings.at("broker");
  std::vector<UnusualSetting> out;
  if (broker.at("io") == "io_uring") out.push_back({"broker.io", "N2NQ writes by io_uring"});
  if (const int spin_us = broker.at("spin_us"); spin_us > 0) out.push_back({"broker.spin_us", QString("N2NQ spins for %1 µs").arg(spin_us)});
  if (!broker.value("keep_core", true)) out.push_back({"broker.keep_core", "receivers are not kept off N2NQ's core"});
  if (settings.at("transport") == "unix") out.push_back({"transport", "by Unix-domain sockets"});
  return out;
}

}  // namespace n2nq::app
