// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/clocks.h"

#include <algorithm>
#include <cmath>

#include "app/control/role.h"
#include "app/figure/time_units.h"

namespace n2nq::app {

namespace {

using OrderedJson = nlohmann::ordered_json;
using Json = nlohmann::json;
using Kind = ClockRelation::Kind;

constexpr auto now = &measure::ClockReport::bound, worst_so_far = &measure::ClockReport::worst;

/// How wrong its line can have become since it was said.
void let_age(measure::ClockReport& report, std::int64_t ns) {
  report.bound = report.bound_after(ns);
  report.at_ns += ns;
  if (report.bound.total_ns() > report.worst.total_ns()) report.worst = report.bound;
}

/// What it said last, and how wrong its clock's line became until it was gone.
std::optional<measure::ClockReport> last_said(const ProcessRecord& worker) {
  std::optional<measure::ClockReport> report = worker.clock;
  if (report && worker.unheard_ns > 0) let_age(*report, worker.unheard_ns);
  return report;
}

/// The report of a bye is the last one; before it there is what was said on the way.
std::optional<measure::ClockReport> last_report(const ProcessRecord& worker) {
  if (worker.bye && worker.bye->contains("clock")) {
    try {
      return worker.bye->at("clock").get<measure::ClockReport>();
    } catch (const std::exception&) {
      return last_said(worker);  // what is wrong with the bye is told elsewhere
    }
  }
  return last_said(worker);
}

/// What the process before a restart had seen counts too.
void add_before(measure::ClockReport& report, const measure::ClockReport& before) {
  if (before.worst.total_ns() > report.worst.total_ns()) report.worst = before.worst;
  report.jumps += before.jumps;
  report.spans.insert(report.spans.begin(), before.spans.begin(), before.spans.end());
}

/// The senders' lines came late to who used them, or were made late for what had waited: then their ± is no less than what the receivers
/// found that to be (of the worst moment: what is late now nobody knows). Nothing where what they say of it is none; that is told
/// elsewhere.
void add_late(measure::ClockReport& senders, const ProcessRecord& receivers) {
  const auto late = receivers.bye ? receivers.bye->find("senders_clock_late") : Json::const_iterator();
  if (!receivers.bye || late == receivers.bye->end()) return;
  try {
    const auto bound = late->get<measure::ClockBound>();
    if (bound.total_ns() > senders.worst.total_ns()) senders.worst = bound;
  } catch (const std::exception&) {
    return;
  }
}

ClockRelation relation(const RunRecord& record, Role role) {
  ClockRelation out = relation(record.of(role), record.of(Role::broker));
  if (role == Role::senders && out.kind == Kind::probed) add_late(out.report, record.of(Role::receivers));
  return out;
}

/// As relation(), but for what has become of it since who lives still said something of its clock.
ClockRelation relation_now(const RunRecord& record, Role role) {
  ClockRelation out = relation(record, role);
  if (out.kind == Kind::probed && record.of(role).clock_age_ns > 0) let_age(out.report, record.of(role).clock_age_ns);
  return out;
}

ClockBound bound_of(const ClockRelation& relation, measure::ClockBound measure::ClockReport::*of_moment) {
  switch (relation.kind) {
    case Kind::shared:
      return {};
    case Kind::untold:
      return {.apart = true, .asymmetry_us = unknown, .estimation_us = unknown};
    case Kind::probed:
      break;
  }
  const measure::ClockBound& bound = relation.report.*of_moment;
  return {.apart = true,
          .asymmetry_us = static_cast<double>(bound.asymmetry_ns) / ns_in_us,
          .estimation_us = static_cast<double>(bound.estimation_ns) / ns_in_us};
}

ClockBound sum(const ClockBound& a, const ClockBound& b) {
  return {.apart = a.apart || b.apart, .asymmetry_us = a.asymmetry_us + b.asymmetry_us, .estimation_us = a.estimation_us + b.estimation_us};
}

double offset_us(const ClockRelation& relation) {
  if (relation.kind == Kind::untold) return unknown;
  return static_cast<double>(relation.report.offset_ns()) / ns_in_us;
}

/// By how much the first clock is behind the second one, by N2NQ's: at one instant, for with drift it is not the same a moment later.
double apart_us(const ClockRelation& first, const ClockRelation& second) {
  if (first.kind == Kind::untold || second.kind == Kind::untold) return unknown;
  const auto broker_ns = [](const measure::ClockReport& report) { return report.at_ns + report.offset_ns(); };
  const std::int64_t then_ns = std::max(broker_ns(first.report), broker_ns(second.report));
  const auto offset_then_ns = [then_ns](const measure::ClockLine& line) { return line.offset_at(line.when(then_ns)); };
  return static_cast<double>(offset_then_ns(first.report.line) - offset_then_ns(second.report.line)) / ns_in_us;
}

OrderedJson known(double value) {
  return std::isnan(value) ? OrderedJson("unknown") : OrderedJson(std::round(value * 1000) / 1000);
}

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::shared:
      return "shared";
    case Kind::probed:
      return "probed";
    case Kind::untold:
      break;
  }
  return "unknown";
}

