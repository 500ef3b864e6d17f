// SPDX-License-Identifier: GPL-3.0-or-later
// The grid index against an oracle that looks at every message, and its limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "broker/queue/grid_index.h"

namespace n2nq {
namespace {

using wire::Rule;

constexpr uint32_t any = UINT32_MAX;
constexpr uint32_t senders = 5000;

/// N2NQ_REQUESTS in the environment asks for more.
uint64_t requests() {
  const char* wanted = std::getenv("N2NQ_REQUESTS");
  if (wanted) return std::strtoull(wanted, nullptr, 10);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 100'000;
#else
  return 1'000'000;
#endif
}

struct Message {
  uint64_t number = 0;
  uint32_t sender = 0;
  uint32_t size = 0;
};

bool matches(const std::vector<Rule>& list, const Message& message) {
  return std::any_of(list.begin(), list.end(), [&](const Rule& rule) {
    return message.sender >= rule.sender_first && message.sender <= rule.sender_last && message.size >= rule.size_min &&
           message.size <= rule.size_max;
  });
}

/// Messages in cells, as a queue keeps them.
class Shelf : public GridIndex::Contents {
 public:
  explicit Shelf(bool keeps_empty, uint32_t receivers = 8) : grid(senders, receivers, *this), keeps_empty_(keeps_empty) {}
  GridIndex grid;
  std::vector<std::vector<Message>> cells;  // rising numbers
  size_t cells_max = SIZE_MAX;

