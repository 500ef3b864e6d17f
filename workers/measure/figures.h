// SPDX-License-Identifier: GPL-3.0-or-later
// The handful of numbers that stand for a histogram in results and on the control line. Definitions: docs/measuring.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "workers/measure/histogram.h"

namespace n2nq::measure {

struct Figures {  // all in nanoseconds; nothing but count holds while count is 0
  std::uint64_t count = 0;
  double mean_ns = 0;
  double mean_lowest_95_ns = 0;
  std::uint64_t left_out = 0;  // samples that mean_lowest_95_ns leaves out
  std::int64_t min_ns = 0, p50_ns = 0, p90_ns = 0, p95_ns = 0, p99_ns = 0, p99_9_ns = 0, max_ns = 0;

  bool operator==(const Figures&) const = default;
};

Figures figures_of(const Histogram& histogram);

/// The *figures* object of docs/control-protocol.md; reading throws std::invalid_argument with the key that does not fit.
void to_json(nlohmann::json& json, const Figures& figures);
void from_json(const nlohmann::json& json, Figures& figures);

}  // namespace n2nq::measure
