// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker process is told after `configure` (docs/control-protocol.md), checked: what passes can be carried out, and nothing that is
// made of it overflows. All throw net::SectionError, which names the key and what would be right.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "broker/net/section.h"
#include "broker/net/tcp.h"
#include "workers/group/settings.h"
#include "workers/measure/clock_line.h"
#include "workers/measure/clock_fit.h"

namespace n2nq::worker {

struct ConnectOrder {
  net::SocketAddress address;
  bool clock_shared = true;   // N2NQ's clock is that of this process
  bool clocks_first = false;  // nobody connects before all clocks are known that latencies need
};
ConnectOrder parse_connect_order(net::Section& section);

struct StartOrder {
  std::int64_t at_broker_ns = 0;        // the plan's instant 0, on N2NQ's clock
  std::int64_t lead_ns = 0;             // the warm-up begins that much earlier
  std::optional<std::int64_t> late_ns;  // by how much the killed process had started late that this one goes on for; none: none was told
};
StartOrder parse_start_order(net::Section& section);

/// The senders' clock.
struct ClockOrder {
  std::optional<measure::ClockLine> line;  // none: it is that of this process
  measure::ClockBound bound;
  measure::ClockPast past;
  std::uint64_t jumps = 0;  // of the senders' clock, or N2NQ's, so far
};
ClockOrder parse_clock_order(net::Section& section);

/// What one service is told to do wrong; none: nothing any more.
enum class Fault { none, disconnect, stop_reading, confirm_nothing, answer_negatively };
struct FaultOrder {
  std::uint32_t service = 0;  // of the group
  Fault kind = Fault::none;
};
FaultOrder parse_fault_order(net::Section& section, const WorkerSettings& settings);

struct StatsOrder {
  std::uint64_t id = 0;
  Ranges services;  // of whom rows are wanted
};
StatsOrder parse_stats_order(net::Section& section);

}  // namespace n2nq::worker
