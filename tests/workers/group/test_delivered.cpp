// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/delivered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace n2nq::worker {
namespace {

using Finding = DeliveredSets::Finding;

bool fresh(const Finding& finding) {
  return !finding.duplicate && !finding.inverted;
}

std::string text_of(const measure::SenderSets& sets) {
  std::string text;
  for (const auto& run : sets) text += "[" + std::to_string(run.first) + "-" + std::to_string(run.last) + ": " + run.set.text() + "]";
  return text;
}

TEST(DeliveredSets, InOrderFromAllSendersIsOneRun) {
  DeliveredSets delivered(3);
  for (std::uint64_t index = 0; index < 50; ++index) {
    for (std::uint32_t sender = 1; sender <= 3; ++sender) ASSERT_TRUE(fresh(delivered.add(sender, index, false)));
  }
  EXPECT_EQ(text_of(delivered.sets()), "[1-3: 0-49]");
}

TEST(DeliveredSets, ALateJoinerStartsInTheMiddle) {
  DeliveredSets delivered(2);
  for (std::uint64_t index = 7; index < 10; ++index) ASSERT_TRUE(fresh(delivered.add(2, index, false)));
  EXPECT_EQ(text_of(delivered.sets()), "[2-2: 7-9]");
}

TEST(DeliveredSets, SeesDuplicatesGapsAndInversions) {
  DeliveredSets delivered(1);
  EXPECT_TRUE(fresh(delivered.add(1, 0, false)));
  EXPECT_TRUE(fresh(delivered.add(1, 1, false)));
  EXPECT_TRUE(delivered.add(1, 0, false).duplicate);
  EXPECT_TRUE(fresh(delivered.add(1, 5, false)));
  EXPECT_TRUE(fresh(delivered.add(1, 3, true))) << "announced by the broker";
  EXPECT_TRUE(delivered.add(1, 4, false).inverted);
  EXPECT_TRUE(fresh(delivered.add(1, 6, false)));
  EXPECT_TRUE(delivered.add(1, 3, true).duplicate);
  EXPECT_EQ(text_of(delivered.sets()), "[1-1: 0-1,3-6]");
}

TEST(DeliveredSets, BeforeTheFirstOneIsAnInversion) {
  DeliveredSets delivered(1);
  delivered.add(1, 5, false);
  EXPECT_TRUE(delivered.add(1, 4, false).inverted);
  EXPECT_EQ(text_of(delivered.sets()), "[1-1: 4-5]");
}

TEST(DeliveredSets, AgreesWithAPlainSet) {
  std::mt19937 random(11);
  DeliveredSets delivered(4);
  std::vector<std::set<std::uint64_t>> plain(5);
  for (int i = 0; i < 20'000; ++i) {
    const auto sender = static_cast<std::uint32_t>(random() % 4 + 1);
    const std::uint64_t index = random() % 3 == 0 ? random() % 2000 : plain[sender].size();
    ASSERT_EQ(delivered.add(sender, index, false).duplicate, !plain[sender].insert(index).second);
  }
  for (const auto& run : delivered.sets()) {
    for (std::uint32_t sender = run.first; sender <= run.last; ++sender) {
      ASSERT_EQ(run.set.count(), plain[sender].size());
      for (const auto index : plain[sender]) ASSERT_TRUE(run.set.contains(index));
    }
  }
}

TEST(IndexBits, FillsUpInAnyOrder) {
  std::vector<std::uint64_t> indexes(100'000);
  for (std::size_t i = 0; i < indexes.size(); ++i) indexes[i] = i;
  std::shuffle(indexes.begin(), indexes.end(), std::mt19937(12));
  IndexBits bits;
  for (const auto index : indexes) ASSERT_TRUE(bits.add(index));
  for (const auto index : indexes) ASSERT_FALSE(bits.add(index));
  EXPECT_EQ(bits.set().text(), "0-99999");
}

TEST(IndexBits, GivesItsHoles) {
  IndexBits bits;
  std::string expected;
  wire::IndexSet plain;
  std::mt19937 random(13);
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t index = random() % 100'000;
    ASSERT_EQ(bits.add(index), plain.add(index));
  }
  EXPECT_EQ(bits.set().text(), plain.text());
}

TEST(DeliveredSets, CountsWhatArrivedOfARange) {
  std::mt19937 random(7);
  DeliveredSets delivered(2);
  SharedDelivered shared(2, 1);
  std::set<std::uint64_t> plain;
  const auto check = [&] {
    for (int i = 0; i < 50; ++i) {
      std::uint64_t from = random() % 100'000, to = random() % 100'000;
      if (from > to) std::swap(from, to);
      const auto expected = static_cast<std::uint64_t>(std::distance(plain.lower_bound(from), plain.upper_bound(to)));
      ASSERT_EQ(delivered.count_in(2, from, to), expected) << from << " to " << to;
      ASSERT_EQ(shared.count_in(2, from, to), expected) << from << " to " << to;
    }
  };
  const auto add = [&](std::uint64_t index) {
    delivered.add(2, index, true), shared.add(0, 2, index, true);
    plain.insert(index);
  };
  check();
  for (std::uint64_t index = 100; index < 70'000; ++index) add(index);  // one run, and full blocks
  check();
  for (int i = 0; i < 2'000; ++i) add(random() % 100'000);
  check();
  EXPECT_EQ(delivered.count_in(2, 500, 500), 1u);
  EXPECT_EQ(delivered.count_in(1, 0, 100'000) + shared.count_in(1, 0, 100'000), 0u);
}

TEST(IndexBits, WhatStandsFarAheadTakesNoMemoryForWhatLiesBetween) {
  constexpr std::uint64_t far = 999'999'999'999;
  std::vector<IndexBits> senders(1000);  // 30 million blocks each, were there all of them
  for (IndexBits& bits : senders) EXPECT_TRUE(bits.add(far));
  IndexBits& bits = senders.front();
  EXPECT_FALSE(bits.add(far));
  EXPECT_FALSE(bits.empty());
  std::uint64_t index = 0;
  for (; index < 40'000; ++index) ASSERT_TRUE(bits.add(index));
  EXPECT_TRUE(bits.add(5'000'000));
  EXPECT_TRUE(bits.add(5'000'002));
  EXPECT_EQ(bits.set().text(), "0-39999,5000000,5000002,999999999999");
  EXPECT_EQ(bits.count_in(30'000, 5'000'001), 10'001u);
  EXPECT_EQ(bits.count_in(5'000'001, far), 2u);
  EXPECT_EQ(bits.count_in(5'000'003, far - 1), 0u);
  for (; index < 5'000'000; ++index) ASSERT_TRUE(bits.add(index));  // what stood far ahead is among the others now
  EXPECT_FALSE(bits.add(5'000'002));
  EXPECT_TRUE(bits.add(5'000'001));
  EXPECT_EQ(bits.set().text(), "0-5000002,999999999999");
  EXPECT_EQ(bits.count_in(0, far), 5'000'004u);
}

TEST(SharedDelivered, KnowsWhatAllOfThemHaveAndTheOrderOfEach) {
  SharedDelivered delivered(2, 3);
  EXPECT_TRUE(fresh(delivered.add(0, 1, 0, false)));
  EXPECT_TRUE(fresh(delivered.add(1, 1, 2, false)));
  EXPECT_TRUE(fresh(delivered.add(2, 1, 1, false))) << "another receiver may be behind";
  EXPECT_TRUE(delivered.add(0, 1, 2, false).duplicate) << "somebody has it";
  EXPECT_TRUE(fresh(delivered.add(1, 1, 4, false)));
  EXPECT_TRUE(delivered.add(1, 1, 3, false).inverted);
  EXPECT_TRUE(fresh(delivered.add(2, 2, 0, false)));
  EXPECT_EQ(text_of(delivered.sets()), "[1-1: 0-4][2-2: 0]");
}

TEST(SharedDelivered, KnowsADeliveryThatItsOwnRedeliveryOvertook) {
  SharedDelivered delivered(1, 2);
  EXPECT_FALSE(delivered.add(0, 1, 0, true, true).duplicate);
  EXPECT_TRUE(delivered.add(1, 1, 0, false, false).overtaken) << "the first one, from a receiver that had stood still";
  EXPECT_FALSE(delivered.add(0, 1, 1, false, false).duplicate);
  EXPECT_FALSE(delivered.add(1, 1, 1, false, false).overtaken) << "nobody said that this one was delivered again";
  EXPECT_FALSE(delivered.add(0, 1, 2, true, false).duplicate);
  EXPECT_FALSE(delivered.add(1, 1, 2, false, false).overtaken) << "newly matched is not redelivered";
}

}  // namespace
}  // namespace n2nq::worker
