// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/ledger.h"

#include <algorithm>

#include "workers/measure/log_line.h"
#include "workers/measure/warm_up.h"

namespace n2nq::measure {

namespace {

using wire::IndexSet;

/// The plan counts as kept while the last message is not later than this part of the run, or this long (a busy machine, not a slow queue).
constexpr std::int64_t plan_late_parts = 1000;
constexpr std::int64_t plan_late_ns_allowed = 250'000'000;

const IndexSet empty_set;

/// What is known about one sender's messages.
struct SenderKnowledge {
  bool has_account = false;
  bool unheard = false;
  std::optional<std::uint64_t> accepted_below;  // N2NQ says so
  SenderLedger ledger;
  IndexSet accepted;  // everything that is known to have been accepted
  IndexSet possible;  // everything that can have been sent
};

/// Per sender number (from 1) the set of a SenderSets; those that are not named share the empty one.
std::vector<const IndexSet*> by_sender(const SenderSets& sets, std::uint32_t senders_total) {
  std::vector<const IndexSet*> result(senders_total + 1, &empty_set);
  for (const SenderRun& run : sets) {
    for (std::uint32_t sender = std::max(run.first, 1u); sender <= std::min(run.last, senders_total); ++sender) result[sender] = &run.set;
  }
  return result;
}

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

class Maker {
 public:
  explicit Maker(const LedgerInput& input)
      : in_(input), is_warm_up_(false), senders_(input.senders_total + 1), gone_(input.receivers_total + 1) {}
  Maker(const LedgerInput& warm_up, std::vector<std::uint64_t> gone)
      : in_(warm_up), is_warm_up_(true), senders_(warm_up.senders_total + 1), gone_(std::move(gone)) {}

  Ledger make() {
    learn_accepted();
    close_senders();
    if (in_.mode == wire::QueueMode::broadcaster) {
      close_broadcast();
    } else {
      close_balanced();
    }
    out_.planned = in_.planned_messages;
    const std::uint64_t copies = in_.mode == wire::QueueMode::broadcaster ? in_.receivers_total : 1;
    out_.expected = in_.planned_messages.value_or(out_.attempted) * copies;
    find();
    return std::move(out_);
  }

  /// What went with each receiver's connection, by number, and is not counted yet ([0]: with anybody's, load balancer). It is the last that
  /// was handed over there, so the warm-up gets what the rest of the run leaves.
  const std::vector<std::uint64_t>& gone() const { return gone_; }

 private:
  void learn_accepted() {
    for (std::uint32_t number = 1; number <= in_.senders_total; ++number) senders_[number].ledger.number = number;
    for (const SendersAccount& group : in_.senders) {
      for (const SenderAccount& account : group.services) {
        if (account.number == 0 || account.number > in_.senders_total) continue;
        SenderKnowledge& sender = senders_[account.number];
        sender.has_account = true;
        sender.unheard = account.unheard;
        sender.ledger.attempted = account.attempted;
        sender.ledger.refused = account.refused;
        sender.accepted = account.accepted_set;
        if (account.attempted > 0) sender.possible.add_range(0, account.attempted - 1);
      }
    }
    if (in_.broker) {
      for (const BrokerAccount::Sender& told : in_.broker->senders) {
        if (told.number == 0 || told.number > in_.senders_total) continue;
        SenderKnowledge& sender = senders_[told.number];
        // Accepted ones are the first ones as long as none was refused; with refusals the sender's own set says which they are.
        if (sender.ledger.refused > 0) continue;
        // What a N2NQ before it had taken is told by the sender, unless it is dead.
        const bool is_dead = sender.unheard || !sender.has_account;
        const std::uint64_t below = is_dead ? std::max(told.accepted, told.had_below) : told.accepted;
        if (below > sender.accepted.count()) sender.accepted.add_range(0, below - 1);
        if (!in_.broker_restarted) sender.accepted_below = told.accepted;
      }
    }
    for (const ReceiversAccount& group : in_.receivers) {
      learn_from(group.delivered_sets);
      for (const ReceiverAccount& account : group.services) learn_from(account.delivered_sets);
    }
  }