  void add(const Message& message) {
    const size_t kinds = grid.cells();
    const uint32_t cell = grid.cell_of(message.sender, message.size);
    if (grid.cells() > kinds) grid.make_way_for(cell);
    cells[cell].push_back(message);
  }
  /// The oldest of all leaves.
  void remove_oldest() {
    uint32_t oldest = GridIndex::none;
    for (uint32_t cell = 0; cell < cells.size(); ++cell) {
      if (cells[cell].empty()) continue;
      if (oldest == GridIndex::none || cells[cell].front().number < cells[oldest].front().number) oldest = cell;
    }
    if (oldest == GridIndex::none) return;
    cells[oldest].erase(cells[oldest].begin());
    if (cells[oldest].empty()) grid.note_empty(oldest);
  }
  size_t messages() const {
    size_t count = 0;
    for (const auto& cell : cells) count += cell.size();
    return count;
  }
  /// Everything that the interest matches, in order.
  std::vector<uint64_t> found(uint32_t interest) const {
    std::vector<uint64_t> numbers;
    for (uint32_t cell = 0; cell < cells.size(); ++cell) {
      if (cells[cell].empty()) continue;
      const auto& interests = grid.interests_of(cell);
      const bool listed = std::find(interests.begin(), interests.end(), interest) != interests.end();
      EXPECT_EQ(listed, grid.covers(interest, cell));
      if (!listed) continue;
      for (const Message& message : cells[cell]) numbers.push_back(message.number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

 private:
  void on_cell_made(uint32_t cell) override {
    if (cell >= cells.size()) cells.resize(cell + 1);
    EXPECT_TRUE(cells[cell].empty());
  }
  size_t move_parts(uint32_t from, size_t units) override {
    size_t moved = 0;
    for (; !cells[from].empty() && moved < units; ++moved) {
      const Message message = cells[from].front();
      const GridIndex::Part part = grid.part_of(from, message.sender, message.size);
      if (part.cell == GridIndex::none) break;
      if (part.is_new) on_cell_made(part.cell);
      EXPECT_TRUE(grid.area(part.cell).contains(message.sender, message.size));
      cells[part.cell].push_back(message);
      cells[from].erase(cells[from].begin());
    }
    return moved;
  }
  bool parts_may_grow() const override { return true; }
  bool has_room_for_part(uint32_t) const override { return grid.cells() < cells_max; }
  void on_cell_dropped(uint32_t cell) override { EXPECT_TRUE(cells[cell].empty()); }
  bool is_empty(uint32_t cell) const override { return cells[cell].empty(); }
  bool keeps_empty() const override { return keeps_empty_ && grid.cells() < 200; }

  bool keeps_empty_;
};

class Requests {
 public:
  Requests(uint64_t seed, bool keeps_empty) : random_(seed), shelf_(keeps_empty), receivers_(8) {
    for (Receiver& receiver : receivers_) receiver.interest = shelf_.grid.take(receiver.list).interest;
  }

  void make(uint64_t count) {
    for (uint64_t i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
      if (below(2) == 0) publish();
      if (published_ - removed_ > 30 || below(6) == 0) remove();
      Receiver& receiver = receivers_[below(receivers_.size())];
      replace(receiver);
      if (below(4) == 0) shelf_.grid.fit();
      check(receiver);
      check(receivers_[below(receivers_.size())]);
    }
  }

 private:
  struct Receiver {
    std::vector<Rule> list{Rule()};
    uint32_t interest = 0;
  };
  uint64_t below(uint64_t bound) { return random_() % bound; }

  void publish() {
    const Message message{published_++, 1 + static_cast<uint32_t>(below(senders)),
                          static_cast<uint32_t>(below(3) ? below(2000) : below(any))};
    shelf_.add(message);
    all_.push_back(message);
  }
  void remove() {
    if (all_.empty()) return;
    shelf_.remove_oldest();
    all_.erase(all_.begin());
    ++removed_;
  }
  Rule random_rule() {
    Rule rule;
    if (below(4)) {
      rule.sender_first = static_cast<uint32_t>(below(senders + 10));
      rule.sender_last = rule.sender_first + static_cast<uint32_t>(below(below(2) ? 20 : senders));
    }
    if (below(4)) {
      rule.size_min = static_cast<uint32_t>(below(2000));
      rule.size_max = below(4) ? rule.size_min + static_cast<uint32_t>(below(1000)) : any;
    }
    return rule;
  }
  void replace(Receiver& receiver) {
    std::vector<Rule> list;
    for (uint64_t rules = below(1000) == 0 ? below(300) : below(4); rules > 0; --rules) list.push_back(random_rule());
    if (below(20) == 0) list = receivers_[below(receivers_.size())].list;  // an interest that is shared
    const GridIndex::Taken taken = shelf_.grid.take(list);
    if (!taken.refusal.empty()) {
      EXPECT_GT(list.size(), 20u) << taken.refusal;
      return;
    }
    shelf_.grid.release(receiver.interest);
    receiver = {list, taken.interest};
  }
  void check(const Receiver& receiver) {
    std::vector<uint64_t> right;
    for (const Message& message : all_) {
      if (matches(receiver.list, message)) right.push_back(message.number);
    }
    EXPECT_EQ(shelf_.found(receiver.interest), right);
  }

  std::mt19937_64 random_;
  Shelf shelf_;
  std::vector<Receiver> receivers_;
  std::vector<Message> all_;
  uint64_t published_ = 0;
  uint64_t removed_ = 0;
};

TEST(GridIndex, FindsWhatTheOracleFindsForRandomRequests) {
  const uint64_t each = requests() / 20;
  for (uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Requests(seed, seed % 2).make(each);
  }
}

TEST(GridIndex, AtFirstThereIsOneCell) {
  Shelf shelf(true);
  const uint32_t all = shelf.grid.take({Rule()}).interest;
  EXPECT_EQ(shelf.grid.take({Rule(), Rule()}).interest, all) << "the same list";
  shelf.add({0, 1, 0});
  shelf.add({1, senders, any});
  EXPECT_EQ(shelf.grid.cells(), 1u);
  const uint32_t nothing = shelf.grid.take({}).interest;
  EXPECT_EQ(shelf.grid.cells(), 1u);
  EXPECT_TRUE(shelf.found(nothing).empty());
  EXPECT_EQ(shelf.found(all).size(), 2u);
}

TEST(GridIndex, ABorderSplitsOnlyWhatItCrosses) {
  Shelf shelf(true);
  for (uint32_t i = 0; i < 10; ++i) shelf.add({i, 1 + i, 10 * i});
  const uint32_t few = shelf.grid.take({Rule{1, 3, 0, any}}).interest;
  EXPECT_EQ(shelf.grid.cells(), 2u);
  EXPECT_EQ(shelf.found(few), (std::vector<uint64_t>{0, 1, 2}));
  // Sizes from 15 on: of the two cells one is cut, in the other one all are larger.
  const uint32_t some = shelf.grid.take({Rule{0, any, 15, any}}).interest;
  EXPECT_EQ(shelf.grid.cells(), 3u);
  EXPECT_EQ(shelf.found(some).front(), 2u);
  // A border that is there already, and one outside of what exists, cut nothing.
  shelf.grid.take({Rule{4, 4000000, 15, any}});
  EXPECT_EQ(shelf.grid.cells(), 3u);
}

TEST(GridIndex, BordersThatNobodyUsesMakeRoomForOthers) {
  Shelf shelf(true);
  uint32_t interest = shelf.grid.take({Rule()}).interest;
  for (uint32_t i = 0; i < 5000; ++i) {
    shelf.add({i, 1 + i % senders, i});
    const GridIndex::Taken taken = shelf.grid.take({Rule{0, any, i, i + 10}});
    ASSERT_EQ(taken.refusal, "");
    shelf.grid.release(interest);
    interest = taken.interest;
    EXPECT_EQ(shelf.found(interest), (std::vector<uint64_t>{i}));
    if (i >= 100) shelf.remove_oldest();
  }
  EXPECT_LE(shelf.grid.cells(), 3 * GridIndex::borders_max);
}

TEST(GridIndex, CellsThatNobodyNeedsGoInPartsWhileMessagesComeAndGo) {
  Shelf shelf(true);
  uint64_t number = 0;
  uint32_t interest = shelf.grid.take({Rule()}).interest;
  // Two lists of long ago leave 1,200 borders behind; empty cells between them stay.
  for (const uint32_t first : {0u, 10'000u}) {
    std::vector<Rule> list;
    for (uint32_t i = 0; i < 300; ++i) list.push_back({0, any, first + 4 * i + 2, first + 4 * i + 2});
    shelf.grid.release(std::exchange(interest, shelf.grid.take(list).interest));
    for (uint32_t i = 0; i < 80; ++i) shelf.add({number++, 1, first + 4 * i});
    while (shelf.messages() > 1) shelf.remove_oldest();
  }
  shelf.grid.release(std::exchange(interest, shelf.grid.take({Rule()}).interest));
  const size_t before = shelf.grid.cells();
  ASSERT_GT(before, 100u);
  ASSERT_EQ(shelf.grid.begin({Rule{2, 2, 0, any}}), "");
  ASSERT_FALSE(shelf.grid.tidied());
  for (uint32_t i = 0; !shelf.grid.tidied(); ++i) {
    EXPECT_LE(shelf.grid.tidy(7), 7u);
    shelf.add({number++, 1 + i % 3, 4 * i});
  }
  std::string refusal;
  while (!shelf.grid.parted()) shelf.grid.part(7, refusal);
  EXPECT_EQ(refusal, "");
  EXPECT_LT(shelf.grid.cells(), before / 4);
  EXPECT_EQ(shelf.found(interest).size(), shelf.messages());
}

/// `count` sizes, each with two borders of its own.
std::vector<Rule> sizes_from(uint32_t first, uint32_t count) {
  std::vector<Rule> list;
  for (uint32_t i = 0; i < count; ++i) list.push_back({0, any, first + 4 * i, first + 4 * i});
  return list;
}

TEST(GridIndex, LimitsAreNamed) {
  Shelf shelf(true);
  EXPECT_EQ(shelf.grid.take(sizes_from(2, 600)).refusal, "this list has 1200 borders between sizes, the limit is 1024");
  EXPECT_EQ(shelf.grid.take(sizes_from(2, 512)).refusal, "") << "1,024 are within it";
  EXPECT_NE(shelf.grid.take(std::vector<Rule>(1025)).refusal.find("1025 rules is over the limit of 1024"), std::string::npos);
  EXPECT_NE(shelf.grid.take({Rule{}, Rule{5, 4, 0, any}}).refusal.find("rule 2"), std::string::npos);
}

TEST(GridIndex, NobodysListLeavesAnotherOneWithoutBorders) {
  constexpr uint32_t receivers = 200;
  constexpr uint32_t share = GridIndex::borders_shared_out / receivers;  // 40
  Shelf shelf(true, receivers);
  // As large as they may be, until there is nothing left for all.
  uint32_t large = 0;
  std::string refusal;
  while (refusal.empty() && large < receivers) refusal = shelf.grid.take(sizes_from(2 + 4 * 512 * large++, 512)).refusal;
  EXPECT_EQ(large - 1, GridIndex::borders_for_all / (1024 - share));
  EXPECT_NE(refusal.find("40 are its receiver's share"), std::string::npos) << refusal;
  // All others have their share all the same.
  for (uint32_t number = large; number <= receivers; ++number) {
    EXPECT_EQ(shelf.grid.take(sizes_from(10'000'000 + 1000 * number, share / 2)).refusal, "") << number;
  }
  EXPECT_EQ(shelf.grid.take({Rule{1, 1, 0, any}}).refusal, "") << "the other axis has room";
}

TEST(GridIndex, AListThatWouldMakeTooManyCellsIsRefusedAndChangesNothing) {
  Shelf shelf(true);
  const uint32_t before = shelf.grid.take({Rule{1, 100, 0, any}}).interest;
  for (uint32_t i = 0; i < 1000; ++i) shelf.add({i, 1 + i % senders, 4 * i});
  shelf.cells_max = 300;
  EXPECT_NE(shelf.grid.take(sizes_from(0, 500)).refusal.find("too many different kinds"), std::string::npos);
  EXPECT_LE(shelf.grid.cells(), 300u);
  EXPECT_EQ(shelf.found(before).size(), 100u);
  shelf.cells_max = SIZE_MAX;
  EXPECT_EQ(shelf.found(shelf.grid.take(sizes_from(0, 500)).interest).size(), 500u);
  EXPECT_EQ(shelf.found(before).size(), 100u);
}

/// However many parts the work is done in, and what comes in between them.
TEST(GridIndex, WhatIsPartedInManyStepsComesIntoAsManyCellsAsThereAreKinds) {
  Shelf shelf(false);
  constexpr uint32_t kinds = 50, messages = 2000;
  for (uint32_t i = 0; i < messages; ++i) shelf.add({i, 1, 4 * (i % kinds)});
  shelf.cells_max = 1 + 3 * kinds;  // for those that new messages come into, those that they do not, and the rest
  std::string refusal = shelf.grid.begin(sizes_from(0, kinds));
  size_t steps = 0;
  for (; refusal.empty() && !shelf.grid.parted(); ++steps) {
    shelf.grid.part(20, refusal);
    if (steps < messages / 20) shelf.add({messages + steps, 1, 4 * static_cast<uint32_t>(steps % kinds)});
  }
  ASSERT_EQ(refusal, "");
  EXPECT_GE(steps, messages / 20);
  for (const auto& cell : shelf.cells) {
    EXPECT_TRUE(std::is_sorted(cell.begin(), cell.end(), [](const auto& a, const auto& b) { return a.number < b.number; }));
  }
  EXPECT_EQ(shelf.messages(), messages + messages / 20);
}

}  // namespace
}  // namespace n2nq
