// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/load/wake_lead.h"

#include <gtest/gtest.h>

#include <random>

namespace n2nq::worker {
namespace {

/// How many of `wakes` came early, after it had as many to learn from.
template <typename Lateness>
int early_of(int wakes, Lateness&& lateness) {
  WakeLead lead;
  for (int i = 0; i < wakes; ++i) lead.woke(lateness());
  int early = 0;
  for (int i = 0; i < wakes; ++i) {
    const std::int64_t late_ns = lateness();
    early += late_ns < lead.lead_ns() ? 1 : 0;
    lead.woke(late_ns);
  }
  return early;
}

TEST(WakeLead, BeginsWithNone) {
  EXPECT_EQ(WakeLead().lead_ns(), 0);
}

TEST(WakeLead, LearnsTheLatenessThatOneInFourStaysBelow) {
  std::mt19937_64 random(21);
  std::uniform_int_distribution<std::int64_t> even(10'000, 30'000);
  EXPECT_NEAR(early_of(10'000, [&] { return even(random); }), 2'500, 300);
  std::exponential_distribution<double> tailed(1.0 / 8'000);
  EXPECT_NEAR(early_of(10'000, [&] { return 3'000 + static_cast<std::int64_t>(tailed(random)); }), 2'500, 300);
}

TEST(WakeLead, FollowsWhenTheMachineChanges) {
  WakeLead lead;
  for (int i = 0; i < 1000; ++i) lead.woke(35'000);
  EXPECT_NEAR(static_cast<double>(lead.lead_ns()), 35'000, 1'000);
  for (int i = 0; i < 1000; ++i) lead.woke(2'000);
  EXPECT_NEAR(static_cast<double>(lead.lead_ns()), 2'000, 1'000);
}

TEST(WakeLead, NeverExceedsItsLimitNorGoesBelowNothing) {
  WakeLead lead;
  for (int i = 0; i < 1000; ++i) lead.woke(5'000'000);
  EXPECT_EQ(lead.lead_ns(), WakeLead::lead_ns_max);
  for (int i = 0; i < 1000; ++i) lead.woke(0);
  EXPECT_EQ(lead.lead_ns(), 0);
}

}  // namespace
}  // namespace n2nq::worker
