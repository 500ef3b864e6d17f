// SPDX-License-Identifier: GPL-3.0-or-later
// Log-linear histograms of signed nanosecond values: how many samples fell where, never an average that was stored.
//
// Layout (docs/measuring.md holds it complete enough to write another): S sub-buckets per octave. A value v >= 0 below 2 S has a bucket of
// its own; above, e = floor(log2 v) - log2 S and the bucket is e * S + (v >> e), so a bucket is at most 1/S of its values wide.
// A negative value is in minus the bucket of -v. Beyond +-(2^43 - 1) ns (2.4 hours) a sample is counted in the outermost bucket and as
// clamped.
//
// LiveHistogram is written by one thread and may be read by any other meanwhile; Histogram is a plain value, for merging and for asking.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace n2nq::measure {

/// Where a value belongs. All functions are pure.
class HistogramLayout {
 public:
  static constexpr std::int64_t value_max_ns = (std::int64_t{1} << 43) - 1;

  /// `sub_bits` is log2 of the sub-buckets per octave.
  constexpr explicit HistogramLayout(unsigned sub_bits) : sub_bits_(sub_bits) {}

  constexpr unsigned sub_bits() const { return sub_bits_; }
  /// Buckets run from -bucket_max() to +bucket_max().
  constexpr int bucket_max() const { return magnitude_bucket(static_cast<std::uint64_t>(value_max_ns)); }
  constexpr int bucket_of(std::int64_t value_ns) const {
    const std::int64_t value = std::clamp(value_ns, -value_max_ns, value_max_ns);
    return value >= 0 ? magnitude_bucket(static_cast<std::uint64_t>(value)) : -magnitude_bucket(static_cast<std::uint64_t>(-value));
  }
  /// The value that stands for a bucket: its middle; exact where the bucket is one nanosecond wide.
  constexpr std::int64_t middle_of(int bucket) const {
    if (bucket < 0) return -middle_of(-bucket);
    const unsigned e = shift_of(bucket);
    return lowest_magnitude(bucket) + ((std::int64_t{1} << e) >> 1);
  }
  /// The lowest and the highest value in a bucket.
  constexpr std::int64_t low_of(int bucket) const { return bucket < 0 ? -highest_magnitude(-bucket) : lowest_magnitude(bucket); }
  constexpr std::int64_t high_of(int bucket) const { return bucket < 0 ? -lowest_magnitude(-bucket) : highest_magnitude(bucket); }

  constexpr bool operator==(const HistogramLayout&) const = default;

 private:
  constexpr int magnitude_bucket(std::uint64_t v) const {
    const unsigned width = static_cast<unsigned>(std::bit_width(v));
    if (width <= sub_bits_ + 1) return static_cast<int>(v);
    const unsigned e = width - 1 - sub_bits_;
    return static_cast<int>((std::uint64_t{e} << sub_bits_) + (v >> e));
  }
  constexpr unsigned shift_of(int bucket) const {
    const unsigned octave = static_cast<unsigned>(bucket) >> sub_bits_;
    return octave <= 1 ? 0 : octave - 1;
  }
  constexpr std::int64_t lowest_magnitude(int bucket) const {
    const unsigned e = shift_of(bucket);
    return (std::int64_t{bucket} - (std::int64_t{e} << sub_bits_)) << e;
  }
  constexpr std::int64_t highest_magnitude(int bucket) const {
    return lowest_magnitude(bucket) + (std::int64_t{1} << shift_of(bucket)) - 1;
  }

  unsigned sub_bits_;
};

inline constexpr HistogramLayout fine_layout{10};   // relative error of a reported value at most 1/2048 = 0.049 %
inline constexpr HistogramLayout coarse_layout{6};  // at most 1/128 = 0.79 %; 19 KiB with 32-bit counters

/// Sums are modulo 2^64, as a saturated run of minutes with many messages goes beyond; whole_sum() says what was meant.
constexpr std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// The sum of samples that is `sum_ns` modulo 2^64: the one that is next to `about_ns`, which the buckets say. They are right to 1/128 at
/// least where no sample was clamped, and then the sum is exact (but for a double's 53 bits) as long as the magnitudes add up to less than
/// 2^70 ns, 37,000 years.
double whole_sum(std::int64_t sum_ns, double about_ns);
/// So many samples up to so far from 0 may add up to more than 63 bits.
constexpr bool may_wrap(std::uint64_t count, std::int64_t min_ns, std::int64_t max_ns) {
  return static_cast<double>(count) * std::max(-static_cast<double>(min_ns), static_cast<double>(max_ns)) >= 9e18;
}

