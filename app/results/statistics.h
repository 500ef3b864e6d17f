// SPDX-License-Identifier: GPL-3.0-or-later
// Is one set of repeats different from another? Answered by a bootstrap interval of the difference, and in words. Pure: the same samples
// give the same answer.
//
// A run's figure is one sample; repeats give several. Each side stands as its mean without the lowest and the highest three tenths (a
// disturbed run must not make a difference). What is drawn anew are the repeats of each side, 4,000 times; the interval is made from the
// quantiles of the ratios, moved outwards as Student's t is wider than the normal distribution, because few repeats make a plain bootstrap
// too narrow (T. Hesterberg, What Teachers Should Know About the Bootstrap, 2015: "expanded percentile interval").
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace n2nq::app {

/// Fewer than that on either side, and nothing is said.
inline constexpr int repeats_for_statement = 5;

struct Spread {
  double low = 0, high = 0;
};

/// The mean without the lowest and the highest three tenths of the samples (each rounded down). NaN of none.
double trimmed_mean(std::vector<double> samples);
/// The place of the middle one (of two, the lower); NaN are left out. None: all are.
std::optional<std::size_t> place_of_middle(std::span<const double> samples);
/// Fewer than that, and a value stands without an interval.
inline constexpr std::size_t repeats_for_interval = 3;
/// 95 % interval of the trimmed mean by bootstrap, expanded. A bootstrap never leaves its samples, and of four and fewer it is no more than
/// their range, which holds the middle in 75 to 88 % of cases: of those it is Student's interval of the mean, which does not go below 0
/// where no sample does. `samples` has at least repeats_for_interval.
Spread interval_95(std::span<const double> samples, std::uint64_t seed = 1);

/// The intervals of samples that were asked for already: a case asks for those of all its points whenever a run ends, and one of them is
/// new. Any thread.
class KnownIntervals {
 public:
  /// interval_95() of these samples.
  Spread of(const std::vector<double>& samples);
  /// How many were not known.
  std::size_t made() const;
  /// Of all that is kept, together (8 MB); what would be more begins anew.
  static constexpr std::size_t samples_max = 1'000'000;

 private:
  mutable std::mutex mutex_;
  std::map<std::vector<double>, Spread> known_;
  std::size_t samples_ = 0, made_ = 0;
};

struct Difference {
  enum class Kind { no_value, too_few, not_shown, within_clocks, shown };
  Kind kind = Kind::no_value;  // unknown: a side has no value at all
  double from = 0, to = 0;     // each side's value
  double from_furthest = 0, to_furthest = 0;  // each side's sample that is furthest from 0
  double difference = 0;       // to - from
  double percent = 0;          // of from; NaN where that is 0
  Spread percent_interval{};   // not_shown, within_clocks, shown
  /// In the unit of `difference`: how far it may be off because clocks are; infinite: nobody knows. NaN: each side's figure is of one clock.
  double clock_bound = std::numeric_limits<double>::quiet_NaN();
  /// What the repeats show and the clocks could have made is not shown: more repeats do not help against that.
  void limit_by_clocks(double bound);
  /// "slower by 12 % ± 3 %", "no difference shown (−1 % ± 4 %)" (with clocks "… if the clocks of both err alike)"), "within what the clocks
  /// may err (slower by 12 % ± 3 % if both err alike)", "under 5 repeats: no statement" (with clocks that may have made it "…, less than
  /// its ±"), "both 0" (all samples of both sides; of sides whose value alone is 0 "0 in most, up to 100 (was 0)").
  QString words(bool is_time) const;
};

/// `from` is what `to` is compared with. NaN samples are left out.
Difference difference_of(std::vector<double> from, std::vector<double> to, std::uint64_t seed = 1);

}  // namespace n2nq::app
