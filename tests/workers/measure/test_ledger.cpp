// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

namespace n2nq::measure {
namespace {

wire::IndexSet set(const std::string& text) {
  return *wire::IndexSet::parse(text);
}

SenderAccount sender(std::uint32_t number, std::uint64_t messages) {
  SenderAccount account{.number = number,
                        .attempted = messages,
                        .accepted = messages,
                        .refused = 0,
                        .lost_before_queue = 0,
                        .accepted_set = {},
                        .warm_up = {}};
  if (messages > 0) account.accepted_set.add_range(0, messages - 1);
  return account;
}

ReceiverAccount receiver(std::uint32_t number, SenderSets delivered) {
  ReceiverAccount account;
  account.number = number;
  for (const SenderRun& run : delivered) account.counts.received += run.set.count() * (run.last - run.first + 1);
  account.delivered_sets = std::move(delivered);
  return account;
}

/// Two senders with ten messages each, two receivers that got everything.
LedgerInput broadcast() {
  LedgerInput input;
  input.senders_total = input.receivers_total = 2;
  input.planned_messages = 20;
  SendersAccount senders;
  senders.services = {sender(1, 10), sender(2, 10)};
  input.senders = {senders};
  ReceiversAccount receivers;
  receivers.services = {receiver(1, {{1, 2, set("0-9")}}), receiver(2, {{1, 2, set("0-9")}})};
  input.receivers = {receivers};
  BrokerAccount broker;
  broker.senders = {{1, 10}, {2, 10}};
  broker.receivers.resize(2);
  broker.receivers[0].number = 1;
  broker.receivers[1].number = 2;
  broker.receivers[0].handed_over = broker.receivers[1].handed_over = 20;
  input.broker = broker;
  return input;
}

/// The same in load-balancer mode: odd messages to one, even ones to the other.
LedgerInput balanced() {
  LedgerInput input = broadcast();
  input.mode = wire::QueueMode::load_balancer;
  for (auto& account : input.receivers[0].services) {
    account.delivered_sets.clear();
    account.counts.received = 10;
  }
  input.receivers[0].delivered_sets = {{1, 2, set("0-9")}};
  input.broker->receivers[0].handed_over = input.broker->receivers[1].handed_over = 10;
  return input;
}

bool breaks(const Ledger& ledger) {
  return std::ranges::any_of(ledger.findings, [](const Finding& finding) { return finding.breaks; });
}
bool says(const Ledger& ledger, const std::string& words) {
  return std::ranges::any_of(ledger.findings, [&](const Finding& finding) { return finding.reason.find(words) != std::string::npos; });
}

TEST(Ledger, ACleanBroadcastHasNothingToSay) {
  const Ledger ledger = make_ledger(broadcast());
  EXPECT_TRUE(ledger.balanced);
  EXPECT_TRUE(ledger.findings.empty());
  EXPECT_EQ(ledger.expected, 40u);
  EXPECT_EQ(ledger.attempted, 20u);
  EXPECT_EQ(ledger.accepted, 20u);
  EXPECT_EQ(ledger.total.accepted, 40u);
  EXPECT_EQ(ledger.total.delivered, 40u);
  EXPECT_EQ(ledger.receivers[0].copies.delivered, 20u);
  EXPECT_EQ(ledger.receivers[0].not_received, 0);
}

TEST(Ledger, ACleanBalancedRunHasNothingToSay) {
  const Ledger ledger = make_ledger(balanced());
  EXPECT_TRUE(ledger.balanced);
  EXPECT_TRUE(ledger.findings.empty());
  EXPECT_EQ(ledger.expected, 20u);
  EXPECT_EQ(ledger.total.delivered, 20u);
  EXPECT_EQ(ledger.receivers[1].copies.delivered, 10u);
}

TEST(Ledger, WhatWasDeliveredIsDeliveredWhateverN2nqTookItFor) {
  // Parked after negative answers, expired unconfirmed: the receivers have them all the same.
  LedgerInput input = broadcast();
  input.attempts_max = 5;
  input.broker->receivers[0].skipped = {.expired = 2, .unrequested = 0, .parked = 3, .cut_off = 0, .still_queued = 0};
  input.broker->receivers[0].sets.expired = {{1, 2, set("4")}};
  input.broker->receivers[0].sets.parked = {{1, 1, set("0-2")}};
  const Ledger ledger = make_ledger(input);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.receivers[0].copies.delivered, 20u);
  EXPECT_EQ(ledger.receivers[0].copies.skipped, SkippedCounts());
  EXPECT_EQ(ledger.receivers[0].copies.parked_delivered, 3u);
  EXPECT_EQ(ledger.total.parked_delivered, 3u);
  ASSERT_EQ(ledger.findings.size(), 1u);
  EXPECT_FALSE(ledger.findings[0].breaks);
  EXPECT_EQ(ledger.findings[0].reason,
            "N2NQ gave up on 3 copies after 5 attempts each: parked, though delivered (refused, or answered too late) (R001: 3)");

