// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/index_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

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

TEST(IndexSet, ShortRunsBecomeBits) {
  IndexSet set;
  for (uint64_t index = 0; index < 1'000'000; index += 2) ASSERT_TRUE(set.add(index));
  EXPECT_LT(set.bytes(), 1'000'000 / 4);
  EXPECT_EQ(set.count(), 500'000u);
  EXPECT_EQ(set.last(), 999'998u);
  EXPECT_EQ(set.count_in(1, 10'000), 5'000u);
  EXPECT_LT(set.text().size(), 1'000'000 / 4 + 4'000);
  EXPECT_GE(set.text_bytes(), set.text().size());
  EXPECT_LT(set.text_bytes(), 2 * set.text().size());
  EXPECT_EQ(set_of(set.text()), set);
  EXPECT_EQ(set.add_range(0, 999'999), 500'000u);
  IndexSet all;
  all.add_range(0, 999'999);
  EXPECT_EQ(set, all);
  EXPECT_EQ(std::ranges::distance(set.runs().begin(), set.runs().end()), 1);
}

TEST(IndexSet, GivesBackWhatItHasInReserve) {
  IndexSet set;
  for (uint64_t i = 0; i < 100; ++i) set.add(2 * i);  // become bits
  for (uint64_t i = 1; i < 100; ++i) set.add(2 * IndexSet::block_indexes * i);
  const IndexSet without = set;
  const size_t before = set.bytes();
  ASSERT_GT(before, without.bytes() + 100);
  set.fit(before);
  EXPECT_EQ(set.bytes(), before);
  set.fit(without.bytes() + 100);
  EXPECT_LE(set.bytes(), without.bytes() + 100);
  EXPECT_GT(set.bytes(), without.bytes());
  set.fit(0);
  EXPECT_EQ(set.bytes(), without.bytes());
  EXPECT_EQ(set, without);
}

TEST(IndexSet, RowsOfBits) {
  EXPECT_EQ(set_of("4:8").text(), "4");
  EXPECT_EQ(set_of("4:c5,100").text(), "4-5,9,11,100");
  EXPECT_EQ(set_of("0-3,4:f0f").text(), "0-7,12-15");
  EXPECT_TRUE(set_of("4:0").empty());
  for (const char* wrong : {"4:", ":c", "4:g", "4:C", "0-8,4:c", "4:c,5", "4:c,", "18446744073709551612:8", "4-5:8", "4:8-9"}) {
    EXPECT_FALSE(IndexSet::parse(wrong).has_value()) << wrong;
  }
}

TEST(IndexSet, SetsThatTogetherHaveEverythingBecomeOneRun) {
  constexpr uint64_t parts = 50, indexes = 10 * IndexSet::block_indexes;
  IndexSet all;
  for (uint64_t part = 0; part < parts; ++part) {
    IndexSet one;
    for (uint64_t i = part; i < indexes; i += parts) one.add(i);
    all += one;
    ASSERT_EQ(all.count(), (part + 1) * (indexes / parts) + std::min(part + 1, indexes % parts));
    ASSERT_LE(all.bytes(), 10 * (IndexSet::block_indexes / 8 + 200)) << "bits, not runs";
  }
  EXPECT_EQ(all.text(), "0-" + std::to_string(indexes - 1));
}

TEST(IndexSet, AgreesWithAPlainSetAlsoInBlocks) {
  constexpr uint64_t top = 5 * IndexSet::block_indexes;
  std::mt19937 random(2);
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 40; ++round) {
    std::vector<bool> plain_a(top), plain_b(top);
    IndexSet a, b;
    const auto fill = [&](IndexSet& set, std::vector<bool>& plain) {
      const uint64_t step = 1 + below(6), longest = 1 + below(4);
      for (uint64_t from = below(top / 2); from + longest < top; from += 1 + below(step)) {
        for (uint64_t i = from; i < from + longest; ++i) plain[i] = true;
        set.add_range(from, from + longest - 1);
        from += longest;
      }
      for (int i = 0; i < 300; ++i) {
        const uint64_t from = below(top), to = std::min(top - 1, from + below(below(10) == 0 ? 3 * IndexSet::block_indexes : 5));
        uint64_t fresh = 0;
        for (uint64_t at = from; at <= to; ++at) fresh += !plain[at], plain[at] = true;
        ASSERT_EQ(set.add_range(from, to), fresh);
        for (uint64_t at = below(top), end = std::min(top, at + below(40)); at < end; ++at) {
          ASSERT_EQ(set.remove(at), plain[at]);
          plain[at] = false;
        }
      }
    };
    fill(a, plain_a);
    fill(b, plain_b);
    const auto expect_same = [&](const IndexSet& set, const auto& has) {
      uint64_t count = 0, from = below(top), in_part = 0, last = 0;
      const uint64_t to = std::min(top - 1, from + below(top));
      for (uint64_t i = 0; i < top; ++i) {
        count += has(i), in_part += has(i) && i >= from && i <= to;
        if (has(i)) last = i;
        ASSERT_EQ(set.contains(i), has(i)) << i;
      }
      ASSERT_EQ(set.count(), count);
      ASSERT_EQ(set.count_in(from, to), in_part);
      ASSERT_EQ(count > 0 ? set.last() : 0, last);
      IndexSet again;
      uint64_t behind = 0;
      for (const IndexSet::Run& run : set.runs()) {
        ASSERT_TRUE(again.empty() || run.from > behind + 1) << "runs do not touch";
        for (uint64_t i = run.from; i <= run.to; ++i) ASSERT_TRUE(again.add(i));
        behind = run.to;
      }
      ASSERT_EQ(again, set);
      ASSERT_EQ(set_of(set.text()), set);
    };
    expect_same(a, [&](uint64_t i) -> bool { return plain_a[i]; });
    expect_same(a + b, [&](uint64_t i) -> bool { return plain_a[i] || plain_b[i]; });
    expect_same(a - b, [&](uint64_t i) -> bool { return plain_a[i] && !plain_b[i]; });
    for (int i = 0; i < 8; ++i) {
      const uint64_t from = below(top), to = std::min(top - 1, from + below(i % 2 == 0 ? 2 * IndexSet::block_indexes : 70));
      IndexSet run;
      run.add_range(from, to);
      expect_same(a - run, [&](uint64_t at) -> bool { return plain_a[at] && (at < from || at > to); });
    }
    expect_same(wire::below(a, top / 3), [&](uint64_t i) -> bool { return plain_a[i] && i < top / 3; });
    expect_same(wire::from_on(a, top / 3), [&](uint64_t i) -> bool { return i + top / 3 < top && plain_a[i + top / 3]; });
    ASSERT_FALSE(a == a - wire::below(a, a.last()));
  }
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
      ASSERT_GE(a.text_bytes(), a.text().size());
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
