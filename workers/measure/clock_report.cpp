// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/clock_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "workers/measure/whole_number.h"

namespace n2nq::measure {

/// The outermost of all lines that may be true is straight until a steeper one takes its place, farther from the probes: so the bound lies
/// below the chord between two of its values, and above it behind them. There holds what holds for any two clocks.
ClockBound ClockReport::bound_after(std::int64_t ns) const {
  if (!later || ns <= 0) return bound;
  const auto at_first = static_cast<double>(bound.estimation_ns), at_last = static_cast<double>(later->estimation_ns);
  const double asymmetry_ns = static_cast<double>(std::max(bound.asymmetry_ns, later->asymmetry_ns));
  const double part = std::min(1.0, static_cast<double>(ns) / static_cast<double>(later_after_ns));
  const double behind_ns = static_cast<double>(std::max<std::int64_t>(0, ns - later_after_ns)) * line_pace_apart_max;
  const double estimation_ns = at_first + (at_last - at_first) * part + behind_ns + bound_rounded_ns;
  const auto whole = [](double value_ns) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(value_ns, 0.0, static_cast<double>(stamp_ns_max))));
  };
  return {.asymmetry_ns = whole(asymmetry_ns), .estimation_ns = whole(std::max(at_first, estimation_ns))};
}

void ClockSpan::end(std::int64_t broker_ns) {
  to_broker_ns = broker_ns;
  if (from_broker_ns > to_broker_ns) from_broker_ns = std::min(from_broker_ns + jump_ns, to_broker_ns);
}

void to_json(nlohmann::json& json, const ClockBound& bound) {
  json = {{"asymmetry_ns", bound.asymmetry_ns}, {"estimation_ns", bound.estimation_ns}};
}

void from_json(const nlohmann::json& json, ClockBound& bound) {
  read_whole(json, "asymmetry_ns", bound.asymmetry_ns);
  read_whole(json, "estimation_ns", bound.estimation_ns);
}

void to_json(nlohmann::json& json, const ClockPast& past) {
  json = {{"span_ns", past.span_ns}, {"bound_ns", past.bound_ns}, {"pace_ppt", past.pace_ppt}};
}

void from_json(const nlohmann::json& json, ClockPast& past) {
  read_whole(json, "span_ns", past.span_ns);
  read_whole(json, "bound_ns", past.bound_ns);
  read_whole(json, "pace_ppt", past.pace_ppt);
}

void to_json(nlohmann::json& json, const ClockReport& report) {
  nlohmann::json spans = nlohmann::json::array();
  for (const ClockSpan& span : report.spans) {
    spans.push_back({{"from_broker_ns", span.from_broker_ns}, {"to_broker_ns", span.to_broker_ns}, {"jump_ns", span.jump_ns}});
  }
  json = {{"line", report.line},
          {"at_ns", report.at_ns},
          {"bound", report.bound},
          {"worst", report.worst},
          {"past", report.past},
          {"round_trip_min_ns", report.round_trip_min_ns},
          {"probes", report.probes},
          {"jumps", report.jumps},
          {"spans", std::move(spans)}};
  if (report.later) json["later"] = *report.later;
}

void from_json(const nlohmann::json& json, ClockReport& report) {
  const auto bound = [](const nlohmann::json& object) { return object.get<ClockBound>(); };
  report.line = in_object(json, "line", [](const nlohmann::json& object) { return object.get<ClockLine>(); });
  report.at_ns = whole_at(json, "at_ns", -stamp_ns_max, stamp_ns_max);
  report.bound = in_object(json, "bound", bound);
  report.worst = in_object(json, "worst", bound);
  report.past = in_object(json, "past", [](const nlohmann::json& object) { return object.get<ClockPast>(); });
  report.later.reset();
  if (json.contains("later")) report.later = in_object(json, "later", bound);
  read_whole(json, "round_trip_min_ns", report.round_trip_min_ns);
  read_whole(json, "probes", report.probes);
  read_whole(json, "jumps", report.jumps);
  report.spans.clear();
  each_object(json, "spans", [&report](const nlohmann::json& object) {
    ClockSpan& span = report.spans.emplace_back();
    read_whole(object, "from_broker_ns", span.from_broker_ns);
    read_whole(object, "to_broker_ns", span.to_broker_ns);
    read_whole(object, "jump_ns", span.jump_ns);
  });
}

}  // namespace n2nq::measure
