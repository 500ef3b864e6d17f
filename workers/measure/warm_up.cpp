// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/warm_up.h"

#include <algorithm>

namespace n2nq::measure {

namespace {

using CutSet = wire::IndexSet (*)(const wire::IndexSet&, std::uint64_t);

SenderSets cut(const SenderSets& sets, std::uint64_t border, CutSet part) {
  SenderSets found;
  for (const SenderRun& run : sets) {
    wire::IndexSet set = part(run.set, border);
    if (!set.empty()) found.push_back({run.first, run.last, std::move(set)});
  }
  return found;
}

SkippedSets cut(const SkippedSets& sets, std::uint64_t border, CutSet part) {
  return {cut(sets.expired, border, part), cut(sets.unrequested, border, part), cut(sets.parked, border, part),
          cut(sets.cut_off, border, part), cut(sets.still_queued, border, part)};
}

std::uint64_t less(std::uint64_t count, std::uint64_t taken) {
  return count - std::min(count, taken);
}

SkippedCounts less(const SkippedCounts& counts, const SkippedCounts& taken) {
  return {less(counts.expired, taken.expired), less(counts.unrequested, taken.unrequested), less(counts.parked, taken.parked),
          less(counts.cut_off, taken.cut_off), less(counts.still_queued, taken.still_queued)};
}

std::uint64_t deliveries(const ReceivedCounts& counts) {
  return counts.received + counts.unexpected + counts.bad_checksum;
}

SendersAccount warm_up_of(const SendersAccount& group, std::uint64_t border) {
  SendersAccount part;
  for (const SenderAccount& sender : group.services) {
    SenderAccount line;
    line.number = sender.number;
    line.attempted = sender.warm_up.attempted;
    line.accepted = sender.warm_up.accepted;
    line.refused = sender.warm_up.refused;
    line.accepted_set = wire::below(sender.accepted_set, border);
    line.unheard = sender.unheard;
    part.services.push_back(std::move(line));
  }
  return part;
}

void take_off_warm_up(SendersAccount& group, std::uint64_t border) {
  for (SenderAccount& sender : group.services) {
    sender.accepted_set = wire::from_on(sender.accepted_set, border);
    sender.warm_up = {};
  }
}

ReceiversAccount warm_up_of(const ReceiversAccount& group, std::uint64_t border) {
  ReceiversAccount part;
  part.delivered_sets = cut(group.delivered_sets, border, wire::below);
  for (const ReceiverAccount& receiver : group.services) {
    ReceiverAccount line;
    line.number = receiver.number;
    line.counts = receiver.warm_up;
    line.delivered_sets = cut(receiver.delivered_sets, border, wire::below);
    line.skipped_sets = cut(receiver.skipped_sets, border, wire::below);
    part.services.push_back(std::move(line));
  }
  return part;
}

void take_off_warm_up(ReceiversAccount& group, std::uint64_t border) {
  group.delivered_sets = cut(group.delivered_sets, border, wire::from_on);
  for (ReceiverAccount& receiver : group.services) {
    receiver.delivered_sets = cut(receiver.delivered_sets, border, wire::from_on);
    receiver.skipped_at_end = less(receiver.skipped_at_end, counts_of(cut(receiver.skipped_sets, border, wire::below)));
    receiver.skipped_sets = cut(receiver.skipped_sets, border, wire::from_on);
  }
}

/// What was received of both parts, by receiver number.
struct Received {
  std::uint64_t measured = 0, warm_up = 0;
};

std::vector<Received> received_by_number(const LedgerInput& input) {
  std::vector<Received> received(input.receivers_total + 1);
  for (const ReceiversAccount& group : input.receivers) {
    for (const ReceiverAccount& receiver : group.services) {
      if (receiver.number <= input.receivers_total) received[receiver.number] = {deliveries(receiver.counts), deliveries(receiver.warm_up)};
    }
  }
  return received;
}

/// What N2NQ says it accepted of each sender counts from its first message on, unless it refused one; then the sender knows better.
std::vector<bool> refused_by_number(const LedgerInput& input) {
  std::vector<bool> refused(input.senders_total + 1);
  for (const SendersAccount& group : input.senders) {
    for (const SenderAccount& sender : group.services) {
      if (sender.number <= input.senders_total) refused[sender.number] = sender.refused + sender.warm_up.refused > 0;
    }
  }
  return refused;
}

void split_broker(const LedgerInput& input, std::uint64_t border, BrokerAccount& measured, BrokerAccount& warm_up) {
  const std::vector<bool> refused = refused_by_number(input);
  for (BrokerAccount::Sender& sender : measured.senders) {
    const bool in_order = sender.number <= input.senders_total && !refused[sender.number];
    const auto below = [&](std::uint64_t count) { return in_order ? std::min(count, border) : 0; };
    const auto behind = [&](std::uint64_t count) { return in_order ? less(count, border) : 0; };
    warm_up.senders.push_back({sender.number, below(sender.accepted), below(sender.had_below)});
    sender.accepted = behind(sender.accepted);
    sender.had_below = behind(sender.had_below);
  }
  const std::vector<Received> received = received_by_number(input);
  for (BrokerAccount::Receiver& receiver : measured.receivers) {
    BrokerAccount::Receiver line;
    line.number = receiver.number;
    line.cut_off_reason = receiver.cut_off_reason;
    line.sets = cut(receiver.sets, border, wire::below);
    line.skipped = counts_of(line.sets);
    // As many were handed over and did not arrive at most as of both together.
    const Received got = receiver.number <= input.receivers_total ? received[receiver.number] : Received{};
    line.handed_over = std::max(less(receiver.handed_over, got.measured), got.warm_up);
    receiver.skipped = less(receiver.skipped, line.skipped);
    receiver.sets = cut(receiver.sets, border, wire::from_on);
    warm_up.receivers.push_back(std::move(line));
  }
  warm_up.total_sets = cut(measured.total_sets, border, wire::below);
  warm_up.total = counts_of(warm_up.total_sets);
  measured.total = less(measured.total, warm_up.total);
  measured.total_sets = cut(measured.total_sets, border, wire::from_on);
}

}  // namespace

SplitInput split_warm_up(const LedgerInput& input) {
  const std::uint64_t border = input.warmup_messages;
  SplitInput split{input, {}};
  LedgerInput& warm_up = split.warm_up;
  warm_up.mode = input.mode;
  warm_up.senders_total = input.senders_total;
  warm_up.receivers_total = input.receivers_total;
  warm_up.planned_messages = border * input.senders_total;
  warm_up.attempts_max = input.attempts_max;
  warm_up.stopped_by_user = input.stopped_by_user;
  warm_up.broker_restarted = input.broker_restarted;
  split.measured.warmup_messages = 0;
  if (input.broker) split_broker(input, border, *split.measured.broker, warm_up.broker.emplace());
  for (SendersAccount& group : split.measured.senders) {
    warm_up.senders.push_back(warm_up_of(group, border));
    take_off_warm_up(group, border);
  }
  for (ReceiversAccount& group : split.measured.receivers) {
    warm_up.receivers.push_back(warm_up_of(group, border));
    take_off_warm_up(group, border);
  }
  return split;
}

}  // namespace n2nq::measure
