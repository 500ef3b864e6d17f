// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/hgrm.h"

#include <QString>
#include <algorithm>
#include <cmath>
#include <vector>

namespace n2nq::app {

namespace {

constexpr std::uint64_t steps_per_halving = 5;

double micros(double ns) {
  return ns / 1e3;
}

QByteArray row(double value_us, double percentile, std::uint64_t count) {
  QByteArray line = QByteArray::number(value_us, 'f', 3).rightJustified(12) + ' ' + QByteArray::number(percentile, 'f', 12) + ' ' +
                    QByteArray::number(static_cast<qulonglong>(count)).rightJustified(10);
  if (percentile < 1) line += ' ' + QByteArray::number(1 / (1 - percentile), 'f', 2).rightJustified(14);
  return line + '\n';
}

double deviation_ns(const measure::Histogram& histogram) {
  const double mean = histogram.mean_ns();
  double squares = 0;
  histogram.each_bucket([&](int bucket, std::uint64_t count) {
    const double off = static_cast<double>(histogram.layout().middle_of(bucket)) - mean;
    squares += off * off * static_cast<double>(count);
  });
  return std::sqrt(squares / static_cast<double>(histogram.count()));
}

/// Samples at or below each bucket, for looking up how many a value stands for.
struct Reached {
  std::int64_t high_ns;
  std::uint64_t count;
};

std::vector<Reached> cumulated(const measure::Histogram& histogram) {
  std::vector<Reached> out;
  std::uint64_t sum = 0;
  histogram.each_bucket([&](int bucket, std::uint64_t count) { out.push_back({histogram.layout().high_of(bucket), sum += count}); });
  return out;
}

}  // namespace

QByteArray hgrm_text(const measure::Histogram& histogram) {
  QByteArray out = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";
  const std::uint64_t total = histogram.count();
  if (total > 0) {
    const auto reached = cumulated(histogram);
    std::size_t at = 0;
    // In whole steps, `rest` of `of` each: percentiles that are added up come out a hair too high, and with them the ranks.
    std::uint64_t rest = 2 * steps_per_halving, of = rest;
    // Once the rest is less than one sample, every further step would repeat the maximum.
    while (total * rest >= of) {
      // As Histogram::percentile(of - rest, of): the product there would overflow with as many samples as steps.
      const std::uint64_t rank = std::max<std::uint64_t>(1, total - total * rest / of);
      while (reached[at].count < rank) ++at;
      const double percentile = static_cast<double>(of - rest) / static_cast<double>(of);
      out += row(micros(static_cast<double>(histogram.value_at_rank(rank))), percentile, reached[at].count);
      if (--rest == steps_per_halving) rest *= 2, of *= 2;
    }
    out += row(micros(static_cast<double>(histogram.max_ns())), 1, total);
  }
  const bool empty = total == 0;
  out += QString("#[Mean    = %1, StdDeviation   = %2]\n")
             .arg(empty ? 0 : micros(histogram.mean_ns()), 12, 'f', 3)
             .arg(empty ? 0 : micros(deviation_ns(histogram)), 12, 'f', 3)
             .toUtf8();
  out += QString("#[Max     = %1, Total count    = %2]\n")
             .arg(empty ? 0 : micros(static_cast<double>(histogram.max_ns())), 12, 'f', 3)
             .arg(total, 12)
             .toUtf8();
  out += QString("#[Buckets = %1, SubBuckets     = %2]\n")
             .arg(43 - static_cast<int>(histogram.layout().sub_bits()), 12)
             .arg(1 << histogram.layout().sub_bits(), 12)
             .toUtf8();
  return out;
}

}  // namespace n2nq::app
