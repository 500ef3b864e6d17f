// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/knee.h"

#include <algorithm>
#include <cmath>

#include "app/settings/all_digits.h"

namespace n2nq::app {

namespace {

constexpr std::size_t values_min = 6;
constexpr double one_percent_z = 2.326;  // of the normal distribution, one-sided
constexpr double growth_min = 1.5;
constexpr double latency_slack_us = 1000, in_flight_slack = 20;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

bool rises(std::span<const double> values, double slack) {
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known), [](double value) { return !std::isnan(value); });
  const std::size_t n = known.size();
  if (n < values_min) return false;
  double pairs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) pairs += known[j] > known[i] ? 1 : known[j] < known[i] ? -1 : 0;
  }
  const auto count = static_cast<double>(n);
  const double z = (pairs - 1) / std::sqrt(count * (count - 1) * (2 * count + 5) / 18);
  if (z < one_percent_z) return false;
  const auto third = static_cast<std::ptrdiff_t>(n / 3);
  return median({known.end() - third, known.end()}) > growth_min * median({known.begin(), known.begin() + third}) + slack;
}

LoadVerdict judge_load(const LoadSigns& signs, double p99_max_us) {
  if (!signs.plan_kept) return {false, "the plan was not kept"};
  if (signs.copies_given_up) return {false, "messages expired, were parked or cut off"};
  if (std::isnan(signs.from_plan_p99_us)) return {false, "nothing was delivered that had a plan"};
  if (signs.from_plan_p99_us > p99_max_us)
    return {false, QString("p99 of the latency from plan above %1 µs").arg(all_digits(p99_max_us))};
  if (rises(signs.from_plan_us, latency_slack_us)) return {false, "latency from plan rises"};
  if (rises(signs.in_flight, in_flight_slack)) return {false, "copies in flight rise"};
  return {};
}

KneeSearch::State KneeSearch::state(const std::map<double, LoadTrials>& tried) const {
  const auto trials = [&](double load) {
    const auto found = tried.find(load);
    return found == tried.end() ? LoadTrials() : found->second;
  };
  State state;
  double load = from_;
  // Up, until it does not keep up.
  while (true) {
    const LoadTrials at = trials(load);
    if (!at.decided()) return state.next = load, state;
    if (!at.keeps_up()) break;
    state.low = load;
    if (load >= to_) return state;
    load = std::min(to_, load * 2);
  }
  state.high = load;
  if (state.low == 0) return state;
  while (state.high - state.low > std::max(1.0, state.low * within_percent_ / 100)) {
    const double middle = std::floor((state.low + state.high) / 2);
    const LoadTrials at = trials(middle);
    if (!at.decided()) return state.next = middle, state;
    (at.keeps_up() ? state.low : state.high) = middle;
  }
  return state;
}

int KneeSearch::runs_expected() const {
  const double doublings = std::log2(std::max(2.0, to_ / from_)) / 2 + 1;
  return static_cast<int>(std::ceil(doublings + std::log2(100 / within_percent_) + 2));
}

QString KneeSearch::State::words(const QString& unit, double divide) const {
  const auto load = [divide](double value) { return all_digits(value / divide); };
  const QString behind = unit.isEmpty() ? QString() : ' ' + unit;
  if (!limit.isEmpty())
    return QString("keeps up to %1%2, the highest tried that settings allow (%3)").arg(load(low), behind, limit);
  if (high == 0) return QString("no knee up to %1%2").arg(load(low), behind);
  if (low == 0) return QString("knee below %1%2").arg(load(high), behind);
  return QString("knee between %1 and %2%3").arg(load(low), load(high), behind);
}

}  // namespace n2nq::app