  LedgerInput balancing = balanced();
  balancing.broker->total.still_queued = 1;
  balancing.broker->total_sets.still_queued = {{2, 2, set("9")}};
  EXPECT_TRUE(make_ledger(balancing).balanced);
  EXPECT_EQ(make_ledger(balancing).total.skipped.still_queued, 0u);
}

TEST(Ledger, SaysHowManyOfTheParkedWereDeliveredAllTheSame) {
  LedgerInput input = balanced();
  input.receivers[0].delivered_sets = {{1, 1, set("0-9")}, {2, 2, set("0-7")}};
  input.receivers[0].services[1].counts.received = input.broker->receivers[1].handed_over = 8;
  input.receivers[0].services[1].skipped_sets.parked = {{2, 2, set("6-9")}};
  input.broker->total.parked = 4;
  input.broker->total_sets.parked = {{2, 2, set("6-9")}};
  const Ledger ledger = make_ledger(input);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.total.skipped.parked, 2u);
  EXPECT_EQ(ledger.total.parked_delivered, 2u);
  EXPECT_EQ(ledger.receivers[1].copies.skipped.parked, 2u);
  EXPECT_TRUE(says(ledger, "N2NQ gave up on 4 copies: parked, 2 of them though delivered (refused, or answered too late)"));
}

TEST(Ledger, WhatACutOffReceiverNeverReadWentWithItsConnection) {
  LedgerInput input = broadcast();
  input.receivers[0].services[1] = receiver(2, {{1, 2, set("0-5")}});
  input.broker->receivers[1].handed_over = 16;  // the kernel had taken four more than were read
  input.broker->receivers[1].cut_off_reason = "pending bytes";
  input.broker->receivers[1].skipped.cut_off = 4;
  input.broker->receivers[1].sets.cut_off = {{1, 2, set("8-9")}};
  const Ledger ledger = make_ledger(input);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.total.skipped.cut_off, 8u);
  EXPECT_FALSE(breaks(ledger));
  EXPECT_TRUE(says(ledger, "8 copies cut off"));

  LedgerInput balancing = balanced();
  balancing.receivers[0].delivered_sets = {{1, 1, set("0-9")}, {2, 2, set("0-6")}};
  balancing.receivers[0].services[1].counts.received = 7;
  balancing.broker->receivers[1].cut_off_reason = "write deadline";
  EXPECT_EQ(make_ledger(balancing).total.lost, 0u);
  EXPECT_EQ(make_ledger(balancing).total.skipped.cut_off, 3u);
  balancing.broker->receivers[1].cut_off_reason.clear();
  EXPECT_EQ(make_ledger(balancing).total.lost, 3u) << "nobody was cut off: then it is lost";
}

