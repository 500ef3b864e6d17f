// SPDX-License-Identifier: GPL-3.0-or-later
// Settings to the control protocol's first words: what each process is told (docs/control-protocol.md, "bench → process").
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/control/fault.h"
#include "app/settings/settings.h"

namespace n2nq::app {

/// What a process has to know beside the settings.
struct LaunchFacts {
  std::string run;      // the run's name
  std::string token;    // 64 hex digits; every connection of the run carries it
  std::string address;  // the broker's listen address
  std::string folder;   // on the process's host: the run folder's part for this process
};

nlohmann::json configure_broker(const Settings& settings, const LaunchFacts& facts);
nlohmann::json configure_senders(const Settings& settings, const LaunchFacts& facts);
nlohmann::json configure_receivers(const Settings& settings, const LaunchFacts& facts);

/// What each receiver asks for, by receiver from R001, as `requests` of a configure.
nlohmann::json request_orders(const std::vector<RequestRules>& by_receiver);
nlohmann::json request_message(int first, int last, const RequestRules& asked);
nlohmann::json fault_message(const Fault& fault);
/// `clock_shared`: the process's clock is N2NQ's; else it probes it. `clocks_first`: nobody connects before the clocks are known.
nlohmann::json connect_message(const std::string& address, int port, Transport transport, bool clock_shared, bool clocks_first);
/// `late_ns`: by how much the killed process had started late that this one goes on for; none: none was told to start.
nlohmann::json start_message(std::int64_t at_broker_ns, std::int64_t lead_ns, std::optional<std::int64_t> late_ns);
/// Rows only for the services first … last; none when first > last.
nlohmann::json stats_message(std::uint64_t id, int first, int last);
/// Rows for all services.
nlohmann::json stats_message(std::uint64_t id);

}  // namespace n2nq::app