/// A histogram as a value. Merging adds, bit for bit: it makes no difference who counted which sample.
class Histogram {
 public:
  explicit Histogram(HistogramLayout layout = fine_layout) : layout_(layout) {}

  HistogramLayout layout() const { return layout_; }
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Modulo 2^64.
  std::int64_t sum_ns() const { return sum_ns_; }
  /// Exact. Meaningless while empty.
  std::int64_t min_ns() const { return min_ns_; }
  std::int64_t max_ns() const { return max_ns_; }
  /// Samples beyond the range: they are in the outermost buckets, and exact in sum, min and max.
  std::uint64_t clamped() const { return clamped_; }
  std::uint64_t bucket_count(int bucket) const;

  void add(std::int64_t value_ns);
  /// Throws std::invalid_argument when the layouts differ.
  void merge(const Histogram& other);
  /// What is here beside `part`, which was merged in before: as a merge undone. Lowest and highest value are exact where they were not
  /// `part`'s, else to the bucket.
  Histogram without(const Histogram& part) const;

  /// The value of the `rank`-th smallest sample (1 is the smallest): the middle of its bucket, moved into [min, max]. Rank is moved into
  /// [1, count].
  std::int64_t value_at_rank(std::uint64_t rank) const;
  /// The smallest value such that at least ceil(count * numerator / denominator) samples are <= it.
  std::int64_t percentile(std::uint64_t numerator, std::uint64_t denominator) const;
  double mean_ns() const;
  /// How many samples the mean of the lowest 95 % leaves out: count - ceil(0.95 count).
  std::uint64_t left_out_of_lowest_95() const { return count_ - (count_ / 20 * 19 + (count_ % 20 * 19 + 19) / 20); }
  /// Mean of the ceil(0.95 count) smallest samples, from bucket middles moved into [min, max], at most the mean of all; the exact mean
  /// while nothing is left out.
  double mean_lowest_95_ns() const;

  /// Calls visit(bucket, count) for each bucket that is not empty, rising.
  template <typename Visit>
  void each_bucket(Visit&& visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0) visit(first_ + static_cast<int>(i), counts_[i]);
    }
  }

  /// The sparse form of docs/control-protocol.md.
  nlohmann::json to_json() const;
  /// Throws std::invalid_argument naming what is wrong.
  static Histogram from_json(const nlohmann::json& json, HistogramLayout layout = fine_layout);

  /// Builds from parts that were counted elsewhere.
  void add_bucket(int bucket, std::uint64_t count);
  void set_exact(std::int64_t sum_ns, std::int64_t min_ns, std::int64_t max_ns, std::uint64_t clamped);

  bool operator==(const Histogram& other) const;

 private:
  std::uint64_t& cell(int bucket);

  HistogramLayout layout_;
  int first_ = 0;                      // the bucket of counts_[0]
  std::vector<std::uint64_t> counts_;  // from the lowest to the highest bucket ever counted in, with some room
  std::uint64_t count_ = 0;
  std::uint64_t clamped_ = 0;
  std::int64_t sum_ns_ = 0;
  std::int64_t min_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ns_ = std::numeric_limits<std::int64_t>::min();
};

/// A histogram being written by exactly one thread, allocated whole before its first sample. Any other thread may take a snapshot
/// meanwhile: it disturbs the writer only by the shared cache lines. The writer publishes a sample's bucket last, so whoever sees
/// a sample counted also sees it in min and max; a snapshot taken in mid-sample may have that one sample in the sum but not in the count.
template <typename Counter, unsigned SubBits>
class LiveHistogram {
 public:
  static constexpr HistogramLayout layout{SubBits};

  LiveHistogram() : cells_(std::make_unique<std::atomic<Counter>[]>(cells)) {}

  /// The same sample `times` times, at least once. The writing thread only. A counter that is full (32 bit: 4.29e9 samples in one bucket)
  /// stays full; what it does not count is not in the sum either, of which the mean is made, but in min and max.
  void record(std::int64_t value_ns, std::uint64_t times = 1) {
    std::atomic<Counter>& counter = cells_[cell_of(layout.bucket_of(value_ns))];
    const Counter before = counter.load(std::memory_order_relaxed);
    const auto counted = static_cast<Counter>(std::min<std::uint64_t>(times, std::numeric_limits<Counter>::max() - before));
    const auto added_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(value_ns) * counted);
    sum_ns_.store(wrapping_sum(sum_ns_.load(std::memory_order_relaxed), added_ns), std::memory_order_relaxed);
    if (value_ns < min_ns_.load(std::memory_order_relaxed)) min_ns_.store(value_ns, std::memory_order_relaxed);
    if (value_ns > max_ns_.load(std::memory_order_relaxed)) max_ns_.store(value_ns, std::memory_order_relaxed);
    if (value_ns > HistogramLayout::value_max_ns || value_ns < -HistogramLayout::value_max_ns) [[unlikely]] {
      clamped_.store(clamped_.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
    }
    counter.store(before + counted, std::memory_order_release);
  }