TEST(Ledger, WhatWasLostBeforeTheConnectionThatWasCutIsLost) {
  LedgerInput input = broadcast();
  input.receivers[0].services[1] =
      receiver(2, {{1, 1, set("0-1,3-5")}, {2, 2, set("0-5")}});  // (1, 2) has a later one of its sender behind it
  input.broker->receivers[1].handed_over = 20;
  input.broker->receivers[1].cut_off_reason = "pending bytes";
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 1u);
  EXPECT_EQ(ledger.total.skipped.cut_off, 8u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_TRUE(breaks(ledger));
  // Three of the eight had been handed over on a connection that had broken before.
  input.broker->receivers[1].handed_over_on_last_connection = 7;
  input.receivers[0].services[1].received_on_last_connection = 2;
  ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 4u);
  EXPECT_EQ(ledger.total.skipped.cut_off, 5u);
  EXPECT_TRUE(ledger.balanced);

  LedgerInput balancing = balanced();
  balancing.receivers[0].delivered_sets = {{1, 1, set("0-9")}, {2, 2, set("0-6")}};
  balancing.receivers[0].services[1].counts.received = 7;
  balancing.receivers[0].services[1].received_on_last_connection = 0;
  balancing.broker->receivers[1].cut_off_reason = "write deadline";
  balancing.broker->receivers[1].handed_over_on_last_connection = 1;
  EXPECT_EQ(make_ledger(balancing).total.lost, 2u);
  EXPECT_EQ(make_ledger(balancing).total.skipped.cut_off, 1u);
}

/// Receiver 2 was cut off with five of sender 2's on its last connection, two of which came; of its ten, eight did not arrive anywhere.
LedgerInput balanced_with_a_cut() {
  LedgerInput input = balanced();
  input.receivers[0].delivered_sets = {{1, 1, set("0-9")}, {2, 2, set("0-1")}};
  input.receivers[0].services[1].counts.received = 2;
  input.receivers[0].services[1].received_on_last_connection = 2;
  input.broker->receivers[1].cut_off_reason = "write deadline";
  input.broker->receivers[1].handed_over_on_last_connection = 5;
  return input;
}

TEST(Ledger, OfOneWhoDiedAfterItWasCutOffNoMoreGoesThanItsLastConnectionHad) {
  LedgerInput input = balanced_with_a_cut();
  input.receivers[0].services[1].received_on_last_connection.reset();
  EXPECT_EQ(make_ledger(input).total.lost, 3u);
  EXPECT_EQ(make_ledger(input).total.skipped.cut_off, 5u);
}

TEST(Ledger, OfOneWhoWasKilledBehindACutAndHadReadNothingOnThatConnectionItsWholeLastConnectionGoes) {
  LedgerInput input = balanced_with_a_cut();
  input.broker->receivers[1].handed_over_on_last_connection = 1;  // the two that came had come before
  EXPECT_EQ(make_ledger(input).total.skipped.cut_off, 0u) << "it knew its connections itself";
  input.receivers[0].services[1].continued = true;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.skipped.cut_off, 1u);
  EXPECT_EQ(ledger.total.lost, 7u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_FALSE(ledger.receivers[1].cut_connection->received) << "not known";

  input = broadcast();
  input.receivers[0].services[1] = receiver(2, {{1, 1, set("0-9")}, {2, 2, set("0-4")}});
  input.receivers[0].services[1].continued = true;
  input.receivers[0].services[1].received_on_last_connection = 15;
  input.broker->receivers[1].cut_off_reason = "write deadline";
  input.broker->receivers[1].handed_over_on_last_connection = 5;
  EXPECT_EQ(make_ledger(input).total.lost, 0u);
  EXPECT_EQ(make_ledger(input).total.skipped.cut_off, 5u);
}

TEST(Ledger, WithResponsesNothingGoesDownWithACut) {
  LedgerInput input = balanced_with_a_cut();
  EXPECT_EQ(make_ledger(input).total.lost, 5u);
  EXPECT_EQ(make_ledger(input).total.skipped.cut_off, 3u);
  input.attempts_max = 5;
  EXPECT_EQ(make_ledger(input).total.lost, 8u) << "what nobody confirmed went to others, or is named";
}

TEST(Ledger, AfterARestartOfN2nqACutTakesWhatItTook) {
  LedgerInput input = balanced_with_a_cut();
  input.broker_restarted = true;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 5u);
  EXPECT_EQ(ledger.total.skipped.cut_off, 3u);
  EXPECT_TRUE(ledger.balanced);
}

