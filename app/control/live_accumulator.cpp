// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/live_accumulator.h"

#include <algorithm>

#include "workers/measure/figures.h"

namespace n2nq::app {

double mean_us(const measure::Histogram& histogram) {
  return histogram.empty() ? unknown : histogram.mean_ns() / 1e3;
}

Percentiles percentiles_us(const measure::Histogram& histogram) {
  const measure::Figures figures = measure::figures_of(histogram);
  Percentiles out;
  out.count = figures.count;
  if (figures.count == 0) return out;
  const auto us = [](auto ns) { return static_cast<double>(ns) / 1e3; };
  out.mean_us = us(figures.mean_ns);
  out.mean_lowest_95_us = us(figures.mean_lowest_95_ns);
  out.left_out = figures.left_out;
  out.p50_us = us(figures.p50_ns);
  out.p90_us = us(figures.p90_ns);
  out.p95_us = us(figures.p95_ns);
  out.p99_us = us(figures.p99_ns);
  out.p99_9_us = us(figures.p99_9_ns);
  out.max_us = us(figures.max_ns);
  return out;
}

LiveAccumulator::LiveAccumulator(const Settings& settings) : copies_(settings.copies()) {
  figures_.planned = settings.planned_messages().value_or(-1);
}

void LiveAccumulator::add(const SendersStats& stats) {
  senders_id_ = stats.id;
  figures_.attempted = stats.attempted;
  figures_.accepted = stats.accepted;
  figures_.sent_per_s = stats.rate_per_s;
  figures_.sent_bytes_per_s = stats.bytes_per_s;
  figures_.sent_copies_per_s = stats.rate_per_s * copies_;
  figures_.senders = stats.rows;
  delay_.merge(stats.delay);
  lag_.merge(stats.lag);
  senders_lines_dropped_ = stats.log.dropped;
}

void LiveAccumulator::add(const ReceiversStats& stats) {
  figures_.received = stats.received;
  figures_.skipped = stats.skipped;
  // Only from answers to the same question, or with senders that ended before: received counts that are older than the accepted ones
  // would show what arrived in between as in flight.
  if (stats.id >= senders_id_) {
    figures_.in_flight = std::max<std::int64_t>(0, figures_.accepted * copies_ - figures_.received - figures_.skipped);
  }
  figures_.duplicated = stats.duplicated;
  figures_.out_of_order = stats.out_of_order;
  figures_.unexpected = stats.unexpected;
  figures_.negative = stats.negative;
  figures_.expired = stats.expired;
  figures_.received_per_s = stats.rate_per_s;
  figures_.received_bytes_per_s = stats.bytes_per_s;
  figures_.receivers = stats.rows;
  latency_.merge(stats.latency);
  latency_now_.merge(stats.latency);
  latency_from_plan_.merge(stats.latency_from_plan);
  lag_stage_.merge(stats.lag);
  to_broker_.merge(stats.to_broker);
  in_queue_.merge(stats.in_queue);
  to_receiver_.merge(stats.to_receiver);
  receivers_lines_dropped_ = stats.log.dropped;
}

LiveFigures LiveAccumulator::snapshot(double t_s) {
  figures_.t_s = t_s;
  figures_.log_lines_dropped = static_cast<std::int64_t>(senders_lines_dropped_ + receivers_lines_dropped_);
  figures_.latency = percentiles_us(latency_);
  figures_.latency_from_plan = percentiles_us(latency_from_plan_);
  figures_.delay = percentiles_us(delay_);
  figures_.lag = percentiles_us(lag_);
  figures_.latency_now = percentiles_us(latency_now_);
  latency_now_ = measure::Histogram();
  figures_.stages = {mean_us(lag_stage_), mean_us(to_broker_), mean_us(in_queue_), mean_us(to_receiver_)};
  figures_.stage_tails = {percentiles_us(lag_stage_), percentiles_us(to_broker_), percentiles_us(in_queue_), percentiles_us(to_receiver_)};
  return figures_;
}

}  // namespace n2nq::app
