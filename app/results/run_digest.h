// SPDX-License-Identifier: GPL-3.0-or-later
// What the service logs of a run come to, for drawing: over time, by receiver, by pair of services. Bounded, whatever the run's length.
// Warm-up is left out, and so is what its receiver did not measure: what came damaged, or was sent by nobody. Any thread; may take seconds.
#pragma once

#include <QString>
#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "app/results/stored_run.h"
#include "workers/measure/accounts.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {

/// One piece of the run's time, from the instant 0 on. NaN: nothing came in it.
struct TimeSlice {
  double from_s = 0;
  std::int64_t sent = 0, received = 0;
  double p50_us, p99_us, max_us;  // of the latencies of what was received
  double from_plan_p50_us;        // of what was received; NaN also without a plan
  double lag_p99_us;              // of what was sent; NaN also without a plan
  // Copies that were sent until its end, and by then had neither come nor been told as skipped; where the logs hold every message. What
  // nobody asked for is told late, and in the load balancer never: with requests they are at most so many.
  std::int64_t in_flight = 0;
};

/// A delivery that took long, and the stages of its journey: lag + to broker + in queue + to receiver is latency from plan.
struct SlowMessage {
  int receiver = 0, sender = 0;
  std::int64_t index = 0;
  std::int64_t sent_ns = 0, received_ns = 0;  // as in the logs
  double at_s = 0;                            // received, since the instant 0
  double lag_us = 0;                          // NaN without a plan
  double to_broker_us = 0, in_queue_us = 0, to_receiver_us = 0;
  double latency_us = 0;
  std::uint16_t attempt = 1, flags = 0;
};

struct ServiceBox {
  int number = 0;
  std::int64_t count = 0;
  double low_us = 0, quarter_us = 0, median_us = 0, three_quarters_us = 0, high_us = 0;  // low, high: 1 % and 99 %
};

struct PairCell {
  std::int64_t count = 0;
  double p50_us, p99_us;  // NaN without a sample
};

struct RunDigest {
  static constexpr int slices_max = 120;
  static constexpr int slow_per_slice = 12;
  static constexpr int pairs_max = 40'000;  // 200 x 200; of more services there is no table of pairs

  bool whole = true;  // every message has a line (log: all) in the logs that are here; else what follows is of those that have
  // The same, or of a sample of the messages (log: sampled) all lines at both ends, where none was unrequested: such logs do not say
  // which these are. In the load balancer not where any was either: nobody is told of these.
  bool in_flight_known = true;
  std::int64_t lines = 0;
  std::int64_t never_came = 0;     // copies that are in flight to the end; where the logs hold every message
  measure::SkippedCounts skipped;  // copies that are not, though they never came: their receivers were told so in the time drawn
  double slice_s = 1;
  std::vector<TimeSlice> slices;
  std::vector<std::vector<SlowMessage>> slowest;  // per slice, slowest first
  // ± of their times, as of all of the run: what clock_limit_at() tells.
  double latency_limit_us = std::nan(""), to_broker_limit_us = std::nan(""), to_receiver_limit_us = std::nan("");
  measure::Histogram latencies;
  std::vector<ServiceBox> receivers;
  std::vector<int> pair_senders, pair_receivers;  // numbers
  std::vector<PairCell> pairs;                    // by receiver, then sender; empty: too many
};

/// Empty result: `error` says why (no logs, unreadable, cancelled).
std::optional<RunDigest> digest_of(const StoredRun& run, QString& error, const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