  /// A message that anybody got was accepted. Of a sender without account, whatever was got can have been sent.
  void learn_from(const SenderSets& delivered) {
    for (const SenderRun& run : delivered) {
      for (std::uint32_t number = std::max(run.first, 1u); number <= std::min(run.last, in_.senders_total); ++number) {
        SenderKnowledge& sender = senders_[number];
        if (sender.accepted == run.set) continue;  // nearly always
        sender.accepted += can_have_been_sent(sender, run.set);
      }
    }
  }

  static IndexSet can_have_been_sent(const SenderKnowledge& sender, const IndexSet& delivered) {
    if (!sender.has_account) return delivered;
    if (!sender.unheard) return delivered - (delivered - sender.possible);
    return sender.accepted_below ? wire::below(delivered, *sender.accepted_below) : delivered;
  }

  /// What a killed process had sent last and not noted any more.
  static void count_unnoted(SenderKnowledge& sender) {
    SenderLedger& line = sender.ledger;
    if (!sender.unheard || sender.accepted.empty() || sender.accepted.last() < line.attempted) return;
    line.unnoted = sender.accepted.last() + 1 - line.attempted;
    line.attempted += line.unnoted;
    sender.possible.add_range(0, line.attempted - 1);
  }

  void close_senders() {
    for (std::uint32_t number = 1; number <= in_.senders_total; ++number) {
      SenderKnowledge& sender = senders_[number];
      SenderLedger& line = sender.ledger;
      count_unnoted(sender);
      line.accepted = sender.accepted.count();
      if (!sender.has_account) line.attempted = line.accepted;
      const std::uint64_t not_accepted = sender.has_account ? (sender.possible - sender.accepted).count() : 0;
      line.lost_before_queue = not_accepted > line.refused ? not_accepted - line.refused : 0;
      line.unexplained =
          static_cast<std::int64_t>(line.attempted) - static_cast<std::int64_t>(line.accepted + line.refused + line.lost_before_queue);
      out_.attempted += line.attempted;
      out_.accepted += line.accepted;
      out_.refused += line.refused;
      out_.lost_before_queue += line.lost_before_queue;
      out_.balanced = out_.balanced && line.unexplained == 0;
      out_.senders.push_back(line);
    }
  }

  /// Adds up one set of copies: what was accepted against what was delivered and what was skipped. Returns how many of the lost ones come
  /// behind everything that was delivered of their sender.
  std::uint64_t add_copies(CopyLedger& line, const SenderSets& delivered, const std::vector<const SkippedSets*>& skipped) {
    std::uint64_t lost_behind = 0;
    const auto got = by_sender(delivered, in_.senders_total);
    std::vector<std::vector<const IndexSet*>> reasons;
    for (const SkippedSets* sets : skipped) {
      for (const SenderSets* part : {&sets->expired, &sets->unrequested, &sets->parked, &sets->cut_off, &sets->still_queued}) {
        if (!part->empty()) reasons.push_back(by_sender(*part, in_.senders_total));
      }
    }
    for (std::uint32_t number = 1; number <= in_.senders_total; ++number) {
      const IndexSet& accepted = senders_[number].accepted;
      line.accepted += accepted.count();
      if (*got[number] == accepted) {
        line.delivered += accepted.count();
        continue;
      }
      const IndexSet missing = accepted - *got[number];
      line.delivered += accepted.count() - missing.count();
      line.tags.unexpected += (*got[number] - accepted).count();
      IndexSet lost = missing;
      for (const auto& sets : reasons) lost -= *sets[number];
      line.lost += lost.count();
      const IndexSet& here = *got[number];
      lost_behind += here.empty() ? lost.count() : lost.count_in(here.last(), UINT64_MAX);
    }
    return lost_behind;
  }

