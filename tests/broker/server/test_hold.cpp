// SPDX-License-Identifier: GPL-3.0-or-later
// Why senders are held back, and until when: without sockets, at made-up instants.
#include "broker/server/hold.h"

#include <gtest/gtest.h>

namespace n2nq {
namespace {

constexpr size_t budget_bytes = 8'000'000;
constexpr uint32_t receivers = 10;

struct Told {
  HoldRule rule{budget_bytes};
  Hold present = Hold::none;
  int64_t now_ns = net::ns_per_s;

  Hold operator()(size_t memory_bytes, uint32_t behind, int64_t later_ns = net::ns_per_ms) {
    now_ns += later_ns;
    return present = rule.next(present, memory_bytes, behind, receivers, now_ns);
  }
};

TEST(HoldRule, AtTheBudgetSendersWaitUntilAnEighthOfItIsFree) {
  Told told;
  EXPECT_EQ(told(budget_bytes - 1, 0), Hold::none);
  EXPECT_EQ(told(budget_bytes, 0), Hold::memory);
  EXPECT_EQ(told(budget_bytes / 8 * 7, 0), Hold::memory);
  EXPECT_EQ(told(budget_bytes / 8 * 7 - 1, 0), Hold::none);
}

TEST(HoldRule, WhatIsHeldForReceiversMayLieCloseToTheBudgetAndIsNoShortageOfMemory) {
  Told told;
  EXPECT_EQ(told(budget_bytes / 8 * 7 + 1, 6), Hold::receivers);
  EXPECT_EQ(told(budget_bytes / 8 * 7 + 1, 6), Hold::receivers);
  EXPECT_EQ(told(budget_bytes, 6), Hold::memory);
}

TEST(HoldRule, TheLastOnesAreWaitedForAWhileAndEachTime) {
  for (Told told; int round : {1, 2}) {
    EXPECT_EQ(told(0, 6), Hold::receivers) << round;
    EXPECT_EQ(told(0, 1), Hold::receivers) << round;
    EXPECT_EQ(told(0, 1, 2 * net::ns_per_s - 1), Hold::receivers) << round;
    EXPECT_EQ(told(0, 1, 1), Hold::none) << round;
    EXPECT_EQ(told(0, 5), Hold::none) << round;
  }
}

TEST(HoldRule, ASlowOneOfManyHoldsNobodyUpBecauseTheMemoryWasUsedUp) {
  Told told;
  EXPECT_EQ(told(budget_bytes, 1), Hold::memory);
  EXPECT_EQ(told(0, 1), Hold::none);
}

TEST(HoldRule, WhoIsWaitedForAtTheBudgetIsWaitedForBehindIt) {
  Told told;
  EXPECT_EQ(told(0, 6), Hold::receivers);
  EXPECT_EQ(told(budget_bytes, 6), Hold::memory);
  EXPECT_EQ(told(0, 1), Hold::receivers);
}

}  // namespace
}  // namespace n2nq
