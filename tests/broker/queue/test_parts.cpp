// SPDX-License-Identifier: GPL-3.0-or-later
// The queue's small parts: ring, sets by sender, message log, dispatch rules, pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <set>

#include "broker/queue/dispatcher.h"
#include "broker/queue/in_order.h"
#include "broker/queue/message_log.h"
#include "broker/queue/pieces.h"
#include "broker/queue/ring.h"
#include "broker/queue/round.h"
#include "broker/queue/sender_sets.h"
#include "broker/wire/record.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq {
namespace {

/// So large that a few hundred of them take several blocks.
struct Wide {
  explicit Wide(int number = 0) : value(number) {}
  bool operator==(const Wide&) const = default;
  int value;
  std::array<int, 99> padding{};
};

template <typename T>
class Rings : public ::testing::Test {};
using RingTypes = ::testing::Types<int, Wide>;
TYPED_TEST_SUITE(Rings, RingTypes);

TYPED_TEST(Rings, BehaveLikeADeque) {
  std::mt19937 random(1);
  Ring<TypeParam> ring;
  std::deque<TypeParam> plain;
  for (int step = 0; step < 40'000; ++step) {
    const size_t size = plain.size();
    const size_t at = size == 0 ? 0 : random() % size;
    switch (random() % 7) {
      case 6: {
        const size_t count = random() % 5;
        ring.grow_front(count);
        for (size_t i = count; i-- > 0;) plain.push_front(ring[i] = TypeParam(step - static_cast<int>(i)));
        break;
      }
      case 5:
        for (const size_t end = size + 1 + random() % 20; ring.size() < end;) {
          const size_t most = end - ring.size();
          const std::span<TypeParam> some = ring.grow_back(most);
          ASSERT_GT(some.size(), 0u);
          ASSERT_LE(some.size(), most);
          for (TypeParam& one : some) plain.push_back(one = TypeParam(step + static_cast<int>(plain.size())));
        }
        break;
      case 0:
        if (size > 0) {
          ring.pop_front();
          plain.pop_front();
        }
        break;
      case 1:
        if (size > 3) {
          const size_t count = std::min<size_t>(size - at, 3);
          ring.erase(at, count);
          plain.erase(plain.begin() + static_cast<ptrdiff_t>(at), plain.begin() + static_cast<ptrdiff_t>(at + count));
        }
        break;
      default:
        ring.push_back(TypeParam(step));
        plain.push_back(TypeParam(step));
    }
    ASSERT_EQ(ring.size(), plain.size());
    for (size_t i = 0; i < plain.size(); i += 1 + plain.size() / 8) {
      ASSERT_EQ(ring[i], plain[i]);
      const auto side_by_side = ring.side_by_side(i, 1 + random() % 3000);
      ASSERT_GT(side_by_side.size(), 0u);
      for (size_t k = 0; k < side_by_side.size() && i + k < plain.size(); ++k) ASSERT_EQ(side_by_side[k], plain[i + k]);
    }
    if (plain.size() > 100 + random() % 2000) {
      const size_t count = random() % (plain.size() + 1);
      ring.pop_front(count);
      plain.erase(plain.begin(), plain.begin() + static_cast<ptrdiff_t>(count));
      if (step % 2 == 0) ring.fit(1024);
    }
  }
}

TYPED_TEST(Rings, GrowByWhatIsNeededAndAreGivenBack) {
  Ring<TypeParam> ring;
  constexpr size_t block_bytes = Ring<TypeParam>::block_slots * sizeof(TypeParam);
  size_t before = 0;
  for (size_t count = 1; count <= 50 * Ring<TypeParam>::block_slots; ++count) {
    ring.push_back(TypeParam(1));
    if (count % 3 == 0) ring.pop_front();
    ASSERT_LE(ring.bytes(), std::max(2 * before, before + block_bytes + 1024) + 1024) << count;
    ASSERT_LE(ring.bytes(), ring.size() * sizeof(TypeParam) * 2 + block_bytes);
    if (ring.size() > 2 * Ring<TypeParam>::block_slots) {
      ASSERT_LE(ring.bytes(), ring.size() * sizeof(TypeParam) + block_bytes + 1024);
    }
    before = ring.bytes();
  }
  ring.fit(0);
  EXPECT_EQ(ring.bytes(), before) << "all of it is in use";
  while (ring.size() > 5) {
    ring.pop_front();
    ring.fit(1024);
    ASSERT_LE(ring.bytes(), std::max(4 * (ring.size() * sizeof(TypeParam) + block_bytes), size_t{1024})) << ring.size();
  }
  EXPECT_LE(ring.bytes(), std::max(size_t{1100}, 20 * sizeof(TypeParam)));
}

TEST(Round, LooksAtEachInTurnAndAtFewAtATime) {
  for (const size_t size : {size_t{0}, size_t{5}, size_t{1024}, size_t{1025}, size_t{100'000}}) {
    Round round;
    round.go_on(200'000, [](size_t) {});  // the list was longer
    std::vector<int> looks(size);
    size_t times = 0;
    for (bool all = false; !all; ++times) {
      size_t at_once = 0;
      round.go_on(size, [&](size_t index) {
        ++looks[index];
        ++at_once;
      });
      EXPECT_LE(at_once, std::max(Round::least, size / 16 + 1));
      all = std::find(looks.begin(), looks.end(), 0) == looks.end();
    }
    EXPECT_LE(times, 17u) << size;
  }
}

struct Place {
  int at = 0;
  bool is_behind(const Place& other) const { return at > other.at; }
};

TEST(InOrder, ListsComeOutAsOneHoweverLongTheyAreAndWhateverIsBetween) {
  std::mt19937 random(1);
  for (int life = 0; life < 8; ++life) {
    InOrder<Place> lists, others;
    std::vector<int> all(static_cast<size_t>(60'000));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    std::ranges::shuffle(all, random);
    std::set<int> plain;
    for (size_t begin = 0; begin < all.size();) {
      const size_t count = std::min<size_t>(all.size() - begin, random() % (random() % 4 == 0 ? 8000 : 300));
      std::sort(all.begin() + static_cast<ptrdiff_t>(begin), all.begin() + static_cast<ptrdiff_t>(begin + count));
      Ring<Place> list;
      for (size_t i = begin; i < begin + count; ++i) list.push_back({all[i]});
      for (size_t i = begin; i < begin + count; ++i) plain.insert(all[i]);
      begin += count;
      random() % 3 == 0 ? others.add(list) : lists.add(list);
      EXPECT_TRUE(list.empty());
      if (random() % 5 == 0) {
        lists.add(others);
        EXPECT_TRUE(others.empty());
      }
      for (size_t i = random() % 500; i > 0 && !lists.empty(); --i) {
        // What is in the others may come before it.
        ASSERT_EQ(plain.erase(lists.front().at), 1u);
        lists.pop_front();
      }
    }
    lists.add(others);
    lists.push_back({100'000});
    plain.insert(100'000);
    size_t seen = 0;
    lists.for_each([&](const Place& place) { seen += plain.contains(place.at); });
    EXPECT_EQ(seen, plain.size());
    for (const int at : plain) {
      ASSERT_EQ(lists.front().at, at);
      lists.pop_front();
    }
    EXPECT_TRUE(lists.empty());
  }
}

TEST(SenderSets, SendersThatShareASetStandTogether) {
  SenderSets sets;
  for (const uint32_t sender : {1u, 2u, 3u, 5u}) sets.add_range(sender, 0, 49);
  sets.add(6, 7);
  EXPECT_EQ(sets.shared(), (std::vector<SenderSets::SharedSet>{{1, 3, "0-49"}, {5, 5, "0-49"}, {6, 6, "7"}}));
  EXPECT_EQ(sets.count(), 201u);
  SenderSets less = sets;
  SenderSets gone;
  gone.add_range(2, 0, 100);
  less -= gone;
  EXPECT_EQ(less.count(), 151u);
  less += gone;
  EXPECT_EQ(less.count(), 252u);
}

TEST(SenderSets, WhatIsTakenOutAgainIsNotCounted) {
  SenderSets sets, all;
  all.add_range(2, 0, 100);
  for (uint64_t index = 0; index < 1000; ++index) {
    sets.add(1, index);
    for (uint64_t other = 0; other < 20; ++other) sets.add(2, 2 * other);
    EXPECT_TRUE(sets.remove(1, index));
    sets -= all;
    ASSERT_EQ(sets.bytes(), 0u) << index;
  }
}

TEST(MessageLog, RecordsLieOneBehindAnotherAndAreFoundAgain) {
  MessageLog log(MessageLog::Holds::chunks);
  std::vector<Position> places;
  for (uint64_t index = 0; index < 5000; ++index) {
    const uint64_t byte = log.tail().byte;
    const auto appended = log.append(support::make_record(1, index, index % 300), 1);
    places.push_back({appended.chunk, appended.offset, appended.message, byte});
  }
  Position at = places[0];
  for (uint64_t index = 0; index < 5000; ++index) {
    ASSERT_EQ(at.message, index);
    ASSERT_EQ(wire::record_index(log.at(at)), index);
    ASSERT_EQ(log.normal(places[index]).chunk, places[index].chunk);
    at = log.behind(at);
  }
  EXPECT_EQ(at.message, log.tail().message);
  EXPECT_EQ(at.byte, log.tail().byte);
}

TEST(MessageLog, SeveralRecordsAtOnceLieAsIfEachCameAlone) {
  std::mt19937_64 random(4);
  for (const auto holds : {MessageLog::Holds::chunks, MessageLog::Holds::messages}) {
    MessageLog one_by_one(holds), together(holds);
    for (uint64_t index = 0; index < 20'000;) {
      wire::Bytes records;
      const size_t messages = 1 + random() % 200;
      std::vector<MessageLog::Appended> alone;
      for (size_t i = 0; i < messages; ++i) {
        const wire::Bytes record = support::make_record(1, index++, random() % 1000 == 0 ? 100'000 : random() % 900);
        records.insert(records.end(), record.begin(), record.end());
        alone.push_back(one_by_one.append(record, 1));
      }
      size_t at = 0;
      for (wire::ByteView rest = records; at < messages;) {
        const auto appended = together.append(rest, messages - at);
        ASSERT_GT(appended.messages, 0u);
        appended.for_each([&](const uint8_t* record, size_t bytes, uint32_t offset) {
          ASSERT_EQ(appended.chunk, alone[at].chunk);
          ASSERT_EQ(offset, alone[at].offset);
          ASSERT_EQ(bytes, alone[at].bytes);
          ASSERT_EQ(wire::record_index(record), wire::record_index(alone[at].records));
          ++at;
        });
        rest = rest.subspan(appended.bytes);
      }
      ASSERT_EQ(together.tail().chunk, one_by_one.tail().chunk);
      ASSERT_EQ(together.tail().offset, one_by_one.tail().offset);
      ASSERT_EQ(together.tail().message, one_by_one.tail().message);
      ASSERT_EQ(together.tail().byte, one_by_one.tail().byte);
      ASSERT_EQ(together.bytes_held(), one_by_one.bytes_held());
    }
  }
}

TEST(MessageLog, AChunkLivesAsLongAsItIsHeldAndIsUsedAgain) {
  MessageLog log(MessageLog::Holds::messages);
  std::vector<uint64_t> chunks;
  for (uint64_t index = 0; index < 100; ++index) chunks.push_back(log.append(support::make_record(1, index, 10'000), 1).chunk);
  const size_t full = log.bytes_held();
  EXPECT_GE(full, 100u * 10'048);
  const uint8_t* kept = log.at(chunks[50], 0);
  for (size_t i = 0; i < 100; ++i) {
    if (i != 50) log.release(chunks[i]);
  }
  EXPECT_LE(log.bytes_held(), 2 * MessageLog::chunk_bytes);
  EXPECT_EQ(log.at(chunks[50], 0), kept);
  log.release(chunks[50]);
  EXPECT_LE(log.bytes_held(), MessageLog::chunk_bytes);
}

TEST(MessageLog, AMessageLargerThanAChunkHasOneOfItsOwn) {
  MessageLog log(MessageLog::Holds::messages);
  const auto small = log.append(support::make_record(1, 0, 10), 1);
  const auto large = log.append(support::make_record(1, 1, 1'000'000), 1);
  const auto next = log.append(support::make_record(1, 2, 10), 1);
  EXPECT_NE(small.chunk, large.chunk);
  EXPECT_NE(next.chunk, large.chunk);
  EXPECT_EQ(log.end_of_chunk({large.chunk, large.offset, large.message, 58}).message, 2u);
  const size_t before = log.bytes_held();
  log.release(large.chunk);
  EXPECT_LE(log.bytes_held(), before - 1'000'048 + 200) << "its slot stays between the others";
  EXPECT_GT(log.bytes_held(), before - 1'000'048);
  log.release(small.chunk);
  EXPECT_EQ(log.bytes_held(), 58u);
}

TEST(Dispatcher, TurnsThatAreTakenTogetherAreThoseOfEach) {
  Dispatcher together(DispatchRule::round_robin, 1), each(DispatchRule::round_robin, 1);
  std::mt19937 random(1);
  const auto no_load = [](uint32_t) { return size_t{0}; };
  for (int step = 0; step < 10'000; ++step) {
    std::vector<uint32_t> receivers;
    for (uint32_t receiver = 1; receiver <= 9; ++receiver) {
      if (random() % 3 > 0 || receiver == 5) receivers.push_back(receiver);
    }
    const size_t messages = 1 + random() % 30;
    size_t place = together.take_turns(receivers, messages);
    for (size_t i = 0; i < messages; ++i) ASSERT_EQ(each.choose(receivers, no_load), receivers[place++ % receivers.size()]);
  }
}

TEST(Dispatcher, RandomGivesEachItsShare) {
  Dispatcher dispatcher(DispatchRule::random, 7);
  const std::vector<uint32_t> receivers = {1, 2, 5, 9, 11};
  std::map<uint32_t, int> count;
  for (int i = 0; i < 50'000; ++i) ++count[dispatcher.choose(receivers, [](uint32_t) { return size_t{0}; })];
  ASSERT_EQ(count.size(), receivers.size());
  for (const auto& [receiver, times] : count) EXPECT_NEAR(times, 10'000, 500) << receiver;
}

TEST(Pieces, SmallOnesAreCopiedLargeOnesAreNotAndNeighboursJoin) {
  Pieces pieces;
  wire::Bytes memory(100'000, 'x');
  const wire::ByteView all(memory);
  EXPECT_TRUE(pieces.add(all.subspan(0, 100)));
  EXPECT_TRUE(pieces.add(all.subspan(200, 100)));
  EXPECT_EQ(pieces.count(), 1) << "two copies lie side by side";
  EXPECT_TRUE(pieces.add(all.subspan(1000, 50'000)));
  EXPECT_TRUE(pieces.add(all.subspan(51'000, 10)));
  EXPECT_EQ(pieces.count(), 2) << "what lies side by side needs no copy";
  EXPECT_EQ(pieces.bytes(), 50'210u);
  EXPECT_EQ(pieces.data()[1].iov_base, memory.data() + 1000);
}

TEST(Pieces, NoMoreThanTheKernelLooksAt) {
  Pieces pieces;
  wire::Bytes memory(4 * Pieces::pieces_max * Pieces::gather_bytes_min);
  size_t taken = 0;
  while (pieces.gather(wire::ByteView(memory).subspan(2 * taken * Pieces::gather_bytes_min, Pieces::gather_bytes_min))) ++taken;
  EXPECT_EQ(taken, Pieces::pieces_max);
}

}  // namespace
}  // namespace n2nq
