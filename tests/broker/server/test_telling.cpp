// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/telling.h"

#include <gtest/gtest.h>

#include <random>

namespace n2nq {
namespace {

using wire::SkipReason;

/// Long and short runs, and holes that make blocks, for some of the reasons.
SkippedSets random_sets(std::mt19937& random) {
  SkippedSets sets;
  for (SenderSets& each : sets) {
    if (random() % 3 == 0) continue;
    for (uint32_t sender = 1 + static_cast<uint32_t>(random() % 3); sender < 6; sender += 1 + static_cast<uint32_t>(random() % 3)) {
      uint64_t at = random() % 2 == 0 ? 0 : random() % 5'000;
      for (int i = 0; i < 60; ++i, at += 2 + random() % 4) each.add_range(sender, at, at + random() % 2);
      if (random() % 2 == 0) each.add_range(sender, at + 10, at + 10'000);
    }
  }
  return sets;
}

TEST(Telling, WhatWasToldAndTheRestAreAllAndNothingTwiceWhereverItIsBrokenOff) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const SkippedSets all = random_sets(random);
    size_t runs = 0;
    for (Telling whole(all); whole.next();) ++runs;
    for (const size_t told_runs : {size_t{0}, size_t{1}, runs / 2, random() % (runs + 1), runs, runs + 1}) {
      Telling telling(all);
      SkippedSets told;
      for (size_t i = 0; i < told_runs; ++i) {
        if (const auto range = telling.next()) of(told, range->reason).add_range(range->sender, range->from, range->to);
      }
      const SkippedSets rest = telling.take_rest();
      for (size_t i = 0; i < all.size(); ++i) {
        SenderSets both = told[i];
        both += rest[i];
        ASSERT_EQ(told[i].count() + rest[i].count(), all[i].count()) << "round " << round << ", broken off behind " << told_runs;
        ASSERT_EQ(both.shared(), all[i].shared()) << "round " << round << ", broken off behind " << told_runs;
      }
    }
  }
}

TEST(Telling, AFrameHasItsLimitAndAllFramesTogetherHaveAll) {
  SkippedSets sets;
  for (uint64_t index = 0; index < 10'000; ++index) of(sets, SkipReason::expired).add(1, 2 * index);
  Telling telling(sets);
  EXPECT_GE(telling.bytes(), of(sets, SkipReason::expired).bytes());
  uint64_t told = 0;
  for (wire::Bytes frame; telling.write(frame); frame.clear()) {
    EXPECT_LE(frame.size(), (size_t{64} << 10) + wire::frame_header_bytes);
    told += (frame.size() - wire::frame_header_bytes) / wire::SkippedRange::entry_bytes;
  }
  EXPECT_EQ(told, 10'000u);
}

}  // namespace
}  // namespace n2nq
