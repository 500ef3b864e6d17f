// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/warm_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace n2nq::measure {
namespace {

wire::IndexSet indexes(const std::string& text) {
  return *wire::IndexSet::parse(text);
}

ReceivedCounts received(std::uint64_t count) {
  ReceivedCounts counts;
  counts.received = count;
  return counts;
}

/// Two senders with 4 warm-up messages and 6 that count, two receivers that got everything.
LedgerInput broadcast_with_warm_up() {
  LedgerInput input;
  input.senders_total = input.receivers_total = 2;
  input.warmup_messages = 4;
  input.planned_messages = 12;
  SendersAccount senders;
  ReceiversAccount receivers;
  BrokerAccount broker;
  for (std::uint32_t number : {1u, 2u}) {
    SenderAccount sender;
    sender.number = number;
    sender.attempted = sender.accepted = 6;
    sender.accepted_set = indexes("0-9");
    sender.warm_up = {4, 4, 0};
    senders.services.push_back(sender);
    ReceiverAccount receiver;
    receiver.number = number;
    receiver.counts = received(12);
    receiver.warm_up = received(8);
    receiver.delivered_sets = {{1, 2, indexes("0-9")}};
    receiver.ended_by_broker = true;
    receiver.connections = 1;
    receivers.services.push_back(receiver);
    broker.senders.push_back({number, 10});
    BrokerAccount::Receiver told;
    told.number = number;
    told.handed_over = 20;
    broker.receivers.push_back(told);
  }
  receivers.latency_samples = 24;
  input.senders = {senders};
  input.receivers = {receivers};
  input.broker = broker;
  return input;
}

ReceiverAccount& first_receiver(LedgerInput& input) {
  return input.receivers[0].services[0];
}

std::string findings(const Ledger& ledger) {
  std::string text;
  for (const Finding& finding : ledger.findings) text += (finding.breaks ? "breaks: " : "degrades: ") + finding.reason + "\n";
  return text;
}

TEST(WarmUpLedger, CountsBothPartsEachForItself) {
  const Ledger ledger = make_ledger(broadcast_with_warm_up());
  EXPECT_EQ(findings(ledger), "");
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.attempted, 12u);
  EXPECT_EQ(ledger.accepted, 12u);
  EXPECT_EQ(ledger.expected, 24u);
  EXPECT_EQ(ledger.total.delivered, 24u);
  EXPECT_EQ(ledger.receivers[0].handed_over, 12u);
  EXPECT_EQ(ledger.receivers[0].not_received, 0);
  ASSERT_TRUE(ledger.warm_up);
  EXPECT_EQ(ledger.warm_up->attempted, 8u);
  EXPECT_EQ(ledger.warm_up->expected, 16u);
  EXPECT_EQ(ledger.warm_up->total.delivered, 16u);
  const nlohmann::json json = ledger;
  EXPECT_EQ(json["warmup"]["planned"], 8);
  EXPECT_EQ(json["warmup"]["received"], 16);
  EXPECT_EQ(json["total"]["received"], 24);
}

TEST(WarmUpLedger, WithoutAnyThereIsNone) {
  LedgerInput input = broadcast_with_warm_up();
  input.warmup_messages = 0;
  const nlohmann::json json = make_ledger(input);
  EXPECT_FALSE(json.contains("warmup"));
}

TEST(WarmUpLedger, ALostOneBreaksTheRunAndSaysWhich) {
  LedgerInput input = broadcast_with_warm_up();
  first_receiver(input).delivered_sets = {{1, 1, indexes("0-2,4-9")}, {2, 2, indexes("0-9")}};
  first_receiver(input).warm_up = received(7);
  input.broker->receivers[0].handed_over = 19;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(findings(ledger), "breaks: warm-up: 1 copy lost: accepted by N2NQ, neither delivered nor skipped (R001: 1)\n");
  EXPECT_EQ(ledger.total.lost, 0u);
  EXPECT_EQ(ledger.warm_up->total.lost, 1u);
}

TEST(WarmUpLedger, ALostOneBehindItIsNotOfIt) {
  LedgerInput input = broadcast_with_warm_up();
  first_receiver(input).delivered_sets = {{1, 1, indexes("0-3,5-9")}, {2, 2, indexes("0-9")}};
  first_receiver(input).counts = received(11);
  input.receivers[0].latency_samples = 23;
  input.broker->receivers[0].handed_over = 19;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(findings(ledger), "breaks: 1 copy lost: accepted by N2NQ, neither delivered nor skipped (R001: 1)\n");
  EXPECT_EQ(ledger.warm_up->total.lost, 0u);
}