  /// All that anybody says was skipped; what is named under two reasons counts under the first.
  SkippedSets united(const std::vector<const SkippedSets*>& sources) const {
    SkippedSets all;
    std::vector<IndexSet> named(in_.senders_total + 1);
    for (const auto reason :
         {&SkippedSets::expired, &SkippedSets::unrequested, &SkippedSets::parked, &SkippedSets::cut_off, &SkippedSets::still_queued}) {
      std::vector<IndexSet> here(in_.senders_total + 1);
      for (const SkippedSets* source : sources) {
        for (const SenderRun& run : source->*reason) {
          for (std::uint32_t number = std::max(run.first, 1u); number <= std::min(run.last, in_.senders_total); ++number)
            here[number] += run.set;
        }
      }
      for (std::uint32_t number = 1; number <= in_.senders_total; ++number) {
        here[number] -= named[number];
        if (here[number].count() == 0) continue;
        named[number] += here[number];
        (all.*reason).push_back({number, number, std::move(here[number])});
      }
    }
    return all;
  }

  /// How many of `set` were delivered all the same: N2NQ does not know what became of a delivery whose answer it never heard.
  std::uint64_t delivered_among(const SenderSets& set, const std::vector<const IndexSet*>& delivered) const {
    std::uint64_t count = 0;
    for (const SenderRun& run : set) {
      for (std::uint32_t sender = std::max(run.first, 1u); sender <= std::min(run.last, in_.senders_total); ++sender) {
        count += run.set.count() - (run.set - *delivered[sender]).count();
      }
    }
    return count;
  }

  /// Each copy counts once, and what was delivered was delivered. `sets` are those that `line.skipped` counts.
  void take_off_delivered(CopyLedger& line, const SkippedSets& sets, const SenderSets& delivered) const {
    const auto got = by_sender(delivered, in_.senders_total);
    line.skipped.expired -= std::min(line.skipped.expired, delivered_among(sets.expired, got));
    line.skipped.unrequested -= std::min(line.skipped.unrequested, delivered_among(sets.unrequested, got));
    const std::uint64_t parked = std::min(line.skipped.parked, delivered_among(sets.parked, got));
    line.skipped.parked -= parked;
    line.parked_delivered += parked;
    line.skipped.cut_off -= std::min(line.skipped.cut_off, delivered_among(sets.cut_off, got));
    line.skipped.still_queued -= std::min(line.skipped.still_queued, delivered_among(sets.still_queued, got));
  }

  /// What the kernel had taken for a receiver that was cut off then went with its connection, as what N2NQ held for it did. What had been
  /// lost before, on an earlier connection or on the way, is lost.
  void go_down_with_cut_off(CopyLedger& line, std::uint64_t copies_max, std::size_t whose) {
    const std::uint64_t copies = std::min(copies_max, gone_[whose]);
    gone_[whose] -= copies;
    line.lost -= copies;
    line.skipped.cut_off += copies;
  }

  void finish_copies(CopyLedger& line) {
    const SkippedCounts& skipped = line.skipped;
    line.unexplained = static_cast<std::int64_t>(line.accepted) -
                       static_cast<std::int64_t>(line.delivered + skipped.expired + skipped.unrequested + skipped.parked + skipped.cut_off +
                                                 skipped.still_queued + line.lost);
    out_.balanced = out_.balanced && line.unexplained == 0;
  }

  const BrokerAccount::Receiver* broker_says_of(std::uint32_t number) const {
    if (!in_.broker) return nullptr;
    const auto it = std::ranges::find(in_.broker->receivers, number, &BrokerAccount::Receiver::number);
    return it == in_.broker->receivers.end() ? nullptr : &*it;
  }

  std::vector<const ReceiverAccount*> accounts_by_receiver() const {
    std::vector<const ReceiverAccount*> accounts(in_.receivers_total + 1, nullptr);
    for (const ReceiversAccount& group : in_.receivers) {
      for (const ReceiverAccount& account : group.services) {
        if (account.number >= 1 && account.number <= in_.receivers_total) accounts[account.number] = &account;
      }
    }
    return accounts;
  }

  bool accounts_of_all() const {
    const auto accounts = accounts_by_receiver();
    return std::find(accounts.begin() + 1, accounts.end(), nullptr) == accounts.end();
  }

