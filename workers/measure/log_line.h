// SPDX-License-Identifier: GPL-3.0-or-later
// One line of a service's log: a message that was sent, or one that was received. Tab-separated, in the order of the columns below. Between
// them a receiver's log says in `#` lines what N2NQ told it that it will not get.
//
// Raw stamps are written as they were (CLOCK_MONOTONIC nanoseconds of the host named in the log's head); a figure that does not exist is
// "-". Formatting allocates nothing; both directions know no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/wire/messages.h"

namespace n2nq::measure {

/// What a line says beside its numbers: words joined by commas, "-" for none.
enum LineFlag : std::uint16_t {
  line_warm_up = 1 << 0,        // "warm-up": extra traffic before message 0, in no figure
  line_redelivered = 1 << 1,    // "redelivered": said so by the broker
  line_newly_matched = 1 << 2,  // "newly-matched": said so by the broker
  line_duplicate = 1 << 3,      // "duplicate": this receiver (load balancer: this group) had it already
  line_out_of_order = 1 << 4,   // "out-of-order": an inversion the broker did not announce
  line_unexpected = 1 << 5,     // "unexpected": from a sender that is not part of the run
  line_negative = 1 << 6,       // "negative": latency below zero
  line_bad_checksum = 1 << 7,   // "bad-checksum"
  line_unasked = 1 << 8,        // "unasked": no list of this receiver asked for it
  line_confirmed = 1 << 9,      // "confirmed": with responses, this receiver's answer
  line_refused = 1 << 10,       // "refused": the same, a negative answer
  line_reconnected = 1 << 11,   // "reconnected": the first of another connection than the one before
  line_overtaken = 1 << 12,     // "overtaken": a duplicate that another receiver's, said to be redelivered, came before
};

struct SentLine {
  std::int64_t index = 0;  // of the plan: below 0 in the warm-up
  std::uint32_t size = 0;  // payload letters
  std::int64_t intended_ns = 0;
  std::int64_t sent_ns = 0;
  std::optional<std::int64_t> lag_ns;    // sent - intended; none without a plan (as fast as it goes)
  std::optional<std::int64_t> delay_ns;  // gap to this sender's send before; none for the first, of the warm-up and of the rest
  std::uint16_t attempt = 1;             // 2 and more: offered again after a reconnect, with the stamp it had
  std::uint16_t flags = 0;
  bool operator==(const SentLine&) const = default;
};

struct ReceivedLine {
  std::int64_t index = 0;  // of the plan: below 0 in the warm-up
  std::uint32_t sender = 0;
  std::uint32_t size = 0;
  std::int64_t intended_ns = 0;
  std::int64_t sent_ns = 0;
  std::int64_t received_ns = 0;
  std::int64_t latency_ns = 0;      // this and its parts are corrected for the offset of the clocks
  std::int64_t to_broker_ns = 0;    // sent until N2NQ had read it
  std::int64_t in_queue_ns = 0;     // until N2NQ sent it on
  std::int64_t to_receiver_ns = 0;  // until it was received: the rest of the latency
  std::uint16_t attempt = 1;        // 1 the first delivery
  std::uint16_t flags = 0;
  bool operator==(const ReceivedLine&) const = default;
};

/// "# skipped: senders=3-12 from=20 to=49 reason=unrequested told_ns=…": the same range of each sender's messages. All are inclusive.
struct SkippedLine {
  std::int64_t from = 0, to = 0;  // indexes of the plan: below 0 in the warm-up
  std::uint32_t sender_first = 0, sender_last = 0;
  wire::SkipReason reason = wire::SkipReason::expired;
  std::int64_t told_ns = 0;  // by the clock of this host
  bool operator==(const SkippedLine&) const = default;
};

inline constexpr std::string_view sent_columns = "index\tsize\tintended_ns\tsent_ns\tlag_us\tdelay_us\tattempt\tflags";
inline constexpr std::string_view received_columns =
    "index\tsender\tsize\tintended_ns\tsent_ns\treceived_ns\tlatency_us\tto_broker_us\tin_queue_us\tto_receiver_us\tattempt\tflags";

/// More than any line takes, its newline included.
inline constexpr std::size_t line_bytes_max = 384;

/// Writes the line with its newline at `out`, which has room for line_bytes_max; returns the bytes written.
std::size_t format_line(char* out, const SentLine& line);
std::size_t format_line(char* out, const ReceivedLine& line);
std::size_t format_line(char* out, const SkippedLine& line);

/// A line without its newline. None when it is no such line (then `error`, if given, says what is wrong). Head and foot lines (they start
/// with "#") are no such lines.
std::optional<SentLine> parse_sent_line(std::string_view line, std::string* error = nullptr);
std::optional<ReceivedLine> parse_received_line(std::string_view line, std::string* error = nullptr);
std::optional<SkippedLine> parse_skipped_line(std::string_view line);

/// "S001", "R017": at least three digits.
std::string service_name(char letter, std::uint32_t number);

}  // namespace n2nq::measure
