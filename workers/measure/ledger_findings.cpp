// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/ledger_findings.h"

#include <algorithm>
#include <cmath>

#include "workers/measure/log_line.h"

namespace n2nq::measure {

namespace {

/// The plan counts as kept while the last message is not later than this part of the time until it was due, or this long (a busy machine,
/// not a slow queue).
constexpr std::int64_t plan_late_parts = 1000;
constexpr std::int64_t plan_late_ns_allowed = 250'000'000;
/// Less may be chance, on a machine that has other things to do.
constexpr std::int64_t plan_slip_ns_allowed = 10'000'000;

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

class Finder {
 public:
  Finder(const LedgerInput& input, const Ledger& ledger, bool is_warm_up) : in_(input), ledger_(ledger), is_warm_up_(is_warm_up) {}

  std::vector<Finding> find() {
    find_what_breaks();
    if (!is_warm_up_) find_contradictions();
    find_what_degrades();
    find_unkept_plan();
    for (const SendersAccount& group : in_.senders) {
      for (const std::string& fault : group.faults) degrades(fault);
    }
    for (const ReceiversAccount& group : in_.receivers) {
      for (const std::string& fault : group.faults) degrades(fault);
    }
    if (in_.broker) {
      for (const std::string& fault : in_.broker->faults) degrades(fault);
    }
    std::stable_partition(findings_.begin(), findings_.end(), [](const Finding& finding) { return finding.breaks; });
    return std::move(findings_);
  }

 private:
  void breaks(std::string reason) { findings_.push_back({true, std::move(reason)}); }
  void degrades(std::string reason) { findings_.push_back({false, std::move(reason)}); }

  void find_what_breaks() {
    const CopyLedger& total = ledger_.total;
    if (total.lost > 0)
      breaks(plural(total.lost, "copy", "copies") + " lost: accepted by N2NQ, neither delivered nor skipped" +
             whose(total.lost, [](const CopyLedger& copies) { return copies.lost; }));
    if (ledger_.lost_before_queue > 0) breaks(plural(ledger_.lost_before_queue, "message", "messages") + " lost before the queue");
    if (total.tags.unexpected > 0) breaks(plural(total.tags.unexpected, "delivery", "deliveries") + " that no sender of this run made");
    if (total.tags.bad_checksum > 0) breaks(plural(total.tags.bad_checksum, "delivery", "deliveries") + " with a wrong checksum");
    if (total.tags.unasked > 0)
      breaks(plural(total.tags.unasked, "delivery that its receiver", "deliveries that their receivers") + " had not asked for");
    for (const SenderLedger& line : ledger_.senders) {
      if (line.unexplained != 0) breaks(service_name('S', line.number) + ": " + std::to_string(line.unexplained) + " messages unexplained");
    }
    const auto accounts = in_.accounts_by_receiver();
    for (const ReceiverLedger& line : ledger_.receivers) {
      const std::string name = service_name('R', line.number);
      if (line.copies.unexplained != 0) {
        breaks(name + ": " + std::to_string(line.copies.unexplained) + " copies unexplained" +
               (accounts[line.number] == nullptr ? ": its process left no account of what it received" : ""));
      }
      if (line.not_received < 0) breaks(name + ": got " + std::to_string(-line.not_received) + " more than were handed over");
    }
    if (in_.mode == wire::QueueMode::load_balancer && total.unexplained != 0) {
      breaks(std::to_string(total.unexplained) + " messages unexplained" +
             (in_.has_accounts_of_all() ? "" : ": some receivers' process left no account of what they received"));
    }
    for (const ReceiversAccount& group : in_.receivers) {
      std::uint64_t received = 0;
      for (const ReceiverAccount& account : group.services) received += account.counts.received;
      if (group.latency_samples && *group.latency_samples != received) {
        breaks(std::to_string(*group.latency_samples) + " latency samples for " + plural(received, "delivery", "deliveries"));
      }
    }
  }