  void take_tags(ReceiverLedger& line, const ReceiverAccount* account, const BrokerAccount::Receiver* told) {
    if (account != nullptr) line.copies.tags += account->counts;
    if (told != nullptr && !told->cut_off_reason.empty()) {
      line.cut_connection = {told->handed_over_on_last_connection.value_or(told->handed_over),
                             account != nullptr ? account->received_on_last_connection : std::nullopt};
    }
    if (told == nullptr || in_.broker_restarted) return;
    // N2NQ counts what it hands over, whatever it is.
    const std::uint64_t warm_up = account != nullptr ? account->warm_up.received : 0;
    line.handed_over = told->handed_over - std::min(told->handed_over, warm_up);
    line.not_received = static_cast<std::int64_t>(told->handed_over) - static_cast<std::int64_t>(account != nullptr ? got_by(*account) : 0);
  }

  /// Deliveries that came, warm-up included.
  static std::uint64_t got_by(const ReceiverAccount& account) {
    const ReceivedCounts& counts = account.counts;
    return counts.received + counts.unexpected + counts.bad_checksum + account.warm_up.received;
  }

  void close_broadcast() {
    const auto accounts = accounts_by_receiver();
    for (std::uint32_t number = 1; number <= in_.receivers_total; ++number) {
      const ReceiverAccount* account = accounts[number];
      const BrokerAccount::Receiver* told = broker_says_of(number);
      ReceiverLedger line;
      line.number = number;
      take_tags(line, account, told);
      std::vector<const SkippedSets*> skipped;
      if (account != nullptr) skipped.push_back(&account->skipped_sets);
      if (told != nullptr) skipped.push_back(&told->sets);
      const SenderSets delivered = account != nullptr ? account->delivered_sets : SenderSets{};
      const std::uint64_t lost_behind = add_copies(line.copies, delivered, skipped);
      if (account == nullptr) line.copies.lost = 0;  // nobody knows what it received
      if (in_.broker_restarted) {
        const SkippedSets all = united(skipped);
        line.copies.skipped = counts_of(all);
        take_off_delivered(line.copies, all, delivered);
      } else if (told != nullptr) {
        line.copies.skipped = told->skipped;
        take_off_delivered(line.copies, told->sets, delivered);
      } else if (account != nullptr) {
        line.copies.skipped = counts_of(account->skipped_sets);
        take_off_delivered(line.copies, account->skipped_sets, delivered);
      }
      if (!is_warm_up_) gone_[number] = gone_with_connection(line);
      go_down_with_cut_off(line.copies, std::min(lost_behind, line.copies.lost), number);
      finish_copies(line.copies);
      add_to_total(line.copies);
      out_.receivers.push_back(std::move(line));
    }
  }

  void close_balanced() {
    const auto accounts = accounts_by_receiver();
    const SenderSets delivered = delivered_by_all_groups();
    std::vector<const SkippedSets*> skipped;
    SkippedCounts told_to_receivers;
    for (std::uint32_t number = 1; number <= in_.receivers_total; ++number) {
      ReceiverLedger line;
      line.number = number;
      take_tags(line, accounts[number], broker_says_of(number));
      line.copies.delivered = line.copies.tags.received - line.copies.tags.duplicated;
      out_.total.tags += line.copies.tags;
      if (accounts[number] != nullptr) {
        skipped.push_back(&accounts[number]->skipped_sets);
        line.copies.skipped = counts_of(accounts[number]->skipped_sets);
        told_to_receivers += line.copies.skipped;
        take_off_delivered(line.copies, accounts[number]->skipped_sets, delivered);
      }
      out_.receivers.push_back(std::move(line));
    }
    if (in_.broker) skipped.push_back(&in_.broker->total_sets);
    add_copies(out_.total, delivered, skipped);
    if (!accounts_of_all()) out_.total.lost = 0;  // nobody knows what the others received
    if (in_.broker_restarted) {
      const SkippedSets all = united(skipped);
      out_.total.skipped = counts_of(all);
      take_off_delivered(out_.total, all, delivered);
    } else {
      out_.total.skipped = in_.broker ? in_.broker->total : told_to_receivers;
      if (in_.broker) {
        take_off_delivered(out_.total, in_.broker->total_sets, delivered);
      } else {
        for (const SkippedSets* sets : skipped) take_off_delivered(out_.total, *sets, delivered);
      }
    }
    if (!is_warm_up_) {
      for (const ReceiverLedger& line : out_.receivers) gone_[0] += gone_with_connection(line);
    }
    // A message that is lost was handed over to somebody who does not have it: to one that was cut off, as far as those are short of any.
    go_down_with_cut_off(out_.total, out_.total.lost, 0);
    finish_copies(out_.total);
  }

