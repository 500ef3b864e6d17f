// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/load/payload.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace n2nq::worker {
namespace {

TEST(Payload, IsTheSameForTheSameSeedSenderAndIndex) {
  const PayloadSource one(7, 20, 100), two(7, 20, 100);
  for (std::uint32_t sender = 1; sender <= 5; ++sender) {
    for (std::uint64_t index = 0; index < 200; ++index) ASSERT_EQ(one.letters_of(sender, index), two.letters_of(sender, index));
  }
}

TEST(Payload, StaysTheSameFromVersionToVersion) {
  // Written down once: a run must be repeatable with a later build.
  const PayloadSource source(1, 20, 100);
  EXPECT_EQ(source.letters_of(1, 0), "KLYZJRBYWUIWWENZRDNMHPMMLIACWVJWKDHFYWSWNPHQISYGAUZEMSUBFANABWYISRGN");
  EXPECT_EQ(source.letters_of(50, 49), "EXHOXUCHGIJEAXDSYCTEOKHVUWFZIBXBYEHUYTECDSMOZGJOPSCXAQJAWWMFWLXWWVNNJZWIEVCDZN");
}

TEST(Payload, DiffersBySeedSenderAndIndex) {
  const PayloadSource one(1, 50, 50), two(2, 50, 50);
  std::set<std::string> seen;
  for (std::uint32_t sender = 1; sender <= 10; ++sender) {
    for (std::uint64_t index = 0; index < 10; ++index) seen.emplace(one.letters_of(sender, index));
  }
  EXPECT_GE(seen.size(), 99u);
  EXPECT_NE(one.letters_of(1, 0), two.letters_of(1, 0));
}

TEST(Payload, ConsistsOfLettersInEvenShares) {
  const PayloadSource source(3, 1000, 1000);
  std::map<char, int> counts;
  for (std::uint64_t index = 0; index < 260; ++index) {
    for (const char letter : source.letters_of(1, index)) ++counts[letter];
  }
  ASSERT_EQ(counts.size(), 26u);
  EXPECT_EQ(counts.begin()->first, 'A');
  EXPECT_EQ(counts.rbegin()->first, 'Z');
  for (const auto& [letter, count] : counts) EXPECT_NEAR(count, 10'000, 1'000) << letter;
}

TEST(Payload, SizesAreEvenlySpreadOverTheRange) {
  const PayloadSource source(4, 20, 29);
  std::map<std::size_t, int> counts;
  for (std::uint64_t index = 0; index < 100'000; ++index) {
    ASSERT_EQ(source.letters_of(3, index).size(), source.size_of(3, index));
    ++counts[source.size_of(3, index)];
  }
  ASSERT_EQ(counts.size(), 10u);
  for (const auto& [size, count] : counts) EXPECT_NEAR(count, 10'000, 500) << size;
}

TEST(Payload, MayBeEmpty) {
  const PayloadSource source(5, 0, 0);
  EXPECT_EQ(source.letters_of(1, 0), "");
}

}  // namespace
}  // namespace n2nq::worker
