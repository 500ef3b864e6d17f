// SPDX-License-Identifier: GPL-3.0-or-later
// What the data thread notes about one message, about a range of them that N2NQ says will not come, or about clocks, as it lies in the
// staging file: plain bytes of a fixed size, turned into a log line later.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "workers/measure/log_line.h"

namespace n2nq::worker {

struct Record {
  std::int64_t index = 0;  // of the plan: below 0 in the warm-up
  std::int64_t intended_ns = 0;
  std::int64_t sent_ns = 0;
  std::int64_t other_ns = 0;                       // receivers: received; senders: gap to the send before, none_ns for the first
  std::int64_t clocks_ns = 0;                      // receivers: to be added to received - sent, because they are of two clocks
  std::int64_t to_broker_ns = 0, in_queue_ns = 0;  // receivers only: of the latency, as in measure::ReceivedLine
  std::uint32_t service = 0;                       // number of the service whose log the line goes to
  std::uint32_t sender = 0;                        // receivers only
  std::uint32_t size = 0;                          // payload letters
  std::uint16_t attempt = 0;
  std::uint16_t flags = 0;  // measure::LineFlag, and without_plan
  static constexpr std::int64_t none_ns = std::numeric_limits<std::int64_t>::min();
  static constexpr std::uint16_t without_plan = 1 << 15;  // senders: there is no lag to write
  static constexpr std::uint16_t skipped = 1 << 14;       // receivers: a range that will not come, as of_skipped() makes it
  static constexpr std::uint16_t clock = 1 << 13;         // of all services: a ClockNote

  /// At most skipped_senders_max senders of a line.
  static Record of_skipped(std::uint32_t service, const measure::SkippedLine& line);
  static constexpr std::uint32_t skipped_senders_max = 1 << 16;
  bool is_skipped() const { return (flags & skipped) != 0; }
  bool is_clock() const { return (flags & clock) != 0; }
  /// Of one that of_skipped() made.
  measure::SkippedLine skipped_line() const;
};
static_assert(sizeof(Record) == 72);

enum class WorkerRole : std::uint32_t { senders = 1, receivers = 2 };

/// "senders", "receivers".
const char* name_of(WorkerRole role);

/// The line of a record, with its newline; `out` has room for measure::line_bytes_max. Returns the bytes written.
std::size_t format_record(char* out, WorkerRole role, const Record& record);
/// The record of a line of this service's log; none for anything else, all other `#` lines included.
std::optional<Record> parse_record(WorkerRole role, std::uint32_t service, std::string_view line);

}  // namespace n2nq::worker
