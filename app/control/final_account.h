// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers out of the final account of a process (its bye), whatever stands there: what does not fit is none, and the ledger's troubles tell
// of it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "workers/measure/histogram.h"

namespace n2nq::app {

/// 0 where there is no whole number.
inline std::int64_t whole_or_0(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number_integer() ? 0 : found->get<std::int64_t>();
}

/// The histogram of a bye's `totals`; empty when it is not there or cannot be read.
inline measure::Histogram total_of(const std::shared_ptr<const nlohmann::json>& bye, const char* name) {
  if (!bye) return measure::Histogram();
  try {
    return measure::Histogram::from_json(bye->at("totals").at(name));
  } catch (const std::exception&) {
    return measure::Histogram();
  }
}

}  // namespace n2nq::app
