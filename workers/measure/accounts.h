// SPDX-License-Identifier: GPL-3.0-or-later
// What each process says at the end of a run about the messages it had in hand, as plain values, and their JSON form: the counting part of
// the `bye` objects of docs/control-protocol.md. Written by the workers and the broker, read by the bench; nothing here judges (ledger.h
// does).
//
// Reading throws std::invalid_argument that begins with the way to the key that does not fit. Keys it does not know are left alone: a bye
// holds much that is no account.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "broker/wire/index_set.h"
#include "workers/measure/figures.h"

namespace n2nq::measure {

/// Senders that share one set of indexes. In JSON: [first, last, "0-49"].
struct SenderRun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // inclusive
  wire::IndexSet set;
  bool operator==(const SenderRun&) const = default;
};
using SenderSets = std::vector<SenderRun>;  // by rising sender; senders that are not named have the empty set

/// Copies that were not delivered, by reason.
struct SkippedSets {
  SenderSets expired, unrequested, parked, cut_off, still_queued;
  bool operator==(const SkippedSets&) const = default;
};
struct SkippedCounts {
  std::uint64_t expired = 0, unrequested = 0, parked = 0, cut_off = 0, still_queued = 0;
  SkippedCounts& operator+=(const SkippedCounts& other);
  bool operator==(const SkippedCounts&) const = default;
};

/// Messages.
struct SentCounts {
  std::uint64_t attempted = 0;  // stamped and offered to the kernel
  std::uint64_t accepted = 0, refused = 0;
  SentCounts& operator+=(const SentCounts& other);
  bool operator==(const SentCounts&) const = default;
};

struct SenderAccount {
  std::uint32_t number = 0;
  std::uint64_t attempted = 0;  // messages that were stamped and offered to the kernel
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t lost_before_queue = 0;
  wire::IndexSet accepted_set;  // indexes as on the wire, warm-up included
  SentCounts warm_up;           // in none of the counts above
  bool unheard = false;         // of a killed process, and not connected since: N2NQ may have taken what it had not noted any more
};

/// Counts of deliveries; received = latency samples = delivered + duplicated. Unexpected and bad ones are in no other count. Unasked ones
/// were received, though no list of this receiver asked for them.
struct ReceivedCounts {
  std::uint64_t received = 0, duplicated = 0, duplicated_unflagged = 0, redelivered = 0, out_of_order = 0, unexpected = 0, negative = 0,
                bad_checksum = 0, unasked = 0;
  ReceivedCounts& operator+=(const ReceivedCounts& other);
  bool operator==(const ReceivedCounts&) const = default;
};

struct ReceiverAccount {
  std::uint32_t number = 0;
  ReceivedCounts counts;
  ReceivedCounts warm_up;     // in none of the counts before; sets, totals and answers below are of both
  SenderSets delivered_sets;  // broadcaster only
  SkippedSets skipped_sets;   // as the broker told this receiver
  bool ended_by_broker = false;
  SkippedCounts skipped_at_end;  // as the broker counted at the end; nothing without ended_by_broker
  std::uint64_t confirmed = 0, answered_negatively = 0;
  std::uint64_t connections = 0;                             // 1: undisturbed
  // Deliveries of any kind; none: not known. Where `continued`: on the last one on which the killed process had read any.
  std::optional<std::uint64_t> received_on_last_connection;
  bool continued = false;  // part of it is what a killed process had noted, and that does not know all of this

  /// Deliveries of any kind that came, warm-up included.
  std::uint64_t arrived() const { return counts.received + counts.unexpected + counts.bad_checksum + warm_up.received; }
};

struct SendersAccount {  // one senders group
  std::vector<SenderAccount> services;
  std::optional<std::int64_t> last_lag_ns;  // how far behind its plan the latest sender was with its last message; none without a plan
  std::vector<std::string> faults;
  std::optional<std::int64_t> lag_growth_ns = {};  // by how much the plan of the sender slipped whose plan slipped most; none: not known
};

struct ReceiversAccount {  // one receivers group
  std::vector<ReceiverAccount> services;
  SenderSets delivered_sets;  // load balancer: what this group received, all receivers together
  std::optional<std::uint64_t> latency_samples;
  std::vector<std::string> faults;
};

struct BrokerAccount {
  struct Sender {
    std::uint32_t number = 0;
    std::uint64_t accepted = 0;
    std::uint64_t had_below = 0;  // if it refused none: these it has accepted, or a N2NQ before it
  };
  struct Receiver {  // broadcaster: all of it; load balancer: number and handed_over
    std::uint32_t number = 0;
    std::uint64_t handed_over = 0;
    SkippedCounts skipped;
    SkippedSets sets;
    std::string cut_off_reason;
    std::optional<std::uint64_t> handed_over_on_last_connection;
    std::uint64_t confirmed = 0;
    std::uint64_t answers_missing = 0;  // deliveries without an answer, though a later one of the same connection was answered
  };
  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
  SkippedCounts total;  // load balancer
  SkippedSets total_sets;
  std::vector<std::string> faults;
};

/// How many copies the sets name.
SkippedCounts counts_of(const SkippedSets& sets);

/// The two forms of sets: [[1,50,"0-49"],…] and {"expired":[…],…}.
nlohmann::json sender_sets_json(const SenderSets& sets);
SenderSets sender_sets_from(const nlohmann::json& json);
nlohmann::json skipped_sets_json(const SkippedSets& sets);

void to_json(nlohmann::json& json, const SentCounts& counts);
void to_json(nlohmann::json& json, const ReceivedCounts& counts);

SendersAccount senders_account_from(const nlohmann::json& bye);
ReceiversAccount receivers_account_from(const nlohmann::json& bye);
BrokerAccount broker_account_from(const nlohmann::json& bye);

}  // namespace n2nq::measure
