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
