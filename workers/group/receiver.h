// SPDX-License-Identifier: GPL-3.0-or-later
// One receiving service: takes what it gets, checks it, counts it, measures it. Every delivery is counted in exactly one of received,
// unexpected and bad checksum; only received ones are measured. With responses it answers each: positive when it came whole, negative when
// its checksum is wrong, unless it is told to misbehave. Warm-up is treated like the rest, but counted apart and measured nowhere.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "workers/group/clock_correction.h"
#include "workers/group/delivered.h"
#include "workers/group/delivery_counts.h"
#include "workers/group/histograms.h"
#include "workers/group/service.h"

namespace n2nq::worker {

/// What a receiver does wrong when it is told to.
enum class Misbehaviour { none, stop_reading, confirm_nothing, answer_negatively };

class Receiver : public Service {
 public:
  /// What all receivers of a group share.
  struct Shared {
    std::uint32_t senders_total = 0;
    std::uint64_t warmup_messages = 0;    // of each sender
    bool requests = false;                // are on in this run, as far as the bench has said
    SharedDelivered* balanced = nullptr;  // load balancer only
    // There also: all of the group, and what any of them was told it will not get, by sender. Another one may have it, before or behind that.
    std::vector<Receiver*> all;
    std::map<std::uint32_t, wire::IndexSet> skipped;
    bool begun = false;                   // traffic
    bool measures = false;                // between clocks that are apart, as long as it has not begun: a first delivery came
    std::function<void(std::int64_t received_ns)> on_first;  // that one
    ClockCorrection clocks;
    std::int64_t first_measured_ns = 0, last_measured_ns = 0;  // when the first and the last delivery came that were measured; 0: none yet
    DeliveryHistograms<measure::FineHistogram> histograms;
  };

  Receiver(const Tools& tools, std::uint32_t number, std::uint32_t place, Shared& shared);

  /// Counts a delivery that a killed process had received, or what N2NQ had told it that it will not get.
  void replay(const Record& record);
  /// Leaves: says so to N2NQ and ends when it has answered, or after leave_deadline_ns.
  void leave();
  /// From now on, and after every reconnect. Only with requests on.
  void request(const Request& request);
  /// From now on, until another one or none is asked for. What was left unanswered stays so. A reconnect ends it.
  void misbehave(Misbehaviour how);

  // Any thread.
  const DeliveryCounts& measured() const { return measured_; }
  const DeliveryCounts& warm_up() const { return warm_up_; }
  std::uint64_t bytes() const { return measured_.bytes.get(); }
  const DeliveryHistograms<measure::CoarseHistogram>& histograms() const { return histograms_; }

  // Data thread. Sets are of both, with indexes as on the wire.
  measure::SenderSets delivered_sets() const { return delivered_.sets(); }
  measure::SkippedSets skipped_sets() const;
  /// Deliveries of any kind. What a killed process received says it by its flags.
  std::uint64_t received_on_last_connection() const { return received_on_last_connection_; }
  /// What N2NQ said at the end; none before.
  const std::optional<wire::EndTotals>& totals() const { return totals_; }

 private:
  static constexpr std::int64_t leave_deadline_ns = 2'000'000'000;

  const std::vector<wire::Rule>* rules_to_come_back_with() const override;
  void opened(const OpenFacts& facts, bool restarted) override;
  void ended(const wire::EndTotals& totals) override { totals_ = totals; }
  void on_delivery(const Delivery& delivery) override;
  void take(const Delivery& delivery);
  void on_deliveries_done() override;
  void on_skipped(std::span<const wire::SkippedRange> ranges) override;
  /// False: nothing of it is new, or it is none of this run.
  bool take_skipped(const wire::SkippedRange& range);
  /// Indexes of one sender, none of them told before, and all of them warm-up or none.
  void count_skipped(wire::SkipReason reason, std::uint32_t sender, std::uint64_t from, std::uint64_t to);
  /// What N2NQ had given up has arrived after all, here or, in the load balancer, at any receiver.
  void arrived_after_all(std::uint32_t sender, std::uint64_t index);
  void take_off_skipped(std::uint32_t sender, std::uint64_t index);
  bool is_warm_up(std::uint64_t index) const { return index < shared_.warmup_messages; }
  DeliveryCounts& counts_of(std::uint64_t index) { return is_warm_up(index) ? warm_up_ : measured_; }
  std::uint16_t check(const Delivery& delivery, std::optional<std::uint16_t> logged);
  DeliveredSets::Finding find(const Delivery& delivery, std::optional<std::uint16_t> logged);
  /// Counts and measures a delivery; returns the flags of its log line.
  std::uint16_t count(const Delivery& delivery, std::optional<std::uint16_t> logged = std::nullopt);
  std::uint16_t answer_to(const Delivery& delivery) const;
  void count_answer(std::uint64_t index, std::uint16_t flags);
  void note(const Delivery& delivery, std::uint16_t flags);

  const std::uint32_t place_;  // in the group
  Shared& shared_;
  DeliveredSets delivered_;  // broadcaster only
  std::map<std::pair<wire::SkipReason, std::uint32_t>, wire::IndexSet> skipped_sets_;
  std::optional<wire::EndTotals> totals_;
  std::uint64_t received_on_last_connection_ = 0;
  bool reconnected_ = false;  // nothing came yet on this connection, but on one before
  bool leaving_ = false;
  bool responses_ = false, requests_ = false;  // in this run; known once connected
  Request request_;
  Misbehaviour misbehaviour_ = Misbehaviour::none;
  net::Timer leave_timer_;

  /// Deliveries in a row with the same stamps, counted and measured at once: what came as one batch mostly has one set of them. None is
  /// left behind the batch that it came in.
  struct Alike {
    Delivery first;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  Alike alike_;

  DeliveryCounts measured_, warm_up_;
  DeliveryHistograms<measure::CoarseHistogram> histograms_;
};

}  // namespace n2nq::worker
