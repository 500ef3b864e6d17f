// SPDX-License-Identifier: GPL-3.0-or-later
// One sending service, open loop: message i is due when the plan says so, whatever became of the ones before it. What is due goes out in
// one batch with one stamp; when the socket is full, what is due waits without a stamp, and that is lag.
#pragma once

#include <vector>

#include "broker/wire/index_set.h"
#include "workers/group/counter.h"
#include "workers/group/histograms.h"
#include "workers/group/plan_index.h"
#include "workers/group/service.h"
#include "workers/group/stamp_ring.h"
#include "workers/load/pacer.h"
#include "workers/load/payload.h"
#include "workers/load/plan_slip.h"
#include "workers/measure/accounts.h"

namespace n2nq::worker {

/// What all senders of a group do.
struct SenderPlan {
  std::uint64_t warmup_messages = 0;        // each, before message 0
  std::optional<std::uint64_t> messages;    // each
  std::optional<std::int64_t> duration_ns;  // neither: until stopped
  Interval interval;
  StartPhase start = StartPhase::spread;
  std::uint32_t total = 1;  // senders over all groups
  std::uint32_t size_max = 0;
};

class Sender : public Service {
 public:
  /// Senders that have something to send after they had not say so.
  class Scheduler {
   public:
    virtual ~Scheduler() = default;
    virtual void sender_ready(Sender& sender) = 0;
  };
  enum class Turn {
    due_later,  // nothing more until next_due_ns()
    more,       // something is due still: it waits for its turn
    held_up,    // the socket or the ring of stamps is full, or there is no connection: sender_ready() follows
    done,       // there is nothing more to send
  };

  Sender(const Tools& tools, std::uint32_t number, const SenderPlan& plan, const PayloadSource& payload,
         SendHistograms<measure::FineHistogram>& all, Scheduler& scheduler);

  /// The plan's instant 0 on this host's clock. Traffic begins, with the warm-up before that instant (as fast as it goes: at it).
  void start(std::int64_t start_ns);
  /// Sends at most one batch of what is due at `now_ns`.
  Turn take_turn(std::int64_t now_ns);
  /// When the next message is due. Only after due_later or more.
  std::int64_t next_due_ns() const;
  /// Counts a message that a killed process had sent, and goes on behind it. In the order of its log.
  void replay(const Record& record);
  /// Once all of that was replayed: what of it has no line, and how many messages N2NQ has beyond its log.
  void tell_unnoted(std::uint64_t behind_log = 0);
  /// The plan's instant 0 that the killed process went by; none: nothing of it was replayed, or there is no plan.
  std::optional<std::int64_t> replayed_start_ns() const { return replayed_start_ns_; }
  /// Nothing new is sent any more; ends as soon as everything offered was taken.
  void stop();

  // Any thread. Warm-up is in none of these but its own counts.
  measure::SentCounts measured() const { return measured_.counts(); }
  std::uint64_t bytes() const { return bytes_.get(); }
  measure::SentCounts warm_up() const { return warm_up_.counts(); }
  const SendHistograms<measure::CoarseHistogram>& histograms() const { return histograms_; }

  // Data thread.
  /// Indexes as on the wire.
  wire::IndexSet accepted_set() const;
  /// How late the last message left, or was one that had not left when the sender was stopped.
  std::optional<std::int64_t> last_lag_ns() const { return last_lag_ns_; }
  /// For how long nothing had left, though it was due, when the sender was stopped or its time was over. 0: it had not stood still.
  std::int64_t stood_still_ns() const { return stood_still_ns_; }
  /// As PlanSlip::ns().
  std::optional<std::int64_t> slipped_ns() const { return slip_.ns(); }
  /// Messages that a killed process had sent and not noted any more: in the counts, and in no figure and no log.
  std::uint64_t unnoted() const { return unnoted_; }
  /// From the first to the last send that is known, whatever lies between them: gaps beside those are in no figure.
  std::int64_t sent_over_ns() const { return first_sent_ns_ ? latest_sent_ns_ - *first_sent_ns_ : 0; }

 private:
  std::uint64_t next_index() const override { return known_below_; }
  void opened(const OpenFacts& facts, bool restarted) override;
  void ended(const wire::EndTotals& totals) override;
  void on_room() override { scheduler_.sender_ready(*this); }
  void on_accepted(std::uint64_t next_index, std::span<const wire::RefusedRange> refused) override;

  std::int64_t plan_index_of(std::uint64_t index) const { return plan_index(index, plan_.warmup_messages); }
  bool is_warm_up(std::uint64_t index) const { return index < plan_.warmup_messages; }
  std::string_view letters_of(std::uint64_t index) const { return payload_.letters_of(number(), plan_index_of(index)); }
  std::int64_t due_ns(std::uint64_t index) const { return start_ns_ + pacer_.due_ns(plan_index_of(index)); }
  bool is_planned() const { return !pacer_.as_fast_as_it_goes(); }
  bool is_due(std::uint64_t index, std::int64_t now_ns) const;
  std::optional<std::int64_t> over_at_ns() const;
  bool nothing_new(std::int64_t now_ns) const;
  void collect_again();
  std::size_t collect_due(std::int64_t now_ns);
  bool fits(std::size_t letters);
  void account(const Outgoing& message);
  void measure(const Record& record);
  void measure_without_gap();
  void keep_stamps(std::size_t offered_before);
  void remember(StampRing::Stamps stamps);
  std::uint64_t count_unnoted(std::uint64_t next_index);
  void finish_if_done(std::int64_t now_ns);
  void note_standstill(std::int64_t now_ns);

  const SenderPlan& plan_;
  const PayloadSource& payload_;
  SendHistograms<measure::FineHistogram>& all_;
  Scheduler& scheduler_;
  const Pacer pacer_;
  std::uint64_t planned_;  // messages, warm-up included; the largest number when it is not known beforehand
  PlanSlip slip_;
  bool started_ = false;
  const bool goes_on_;  // for a killed process, of which there may be no line
  bool stopping_ = false;
  std::int64_t start_ns_ = 0;
  std::optional<std::int64_t> replayed_start_ns_;
  std::optional<std::int64_t> first_sent_ns_;  // message 0
  std::int64_t latest_sent_ns_ = 0;            // that is measured

  // Indexes as on the wire.
  //  accepted or refused | offered, not known to be either | to be offered again | not made yet
  //  0 ........ known_below_ ....................... again_from_ ............. next_
  std::uint64_t known_below_ = 0;
  std::uint64_t again_from_ = 0;
  std::uint64_t next_ = 0;
  StampRing stamps_;  // of [known_below_, next_)
  wire::IndexSet refused_set_;
  std::vector<Outgoing> batch_;
  std::size_t batch_bytes_ = 0;
  std::size_t batch_bytes_max_ = 0;

  std::optional<std::int64_t> last_sent_ns_;
  std::optional<std::int64_t> last_lag_ns_;
  std::int64_t stood_still_ns_ = 0;
  std::uint64_t unnoted_ = 0;
  std::uint64_t missing_ = 0;  // of these, not told yet: amid the log
  std::uint64_t without_gap_ = 0;  // messages that left with the one before, in one batch; measured together
  struct Tally {
    Counter attempted, accepted, refused;
    /// Accepted first: it is never more than attempted, whenever it is looked at.
    measure::SentCounts counts() const {
      const std::uint64_t accepted_now = accepted.get();
      return {attempted.get(), accepted_now, refused.get()};
    }
  };
  Tally measured_, warm_up_;
  Counter bytes_;
  SendHistograms<measure::CoarseHistogram> histograms_;
};

}  // namespace n2nq::worker
