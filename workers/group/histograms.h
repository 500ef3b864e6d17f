// SPDX-License-Identifier: GPL-3.0-or-later
// Which figures the two groups measure, each named once: as histograms of the whole group (fine) and of one service (coarse).
#pragma once

#include "workers/measure/histogram.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {

template <typename Live>
struct SendHistograms {
  Live delay, lag;

  template <typename Visit>
  void each(Visit&& visit) const {
    visit("delay", delay);
    visit("lag", lag);
  }
};

template <typename Live>
struct DeliveryHistograms {
  Live latency, latency_from_plan, lag, to_broker, in_queue, to_receiver;

  /// `times` deliveries with the same stamps.
  void record(const Delivery& delivery, std::uint64_t times) {
    latency.record(delivery.latency_ns(), times);
    // A sender without a plan gives the same stamp twice; a planned message cannot, its send comes after the look at the clock.
    const bool planned = delivery.intended_ns != delivery.sent_ns;
    if (planned) latency_from_plan.record(delivery.received_there_ns() - delivery.intended_there_ns(), times);
    if (planned) lag.record(delivery.sent_ns - delivery.intended_ns, times);
    to_broker.record(delivery.to_broker_ns(), times);
    in_queue.record(delivery.in_queue_ns(), times);
    to_receiver.record(delivery.to_receiver_ns(), times);
  }

  template <typename Visit>
  void each(Visit&& visit) const {
    visit("latency", latency);
    visit("latency_from_plan", latency_from_plan);
    visit("lag", lag);
    visit("to_broker", to_broker);
    visit("in_queue", in_queue);
    visit("to_receiver", to_receiver);
  }
};

}  // namespace n2nq::worker
