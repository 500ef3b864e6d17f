// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/ledger.h"

#include <algorithm>

#include "workers/measure/ledger_findings.h"
#include "workers/measure/warm_up.h"

namespace n2nq::measure {

namespace {

using wire::IndexSet;

const IndexSet empty_set;

/// What is known about one sender's messages.
struct SenderKnowledge {
  bool has_account = false;
  bool unheard = false;
  std::optional<std::uint64_t> accepted_below;  // N2NQ says so
  SenderLedger ledger;
  IndexSet refused;   // as its sender was told
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
    out_.findings = findings_of(in_, out_, is_warm_up_);
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
        // Of the first so many each is one or the other.
        const std::uint64_t answered = account.accepted_set.count() + account.refused;
        if (account.refused > 0) sender.refused.add_range(0, answered - 1), sender.refused -= account.accepted_set;
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
      // Whoever offers again to another N2NQ what one before it had taken may be refused now: it was accepted all the same.
      if (in_.broker_restarted) line.refused = (sender.refused - sender.accepted).count();
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

  void take_tags(ReceiverLedger& line, const ReceiverAccount* account, const BrokerAccount::Receiver* told) {
    if (account != nullptr) line.copies.tags += account->counts;
    if (told != nullptr && !told->cut_off_reason.empty()) {
      line.cut_connection = {told->handed_over_on_last_connection.value_or(told->handed_over), std::nullopt};
      // The log of a killed process tells a connection by the first delivery that was read on it: without one it counts those before.
      const auto received = account != nullptr ? account->received_on_last_connection : std::nullopt;
      const bool of_one_before = received && account->continued && *received > line.cut_connection->handed_over;
      if (!of_one_before) line.cut_connection->received = received;
    }
    if (told == nullptr || in_.broker_restarted) return;
    // N2NQ counts what it hands over, whatever it is.
    const std::uint64_t warm_up = account != nullptr ? account->warm_up.received : 0;
    line.handed_over = told->handed_over - std::min(told->handed_over, warm_up);
    line.not_received =
        static_cast<std::int64_t>(told->handed_over) - static_cast<std::int64_t>(account != nullptr ? account->arrived() : 0);
  }

  void close_broadcast() {
    const auto accounts = in_.accounts_by_receiver();
    for (std::uint32_t number = 1; number <= in_.receivers_total; ++number) {
      const ReceiverAccount* account = accounts[number];
      const BrokerAccount::Receiver* told = in_.broker_says_of(number);
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
    const auto accounts = in_.accounts_by_receiver();
    const SenderSets delivered = delivered_by_all_groups();
    std::vector<const SkippedSets*> skipped;
    SkippedCounts told_to_receivers;
    for (std::uint32_t number = 1; number <= in_.receivers_total; ++number) {
      ReceiverLedger line;
      line.number = number;
      take_tags(line, accounts[number], in_.broker_says_of(number));
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
    if (!in_.has_accounts_of_all()) out_.total.lost = 0;  // nobody knows what the others received
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

  const LedgerInput& in_;
  const bool is_warm_up_;
  std::vector<SenderKnowledge> senders_;  // by number; [0] is not used
  std::vector<std::uint64_t> gone_;
  Ledger out_;
};

}  // namespace

const BrokerAccount::Receiver* LedgerInput::broker_says_of(std::uint32_t number) const {
  if (!broker) return nullptr;
  const auto it = std::ranges::find(broker->receivers, number, &BrokerAccount::Receiver::number);
  return it == broker->receivers.end() ? nullptr : &*it;
}

std::vector<const ReceiverAccount*> LedgerInput::accounts_by_receiver() const {
  std::vector<const ReceiverAccount*> accounts(receivers_total + 1, nullptr);
  for (const ReceiversAccount& group : receivers) {
    for (const ReceiverAccount& account : group.services) {
      if (account.number >= 1 && account.number <= receivers_total) accounts[account.number] = &account;
    }
  }
  return accounts;
}

bool LedgerInput::has_accounts_of_all() const {
  const auto accounts = accounts_by_receiver();
  return std::find(accounts.begin() + 1, accounts.end(), nullptr) == accounts.end();
}

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
