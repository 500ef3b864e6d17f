// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/rates.h"

#include <gtest/gtest.h>

namespace n2nq::worker {
namespace {

constexpr std::int64_t ms = 1'000'000;

TEST(Rates, OfTheLastSecondOnly) {
  Rates rates(1, 0);
  std::uint64_t count = 0;
  for (std::int64_t at = 100 * ms; at <= 5000 * ms; at += 100 * ms) {
    count += at <= 3000 * ms ? 10 : 50;
    rates.look(at, {count});
    if (at == 900 * ms || at == 3000 * ms) {
      EXPECT_DOUBLE_EQ(rates.per_s(0), 100);
    }
    if (at == 3500 * ms) {
      EXPECT_DOUBLE_EQ(rates.per_s(0), 300) << "half a second of each";
    }
    if (at >= 4000 * ms) {
      EXPECT_DOUBLE_EQ(rates.per_s(0), 500);
    }
  }
}

TEST(Rates, OfManyLooksASecond) {
  Rates rates(2, 0);
  for (std::int64_t at = 1; at <= 3000; ++at) rates.look(at * ms, {static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(7 * at)});
  EXPECT_DOUBLE_EQ(rates.per_s(0), 1000);
  EXPECT_DOUBLE_EQ(rates.per_s(1), 7000);
}

TEST(Rates, OfRareLooksIsTheMeanSinceTheLast) {
  Rates rates(1, 0);
  rates.look(10'000 * ms, {1000});
  EXPECT_DOUBLE_EQ(rates.per_s(0), 100);
  rates.look(20'000 * ms, {1000});
  EXPECT_DOUBLE_EQ(rates.per_s(0), 0);
}

TEST(Rates, WithoutTimeAreZero) {
  Rates rates(1, 5);
  EXPECT_EQ(rates.per_s(0), 0);
  rates.look(5, {3});
  EXPECT_EQ(rates.per_s(0), 0);
}

}  // namespace
}  // namespace n2nq::worker
