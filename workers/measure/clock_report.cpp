// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/clock_report.h"

#include <nlohmann/json.hpp>

#include "workers/measure/whole_number.h"

namespace n2nq::measure {

void to_json(nlohmann::json& json, const ClockBound& bound) {
  json = {{"asymmetry_ns", bound.asymmetry_ns}, {"estimation_ns", bound.estimation_ns}};
}

void from_json(const nlohmann::json& json, ClockBound& bound) {
  bound = {whole_number<std::int64_t>(json.at("asymmetry_ns"), "asymmetry_ns"),
           whole_number<std::int64_t>(json.at("estimation_ns"), "estimation_ns")};
}

void to_json(nlohmann::json& json, const ClockReport& report) {
  nlohmann::json spans = nlohmann::json::array();
  for (const ClockSpan& span : report.spans) {
    spans.push_back({{"from_broker_ns", span.from_broker_ns}, {"to_broker_ns", span.to_broker_ns}, {"jump_ns", span.jump_ns}});
  }
  json = {{"line", report.line},     {"bound", report.bound}, {"worst", report.worst},    {"round_trip_min_ns", report.round_trip_min_ns},
          {"probes", report.probes}, {"jumps", report.jumps}, {"spans", std::move(spans)}};
}

void from_json(const nlohmann::json& json, ClockReport& report) {
  report.line = json.at("line").get<ClockLine>();
  report.bound = json.at("bound").get<ClockBound>();
  report.worst = json.at("worst").get<ClockBound>();
  report.round_trip_min_ns = whole_number<std::int64_t>(json.at("round_trip_min_ns"), "round_trip_min_ns");
  report.probes = whole_number<std::uint64_t>(json.at("probes"), "probes");
  report.jumps = whole_number<std::uint64_t>(json.at("jumps"), "jumps");
  report.spans.clear();
  for (const nlohmann::json& span : json.at("spans")) {
    report.spans.push_back({whole_number<std::int64_t>(span.at("from_broker_ns"), "from_broker_ns"),
                            whole_number<std::int64_t>(span.at("to_broker_ns"), "to_broker_ns"),
                            whole_number<std::int64_t>(span.at("jump_ns"), "jump_ns")});
  }
}

}  // namespace n2nq::measure
