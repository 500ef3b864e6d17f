// SPDX-License-Identifier: GPL-3.0-or-later
// What N2NQ and its receivers say of each other.
#include <gtest/gtest.h>

#include <algorithm>

#include "workers/measure/ledger.h"

namespace n2nq::measure {
namespace {

wire::IndexSet set(const char* text) {
  return *wire::IndexSet::parse(text);
}

/// One sender with ten messages, one receiver that got and confirmed eight of them on its only connection; two have expired.
LedgerInput answered() {
  LedgerInput input;
  input.senders_total = input.receivers_total = 1;
  SenderAccount sender;
  sender.number = 1;
  sender.attempted = sender.accepted = 10;
  sender.accepted_set = set("0-9");
  input.senders = {{{sender}, {}, {}}};
  ReceiverAccount receiver;
  receiver.number = 1;
  receiver.counts.received = receiver.confirmed = 8;
  receiver.delivered_sets = {{1, 1, set("0-7")}};
  receiver.skipped_sets.expired = {{1, 1, set("8-9")}};
  receiver.skipped_at_end.expired = 2;
  receiver.ended_by_broker = true;
  receiver.connections = 1;
  input.receivers = {{{receiver}, {}, {}, {}}};
  BrokerAccount broker;
  broker.senders = {{1, 10}};
  broker.receivers.resize(1);
  broker.receivers[0].number = 1;
  broker.receivers[0].handed_over = broker.receivers[0].confirmed = 8;
  broker.receivers[0].skipped.expired = 2;
  broker.receivers[0].sets.expired = receiver.skipped_sets.expired;
  input.broker = broker;
  return input;
}

std::string breaking(const LedgerInput& input) {
  std::string reasons;
  for (const Finding& finding : make_ledger(input).findings) reasons += finding.breaks ? finding.reason + "\n" : "";
  return reasons;
}

TEST(Contradictions, TheTruthHasNone) {
  EXPECT_EQ(breaking(answered()), "");
}

TEST(Contradictions, ADeliveryThatDidNotTakePlace) {
  LedgerInput input = answered();
  ++input.broker->receivers[0].handed_over;
  EXPECT_EQ(breaking(input), "R001: 1 delivery counted by N2NQ did not arrive\n");
  ReceiverAccount& receiver = input.receivers[0].services[0];
  receiver.connections = 2;
  EXPECT_EQ(breaking(input), "") << "what the kernel had of a connection that broke may not have arrived";
  receiver.connections = 1;
  receiver.ended_by_broker = false;
  EXPECT_EQ(breaking(input), "") << "it may have gone before it had read everything";
  receiver.ended_by_broker = receiver.continued = true;
  EXPECT_EQ(breaking(input), "") << "the killed process may have had it in its socket";
}

TEST(Contradictions, AConfirmationThatWasNeverGiven) {
  LedgerInput input = answered();
  input.receivers[0].services[0].confirmed = 7;
  EXPECT_EQ(breaking(input), "R001: N2NQ counts 1 confirmation that was never given\n");
  input.receivers[0].services[0].continued = true;
  EXPECT_EQ(breaking(input), "") << "the killed process gave them";
}

TEST(Contradictions, AConfirmationThatWasGivenForNothing) {
  LedgerInput input = answered();
  input.broker->receivers[0].confirmed = 7;
  EXPECT_EQ(breaking(input), "") << "it may have come too late";
  input.broker->receivers[0].answers_missing = 1;
  EXPECT_EQ(breaking(input), "R001: 1 confirmation not counted by N2NQ\n");
  input.receivers[0].services[0].confirmed = 7;
  EXPECT_EQ(breaking(input), "") << "this receiver does not answer everything";
}

TEST(Contradictions, WhatWasSkippedAndNotTold) {
  LedgerInput input = answered();
  input.receivers[0].services[0].skipped_sets.expired = {{1, 1, set("9")}};
  EXPECT_EQ(breaking(input), "R001: 1 copy expired, but N2NQ did not say so\n");
  input.receivers[0].services[0].connections = 2;
  EXPECT_EQ(breaking(input), "") << "it was told on the connection that broke";
}

TEST(Contradictions, ADeliveryThatNobodyAskedFor) {
  LedgerInput input = answered();
  input.receivers[0].services[0].counts.unasked = 2;
  EXPECT_EQ(breaking(input), "2 deliveries that their receivers had not asked for\n");
}

}  // namespace
}  // namespace n2nq::measure