  /// How many of the copies that were handed to a receiver that was cut off did not come out of the connection that was cut, and are
  /// nobody's any more. With responses there are none: N2NQ has what nobody confirmed, names it, or gives it to somebody else.
  std::uint64_t gone_with_connection(const ReceiverLedger& line) const {
    if (in_.attempts_max > 0 || !line.cut_connection) return 0;
    const std::uint64_t handed_over = line.cut_connection->handed_over;
    if (line.cut_connection->received) return handed_over - std::min(handed_over, *line.cut_connection->received);
    return line.not_received > 0 ? std::min(handed_over, static_cast<std::uint64_t>(line.not_received)) : 0;
  }

  /// The union of the groups' sets. What two groups both received is a duplicate that neither of them could see.
  SenderSets delivered_by_all_groups() {
    SenderSets all;
    if (in_.receivers.size() == 1) return in_.receivers.front().delivered_sets;
    for (std::uint32_t number = 1; number <= in_.senders_total; ++number) all.push_back({number, number, {}});
    for (const ReceiversAccount& group : in_.receivers) {
      for (const SenderRun& run : group.delivered_sets) {
        for (std::uint32_t number = std::max(run.first, 1u); number <= std::min(run.last, in_.senders_total); ++number) {
          const std::uint64_t before = all[number - 1].set.count();
          all[number - 1].set += run.set;
          out_.total.tags.duplicated += before + run.set.count() - all[number - 1].set.count();
        }
      }
    }
    return all;
  }

  void add_to_total(const CopyLedger& line) {
    CopyLedger& total = out_.total;
    total.accepted += line.accepted;
    total.delivered += line.delivered;
    total.lost += line.lost;
    total.skipped += line.skipped;
    total.unexplained += line.unexplained;
    total.parked_delivered += line.parked_delivered;
    total.tags += line.tags;
  }

  void breaks(std::string reason) { out_.findings.push_back({true, std::move(reason)}); }
  void degrades(std::string reason) { out_.findings.push_back({false, std::move(reason)}); }

  void find() {
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
    std::stable_partition(out_.findings.begin(), out_.findings.end(), [](const Finding& finding) { return finding.breaks; });
  }

