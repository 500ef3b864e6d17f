// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/orders.h"

#include <nlohmann/json.hpp>
#include <string>

namespace n2nq::worker {

namespace {

using measure::stamp_ns_max;
using net::Section;
using net::SectionError;

}  // namespace

ConnectOrder parse_connect_order(Section& section) {
  const std::string text = section.text("address");
  std::uint16_t port = 0;
  section.required_number("port", port, 1, UINT16_MAX);
  const bool by_unix = section.choice("transport", false, {{"tcp", false}, {"unix", true}});
  ConnectOrder order;
  order.clock_shared = section.choice("clock", true, {{"shared", true}, {"probed", false}});
  order.clocks_first = section.flag("clocks_first");
  section.refuse_unknown();
  const auto address = net::SocketAddress::parse(text, port);
  if (!address) throw SectionError("address", net::shown(nlohmann::json(text)) + " is no numeric IPv4 or IPv6 address, such as 127.0.0.1");
  order.address = by_unix ? net::SocketAddress::unix_beside(port) : *address;
  return order;
}

StartOrder parse_start_order(Section& section) {
  StartOrder order;
  section.required_number("at_broker_ns", order.at_broker_ns, -stamp_ns_max, stamp_ns_max);
  section.whole_number("lead_ns", order.lead_ns, 0, stamp_ns_max);
  if (section.find("late_ns") != nullptr) section.required_number("late_ns", order.late_ns.emplace(), 0, stamp_ns_max);
  section.refuse_unknown();
  return order;
}

ClockOrder parse_clock_order(Section& section) {
  ClockOrder order;
  if (section.get("senders") != "same") {
    Section senders = section.section("senders");
    measure::ClockLine& line = order.line.emplace();
    senders.required_number("at_ns", line.at_ns, -stamp_ns_max, stamp_ns_max);
    senders.required_number("offset_ns", line.offset_ns, -stamp_ns_max, stamp_ns_max);
    senders.required_number("drift_ppt", line.drift_ppt, -measure::ClockLine::drift_ppt_max, measure::ClockLine::drift_ppt_max);
    Section bounds = senders.section("bound");
    bounds.required_number("asymmetry_ns", order.bound.asymmetry_ns, 0, stamp_ns_max);
    bounds.required_number("estimation_ns", order.bound.estimation_ns, 0, stamp_ns_max);
    bounds.refuse_unknown();
    Section past = senders.section("past");
    past.required_number("span_ns", order.past.span_ns, 0, stamp_ns_max);
    past.required_number("bound_ns", order.past.bound_ns, 0, stamp_ns_max);
    past.required_number("pace_ppt", order.past.pace_ppt, 0, measure::ClockLine::drift_ppt_max);
    past.refuse_unknown();
    senders.refuse_unknown();
  }
  section.whole_number("jumps", order.jumps, 0, INT64_MAX);
  section.refuse_unknown();
  return order;
}

FaultOrder parse_fault_order(Section& section, const WorkerSettings& settings) {
  FaultOrder order;
  order.kind = section.choice("kind", Fault::none,
                              {{"none", Fault::none},
                               {"disconnect", Fault::disconnect},
                               {"stop-reading", Fault::stop_reading},
                               {"confirm-nothing", Fault::confirm_nothing},
                               {"answer-negatively", Fault::answer_negatively}});
  section.required_number("service", order.service, settings.first, settings.last);
  section.refuse_unknown();
  return order;
}

StatsOrder parse_stats_order(Section& section) {
  StatsOrder order;
  section.whole_number("id", order.id, 0, INT64_MAX);
  const nlohmann::json* services = section.find("services");
  order.services = services == nullptr ? Ranges{{1, UINT32_MAX}} : parse_ranges(*services, "services");
  section.refuse_unknown();
  return order;
}

}  // namespace n2nq::worker