TEST(Ledger, LostIsFoundByComparingSets) {
  LedgerInput input = broadcast();
  input.receivers[0].services[1] = receiver(2, {{1, 1, set("0-9")}, {2, 2, set("0-4,7-9")}});
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.receivers[1].copies.lost, 2u);
  EXPECT_EQ(ledger.total.lost, 2u);
  EXPECT_TRUE(ledger.balanced) << "lost is explained, and breaks the run all the same";
  EXPECT_TRUE(breaks(ledger));
  EXPECT_TRUE(says(ledger, "2 copies lost: accepted by N2NQ, neither delivered nor skipped (R002: 2)"));
  EXPECT_EQ(ledger.receivers[1].not_received, 2);
}

TEST(Ledger, LostInALoadBalancedRun) {
  LedgerInput input = balanced();
  input.receivers[0].delivered_sets = {{1, 1, set("0-9")}, {2, 2, set("0-8")}};
  input.receivers[0].services[1].counts.received = 9;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 1u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.receivers[1].not_received, 1);
}

TEST(Ledger, SkippedCopiesAreExplainedByWhomeverTold) {
  LedgerInput input = broadcast();
  input.receivers[0].services[0] = receiver(1, {{1, 1, set("0-9")}, {2, 2, set("0-5")}});
  input.broker->receivers[0].skipped = {.expired = 3, .unrequested = 0, .parked = 0, .cut_off = 1, .still_queued = 0};
  input.broker->receivers[0].sets.expired = {{2, 2, set("6-8")}};
  input.broker->receivers[0].sets.cut_off = {{2, 2, set("9")}};
  input.broker->receivers[0].handed_over = 16;
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.total.skipped.expired, 3u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_FALSE(breaks(ledger));
  EXPECT_TRUE(says(ledger, "3 copies expired"));
  EXPECT_TRUE(says(ledger, "1 copy cut off"));

  // The broker died, but had told the receiver about the expired ones: only the rest is lost.
  input.receivers[0].services[0].skipped_sets.expired = {{2, 2, set("6-8")}};
  input.broker.reset();
  ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.skipped.expired, 3u);
  EXPECT_EQ(ledger.total.lost, 1u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_FALSE(ledger.receivers[0].handed_over);
}

TEST(Ledger, WhatIsLeftOverIsUnexplained) {
  LedgerInput input = broadcast();
  input.broker->receivers[0].skipped.expired = 2;  // although everything was delivered
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.receivers[0].copies.unexplained, -2);
  EXPECT_FALSE(ledger.balanced);
  EXPECT_TRUE(says(ledger, "R001: -2 copies unexplained"));

  input = broadcast();
  input.receivers[0].services[0] = receiver(1, {{1, 1, set("0-9")}, {2, 2, set("0-5")}});
  input.broker->receivers[0].sets.expired = {{2, 2, set("6-9")}};  // named, but counted as none
  ledger = make_ledger(input);
  EXPECT_EQ(ledger.receivers[0].copies.unexplained, 4);
  EXPECT_TRUE(breaks(ledger));
}

TEST(Ledger, RefusedAndLostBeforeTheQueueBalanceTheSender) {
  LedgerInput input = broadcast();
  SenderAccount& account = input.senders[0].services[0];
  account.attempted = 14;
  account.accepted_set = set("0-9");
  account.refused = 3;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[0].accepted, 10u);
  EXPECT_EQ(ledger.senders[0].refused, 3u);
  EXPECT_EQ(ledger.senders[0].lost_before_queue, 1u);
  EXPECT_EQ(ledger.senders[0].unexplained, 0);
  EXPECT_TRUE(says(ledger, "3 messages refused"));
  EXPECT_TRUE(says(ledger, "1 message lost before the queue"));
}

TEST(Ledger, TheLargerKnowledgeOfWhatWasAcceptedWins) {
  LedgerInput input = broadcast();
  input.senders[0].services[0].accepted_set = set("0-6");  // the rest was accepted, but the sender was gone before it was told
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[0].accepted, 10u);
  EXPECT_EQ(ledger.senders[0].lost_before_queue, 0u);
  EXPECT_TRUE(ledger.findings.empty());

  input.broker.reset();  // now only the receivers show that it was
  ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[0].accepted, 10u);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.total.tags.unexpected, 0u);
}