OrderedJson bound_json(const ClockBound& bound) {
  return {
      {"bound_us", known(bound.total_us())}, {"asymmetry_us", known(bound.asymmetry_us)}, {"estimation_us", known(bound.estimation_us)}};
}

OrderedJson relation_json(const ClockRelation& relation, std::int64_t start_at_broker_ns) {
  OrderedJson out = {{"clock", word_of(relation.kind)}, {"offset_us", known(offset_us(relation))}};
  out.update(bound_json(bound_of(relation, worst_so_far)));
  if (relation.kind != Kind::probed) return out;
  const measure::ClockReport& report = relation.report;
  out["drift_ppm"] = static_cast<double>(report.line.drift_ppt) / 1e6;
  out["round_trip_min_us"] = static_cast<double>(report.round_trip_min_ns) / ns_in_us;
  out["probes"] = report.probes;
  out["jumps"] = report.jumps;
  out["wrong_spans"] = OrderedJson::array();
  for (const measure::ClockSpan& span : report.spans) {
    const auto at_s = [&](std::int64_t broker_ns) { return std::round(static_cast<double>(broker_ns - start_at_broker_ns) / 1e6) / 1e3; };
    out["wrong_spans"].push_back({{"from_s", at_s(span.from_broker_ns)},
                                  {"to_s", at_s(span.to_broker_ns)},
                                  {"from_broker_ns", span.from_broker_ns},
                                  {"to_broker_ns", span.to_broker_ns},
                                  {"jump_us", static_cast<double>(span.jump_ns) / ns_in_us}});
  }
  return out;
}

/// An echo over loopback as a group measured it before the run.
double echo_us(const Json& floor) {
  const Json echo_ns = floor.is_object() ? floor.value("loopback_echo_p50_ns", Json()) : Json();
  return echo_ns.is_number() ? echo_ns.get<double>() / ns_in_us : unknown;
}

}  // namespace

bool share_a_clock(const HelloMessage& a, const HelloMessage& b) {
  if (!a.host.is_object() || !b.host.is_object()) return false;
  for (const char* key : {"boot_id", "time_namespace"}) {
    const Json mine = a.host.value(key, Json()), theirs = b.host.value(key, Json());
    if (!mine.is_string() || mine != theirs || mine == "unknown") return false;
  }
  return true;
}

ClockRelation relation(const ProcessRecord& worker, const ProcessRecord& broker) {
  if (auto report = last_report(worker)) {
    if (worker.clock_before_restart) add_before(*report, *worker.clock_before_restart);
    return {Kind::probed, std::move(*report)};
  }
  if (worker.clock_before_restart) return {Kind::probed, *worker.clock_before_restart};  // the new one has said nothing yet
  const bool shared = worker.hello && broker.hello && share_a_clock(*worker.hello, *broker.hello);
  return {shared ? Kind::shared : Kind::untold, {}};
}

/// It compares clocks though its hello says that it need not: it is on a clone of N2NQ's machine.
bool contradicts_its_hello(const ProcessRecord& worker, const ProcessRecord& broker) {
  const bool probes = last_report(worker) || worker.clock_before_restart;
  return probes && worker.hello && broker.hello && share_a_clock(*worker.hello, *broker.hello);
}

