// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/histogram.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "workers/measure/whole_number.h"

namespace n2nq::measure {

namespace {

/// Grows `counts`, whose first cell stands for bucket `first`, so that `bucket` has a cell. Doubles, so that growing stays cheap.
void make_room(std::vector<std::uint64_t>& counts, int& first, int bucket) {
  if (counts.empty()) {
    first = bucket;
    counts.resize(64);
    return;
  }
  if (bucket < first) {
    const std::size_t more = std::max(static_cast<std::size_t>(first - bucket), counts.size());
    counts.insert(counts.begin(), more, 0);
    first -= static_cast<int>(more);
  } else if (static_cast<std::size_t>(bucket - first) >= counts.size()) {
    counts.resize(std::max(static_cast<std::size_t>(bucket - first) + 1, counts.size() * 2));
  }
}

}  // namespace

std::uint64_t& Histogram::cell(int bucket) {
  if (counts_.empty() || bucket < first_ || static_cast<std::size_t>(bucket - first_) >= counts_.size()) make_room(counts_, first_, bucket);
  return counts_[static_cast<std::size_t>(bucket - first_)];
}

std::uint64_t Histogram::bucket_count(int bucket) const {
  const std::int64_t at = std::int64_t{bucket} - first_;
  return at < 0 || at >= static_cast<std::int64_t>(counts_.size()) ? 0 : counts_[static_cast<std::size_t>(at)];
}

void Histogram::add(std::int64_t value_ns) {
  add_bucket(layout_.bucket_of(value_ns), 1);
  sum_ns_ = wrapping_sum(sum_ns_, value_ns);
  min_ns_ = std::min(min_ns_, value_ns);
  max_ns_ = std::max(max_ns_, value_ns);
  if (value_ns > HistogramLayout::value_max_ns || value_ns < -HistogramLayout::value_max_ns) ++clamped_;
}

void Histogram::add_bucket(int bucket, std::uint64_t count) {
  if (count == 0) return;
  cell(bucket) += count;
  count_ += count;
}

void Histogram::set_exact(std::int64_t sum_ns, std::int64_t min_ns, std::int64_t max_ns, std::uint64_t clamped) {
  sum_ns_ = sum_ns;
  min_ns_ = min_ns;
  max_ns_ = max_ns;
  clamped_ = clamped;
}

void Histogram::merge(const Histogram& other) {
  if (!(layout_ == other.layout_)) throw std::invalid_argument("histograms of different layouts cannot be merged");
  other.each_bucket([&](int bucket, std::uint64_t count) { add_bucket(bucket, count); });
  sum_ns_ = wrapping_sum(sum_ns_, other.sum_ns_);
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  clamped_ += other.clamped_;
}

Histogram Histogram::without(const Histogram& part) const {
  Histogram rest(layout_);
  int lowest = 0, highest = 0;
  each_bucket([&](int bucket, std::uint64_t count) {
    const std::uint64_t left = count - std::min(count, part.bucket_count(bucket));
    if (left == 0) return;
    if (rest.empty()) lowest = bucket;
    highest = bucket;
    rest.add_bucket(bucket, left);
  });
  if (rest.empty()) return rest;
  rest.set_exact(wrapping_difference(sum_ns_, part.sum_ns_), std::max(layout_.low_of(lowest), min_ns_), std::min(layout_.high_of(highest), max_ns_),
                 clamped_ - std::min(clamped_, part.clamped_));
  return rest;
}

std::int64_t Histogram::value_at_rank(std::uint64_t rank) const {
  if (count_ == 0) return 0;
  rank = std::clamp<std::uint64_t>(rank, 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(layout_.middle_of(first_ + static_cast<int>(i)), min_ns_, max_ns_);
  }
  return max_ns_;
}

std::int64_t Histogram::percentile(std::uint64_t numerator, std::uint64_t denominator) const {
  // ceil(count * numerator / denominator) without the overflow of the product.
  return value_at_rank(count_ / denominator * numerator + (count_ % denominator * numerator + denominator - 1) / denominator);
}

double whole_sum(std::int64_t sum_ns, double about_ns) {
  const double sum = static_cast<double>(sum_ns);
  return sum + std::round((about_ns - sum) / 0x1p64) * 0x1p64;
}

double Histogram::mean_ns() const {
  if (!may_wrap(count_, min_ns_, max_ns_)) return static_cast<double>(sum_ns_) / static_cast<double>(count_);
  double about_ns = 0;
  each_bucket([&](int bucket, std::uint64_t count) {
    about_ns += static_cast<double>(count) * static_cast<double>(layout_.middle_of(bucket));
  });
  return whole_sum(sum_ns_, about_ns) / static_cast<double>(count_);
}

double Histogram::mean_lowest_95_ns() const {
  const std::uint64_t left_out = left_out_of_lowest_95();
  if (left_out == 0) return mean_ns();
  // Added up from below: taking the highest away from the exact sum would drown a small rest in the rounding of a few huge samples.
  const std::uint64_t kept = count_ - left_out;
  std::uint64_t left = kept;
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size() && left > 0; ++i) {
    const std::uint64_t taken = std::min(left, counts_[i]);
    if (taken == 0) continue;
    sum += static_cast<double>(taken) * static_cast<double>(std::clamp(layout_.middle_of(first_ + static_cast<int>(i)), min_ns_, max_ns_));
    left -= taken;
  }
  return std::min(sum / static_cast<double>(kept), mean_ns());  // which is exact, and never lower
}

