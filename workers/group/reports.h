// SPDX-License-Identifier: GPL-3.0-or-later
// What both groups do to put counts and histograms into their answers.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"

namespace n2nq::worker {

/// Sum of `service.*count()` over all services.
template <typename Services, typename Service>
std::uint64_t sum_of(const Services& services, std::uint64_t (Service::*count)() const) {
  std::uint64_t sum = 0;
  for (const Service& service : services) sum += (service.*count)();
  return sum;
}

template <typename Live>
nlohmann::json mean_or_null(const Live& live) {
  const double mean_ns = live.mean_ns();
  return std::isnan(mean_ns) ? nlohmann::json(nullptr) : nlohmann::json(mean_ns);
}

/// {"delay":{figures},"lag":{figures}} for any set of histograms.
template <typename Histograms>
nlohmann::json figures_json(const Histograms& histograms) {
  nlohmann::json json = nlohmann::json::object();
  histograms.each([&](const char* name, const auto& live) { json[name] = measure::figures_of(live.snapshot()); });
  return json;
}

/// The keys `totals` and `figures` of a bye.
template <typename Histograms>
void put_totals_and_figures(nlohmann::json& bye, const Histograms& histograms) {
  nlohmann::json totals = nlohmann::json::object();
  histograms.each([&](const char* name, const auto& live) { totals[name] = live.snapshot().to_json(); });
  bye["totals"] = std::move(totals);
  bye["figures"] = figures_json(histograms);
}

}  // namespace n2nq::worker
