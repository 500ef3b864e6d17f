// SPDX-License-Identifier: GPL-3.0-or-later
// One receiving service: takes what it gets, checks it, counts it, measures it. Every delivery is counted in exactly one of received,
// unexpected and bad checksum; only received ones are measured.
#pragma once

#include <map>
#include <utility>

#include "workers/group/counter.h"
#include "workers/group/delivered.h"
#include "workers/group/histograms.h"
#include "workers/group/service.h"

namespace n2nq::worker {

class Receiver : public Service {
 public:
  /// What all receivers of a group share.
  struct Shared {
    std::uint32_t senders_total = 0;
    SharedDelivered* balanced = nullptr;  // load balancer only
    bool begun = false;                   // traffic
    DeliveryHistograms<measure::FineHistogram> histograms;
  };

  Receiver(const Tools& tools, std::uint32_t number, std::uint32_t place, Shared& shared);

  /// Counts a delivery that a killed process had received.
  void replay(const Record& record);
  /// Leaves: says so to N2NQ and ends when it has answered, or after leave_deadline_ns.
  void leave();

  // Any thread.
  measure::ReceivedCounts counts() const;
  measure::SkippedCounts skipped() const;
  std::uint64_t received() const { return received_.get(); }
  std::uint64_t bytes() const { return bytes_.get(); }
  const DeliveryHistograms<measure::CoarseHistogram>& histograms() const { return histograms_; }

  // Data thread.
  measure::SenderSets delivered_sets() const { return delivered_.sets(); }
  measure::SkippedSets skipped_sets() const;
  /// What N2NQ said at the end; none before.
  const std::optional<wire::EndTotals>& totals() const { return totals_; }

 private:
  static constexpr std::int64_t leave_deadline_ns = 2'000'000'000;

  void opened(const OpenFacts& facts, bool restarted) override;
  void ended(const wire::EndTotals& totals) override { totals_ = totals; }
  void on_delivery(const Delivery& delivery) override;
  void on_skipped(std::span<const wire::SkippedRange> ranges) override;
  std::uint16_t check(const Delivery& delivery);

  const std::uint32_t place_;  // in the group
  Shared& shared_;
  DeliveredSets delivered_;  // broadcaster only
  std::map<std::pair<wire::SkipReason, std::uint32_t>, wire::IndexSet> skipped_sets_;
  std::optional<wire::EndTotals> totals_;
  bool leaving_ = false;
  net::Timer leave_timer_;

  Counter received_, duplicated_, duplicated_unflagged_, redelivered_, out_of_order_, unexpected_, negative_, bad_checksum_, bytes_;
  Counter expired_, unrequested_, parked_, cut_off_;
  DeliveryHistograms<measure::CoarseHistogram> histograms_;
};

}  // namespace n2nq::worker