TEST(Ledger, ABrokerThatCountsMoreThanWasSentIsUnexplained) {
  LedgerInput input = broadcast();
  input.broker->senders[1].accepted = 12;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[1].unexplained, -2);
  EXPECT_TRUE(breaks(ledger));
}

TEST(Ledger, DeliveriesThatNoSenderMadeAreUnexpected) {
  LedgerInput input = broadcast();
  input.receivers[0].services[0] = receiver(1, {{1, 1, set("0-9")}, {2, 2, set("0-11")}});
  input.broker->receivers[0].handed_over = 22;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.tags.unexpected, 2u);
  EXPECT_EQ(ledger.receivers[0].copies.delivered, 20u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_TRUE(breaks(ledger));
}

TEST(Ledger, WhatKilledSendersHadNotNotedAnyMoreIsCountedAndSaid) {
  LedgerInput input = broadcast();
  input.senders[0].services[0] = sender(1, 7);  // the last three had left in one batch when it was killed
  input.senders[0].services[0].unheard = true;
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[0].attempted, 10u);
  EXPECT_EQ(ledger.senders[0].unnoted, 3u);
  EXPECT_EQ(ledger.senders[0].unexplained, 0);
  EXPECT_EQ(ledger.total.tags.unexpected, 0u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_FALSE(breaks(ledger));
  EXPECT_TRUE(says(ledger, "S001: 3 messages were sent but not noted"));

  input.broker.reset();  // N2NQ is gone, too: the receivers tell
  ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[0].attempted, 10u);
  EXPECT_FALSE(breaks(ledger));

  input.senders[0].services[0].unheard = false;  // it was there to the end: nobody sent those
  EXPECT_TRUE(breaks(make_ledger(input)));
}

TEST(Ledger, WhatTwoN2nqsHadOfKilledSendersWasAccepted) {
  LedgerInput input = broadcast();
  input.broker_restarted = true;
  input.senders[0].services[0].unheard = true;
  input.senders[0].services[0].accepted_set = {};
  input.broker->senders[0] = {1, 6, 10};  // four of them were the business of the one before
  for (auto& account : input.receivers[0].services) account.delivered_sets = {{1, 1, set("0-7")}, {2, 2, set("0-9")}};
  for (auto& told : input.broker->receivers) told.sets.unrequested = {{1, 1, set("8,9")}};
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.senders[0].accepted, 10u);
  EXPECT_EQ(ledger.senders[0].lost_before_queue, 0u);
  EXPECT_EQ(ledger.total.skipped.unrequested, 4u);
  EXPECT_TRUE(ledger.balanced);
}

TEST(Ledger, WhatAGroupWithoutAccountReceivedIsUnexplainedAndNotLost) {
  LedgerInput input = broadcast();
  input.receivers.clear();
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.total.unexplained, 40);
  EXPECT_EQ(ledger.receivers[0].not_received, 20);
  EXPECT_FALSE(ledger.balanced);
  EXPECT_TRUE(breaks(ledger));
  ASSERT_FALSE(ledger.findings.empty());
  EXPECT_EQ(ledger.findings[0].reason, "R001: 20 copies unexplained: its process left no account of what it received");

  input.mode = wire::QueueMode::load_balancer;
  ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.total.unexplained, 20);
  EXPECT_TRUE(breaks(ledger));
}

TEST(Ledger, ADeadGroupOfSendersHasSentWhatTheBrokerAccepted) {
  LedgerInput input = broadcast();
  input.senders.clear();
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.attempted, 20u);
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_FALSE(breaks(ledger));
}

TEST(Ledger, OnlyUnannouncedDuplicatesTaint) {
  LedgerInput input = broadcast();
  ReceivedCounts& counts = input.receivers[0].services[0].counts;
  counts.received += 3;
  counts.duplicated = counts.redelivered = 3;
  input.broker->receivers[0].handed_over += 3;
  EXPECT_TRUE(make_ledger(input).findings.empty());
  counts.duplicated_unflagged = 1;
  EXPECT_TRUE(says(make_ledger(input), "1 duplicate that N2NQ did not announce"));
}