  /// At which receivers, where that is known of all of them.
  template <class Count>
  std::string whose(std::uint64_t total, Count&& count) const {
    std::string names;
    std::size_t more = 0;
    std::uint64_t sum = 0;
    for (const ReceiverLedger& line : ledger_.receivers) {
      const std::uint64_t here = count(line.copies);
      if (here == 0) continue;
      sum += here;
      if (names.size() > 40) {
        ++more;
        continue;
      }
      names += (names.empty() ? " (" : ", ") + service_name('R', line.number) + ": " + std::to_string(here);
    }
    if (names.empty() || sum != total) return "";
    return names + (more > 0 ? ", and " + std::to_string(more) + (more == 1 ? " more receiver)" : " more receivers)") : ")");
  }

  std::string whose(std::uint64_t SkippedCounts::*reason) const {
    return whose(ledger_.total.skipped.*reason, [reason](const CopyLedger& copies) { return copies.skipped.*reason; });
  }

  /// Why N2NQ did it, where the receiver itself was not told in time.
  void find_cut_off() {
    degrades(plural(ledger_.total.skipped.cut_off, "copy", "copies") + " cut off with a receiver that was too slow or gone" +
             whose(&SkippedCounts::cut_off));
    if (!in_.broker || is_warm_up_) return;
    for (const BrokerAccount::Receiver& told : in_.broker->receivers) {
      const auto says_so = [&](const std::string& fault) { return fault.find(told.cut_off_reason) != std::string::npos; };
      const bool said =
          std::ranges::any_of(in_.receivers, [&](const ReceiversAccount& group) { return std::ranges::any_of(group.faults, says_so); });
      if (!told.cut_off_reason.empty() && !said) degrades(service_name('R', told.number) + " was cut off: " + told.cut_off_reason);
    }
  }

  void find_what_degrades() {
    const CopyLedger& total = ledger_.total;
    for (const SenderLedger& line : ledger_.senders) {
      if (line.unnoted == 0) continue;
      degrades(service_name('S', line.number) + ": " + plural(line.unnoted, "message was", "messages were") +
               " sent but not noted when the process was killed, and " + (line.unnoted == 1 ? "is" : "are") +
               " in no figure but the counts");
    }
    const auto copies = [](std::uint64_t count) { return plural(count, "copy", "copies"); };
    if (total.skipped.expired > 0)
      degrades(copies(total.skipped.expired) + " expired: their retention ended first" + whose(&SkippedCounts::expired));
    find_parked();
    if (total.skipped.cut_off > 0) find_cut_off();
    if (total.skipped.still_queued > 0 && !in_.stopped_by_user)
      degrades(copies(total.skipped.still_queued) + " still queued at the end" + whose(&SkippedCounts::still_queued));
    if (ledger_.refused > 0) degrades(plural(ledger_.refused, "message", "messages") + " refused by N2NQ");
    if (total.tags.duplicated_unflagged > 0)
      degrades(plural(total.tags.duplicated_unflagged, "duplicate", "duplicates") + " that N2NQ did not announce");
    if (total.tags.out_of_order > 0) {
      // One that was made up can stand far ahead: whatever comes behind it then has a lower index.
      degrades(plural(total.tags.out_of_order, "delivery", "deliveries") + " out of order" +
               (total.tags.unexpected > 0 ? ", perhaps only against one that no sender made" : ""));
    }
    if (total.tags.negative > 0) degrades(plural(total.tags.negative, "latency", "latencies") + " below zero");
  }

  void find_parked() {
    const std::uint64_t here = ledger_.total.parked_delivered, parked = ledger_.total.skipped.parked + here;
    if (parked == 0) return;
    std::string reason = "N2NQ gave up on " + plural(parked, "copy", "copies");
    reason += in_.attempts_max > 0 ? " after " + plural(in_.attempts_max, "attempt", "attempts") + " each: parked" : ": parked";
    if (here > 0) {
      reason += here == parked ? ", though delivered" : ", " + std::to_string(here) + " of them though delivered";
      reason += " (refused, or answered too late)";
    }
    degrades(reason + whose(parked, [](const CopyLedger& copies) { return copies.skipped.parked + copies.parked_delivered; }));
  }

