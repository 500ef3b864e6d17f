// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "app/settings/all_digits.h"

namespace n2nq::app {

namespace {

constexpr int draws = 4000;
constexpr double trimmed_share = 0.3;

double normal_below(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// The 97.5 % quantile of Student's t: Cornish-Fisher's expansion, within 0.5 % from 4 degrees of freedom on.
double student_97_5(double freedom) {
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

/// Which lower quantile to take, where a normal distribution would take 2.5 %.
double lower_share(double repeats, double freedom) {
  return normal_below(-std::sqrt(repeats / (repeats - 1)) * student_97_5(freedom));
}

constexpr std::size_t repeats_for_bootstrap = 5;
/// The 97.5 % quantiles of Student's t with 2 and 3 degrees of freedom, which the expansion above does not reach.
constexpr double student_of_few[] = {4.3027, 3.1824};

Spread student_interval(std::span<const double> samples) {
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  const double squares = std::accumulate(samples.begin(), samples.end(), 0.0,
                                         [mean](double sum, double sample) { return sum + (sample - mean) * (sample - mean); });
  const double half = student_of_few[samples.size() - repeats_for_interval] * std::sqrt(squares / (count - 1) / count);
  const bool is_never_below_0 = std::none_of(samples.begin(), samples.end(), [](double sample) { return sample < 0; });
  return {is_never_below_0 ? std::max(0.0, mean - half) : mean - half, mean + half};
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

/// Not std::uniform_int_distribution: its numbers differ between libraries.
void draw_anew(std::span<const double> from, std::vector<double>& into, std::mt19937_64& random) {
  into.resize(from.size());
  for (double& value : into) value = from[random() % from.size()];
}

double mean_in_place(std::vector<double>& samples) {
  const auto cut = static_cast<std::size_t>(static_cast<double>(samples.size()) * trimmed_share);
  std::sort(samples.begin(), samples.end());
  const auto first = samples.begin() + static_cast<std::ptrdiff_t>(cut), last = samples.end() - static_cast<std::ptrdiff_t>(cut);
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

double furthest_from_0(const std::vector<double>& samples) {
  double out = 0;
  for (const double sample : samples) {
    if (std::abs(sample) > std::abs(out)) out = sample;
  }
  return out;
}

/// Of a side whose value is 0: a lost copy of one run in five moves no trimmed mean, and is told all the same.
QString zero_text(double furthest) {
  return furthest == 0 ? QString("0") : "0 in most, up to " + all_digits(furthest);
}

QString percent_text(double percent) {
  const double size = std::abs(percent);
  return (percent <= -0.05 ? QString::fromUtf8("−") : QString()) + QString::number(size, 'f', size >= 10 ? 0 : 1);
}

}  // namespace

double trimmed_mean(std::vector<double> samples) {
  return samples.empty() ? std::numeric_limits<double>::quiet_NaN() : mean_in_place(samples);
}

std::optional<std::size_t> place_of_middle(std::span<const double> samples) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!std::isnan(samples[i])) order.emplace_back(samples[i], i);
  }
  if (order.empty()) return {};
  std::sort(order.begin(), order.end());
  return order[(order.size() - 1) / 2].second;
}

Spread interval_95(std::span<const double> samples, std::uint64_t seed) {
  if (samples.size() < repeats_for_bootstrap) return student_interval(samples);
  std::mt19937_64 random(seed);
  std::vector<double> means(draws), drawn;
  for (double& mean : means) {
    draw_anew(samples, drawn, random);
    mean = mean_in_place(drawn);
  }
  std::sort(means.begin(), means.end());
  const auto repeats = static_cast<double>(samples.size());
  const double share = lower_share(repeats, repeats - 1);
  return {quantile(means, share), quantile(means, 1 - share)};
}

Spread KnownIntervals::of(const std::vector<double>& samples) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(samples); found != known_.end()) return found->second;
  }
  const Spread interval = interval_95(samples);
  const std::lock_guard lock(mutex_);
  ++made_;
  if (samples_ + samples.size() > samples_max) known_.clear(), samples_ = 0;
  if (known_.emplace(samples, interval).second) samples_ += samples.size();
  return interval;
}

std::size_t KnownIntervals::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

Difference difference_of(std::vector<double> from, std::vector<double> to, std::uint64_t seed) {
  for (std::vector<double>* side : {&from, &to}) std::erase_if(*side, [](double value) { return std::isnan(value); });
  Difference out;
  out.from = trimmed_mean(from);
  out.to = trimmed_mean(to);
  out.from_furthest = furthest_from_0(from);
  out.to_furthest = furthest_from_0(to);
  out.difference = out.to - out.from;
  out.percent = out.from == 0 ? std::numeric_limits<double>::quiet_NaN() : out.difference / std::abs(out.from) * 100;
  if (from.empty() || to.empty()) return out;
  const std::size_t fewest = std::min(from.size(), to.size());
  if (fewest < repeats_for_statement || std::isnan(out.percent)) return out.kind = Difference::Kind::too_few, out;

  std::mt19937_64 random(seed);
  std::vector<double> percents, drawn;
  for (int i = 0; i < draws; ++i) {
    draw_anew(from, drawn, random);
    const double mean_from = mean_in_place(drawn);
    draw_anew(to, drawn, random);
    const double mean_to = mean_in_place(drawn);
    if (mean_from != 0) percents.push_back((mean_to - mean_from) / std::abs(mean_from) * 100);
  }
  if (percents.empty()) return out.kind = Difference::Kind::too_few, out;
  std::sort(percents.begin(), percents.end());
  const double share = lower_share(static_cast<double>(fewest), static_cast<double>(from.size() + to.size()) - 2);
  out.percent_interval = {quantile(percents, share), quantile(percents, 1 - share)};
  const bool holds_0 = out.percent_interval.low <= 0 && out.percent_interval.high >= 0;
  out.kind = holds_0 ? Difference::Kind::not_shown : Difference::Kind::shown;
  return out;
}

void Difference::limit_by_clocks(double bound) {
  clock_bound = bound;
  const double least_percent = std::min(std::abs(percent_interval.low), std::abs(percent_interval.high));
  if (kind == Kind::shown && least_percent / 100 * std::abs(from) <= bound) kind = Kind::within_clocks;
}

QString Difference::words(bool is_time) const {
  const double half = std::max(percent - percent_interval.low, percent_interval.high - percent);
  switch (kind) {
    case Kind::no_value:
      return "no value to compare";
    case Kind::too_few:
      if (from == 0 && to == 0) {
        const bool all = from_furthest == 0 && to_furthest == 0;
        return all ? QString("both 0") : QString("%1 (was %2)").arg(zero_text(to_furthest), zero_text(from_furthest));
      }
      return (std::isnan(percent) ? QString("was 0: no percentage") : QString("under %1 repeats: no statement").arg(repeats_for_statement)) +
             (std::abs(difference) < clock_bound ? QString::fromUtf8(", less than its ±") : QString());
    case Kind::not_shown:
      return QString::fromUtf8("no difference shown (%1 % ± %2 %%3)")
          .arg(percent_text(percent), percent_text(half), clock_bound > 0 ? " if the clocks of both err alike" : "");
    case Kind::within_clocks:
    case Kind::shown:
      break;
  }
  const char* which = percent > 0 ? (is_time ? "slower" : "higher") : (is_time ? "faster" : "lower");
  const QString shown = QString::fromUtf8("%1 by %2 % ± %3 %").arg(which, percent_text(std::abs(percent)), percent_text(half));
  return kind == Kind::shown ? shown : QString("within what the clocks may err (%1 if both err alike)").arg(shown);
}

}  // namespace n2nq::app