TEST(WarmUpLedger, WhatExpiredOfBothIsToldOfEach) {
  LedgerInput input = broadcast_with_warm_up();
  ReceiverAccount& receiver = first_receiver(input);
  receiver.delivered_sets = {{1, 2, indexes("0-2,6-9")}};
  receiver.counts = received(8);
  receiver.warm_up = received(6);
  receiver.skipped_sets.expired = {{1, 2, indexes("3-5")}};
  receiver.skipped_at_end.expired = 6;
  input.receivers[0].latency_samples = 20;
  input.broker->receivers[0].handed_over = 14;
  input.broker->receivers[0].skipped.expired = 6;
  input.broker->receivers[0].sets.expired = {{1, 2, indexes("3-5")}};
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(findings(ledger),
            "degrades: 4 copies expired: their retention ended first (R001: 4)\n"
            "degrades: warm-up: 2 copies expired: their retention ended first (R001: 2)\n");
  EXPECT_TRUE(ledger.balanced);
  EXPECT_EQ(ledger.total.skipped.expired, 4u);
  EXPECT_EQ(ledger.warm_up->total.skipped.expired, 2u);
}

TEST(WarmUpLedger, AnUntoldSkipIsFoundOnce) {
  LedgerInput input = broadcast_with_warm_up();
  first_receiver(input).skipped_at_end.expired = 1;
  EXPECT_EQ(findings(make_ledger(input)), "breaks: R001: 1 copy expired, but N2NQ did not say so\n");
}

TEST(WarmUpLedger, AnswersAreOfBothTogether) {
  LedgerInput input = broadcast_with_warm_up();
  first_receiver(input).confirmed = 20;
  input.broker->receivers[0].confirmed = 20;
  EXPECT_EQ(findings(make_ledger(input)), "");
  first_receiver(input).confirmed = 19;
  EXPECT_EQ(findings(make_ledger(input)), "breaks: R001: N2NQ counts 1 confirmation that was never given\n");
}

TEST(WarmUpLedger, InTheLoadBalancerTheGroupsSetIsCut) {
  LedgerInput input = broadcast_with_warm_up();
  input.mode = wire::QueueMode::load_balancer;
  for (ReceiverAccount& receiver : input.receivers[0].services) {
    receiver.delivered_sets.clear();
    receiver.counts = received(6);
    receiver.warm_up = received(4);
  }
  input.receivers[0].latency_samples = 12;
  input.receivers[0].delivered_sets = {{1, 2, indexes("0-9")}};
  for (BrokerAccount::Receiver& told : input.broker->receivers) told.handed_over = 10;
  Ledger ledger = make_ledger(input);
  EXPECT_EQ(findings(ledger), "");
  EXPECT_EQ(ledger.total.delivered, 12u);
  EXPECT_EQ(ledger.warm_up->total.delivered, 8u);
  // One of the warm-up is gone with a receiver that was cut off.
  input.receivers[0].delivered_sets = {{1, 1, indexes("0-2,4-9")}, {2, 2, indexes("0-9")}};
  first_receiver(input).warm_up = received(3);
  first_receiver(input).connections = 2;
  input.broker->receivers[0].cut_off_reason = "too slow";
  ledger = make_ledger(input);
  EXPECT_EQ(findings(ledger), "degrades: warm-up: 1 copy cut off with a receiver that was too slow or gone\n");
  EXPECT_TRUE(ledger.balanced);
}

TEST(WarmUpLedger, ARunThatEndsInItHasSentNothing) {
  LedgerInput input = broadcast_with_warm_up();
  input.stopped_by_user = true;
  for (SenderAccount& sender : input.senders[0].services) {
    sender.attempted = sender.accepted = 0;
    sender.warm_up = {3, 3, 0};
    sender.accepted_set = indexes("0-2");
  }
  for (ReceiverAccount& receiver : input.receivers[0].services) {
    receiver.counts = {};
    receiver.warm_up = received(6);
    receiver.delivered_sets = {{1, 2, indexes("0-2")}};
  }
  input.receivers[0].latency_samples = 0;
  for (BrokerAccount::Sender& told : input.broker->senders) told.accepted = 3;
  for (BrokerAccount::Receiver& told : input.broker->receivers) told.handed_over = 6;
  const Ledger ledger = make_ledger(input);
  EXPECT_EQ(findings(ledger), "");
  EXPECT_EQ(ledger.attempted, 0u);
  EXPECT_EQ(ledger.warm_up->attempted, 6u);
}

}  // namespace
}  // namespace n2nq::measure