  /// What N2NQ and a receiver say of each other, where nothing came in between that explains a difference.
  void find_contradictions() {
    const auto accounts = in_.accounts_by_receiver();
    for (const ReceiverLedger& line : ledger_.receivers) {
      const ReceiverAccount* account = accounts[line.number];
      if (account == nullptr || account->continued) continue;
      const std::string name = service_name('R', line.number) + ": ";
      if (const BrokerAccount::Receiver* told = in_.broker_says_of(line.number)) {
        const bool answers_all = account->confirmed + account->answered_negatively == account->arrived();
        if (told->confirmed > account->confirmed) {
          breaks(name + "N2NQ counts " + plural(told->confirmed - account->confirmed, "confirmation", "confirmations") +
                 (told->confirmed - account->confirmed == 1 ? " that was" : " that were") + " never given");
        }
        if (told->answers_missing > 0 && answers_all) {
          breaks(name + plural(told->answers_missing, "confirmation", "confirmations") + " not counted by N2NQ");
        }
      }
      if (!account->ended_by_broker || account->connections != 1) continue;
      if (line.not_received > 0) {
        breaks(name + plural(static_cast<std::uint64_t>(line.not_received), "delivery", "deliveries") + " counted by N2NQ did not arrive");
      }
      const SkippedCounts said = counts_of(account->skipped_sets);
      const SkippedCounts& counted = account->skipped_at_end;
      find_untold(name, counted.expired, said.expired, "expired");
      find_untold(name, counted.unrequested, said.unrequested, "were unrequested");
      find_untold(name, counted.parked, said.parked, "were parked");
      find_untold(name, counted.cut_off, said.cut_off, "were cut off");
    }
  }

  void find_untold(const std::string& name, std::uint64_t counted, std::uint64_t said, const char* what) {
    if (counted > said) breaks(name + plural(counted - said, "copy", "copies") + " " + what + ", but N2NQ did not say so");
  }

  /// When the last message that was sent was due, by the plan of the sender that got farthest. 0: without a plan.
  double last_due_s() const {
    std::uint64_t most = 0;
    for (const SenderLedger& line : ledger_.senders) most = std::max(most, line.attempted);
    return in_.planned_rate_per_s ? static_cast<double>(most) * in_.senders_total / *in_.planned_rate_per_s : 0;
  }

  /// ", 940 of 1000 messages/s": what became of the rate, while the senders sent.
  std::string achieved(const SendersAccount& group) const {
    if (!in_.planned_rate_per_s || ledger_.attempted == 0) return {};
    const auto attempted = static_cast<double>(ledger_.attempted);
    const double took_s = last_due_s() + static_cast<double>(group.last_lag_ns.value_or(0)) / 1e9;
    return ", " + std::to_string(std::llround(attempted / took_s)) + " of " + std::to_string(std::llround(*in_.planned_rate_per_s)) +
           " messages/s";
  }

  void find_unkept_plan() {
    if (!in_.stopped_by_user && in_.planned_messages && ledger_.attempted < *in_.planned_messages) {
      degrades("plan not kept: " + std::to_string(ledger_.attempted) + " of " + std::to_string(*in_.planned_messages) + " messages sent");
    }
    for (const SendersAccount& group : in_.senders) {
      const std::int64_t part_ns = static_cast<std::int64_t>(last_due_s() * 1e9) / plan_late_parts;
      if (group.last_lag_ns && *group.last_lag_ns > std::max(part_ns, plan_late_ns_allowed)) {
        degrades("plan not kept: the last message was " + std::to_string(*group.last_lag_ns / 1'000'000) + " ms late" + achieved(group));
      } else if (group.lag_growth_ns && *group.lag_growth_ns > std::max(part_ns, plan_slip_ns_allowed)) {
        degrades("plan not kept: messages left later and later, by " + std::to_string(*group.lag_growth_ns / 1'000'000) + " ms at the end" +
                 achieved(group));
      }
    }
  }

  const LedgerInput& in_;
  const Ledger& ledger_;
  const bool is_warm_up_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> findings_of(const LedgerInput& input, const Ledger& ledger, bool is_warm_up) {
  return Finder(input, ledger, is_warm_up).find();
}

}  // namespace n2nq::measure
