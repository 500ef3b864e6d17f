// SPDX-License-Identifier: GPL-3.0-or-later
// What a process says on its stdout (docs/control-protocol.md, "process → bench"), as typed values.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/control/live_figures.h"
#include "workers/measure/clock_report.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {

inline constexpr int control_version = 1;

struct HelloMessage {
  int control = 0;
  int wire = 0;
  std::string role;
  std::string version;
  std::int64_t now_ns = 0;
  nlohmann::json host;       // facts, as they were said
  std::string staging_file;  // workers: what outlives a killed process; empty: nothing
  std::string address;       // the broker only
  int port = 0;
};

struct StateMessage {
  std::string state;        // "waiting", "connected", "running", "ending", "ended", "failed"
  std::string waiting_for;  // with waiting
  std::string in_the_way;   // likewise: of the last attempt, in a few words; empty: nothing yet
  std::string message;      // why, with failed; with ending, where nobody had asked for it
  std::optional<std::int64_t> broker_now_ns;
  std::optional<std::int64_t> started_late_ns;
  nlohmann::json floor;  // with connected; null otherwise
};

struct ClockMessage {
  measure::ClockReport report;
};

struct LogCounts {
  std::uint64_t lines = 0;
  std::uint64_t dropped = 0;
  std::string error;  // empty: none
};

struct SendersStats {
  std::int64_t id = 0;      // of the question this answers
  std::int64_t now_ns = 0;  // on its host's clock
  std::int64_t bytes = 0;
  std::int64_t attempted = 0, accepted = 0, refused = 0;
  std::int64_t warmup_sent = 0;   // in none of the counts
  measure::Histogram delay, lag;  // since the answer before
  LogCounts log;
  std::vector<SenderRow> rows;
};

struct ReceiversStats {
  std::int64_t id = 0;      // of the question this answers
  std::int64_t now_ns = 0;  // on its host's clock
  std::int64_t bytes = 0;
  std::int64_t received = 0, duplicated = 0, duplicated_unflagged = 0, out_of_order = 0, unexpected = 0, negative = 0;
  std::int64_t bad_checksum = 0, unasked = 0;
  std::int64_t warmup_received = 0, warmup_skipped = 0;  // in none of the counts
  std::int64_t redelivered = 0, confirmed = 0, answered_negatively = 0;
  std::int64_t expired = 0, unrequested = 0, parked = 0, cut_off = 0, skipped = 0;       // skipped: all of them together
  std::int64_t parked_delivered = 0;                                                     // not in skipped, because they arrived
  std::int64_t ended = 0;                                                                // services
  measure::Histogram latency, latency_from_plan, lag, to_broker, in_queue, to_receiver;  // since the answer before
  LogCounts log;
  std::vector<ReceiverRow> rows;
};

struct FaultMessage {
  std::string message;  // workers: a sentence that the bye holds, too
};

struct ByeMessage {
  std::shared_ptr<const nlohmann::json> object;  // may be tens of MiB: read by whoever works out the result
};

struct ErrorMessage {
  std::string code, message, key;
  std::string order;  // workers: what they were told and do not do; empty: it is about something else
};

using ControlMessage =
    std::variant<HelloMessage, StateMessage, ClockMessage, SendersStats, ReceiversStats, FaultMessage, ByeMessage, ErrorMessage>;

/// Throws std::invalid_argument that begins with the key that is wrong, an unknown type too, and says what is there and what it has to be.
ControlMessage decode_message(nlohmann::json object);

}  // namespace n2nq::app
