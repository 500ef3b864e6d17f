// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger of a run: every message and every copy of it is accounted for, exactly, or the run says that it is not.
//
//   per sender                               attempted = accepted + refused + lost before the queue
//   broadcaster per receiver, load balancer in total
//                                            accepted = delivered + expired + unrequested + parked + cut off + still queued + lost
//   What was delivered counts as delivered, even if N2NQ took it for something else (parked after negative answers, say).
//   per receiver, where the broker told      handed over = delivered + duplicated + not received there
//
// Lost is found by comparing sets of (sender, index): accepted, and neither delivered nor named as skipped. It is never what is left over;
// what is left over is `unexplained` (either sign) and breaks the run. A pure function of the accounts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "broker/wire/messages.h"
#include "workers/measure/accounts.h"

namespace n2nq::measure {

struct LedgerInput {
  wire::QueueMode mode = wire::QueueMode::broadcaster;
  std::uint64_t warmup_messages = 0;  // of each sender: its first indexes; accounted for apart
  std::uint32_t senders_total = 0;    // numbers run from 1 to the total
  std::uint32_t receivers_total = 0;
  std::optional<std::uint64_t> planned_messages;  // of all senders together; none: until stopped, or a duration without a rate
  std::optional<double> planned_rate_per_s;       // of all senders together; none: as fast as it goes
  std::uint64_t attempts_max = 0;                 // of each copy, with responses; 0: without
  bool stopped_by_user = false;                   // then it is no fault that the plan was not finished
  std::vector<SendersAccount> senders;            // one per group; a group that gave no account is missing
  std::vector<ReceiversAccount> receivers;
  std::optional<BrokerAccount> broker;
  bool broker_restarted = false;  // then its account is that of its last life, and earlier ones are known from what the workers were told

  /// Null where N2NQ gave no account, or none of this receiver.
  const BrokerAccount::Receiver* broker_says_of(std::uint32_t number) const;
  /// By number; [0] is not used, null is a receiver that gave none.
  std::vector<const ReceiverAccount*> accounts_by_receiver() const;
  bool has_accounts_of_all() const;
};

struct SenderLedger {
  std::uint32_t number = 0;
  std::uint64_t attempted = 0, accepted = 0, refused = 0, lost_before_queue = 0;
  std::uint64_t unnoted =
      0;  // of attempted: N2NQ or a receiver has them, and the killed process that sent them had not noted them any more
  std::int64_t unexplained = 0;
};

/// Copies: of one receiver, or of the whole run.
struct CopyLedger {
  std::uint64_t accepted = 0;
  std::uint64_t delivered = 0, lost = 0;
  SkippedCounts skipped;
  std::int64_t unexplained = 0;
  std::uint64_t parked_delivered = 0;  // beside the sum, of delivered: N2NQ gave them up, because they were refused or answered too late
  ReceivedCounts tags;                 // beside the sum; `unexpected` includes deliveries of messages that no sender ever offered
};

struct ReceiverLedger {
  std::uint32_t number = 0;
  // Load balancer: delivered, tags, and what N2NQ told this receiver that it will not get; the rest stands in the total, whose counts are
  // N2NQ's own: it tells nobody what nobody was meant for.
  CopyLedger copies;
  std::optional<std::uint64_t> handed_over;  // none when the broker gave no account
  std::int64_t not_received = 0;             // handed over, but not received there: taken back, or lost
  struct LastConnection {
    std::uint64_t handed_over = 0;
    std::optional<std::uint64_t> received;  // none: not known
  };
  std::optional<LastConnection> cut_connection;  // of one that was cut off; warm-up included
};

/// A reason for the verdict, as a sentence.
struct Finding {
  bool breaks = false;  // else it degrades
  std::string reason;
};

/// What became of the warm-up: its sums have to come out as well.
struct WarmUpLedger {
  std::uint64_t planned = 0, attempted = 0, accepted = 0, refused = 0, lost_before_queue = 0;  // messages
  std::uint64_t expected = 0;                                                                  // copies
  CopyLedger total;
};

struct Ledger {
  std::uint64_t expected = 0;  // copies: planned (else attempted) messages times receivers (broadcaster) or once (load balancer)
  std::optional<std::uint64_t> planned;
  std::uint64_t attempted = 0, accepted = 0, refused = 0, lost_before_queue = 0;  // messages
  CopyLedger total;                                                               // copies
  std::vector<SenderLedger> senders;
  std::vector<ReceiverLedger> receivers;
  std::vector<Finding> findings;        // those that break first
  bool balanced = true;                 // nothing unexplained, in the warm-up either
  std::optional<WarmUpLedger> warm_up;  // in none of the counts above; none without warm-up
};

/// What the accounts add up to. When accounts disagree the larger knowledge wins: a message that the broker counts as accepted, or that any
/// receiver got, was accepted, even if its sender was not told.
Ledger make_ledger(const LedgerInput& input);

/// For summary.json: every count by its name in design terms, per sender and per receiver too.
void to_json(nlohmann::json& json, const Ledger& ledger);

}  // namespace n2nq::measure
