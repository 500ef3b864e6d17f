// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "workers/measure/whole_number.h"

namespace n2nq::measure {

namespace {

constexpr double ns_per_s = 1e9;
constexpr std::int64_t window_ns = 30'000'000'000;
/// Below this, probes that contradict mean a step and no uneven pace.
constexpr std::int64_t window_min_ns = 1'000'000'000;
/// A quartz is off by 100 millionths at most, and time daemons slew by up to 500.
constexpr double pace_max_ns_per_s = 500'000;
/// How much a pace itself changes while a probe grows old: what a probe proves gets weaker by so much.
constexpr double wander_ns_per_s = 500;
/// Cores' counters may differ by some.
constexpr double stamp_slack_ns = 100;
/// However long ago: a step of this clock itself makes everything before it look old.
constexpr std::size_t kept_min = 4;
constexpr double bent_below_part = 0.25;
/// Over less time a pace cannot be told from jitter.
constexpr double pace_span_min_s = 0.2;
/// Trillionths in what corners have, nanoseconds per second.
constexpr double ppt_in_ns_per_s = 1000;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / ns_per_s;
}

}  // namespace

void to_json(nlohmann::json& json, const ClockLine& line) {
  json = {{"at_ns", line.at_ns}, {"offset_ns", line.offset_ns}, {"drift_ppt", line.drift_ppt}};
}

void from_json(const nlohmann::json& json, ClockLine& line) {
  line.at_ns = whole_at(json, "at_ns", -stamp_ns_max, stamp_ns_max);
  line.offset_ns = whole_at(json, "offset_ns", -stamp_ns_max, stamp_ns_max);
  line.drift_ppt = whole_at(json, "drift_ppt", -ClockLine::drift_ppt_max, ClockLine::drift_ppt_max);
}

ClockFit::ClockFit() : probes_(probes_max) {
  // A cut adds one corner, each probe cuts twice, and the first lines are all between four.
  corners_.reserve(2 * probes_max + 4);
  cut_corners_.reserve(2 * probes_max + 4);
}

std::optional<ClockStep> ClockFit::add(const ClockProbe& probe) {
  if (count_ == probes_max) forget(1);
  const std::int64_t expected_ns = count_ > 0 ? line().offset_at(probe.t4_ns) : 0;
  probes_[(first_ + count_++) % probes_max] = probe;
  base_ns_ = (probe.t2_ns - probe.t1_ns) / 2 + (probe.t3_ns - probe.t4_ns) / 2;
  for (std::int64_t window = window_ns;; window /= 2) {
    const std::size_t before = count_;
    forget_before(probe.t4_ns - window);
    // What left the window by its age fitted; what had to leave a shorter one did not.
    was_uneven_ = was_uneven_ || (window < window_ns && count_ < before);
    const bool last_try = window <= window_min_ns;
    if (find_lines() && (last_try || !is_bent())) return std::nullopt;
    if (last_try) break;
  }
  const std::int64_t after_ns = surely_before(probe);
  forget(count_ - 1);
  find_lines();
  was_uneven_ = false;
  return ClockStep{after_ns, probe.t4_ns, base_ns_ - expected_ns};
}

/// The last instant at which the newest probe, which does not fit, shows that the clocks had not jumped yet. One that came before it and
/// fitted may show nothing: when this clock jumps ahead while a probe is under way, that one only seems to have been held up.
std::int64_t ClockFit::surely_before(const ClockProbe& probe) const {
  for (std::size_t i = count_ - 1; i-- > 0;) {
    const ClockProbe& earlier = at(i);
    const double slack_ns = 2 * stamp_slack_ns + pace_max_ns_per_s * std::fabs(seconds_between(earlier.t1_ns, probe.t4_ns));
    if (static_cast<double>((earlier.t3_ns - earlier.t4_ns) - (probe.t2_ns - probe.t1_ns)) > slack_ns) return earlier.t4_ns;
    if (static_cast<double>((probe.t3_ns - probe.t4_ns) - (earlier.t2_ns - earlier.t1_ns)) > slack_ns) return earlier.t1_ns;
  }
  return at(0).t1_ns;  // only together they contradict: any of them may have come behind it
}

void ClockFit::forget(std::size_t oldest) {
  first_ = (first_ + oldest) % probes_max;
  count_ -= oldest;
}

void ClockFit::forget_before(std::int64_t t4_ns) {
  while (count_ > kept_min && at(0).t4_ns < t4_ns) forget(1);
}

/// Every line that contradicts no probe, as the corners of the area that they fill in the plane of ahead and pace. False: there is none.
bool ClockFit::find_lines() {
  const std::int64_t now_ns = newest().t4_ns;
  const auto half_ns = static_cast<double>(newest().round_trip_ns()) / 2 + stamp_slack_ns;
  const double reach_ns = half_ns + pace_max_ns_per_s * seconds_between(newest().t1_ns, now_ns) + 1;
  corners_.clear();
  corners_.push_back({-reach_ns, -pace_max_ns_per_s});
  corners_.push_back({reach_ns, -pace_max_ns_per_s});
  corners_.push_back({reach_ns, pace_max_ns_per_s});
  corners_.push_back({-reach_ns, pace_max_ns_per_s});
  for (std::size_t i = count_; i-- > 0 && !corners_.empty();) {
    const ClockProbe& probe = at(i);
    const double age_s = seconds_between(probe.t4_ns, now_ns);
    const double slack_ns = stamp_slack_ns + wander_ns_per_s * age_s;
    cut(-seconds_between(probe.t1_ns, now_ns), static_cast<double>(probe.t2_ns - probe.t1_ns - base_ns_) + slack_ns, 1);
    cut(-age_s, static_cast<double>(probe.t3_ns - probe.t4_ns - base_ns_) - slack_ns, -1);
  }
  return !corners_.empty();
}

