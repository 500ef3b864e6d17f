// SPDX-License-Identifier: GPL-3.0-or-later
// Both modes with responses and requests against a simple model, in random lives.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/broker/queue/selective_life.h"

namespace n2nq {
namespace {

/// N2NQ_LIVES in the environment asks for more.
#ifdef __SANITIZE_THREAD__
constexpr uint64_t lives = 60;  // twenty times slower there, and nothing here has a second thread
#elif defined(__SANITIZE_ADDRESS__)
constexpr uint64_t lives = 400;
#else
constexpr uint64_t lives = 3000;
#endif

TEST(SelectiveBalancer, WhatComesBackGoesToAnotherReceiverIfOneHasRoom) {
  QueueOptions options;
  options.mode = wire::QueueMode::load_balancer;
  options.receivers = 2;
  options.responses = true;
  options.responses_window = 1;
  for (const DispatchRule dispatch : {DispatchRule::random, DispatchRule::round_robin, DispatchRule::next_free}) {
    options.dispatch = dispatch;
    support::QueueKit kit(options);
    kit.join(1);
    kit.join(2);
    kit.publish(1);
    const uint32_t first = kit->has_next(1) ? 1 : 2;
    const uint32_t other = 3 - first;
    kit.write_all(first);
    EXPECT_EQ(kit->confirm(first, 0, 1, true), Queue::Confirmed::yes);
    EXPECT_FALSE(kit->has_next(first));
    kit.write_all(other);
    EXPECT_EQ(kit.text(other), "1:0");
    // The other one has no room now: the next one is for the first, and comes back to it.
    kit.publish(1);
    kit.write_all(first);
    EXPECT_EQ(kit->confirm(first, 1, 1, true), Queue::Confirmed::yes);
    kit.write_all(first);
    EXPECT_EQ(kit.text(first), "1:0 1:1 1:1");
    EXPECT_EQ(kit.delivered(first).back().attempt, 2);
  }
}

class Selective : public ::testing::TestWithParam<wire::QueueMode> {};

TEST_P(Selective, DoesWhatTheModelDoes) {
  const char* wanted = std::getenv("N2NQ_LIVES");
  const uint64_t end = wanted ? std::strtoull(wanted, nullptr, 10) : lives;
  for (uint64_t seed = 0; seed < end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    support::Life(seed, GetParam()).live();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, Selective, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

}  // namespace
}  // namespace n2nq
