// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/figures.h"

#include <nlohmann/json.hpp>

#include "workers/measure/whole_number.h"

namespace n2nq::measure {

Figures figures_of(const Histogram& histogram) {
  Figures figures;
  figures.count = histogram.count();
  if (histogram.empty()) return figures;
  figures.mean_ns = histogram.mean_ns();
  figures.mean_lowest_95_ns = histogram.mean_lowest_95_ns();
  figures.left_out = histogram.left_out_of_lowest_95();
  figures.min_ns = histogram.min_ns();
  figures.p50_ns = histogram.percentile(50, 100);
  figures.p90_ns = histogram.percentile(90, 100);
  figures.p95_ns = histogram.percentile(95, 100);
  figures.p99_ns = histogram.percentile(99, 100);
  figures.p99_9_ns = histogram.percentile(999, 1000);
  figures.max_ns = histogram.max_ns();
  return figures;
}

void to_json(nlohmann::json& json, const Figures& figures) {
  json = {{"count", figures.count}};
  const auto put = [&](const char* key, auto value) { json[key] = figures.count == 0 ? nlohmann::json(nullptr) : nlohmann::json(value); };
  put("mean_ns", figures.mean_ns);
  put("mean_lowest_95_ns", figures.mean_lowest_95_ns);
  put("left_out", figures.left_out);
  put("min_ns", figures.min_ns);
  put("p50_ns", figures.p50_ns);
  put("p90_ns", figures.p90_ns);
  put("p95_ns", figures.p95_ns);
  put("p99_ns", figures.p99_ns);
  put("p99_9_ns", figures.p99_9_ns);
  put("max_ns", figures.max_ns);
}

void from_json(const nlohmann::json& json, Figures& figures) {
  figures = Figures{};
  read_whole(json, "count", figures.count);
  if (figures.count == 0) return;
  figures.mean_ns = number_at(json, "mean_ns");
  figures.mean_lowest_95_ns = number_at(json, "mean_lowest_95_ns");
  read_whole(json, "left_out", figures.left_out);
  read_whole(json, "min_ns", figures.min_ns);
  read_whole(json, "p50_ns", figures.p50_ns);
  read_whole(json, "p90_ns", figures.p90_ns);
  read_whole(json, "p95_ns", figures.p95_ns);
  read_whole(json, "p99_ns", figures.p99_ns);
  read_whole(json, "p99_9_ns", figures.p99_9_ns);
  read_whole(json, "max_ns", figures.max_ns);
}

}  // namespace n2nq::measure