/// Even clocks leave room between the lines for about the smallest round trip. With hardly any left, a straight line is being forced
/// through something that is none.
bool ClockFit::is_bent() const {
  const auto [lowest, highest] = range_at(0);
  return highest - lowest < bent_below_part * static_cast<double>(round_trip_min_ns());
}

/// Keeps the lines that are at most (sign 1) or at least (-1) `bound_ns` at an instant.
void ClockFit::cut(double seconds, double bound_ns, double sign) {
  const auto room = [&](const Corner& corner) { return sign * (bound_ns - corner.ahead_ns - corner.pace_ns_per_s * seconds); };
  cut_corners_.clear();
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Corner &from = corners_[i], &to = corners_[(i + 1) % corners_.size()];
    const double room_from = room(from), room_to = room(to);
    if (room_from >= 0) cut_corners_.push_back(from);
    if ((room_from >= 0) == (room_to >= 0)) continue;
    const double part = room_from / (room_from - room_to);
    cut_corners_.push_back(
        {from.ahead_ns + part * (to.ahead_ns - from.ahead_ns), from.pace_ns_per_s + part * (to.pace_ns_per_s - from.pace_ns_per_s)});
  }
  corners_.swap(cut_corners_);
}

/// Lowest and highest of the lines, relative to base_ns_, `seconds` after the newest probe.
std::pair<double, double> ClockFit::range_at(double seconds) const {
  double lowest = INFINITY, highest = -INFINITY;
  for (const Corner& corner : corners_) {
    const double ahead_ns = corner.ahead_ns + corner.pace_ns_per_s * seconds;
    lowest = std::min(lowest, ahead_ns);
    highest = std::max(highest, ahead_ns);
  }
  return {lowest, highest};
}

ClockLine ClockFit::line() const {
  const auto middle_at = [this](double seconds) {
    const auto [lowest, highest] = range_at(seconds);
    return (lowest + highest) / 2;
  };
  const double span_s = seconds_between(at(0).t4_ns, newest().t4_ns);
  ClockLine line;
  line.at_ns = newest().t4_ns;
  line.offset_ns = base_ns_ + std::llround(middle_at(0));
  if (span_s >= pace_span_min_s) line.drift_ppt = std::llround((middle_at(0) - middle_at(-span_s)) / span_s * ppt_in_ns_per_s);
  return line;
}

ClockBound ClockFit::bound(const ClockLine& line, std::int64_t at_ns) const {
  const double seconds = seconds_between(newest().t4_ns, at_ns);
  const auto [lowest, highest] = range_at(seconds);
  const auto said = static_cast<double>(line.offset_at(at_ns) - base_ns_);
  const double wandered_ns = wander_ns_per_s * std::fabs(seconds);
  const auto total_ns = static_cast<std::int64_t>(std::ceil(std::max(highest - said, said - lowest) + wandered_ns));
  ClockBound bound;
  bound.asymmetry_ns = round_trip_min_ns() / 2;
  bound.estimation_ns = std::max<std::int64_t>(0, total_ns - bound.asymmetry_ns);
  return bound;
}

/// The outermost of all lines that may be true bends away from any other one: how wrong that can be lies below the chord between the ends
/// of the span, and before it grows no faster than the steepest of them leaves it.
ClockPast ClockFit::past(const ClockLine& line) const {
  const std::int64_t oldest_ns = at(0).t4_ns;
  const double drift_ns_per_s = static_cast<double>(line.drift_ppt) / ppt_in_ns_per_s;
  double apart_ns_per_s = was_uneven_ ? pace_max_ns_per_s + std::fabs(drift_ns_per_s) : 0;
  for (const Corner& corner : corners_) apart_ns_per_s = std::max(apart_ns_per_s, std::fabs(corner.pace_ns_per_s - drift_ns_per_s));
  return {.span_ns = newest().t4_ns - oldest_ns,
          .bound_ns = bound(line, oldest_ns).total_ns(),
          .pace_ppt = static_cast<std::int64_t>(std::ceil((apart_ns_per_s + wander_ns_per_s) * ppt_in_ns_per_s))};
}

ClockBound ClockPast::bound_before(const ClockBound& bound, std::int64_t ns) const {
  constexpr double ppt = 1e-12;
  const auto in_span_ns = static_cast<double>(std::clamp<std::int64_t>(ns, 0, span_ns));
  const auto before_ns = static_cast<double>(std::max<std::int64_t>(0, ns - span_ns));
  const auto more_ns = static_cast<double>(std::max<std::int64_t>(0, bound_ns - bound.total_ns()));
  const double part = span_ns > 0 ? in_span_ns / static_cast<double>(span_ns) : 1;
  const double grown_ns = more_ns * part + before_ns * static_cast<double>(pace_ppt) * ppt + bound_rounded_ns;
  return {.asymmetry_ns = bound.asymmetry_ns, .estimation_ns = bound.estimation_ns + static_cast<std::int64_t>(std::ceil(grown_ns))};
}

std::int64_t ClockFit::round_trip_min_ns() const {
  std::int64_t shortest_ns = newest().round_trip_ns();
  for (std::size_t i = 0; i < count_; ++i) shortest_ns = std::min(shortest_ns, at(i).round_trip_ns());
  return shortest_ns;
}

}  // namespace n2nq::measure
