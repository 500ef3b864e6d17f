// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of one run, or of two to eight overlaid: percentile curve, histogram, CDF, over time, box plots, heat maps, stages.
#pragma once

#include <optional>
#include <vector>

#include "app/figure/figure.h"
#include "app/results/run_digest.h"

namespace n2nq::app {

/// A run with what its logs come to. Without a digest the figures that need logs are left out, and `no_digest` says why.
struct DrawnRun {
  StoredRun run;
  std::optional<RunDigest> digest{};
  QString no_digest{};
  QString name{};  // in the legend; empty: the run's
};

/// Reads logs; any thread, may take seconds.
DrawnRun drawn_run(StoredRun run, const std::atomic<bool>* cancelled = nullptr);

/// Ids: percentiles, cdf, histogram, stages, latency-over-time, rates-over-time, in-flight-over-time, lag-over-time, and of one run alone
/// receivers, pairs-count, pairs-p50, pairs-p99. Figures without any point are left out.
std::vector<Figure> run_figures(const std::vector<DrawnRun>& runs);

/// The rows of a latency.hgrm: value in µs, 1 / (1 - percentile), samples up to there. The last row (100 %) has infinity.
struct PercentileRow {
  double value_us = 0, inverse_rest = 1;
  std::int64_t count = 0;
};
std::vector<PercentileRow> read_hgrm(const QString& path);
/// Whether it has few of its histogram's `total` samples above it (are_few_samples_above).
bool has_few_samples(const PercentileRow& row, std::int64_t total);

}  // namespace n2nq::app