bool groups_share_a_clock(const RunRecord& record) {
  const ProcessRecord &senders = record.of(Role::senders), &receivers = record.of(Role::receivers), &broker = record.of(Role::broker);
  if (!senders.hello || !receivers.hello || !share_a_clock(*senders.hello, *receivers.hello)) return false;
  // Where one of the hellos proved to say nothing, neither does that theirs are alike.
  return !contradicts_its_hello(senders, broker) && !contradicts_its_hello(receivers, broker) && !record.contradiction.now();
}

/// How far the groups' clock and N2NQ's drifted apart in the longest latency at most, once it is known: the groups' one line is that of
/// when a message came, and not of when it left.
double drifted_meanwhile_us(const measure::ClockReport& report, const ProcessRecord& receivers) {
  if (!receivers.bye) return 0;
  const Json longest_ns = receivers.bye->value("/figures/latency/max_ns"_json_pointer, Json());
  constexpr double ppt = 1e-12;
  const double drift_ppt = std::fabs(static_cast<double>(report.line.drift_ppt)) + static_cast<double>(report.past.pace_ppt);
  return longest_ns.is_number() ? drift_ppt * ppt * longest_ns.get<double>() / ns_in_us : 0;
}

ClockBounds clock_bounds(const RunRecord& record) {
  const ClockRelation senders = relation_now(record, Role::senders), receivers = relation_now(record, Role::receivers);
  ClockBounds out;
  out.to_broker = bound_of(senders, worst_so_far);
  out.to_receiver = bound_of(receivers, worst_so_far);
  // Some of the figures were reckoned while they were taken for two.
  const bool one_clock = groups_share_a_clock(record) && !record.contradiction.ever();
  if (!one_clock) out.latency = sum(out.to_broker, out.to_receiver);
  if (one_clock && senders.kind == Kind::probed)
    out.to_broker.estimation_us += drifted_meanwhile_us(senders.report, record.of(Role::receivers));
  out.senders_offset_us = offset_us(senders);
  out.receivers_offset_us = offset_us(receivers);
  out.senders_offset = bound_of(senders, now);
  out.receivers_offset = bound_of(receivers, now);
  out.jumps = static_cast<std::int64_t>(senders.report.jumps + receivers.report.jumps);
  return out;
}

double floor_us(const RunRecord& record) {
  return std::fmax(echo_us(record.of(Role::senders).floor), echo_us(record.of(Role::receivers).floor));
}

Json senders_clock_message(const RunRecord& record) {
  const ClockRelation senders = relation(record, Role::senders), receivers = relation(record, Role::receivers);
  if (senders.kind == Kind::shared && receivers.kind == Kind::shared) return nullptr;
  Json message = {{"type", "clock"}};
  if (groups_share_a_clock(record)) {
    if (senders.kind == Kind::untold || receivers.kind == Kind::untold) return nullptr;  // whether that is true shows when both have compared theirs
    message["senders"] = "same";
  } else if (senders.kind == Kind::untold) {
    return nullptr;
  } else {
    message["senders"] = senders.report.line;  // of a shared clock: zero, as its bound is
    message["senders"]["bound"] = senders.report.bound;
    message["senders"]["past"] = senders.report.past;
    message["jumps"] = senders.report.jumps;
  }
  return message;
}

OrderedJson offsets_json(const RunRecord& record, std::int64_t start_at_broker_ns) {
  const ClockRelation senders = relation(record, Role::senders), receivers = relation(record, Role::receivers);
  const ClockBounds bounds = clock_bounds(record);
  const bool one_clock = !bounds.latency.apart;
  const bool any_unknown = !one_clock && (senders.kind == Kind::untold || receivers.kind == Kind::untold);
  OrderedJson pair = {{"clock", one_clock ? "shared" : any_unknown ? "unknown" : "probed"},
                      {"offset_us", one_clock ? OrderedJson(0) : known(apart_us(senders, receivers))}};
  pair.update(bound_json(bounds.latency));
  return {{"senders_to_broker", relation_json(senders, start_at_broker_ns)},
          {"receivers_to_broker", relation_json(receivers, start_at_broker_ns)},
          {"senders_to_receivers", std::move(pair)}};
}

}  // namespace n2nq::app