bool Histogram::operator==(const Histogram& other) const {
  if (!(layout_ == other.layout_) || count_ != other.count_ || sum_ns_ != other.sum_ns_ || clamped_ != other.clamped_) return false;
  if (count_ != 0 && (min_ns_ != other.min_ns_ || max_ns_ != other.max_ns_)) return false;
  bool same = true;
  each_bucket([&](int bucket, std::uint64_t count) { same = same && other.bucket_count(bucket) == count; });
  return same;  // equal counts in all of ours and the same total: the other has no further bucket
}

nlohmann::json Histogram::to_json() const {
  nlohmann::json buckets = nlohmann::json::array();
  each_bucket([&](int bucket, std::uint64_t count) { buckets.push_back({bucket, count}); });
  nlohmann::json json = {{"count", count_}, {"sum_ns", sum_ns_}, {"min_ns", nullptr}, {"max_ns", nullptr}, {"buckets", std::move(buckets)}};
  if (count_ != 0) {
    json["min_ns"] = min_ns_;
    json["max_ns"] = max_ns_;
  }
  if (clamped_ != 0) json["clamped"] = clamped_;
  return json;
}

Histogram Histogram::from_json(const nlohmann::json& json, HistogramLayout layout) {
  Histogram result(layout);
  for (const nlohmann::json& pair : list_at(json, "buckets")) {
    if (!pair.is_array() || pair.size() < 2) {
      throw std::invalid_argument("buckets holds " + shown(pair) + ", it has to hold [bucket, count]");
    }
    const int bucket = whole_from_to(pair[0], "buckets.bucket", -layout.bucket_max(), layout.bucket_max());
    result.add_bucket(bucket, whole_from_to(pair[1], "buckets.count", std::uint64_t{0}, UINT64_MAX));
  }
  const auto count = whole_at<std::uint64_t>(json, "count");
  if (count != result.count_) {
    throw std::invalid_argument("count is " + std::to_string(count) + ", but the buckets hold " + std::to_string(result.count_));
  }
  read_whole(json, "sum_ns", result.sum_ns_);
  if (count != 0) {
    read_whole(json, "min_ns", result.min_ns_);
    read_whole(json, "max_ns", result.max_ns_);
  }
  if (json.contains("clamped")) read_whole(json, "clamped", result.clamped_);
  return result;
}

Histogram IntervalCutter::cut() {
  Histogram interval(FineHistogram::layout);
  int lowest = 0, highest = 0;
  live_.visit_counts([&](int bucket, std::uint64_t count) {
    if (seen_.empty() || bucket < first_ || static_cast<std::size_t>(bucket - first_) >= seen_.size()) make_room(seen_, first_, bucket);
    std::uint64_t& seen = seen_[static_cast<std::size_t>(bucket - first_)];
    if (count == seen) return;
    if (interval.empty()) lowest = bucket;
    highest = bucket;
    interval.add_bucket(bucket, count - seen);
    seen = count;
  });
  const std::int64_t sum_ns = live_.sum_ns();
  const std::uint64_t clamped = live_.clamped();
  // The outermost bucket has no bound of its own: it holds the clamped ones too.
  const HistogramLayout layout = FineHistogram::layout;
  interval.set_exact(
      wrapping_difference(sum_ns, sum_seen_ns_), lowest == -layout.bucket_max() ? live_.min_ns() : std::max(layout.low_of(lowest), live_.min_ns()),
      highest == layout.bucket_max() ? live_.max_ns() : std::min(layout.high_of(highest), live_.max_ns()), clamped - clamped_seen_);
  sum_seen_ns_ = sum_ns;
  clamped_seen_ = clamped;
  return interval;
}

}  // namespace n2nq::measure
