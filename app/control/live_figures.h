// SPDX-License-Identifier: GPL-3.0-or-later
// What the worker processes said, made ready for showing: plain values, one snapshot per pull (10 a second).
//
// Everything here comes from the workers' stats answers; the broker is never asked. Unknown figures are NaN or empty optionals, never 0.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace n2nq::app {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Below twice the floor a latency says more about the machine than about the queue. False where either is not known.
inline bool is_near_floor(double floor_us, double latency_us) {
  return latency_us < 2 * floor_us;
}

struct Percentiles {  // in µs
  std::uint64_t count = 0;
  double mean_us = unknown, mean_lowest_95_us = unknown;
  std::uint64_t left_out = 0;  // samples that mean_lowest_95_us leaves out
  double p50_us = unknown, p90_us = unknown, p95_us = unknown, p99_us = unknown, p99_9_us = unknown, max_us = unknown;
};

struct SenderRow {
  int number = 0;
  std::int64_t attempted = 0;
  double rate_per_s = unknown;  // as CountRate says; at the end the run's mean
  double delay_mean_ms = unknown;
};

struct ReceiverRow {
  int number = 0;
  std::int64_t received = 0;
  double rate_per_s = unknown;  // likewise
  double latency_mean_us = unknown, latency_p99_us = unknown;
  std::int64_t confirmed = 0, redelivered = 0, expired = 0, skipped = 0;  // skipped: all reasons together
};

/// How far a figure may be off, because its two ends were read from two clocks: shown as ± beside it.
struct ClockBound {
  bool apart = false;        // of two clocks; else exact, and there is nothing to show
  double asymmetry_us = 0;   // half of the shortest round trip; unknown: no probe was answered
  double estimation_us = 0;  // what held-up probes and drift add
  double total_us() const { return asymmetry_us + estimation_us; }
};
struct ClockBounds {
  ClockBound latency;                 // and latency from plan
  ClockBound to_broker, to_receiver;  // the stages between two clocks; lag and in queue are of one
  // N2NQ's clock minus the group's; unknown where nothing is known, 0 where it is one clock.
  double senders_offset_us = unknown, receivers_offset_us = unknown;
  ClockBound senders_offset, receivers_offset;  // how far these two may be off, now
  std::int64_t jumps = 0;                       // of any of the clocks, while it ran
};

struct LiveFigures {
  double t_s = 0;  // since the common start; negative before it
  // The answers that are shown: both groups' to the same question, as far as both answer.
  std::uint64_t round = 0;   // counts them; the same number: nothing new was said
  double heard_s = unknown;  // when they came, since the common start
  // A question of more than a second ago is not answered. What only this group knows is unknown then; its counts are those it said last.
  bool senders_silent = false, receivers_silent = false;
  std::int64_t attempted = 0, accepted = 0, received = 0, skipped = 0;
  std::int64_t planned = -1;                 // messages; -1: until stopped
  struct WarmUp {                            // in none of the other counts
    std::int64_t planned = 0, sent = 0;      // messages; planned 0: there is none in this run
    std::int64_t received = 0, skipped = 0;  // copies
    std::int64_t lost = -1;                  // copies; -1 until the end
  } warm_up;
  std::int64_t in_flight = 0;  // accepted × copies − received − skipped, at least 0 (accepted is told up to 20 ms late)
  bool in_flight_is_old = false;  // the receivers were late with their answer: the senders' counts are newer
  // Where the groups are on hosts of their own: at the instant of the receivers' answer, by N2NQ's clock, and how far that may be off: what
  // may have been sent between both answers and within what the clocks may err, and what was sent and is not told to be accepted.
  // 0: nothing to tell; NaN: not known, also where one of them answers so late that both were asked at different times.
  double in_flight_bound = 0;
  // With requests it contains what nobody asked for, until N2NQ tells that as skipped; behind a restart or a connection that was broken on
  // purpose what was lost with it, until the end.
  bool in_flight_at_most = false;
  /// Also while the receivers are silent, who may have got more than they have said.
  bool in_flight_is_bound() const { return in_flight_at_most || receivers_silent; }
  /// It is less than what it may be off; false where nobody knows that.
  bool in_flight_is_below_bound() const { return static_cast<double>(in_flight) < in_flight_bound; }
  // While it runs as CountRate says, at the end the run's means: by the workers' own stamps.
  double sent_per_s = unknown, sent_bytes_per_s = unknown;          // messages
  double received_per_s = unknown, received_bytes_per_s = unknown;  // deliveries
  double sent_copies_per_s = unknown;                               // sent_per_s × copies
  Percentiles latency, latency_from_plan, delay, lag;               // whole run so far
  ClockBounds clocks;                                               // of the worst moment so far, as now known; the offsets' are of now
  double floor_us = unknown;                                        // an echo over loopback, measured before the run; the slower host's
  /// A latency that says more about the machine than about the queue.
  bool is_near_floor(double latency_us) const { return app::is_near_floor(floor_us, latency_us); }
  Percentiles latency_now;  // what this round brought: a point on the chart
  // Means over the run so far, per delivery; they add up to latency from plan.
  struct Stages {
    double lag_us = unknown, to_broker_us = unknown, in_queue_us = unknown, to_receiver_us = unknown;
  } stages;
  struct StageTails {  // of the same; percentiles do not add up
    Percentiles lag, to_broker, in_queue, to_receiver;
  } stage_tails;
  std::vector<SenderRow> senders;  // only the rows that were asked for with RunControl::set_visible_rows
  std::vector<ReceiverRow> receivers;
  std::int64_t lost = -1;                             // copies; found by comparing sets at the end, -1 until then
  struct Settled {                                    // the rest of the ledger, known with `lost`
    std::int64_t refused = 0, lost_before_queue = 0;  // messages
    std::int64_t expected = 0, accepted = 0, delivered = 0, still_queued = 0, unexplained = 0;  // copies
    bool balanced = true;
    bool stopped = false;                             // by the user, or before traffic: then nothing is held against what is still queued
    bool senders_told = true, receivers_told = true;  // else no final account came: what only that group counts is not known
  };
  std::optional<Settled> settled;
  bool lacks_senders() const { return settled && !settled->senders_told; }
  bool lacks_receivers() const { return settled && !settled->receivers_told; }
  std::int64_t duplicated = 0, out_of_order = 0, unexpected = 0, negative = 0, log_lines_dropped = 0;
  std::int64_t duplicated_unflagged = 0;                               // of duplicated: did not say that they are sent again
  std::int64_t bad_checksum = 0, unasked = 0;                          // deliveries; those with a wrong checksum are in no other count
  std::int64_t expired = 0, unrequested = 0, parked = 0, cut_off = 0;  // of skipped
  std::int64_t parked_delivered = 0;  // copies that N2NQ parked though they arrived: they count as delivered, and are not in parked
  std::int64_t redelivered = 0, confirmed = 0, answered_negatively = 0;  // deliveries, and answers to them
};

}  // namespace n2nq::app