TEST(Ledger, TwoGroupsThatBothGotAMessageHaveADuplicate) {
  LedgerInput input = balanced();
  ReceiversAccount other = input.receivers[0];
  input.receivers[0].services.pop_back();
  other.services.erase(other.services.begin());
  input.receivers[0].delivered_sets = {{1, 2, set("0-4")}};
  other.delivered_sets = {{1, 1, set("4-9")}, {2, 2, set("5-9")}};
  other.services[0].counts.received = 11;
  input.broker->receivers[1].handed_over = 11;
  input.receivers.push_back(other);
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(ledger.total.delivered, 20u);
  EXPECT_EQ(ledger.total.tags.duplicated, 1u);
  EXPECT_TRUE(ledger.balanced);
}

TEST(Ledger, WhatOneN2nqHadTakenIsNotRefusedByAnother) {
  LedgerInput input = broadcast();
  // A N2NQ before this one had taken 0-5 of S1, who was told of 0-2 alone, came back too late, offered all of it again, and was refused it.
  SenderAccount& late = input.senders[0].services[0];
  late.accepted = 0;
  late.accepted_set = {};
  late.refused = 8;  // and 8 and 9 nobody ever answered
  for (ReceiverAccount& account : input.receivers[0].services) account = receiver(account.number, {{1, 1, set("0-5")}, {2, 2, set("0-9")}});
  input.broker->senders = {{1, 0}, {2, 10}};
  for (BrokerAccount::Receiver& told : input.broker->receivers) told.handed_over = 16;
  input.broker_restarted = true;
  const Ledger ledger = make_ledger(input);
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.senders[0].accepted, 6u);
  EXPECT_EQ(ledger.senders[0].refused, 2u);
  EXPECT_EQ(ledger.senders[0].lost_before_queue, 2u);
  EXPECT_EQ(ledger.total.lost, 0u);
  // Without another N2NQ it is a contradiction.
  input.broker_restarted = false;
  EXPECT_FALSE(make_ledger(input).balanced);
}

TEST(Ledger, SaysWhatElseTaints) {
  LedgerInput input = broadcast();
  ReceivedCounts& counts = input.receivers[0].services[0].counts;
  counts.out_of_order = 1;
  counts.negative = 2;
  counts.bad_checksum = 1;
  input.broker->receivers[0].handed_over += 1;
  input.senders[0].faults = {"S001: reconnected"};
  input.broker->receivers[1].skipped.still_queued = 0;
  const Ledger ledger = make_ledger(input);
  EXPECT_TRUE(says(ledger, "1 delivery out of order"));
  EXPECT_TRUE(says(ledger, "2 latencies below zero"));
  EXPECT_TRUE(says(ledger, "S001: reconnected"));
  ASSERT_TRUE(says(ledger, "wrong checksum"));
  EXPECT_TRUE(ledger.findings.front().breaks) << "those that break come first";
}

TEST(Ledger, SaysWhenThePlanWasNotKept) {
  LedgerInput input = broadcast();
  input.planned_messages = 30;
  EXPECT_TRUE(says(make_ledger(input), "plan not kept: 20 of 30 messages sent"));
  input.stopped_by_user = true;
  EXPECT_TRUE(make_ledger(input).findings.empty());

  input = broadcast();
  input.senders[0].last_lag_ns = 200'000'000;
  EXPECT_TRUE(make_ledger(input).findings.empty());
  input.senders[0].last_lag_ns = 1'200'000'000;
  EXPECT_TRUE(says(make_ledger(input), "plan not kept: the last message was 1200 ms late"));
  input.planned_rate_per_s = 5;
  EXPECT_TRUE(says(make_ledger(input), "plan not kept: the last message was 1200 ms late, 4 of 5 messages/s"));
  input.senders[0].services[1].attempted = 5;  // it ended early, and the other one took as long as before
  EXPECT_TRUE(says(make_ledger(input), "plan not kept: the last message was 1200 ms late, 3 of 5 messages/s"));
  input.planned_rate_per_s = 0.01;
  EXPECT_FALSE(says(make_ledger(input), "the last message was")) << "a thousandth of 2000 s is more";

  input = broadcast();
  input.planned_rate_per_s = 20;  // over in a second
  input.senders[0].last_lag_ns = 200'000'000;
  input.senders[0].lag_growth_ns = 9'000'000;
  EXPECT_TRUE(make_ledger(input).findings.empty());
  input.senders[0].lag_growth_ns = 150'000'000;
  EXPECT_TRUE(says(make_ledger(input), "plan not kept: messages left later and later, by 150 ms at the end, 17 of 20 messages/s"));
  input.planned_rate_per_s = 0.1;
  EXPECT_TRUE(make_ledger(input).findings.empty()) << "a thousandth of 200 s is more";
}

