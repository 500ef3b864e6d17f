// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/index_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace n2nq::wire {
namespace {

IndexSet set_of(const std::string& text) {
  return IndexSet::parse(text).value();
}

TEST(IndexSet, TextForm) {
  IndexSet set;
  EXPECT_EQ(set.text(), "");
  for (uint64_t index = 0; index < 50; ++index) EXPECT_TRUE(set.add(index));
  EXPECT_TRUE(set.add(51));
  set.add_range(60, 70);
  EXPECT_EQ(set.text(), "0-49,51,60-70");
  EXPECT_EQ(set.count(), 62u);
  EXPECT_EQ(set_of("0-49,51,60-70"), set);
  EXPECT_FALSE(set.add(51));
  EXPECT_EQ(set.add_range(45, 65), 9u);
  EXPECT_EQ(set.text(), "0-70");
}

TEST(IndexSet, OnlyTheTextFormIsParsed) {
  for (const char* wrong : {"a", "1,", ",1", "1-", "-1", "5-4", "1,1", "3,2", "1-3,3", "1 ", " 1", "1;2", "99999999999999999999", "1--2"}) {
    EXPECT_FALSE(IndexSet::parse(wrong).has_value()) << wrong;
  }
  EXPECT_TRUE(set_of("").empty());
  EXPECT_EQ(set_of("1-2,3").text(), "1-3");  // touching ranges are one
}

TEST(IndexSet, TheEndsOfTheNumbersHold) {
  IndexSet set;
  EXPECT_TRUE(set.add(UINT64_MAX));
  EXPECT_TRUE(set.add(0));
  EXPECT_FALSE(set.add(UINT64_MAX));
  EXPECT_EQ(set.text(), "0,18446744073709551615");
  EXPECT_TRUE(set.remove(UINT64_MAX));
  EXPECT_TRUE(set.add(UINT64_MAX - 1));
  EXPECT_TRUE(set.add(UINT64_MAX));
  EXPECT_EQ(set.count(), 3u);
}

TEST(IndexSet, RemovingSplitsAndShortens) {
  IndexSet set = set_of("0-9");
  EXPECT_TRUE(set.remove(5));
  EXPECT_TRUE(set.remove(0));
  EXPECT_TRUE(set.remove(9));
  EXPECT_FALSE(set.remove(5));
  EXPECT_EQ(set.text(), "1-4,6-8");
  EXPECT_EQ(set.count(), 7u);
}

TEST(IndexSet, IsCutAtABorder) {
  const IndexSet set = set_of("0-4,7-9,20");
  const struct {
    uint64_t border;
    const char *below, *from_on;
  } cases[] = {{0, "", "0-4,7-9,20"}, {1, "0", "0-3,6-8,19"}, {5, "0-4", "2-4,15"},   {8, "0-4,7", "0-1,12"},
               {10, "0-4,7-9", "10"}, {20, "0-4,7-9", "0"},   {21, "0-4,7-9,20", ""}, {1000, "0-4,7-9,20", ""}};
  for (const auto& c : cases) {
    EXPECT_EQ(below(set, c.border).text(), c.below) << c.border;
    EXPECT_EQ(from_on(set, c.border).text(), c.from_on) << c.border;
    EXPECT_EQ(below(set, c.border).count() + from_on(set, c.border).count(), set.count());
  }
  EXPECT_TRUE(below(IndexSet(), 5).empty());
  EXPECT_TRUE(from_on(IndexSet(), 5).empty());
}

TEST(IndexSet, AgreesWithAPlainSetWhateverIsDone) {
  std::mt19937 random(1);
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 200; ++round) {
    IndexSet a, b;
    std::set<uint64_t> plain_a, plain_b;
    for (int step = 0; step < 60; ++step) {
      const uint64_t from = below(80);
      const uint64_t to = from + below(6);
      uint64_t fresh = 0;
      for (uint64_t i = from; i <= to; ++i) fresh += plain_a.insert(i).second;
      ASSERT_EQ(a.add_range(from, to), fresh);
      const uint64_t gone = below(80);
      ASSERT_EQ(a.remove(gone), plain_a.erase(gone) == 1);
      const uint64_t other = below(80);
      ASSERT_EQ(b.add(other), plain_b.insert(other).second);
    }
    std::set<uint64_t> plain_union = plain_a, plain_difference = plain_a;
    plain_union.insert(plain_b.begin(), plain_b.end());
    for (const uint64_t index : plain_b) plain_difference.erase(index);
    const auto expect_same = [](const IndexSet& set, const std::set<uint64_t>& plain) {
      ASSERT_EQ(set.count(), plain.size());
      for (uint64_t i = 0; i < 90; ++i) ASSERT_EQ(set.contains(i), plain.contains(i)) << i << " in " << set.text();
      ASSERT_EQ(set_of(set.text()), set);
    };
    expect_same(a, plain_a);
    expect_same(a + b, plain_union);
    expect_same(a - b, plain_difference);
    expect_same(a - a, {});
  }
}

}  // namespace
}  // namespace n2nq::wire
