// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <random>

#include "broker/queue/allowance.h"

namespace n2nq {
namespace {

using Answer = Flights::Answer;

TEST(Flights, AnAnswerIsTakenOnce) {
  Flights flights;
  for (uint32_t i = 0; i < 3; ++i) flights.add({i, 1, 0, true, 10 + i});
  Flight flight;
  EXPECT_EQ(flights.answer(3, flight), Answer::never_sent);
  EXPECT_EQ(flights.answer(1, flight), Answer::taken);
  EXPECT_EQ(flight.message, 1u);
  EXPECT_EQ(flights.answer(1, flight), Answer::twice);
  EXPECT_EQ(flights.open(), 2u);
  EXPECT_EQ(flights.next_deadline_ns(), 10);
  EXPECT_FALSE(flights.pass_deadline(9).has_value());
  EXPECT_EQ(flights.pass_deadline(11)->message, 0u);
  EXPECT_FALSE(flights.pass_deadline(11).has_value()) << "1 is answered, 2 has time";
  EXPECT_EQ(flights.answer(0, flight), Answer::late);
  EXPECT_EQ(flights.answer(0, flight), Answer::twice);
  EXPECT_EQ(flights.reset().size(), 1u);
  EXPECT_EQ(flights.next_number(), 0u);
}

TEST(Flights, OneThatIsNeverAnsweredHoldsUpNoMemoryAndIsFoundAfterAMillion) {
  Flights flights;
  Flight flight;
  flights.add({77, 1, 0, true, 5'000'000});
  for (uint32_t i = 1; i <= 1'000'000; ++i) {
    flights.add({i, 1, 0, true, 5'000'000 + i});
    ASSERT_EQ(flights.answer(i, flight), Answer::taken);
  }
  EXPECT_EQ(flights.answer(5, flight), Answer::twice);
  EXPECT_EQ(flights.next_deadline_ns(), 5'000'000);
  EXPECT_EQ(flights.answer(0, flight), Answer::taken);
  EXPECT_EQ(flight.message, 77u);
}

TEST(Flights, DoesWhatATableDoes) {
  struct One {
    bool open = true;
    bool answered = false;
    int64_t deadline_ns = 0;
  };
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    Flights flights;
    std::vector<One> table;
    int64_t now_ns = 1;
    for (int step = 0; step < 20'000; ++step) {
      const uint64_t what = random() % 10;
      if (what < 5) {
        table.push_back({true, false, now_ns + 3000});
        flights.add({static_cast<uint32_t>(table.size() - 1), 1, 0, true, now_ns + 3000});
      } else if (what < 9 && !table.empty()) {
        const uint64_t number =
            random() % 3 ? table.size() - 1 - random() % std::min<size_t>(table.size(), 20) : random() % (table.size() + 1);
        Flight flight;
        const Answer answer = flights.answer(number, flight);
        if (number == table.size()) {
          ASSERT_EQ(answer, Answer::never_sent);
          continue;
        }
        One& one = table[number];
        ASSERT_EQ(answer, one.answered ? Answer::twice : one.open ? Answer::taken : Answer::late);
        one.answered = true;
        one.open = false;
      } else {
        ++now_ns;
        while (const auto passed = flights.pass_deadline(now_ns)) {
          ASSERT_TRUE(table[passed->message].open);
          ASSERT_LE(table[passed->message].deadline_ns, now_ns);
          table[passed->message].open = false;
        }
      }
      if (step % 500 != 0) continue;
      size_t open = 0;
      for (const One& one : table) open += one.open;
      ASSERT_EQ(flights.open(), open);
    }
  }
}

TEST(Flights, WhatWasForgottenCountsAsLate) {
  Flights flights;
  Flight flight;
  constexpr uint32_t count = 16 * Flights::answered_bytes_max;
  // Every other one is answered late: they never grow together.
  for (uint32_t i = 0; i < count; ++i) flights.add({i, 1, 0, true, 1});
  for (uint32_t i = 0; i < count; i += 2) ASSERT_EQ(flights.answer(i, flight), Answer::taken);
  EXPECT_EQ(flights.answer(0, flight), Answer::forgotten);
  EXPECT_GT(flights.remembered_from(), 0u);
  EXPECT_EQ(flights.answer(flights.remembered_from() - 1, flight), Answer::forgotten);
  EXPECT_EQ(flights.answer(count - 2, flight), Answer::twice);
}

TEST(Flights, OnlyTheOlderHalfIsForgottenAndNotBeforeTheMemoryIsUsedUp) {
  constexpr uint32_t each = 200;
  Flights flights;
  Flight flight;
  uint32_t next = 0;
  // Of each 200 deliveries the first one.
  const auto leave_out = [&](uint32_t times) {
    for (const uint32_t end = next + times * each; next < end; ++next) {
      flights.add({next, 1, 0, true, 1'000'000});
      if (next % each == 0) continue;
      ASSERT_EQ(flights.answer(next, flight), Answer::taken);
      ASSERT_LE(flights.answered_bytes(), Flights::answered_bytes_max);
    }
  };
  leave_out(5000);
  EXPECT_EQ(flights.remembered_from(), 0u) << "24 bytes for each run of answers are less than 128 KiB";
  leave_out(1000);
  EXPECT_GT(flights.remembered_from(), 0u);
  EXPECT_LE(flights.remembered_from(), next / 2);
  for (uint32_t left = next - 1000 * each; left < next; left += each) ASSERT_EQ(flights.answer(left, flight), Answer::taken) << left;
}

TEST(Flights, OfThoseWhoseDeadlinePassedAsManyAreRememberedAsAWindowMayHave) {
  Flights flights;
  Flight flight;
  constexpr uint32_t count = 1'000'000;
  for (uint32_t i = 0; i < count; ++i) {
    flights.add({i, 1, 0, true, 1});
    ASSERT_TRUE(flights.pass_deadline(2));
    ASSERT_LE(flights.next_number() - flights.remembered_from(), 2 * Flights::passed_max);
  }
  EXPECT_EQ(flights.answer(0, flight), Answer::forgotten);
  EXPECT_EQ(flights.answer(count - Flights::passed_max, flight), Answer::late);
  EXPECT_EQ(flights.answer(count - Flights::passed_max, flight), Answer::twice);
}

TEST(Allowance, IsTheSmallerOfCreditAndWindow) {
  DeliveryMemory memory;
  Allowance both(true, 3, memory);
  EXPECT_EQ(both.room(), 0u);
  both.add_credit(10);
  EXPECT_EQ(both.room(), 3u);
  both.begin();
  both.begin();
  EXPECT_EQ(both.room(), 1u);
  both.hand_over({0, 1, 0, true, 5});
  both.take_back();
  EXPECT_EQ(both.room(), 2u);
  EXPECT_EQ(both.unconfirmed(), 1u);
  Flight flight;
  EXPECT_EQ(both.answer(0, flight), Answer::taken);
  EXPECT_EQ(both.room(), 3u);
  both.add_credit(UINT64_MAX);
  both.add_credit(UINT64_MAX);
  Allowance credit(true, 0, memory);
  credit.add_credit(UINT64_MAX);
  credit.add_credit(1);
  EXPECT_EQ(credit.room(), Allowance::credit_max);
  EXPECT_TRUE(credit.reset().empty());
  EXPECT_EQ(credit.room(), 0u);
}

TEST(Allowance, IsAFewWhereTheMemoryThatAllShareIsUsedUp) {
  DeliveryMemory memory{0, 20 * Allowance::bytes_per_delivery};
  Allowance greedy(false, 1000, memory);
  Allowance other(false, 1000, memory);
  for (int i = 0; i < 20; ++i) greedy.begin();
  EXPECT_EQ(memory.bytes, memory.bytes_max);
  EXPECT_EQ(greedy.room(), 0u);
  EXPECT_EQ(other.room(), Allowance::always);
  for (int i = 0; i < 5; ++i) greedy.hand_over({0, 1, 0, true, 5});
  EXPECT_EQ(greedy.room(), 0u) << "they are not answered yet";
  greedy.take_back();
  EXPECT_EQ(greedy.room(), 1000u - 19);
  greedy.reset();
  EXPECT_EQ(memory.bytes, 0u);
}

}  // namespace
}  // namespace n2nq