TEST(Ledger, LatencySamplesAreDeliveries) {
  LedgerInput input = broadcast();
  input.receivers[0].latency_samples = 40;
  EXPECT_TRUE(make_ledger(input).findings.empty());
  input.receivers[0].latency_samples = 39;
  EXPECT_TRUE(says(make_ledger(input), "39 latency samples for 40 deliveries"));
}

TEST(Ledger, GivesEveryCountByName) {
  const nlohmann::json json = make_ledger(broadcast());
  EXPECT_EQ(json["expected"], 40);
  EXPECT_EQ(json["balanced"], true);
  for (const char* key : {"attempted", "accepted", "refused", "lost_before_queue", "accepted_copies", "delivered", "expired", "unrequested",
                          "parked", "parked_delivered", "cut_off", "still_queued", "lost", "unexplained", "received", "redelivered",
                          "duplicated", "out_of_order", "unexpected"}) {
    EXPECT_TRUE(json["total"].contains(key)) << key;
  }
  EXPECT_EQ(json["receivers"][1]["handed_over"], 20);
  EXPECT_EQ(json["senders"][1]["attempted"], 10);
}

/// Whatever happens to the copies, as long as everybody tells the truth the books balance and lost is what was made to be lost.
TEST(Ledger, BalancesInRandomRuns) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    LedgerInput input;
    input.senders_total = 1 + pick(4);
    input.receivers_total = 1 + pick(4);
    SendersAccount senders;
    BrokerAccount broker;
    std::vector<std::uint64_t> messages(input.senders_total + 1);
    for (std::uint32_t s = 1; s <= input.senders_total; ++s) {
      messages[s] = pick(60);
      senders.services.push_back(sender(s, messages[s]));
      broker.senders.push_back({s, messages[s]});
    }
    ReceiversAccount receivers;
    std::uint64_t lost = 0, expired = 0;
    for (std::uint32_t r = 1; r <= input.receivers_total; ++r) {
      BrokerAccount::Receiver told;
      told.number = r;
      SenderSets delivered;
      for (std::uint32_t s = 1; s <= input.senders_total; ++s) {
        wire::IndexSet got, gone;
        for (std::uint64_t i = 0; i < messages[s]; ++i) {
          const unsigned fate = pick(20);
          if (fate > 0) ++told.handed_over;
          if (fate == 0) gone.add(i);
          if (fate == 1) ++lost;
          if (fate > 1) got.add(i);
        }
        told.skipped.expired += gone.count();
        expired += gone.count();
        told.sets.expired.push_back({s, s, gone});
        delivered.push_back({s, s, got});
      }
      broker.receivers.push_back(told);
      receivers.services.push_back(receiver(r, delivered));
    }
    input.senders = {senders};
    input.receivers = {receivers};
    input.broker = broker;
    const Ledger ledger = make_ledger(input);
    ASSERT_TRUE(ledger.balanced) << "seed " << seed;
    ASSERT_EQ(ledger.total.lost, lost) << "seed " << seed;
    ASSERT_EQ(ledger.total.skipped.expired, expired) << "seed " << seed;
    ASSERT_EQ(ledger.total.tags.unexpected, 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace n2nq::measure