  void find_what_breaks() {
    const CopyLedger& total = out_.total;
    if (total.lost > 0)
      breaks(plural(total.lost, "copy", "copies") + " lost: accepted by N2NQ, neither delivered nor skipped" +
             whose(total.lost, [](const CopyLedger& copies) { return copies.lost; }));
    if (out_.lost_before_queue > 0) breaks(plural(out_.lost_before_queue, "message", "messages") + " lost before the queue");
    if (total.tags.unexpected > 0) breaks(plural(total.tags.unexpected, "delivery", "deliveries") + " that no sender of this run made");
    if (total.tags.bad_checksum > 0) breaks(plural(total.tags.bad_checksum, "delivery", "deliveries") + " with a wrong checksum");
    if (total.tags.unasked > 0)
      breaks(plural(total.tags.unasked, "delivery that its receiver", "deliveries that their receivers") + " had not asked for");
    for (const SenderLedger& line : out_.senders) {
      if (line.unexplained != 0) breaks(service_name('S', line.number) + ": " + std::to_string(line.unexplained) + " messages unexplained");
    }
    const auto accounts = accounts_by_receiver();
    for (const ReceiverLedger& line : out_.receivers) {
      const std::string name = service_name('R', line.number);
      if (line.copies.unexplained != 0) {
        breaks(name + ": " + std::to_string(line.copies.unexplained) + " copies unexplained" +
               (accounts[line.number] == nullptr ? ": its process left no account of what it received" : ""));
      }
      if (line.not_received < 0) breaks(name + ": got " + std::to_string(-line.not_received) + " more than were handed over");
    }
    if (in_.mode == wire::QueueMode::load_balancer && total.unexplained != 0) {
      breaks(std::to_string(total.unexplained) + " messages unexplained" +
             (accounts_of_all() ? "" : ": some receivers' process left no account of what they received"));
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
    for (const ReceiverLedger& line : out_.receivers) {
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
    return names + (more > 0 ? ", and " + std::to_string(more) + " more receivers)" : ")");
  }

  std::string whose(std::uint64_t SkippedCounts::*reason) const {
    return whose(out_.total.skipped.*reason, [reason](const CopyLedger& copies) { return copies.skipped.*reason; });
  }

  /// Why N2NQ did it, where the receiver itself was not told in time.
  void find_cut_off() {
    degrades(plural(out_.total.skipped.cut_off, "copy", "copies") + " cut off with a receiver that was too slow or gone" +
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
    const CopyLedger& total = out_.total;
    for (const SenderLedger& line : out_.senders) {
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
    if (out_.refused > 0) degrades(plural(out_.refused, "message", "messages") + " refused by N2NQ");
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
    const std::uint64_t here = out_.total.parked_delivered, parked = out_.total.skipped.parked + here;
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
    const auto accounts = accounts_by_receiver();
    for (const ReceiverLedger& line : out_.receivers) {
      const ReceiverAccount* account = accounts[line.number];
      if (account == nullptr || account->continued) continue;
      const std::string name = service_name('R', line.number) + ": ";
      if (const BrokerAccount::Receiver* told = broker_says_of(line.number)) {
        const bool answers_all = account->confirmed + account->answered_negatively == got_by(*account);
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

  void find_unkept_plan() {
    if (!in_.stopped_by_user && in_.planned_messages && out_.attempted < *in_.planned_messages) {
      degrades("plan not kept: " + std::to_string(out_.attempted) + " of " + std::to_string(*in_.planned_messages) + " messages sent");
    }
    for (const SendersAccount& group : in_.senders) {
      const std::int64_t allowed_ns = std::max((group.ended_ns - group.started_ns) / plan_late_parts, plan_late_ns_allowed);
      if (group.last_lag_ns && *group.last_lag_ns > allowed_ns) {
        degrades("plan not kept: the last message left " + std::to_string(*group.last_lag_ns / 1'000'000) + " ms late");
      }
    }
  }

  const LedgerInput& in_;
  const bool is_warm_up_;
  std::vector<SenderKnowledge> senders_;  // by number; [0] is not used
  std::vector<std::uint64_t> gone_;
  Ledger out_;
};

}  // namespace

Ledger make_ledger(const LedgerInput& input) {
  if (input.warmup_messages == 0) return Maker(input).make();
  const SplitInput split = split_warm_up(input);
  Maker measured(split.measured);
  Ledger ledger = measured.make();
  const Ledger warm_up = Maker(split.warm_up, measured.gone()).make();
  ledger.warm_up = WarmUpLedger{.planned = warm_up.planned.value_or(0),
                                .attempted = warm_up.attempted,
                                .accepted = warm_up.accepted,
                                .refused = warm_up.refused,
                                .lost_before_queue = warm_up.lost_before_queue,
                                .expected = warm_up.expected,
                                .total = warm_up.total};
  ledger.balanced = ledger.balanced && warm_up.balanced;
  for (const Finding& finding : warm_up.findings) ledger.findings.push_back({finding.breaks, "warm-up: " + finding.reason});
  std::stable_partition(ledger.findings.begin(), ledger.findings.end(), [](const Finding& finding) { return finding.breaks; });
  return ledger;
}

}  // namespace n2nq::measure