  Histogram snapshot() const {
    Histogram result(layout);
    visit_counts([&](int bucket, Counter count) { result.add_bucket(bucket, count); });
    result.set_exact(sum_ns_.load(std::memory_order_relaxed), min_ns(), max_ns(), clamped_.load(std::memory_order_relaxed));
    return result;
  }

  /// Cheap reads for a table row: no snapshot is made. NaN while empty.
  double mean_ns() const {
    std::uint64_t count = 0;
    double about_ns = 0;
    visit_counts([&](int bucket, Counter n) {
      count += n;
      about_ns += static_cast<double>(n) * static_cast<double>(layout.middle_of(bucket));
    });
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    const std::int64_t sum_ns = sum_ns_.load(std::memory_order_relaxed);
    return (may_wrap(count, min_ns(), max_ns()) ? whole_sum(sum_ns, about_ns) : static_cast<double>(sum_ns)) / static_cast<double>(count);
  }

  /// As Histogram::percentile(), looking at the counters twice; 0 while empty.
  std::int64_t percentile(std::uint64_t numerator, std::uint64_t denominator) const {
    std::uint64_t count = 0;
    visit_counts([&](int, Counter n) { count += n; });
    const std::uint64_t rank = std::max<std::uint64_t>((count * numerator + denominator - 1) / denominator, 1);
    std::int64_t value = 0;
    std::uint64_t seen = 0;
    visit_counts([&](int bucket, Counter n) {
      if (seen < rank) value = std::clamp(layout.middle_of(bucket), min_ns(), max_ns());
      seen += n;
    });
    return value;
  }

  /// Exact once a sample was seen; otherwise the limits of std::int64_t, reversed.
  std::int64_t min_ns() const { return min_ns_.load(std::memory_order_relaxed); }
  std::int64_t max_ns() const { return max_ns_.load(std::memory_order_relaxed); }
  std::int64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }
  std::uint64_t clamped() const { return clamped_.load(std::memory_order_relaxed); }

  /// Calls visit(bucket, count) for what is not empty within the range that was ever touched, rising.
  template <typename Visit>
  void visit_counts(Visit&& visit) const {
    const std::int64_t low = min_ns(), high = max_ns();
    if (low > high) return;
    for (int bucket = layout.bucket_of(low), last = layout.bucket_of(high); bucket <= last; ++bucket) {
      const Counter count = cells_[cell_of(bucket)].load(std::memory_order_acquire);
      if (count != 0) visit(bucket, count);
    }
  }

 private:
  static constexpr std::size_t cells = 2 * static_cast<std::size_t>(layout.bucket_max()) + 1;
  static constexpr std::size_t cell_of(int bucket) { return static_cast<std::size_t>(bucket + layout.bucket_max()); }

  std::unique_ptr<std::atomic<Counter>[]> cells_;
  std::atomic<std::int64_t> sum_ns_{0};
  std::atomic<std::int64_t> min_ns_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<std::int64_t> max_ns_{std::numeric_limits<std::int64_t>::min()};
  std::atomic<std::uint64_t> clamped_{0};
};

using FineHistogram = LiveHistogram<std::uint64_t, 10>;
using CoarseHistogram = LiveHistogram<std::uint32_t, 6>;

/// Cuts a FineHistogram into intervals: each call gives what came since the one before, so that their sum is the whole.
/// One reading thread. An interval's min and max are the bounds of its outermost buckets moved into the run's exact [min, max].
class IntervalCutter {
 public:
  explicit IntervalCutter(const FineHistogram& live) : live_(live) {}
  Histogram cut();

 private:
  const FineHistogram& live_;
  int first_ = 0;                    // the bucket of seen_[0]
  std::vector<std::uint64_t> seen_;  // counts at the last cut
  std::int64_t sum_seen_ns_ = 0;
  std::uint64_t clamped_seen_ = 0;
};

}  // namespace n2nq::measure
