// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/asked_for.h"

#include <gtest/gtest.h>

namespace n2nq::worker {
namespace {

const wire::Rule of_sender_1{1, 1, 0, 0xFFFFFFFF};
const wire::Rule of_sender_2{2, 2, 0, 0xFFFFFFFF};
const wire::Rule of_small_ones{0, 0xFFFFFFFF, 10, 20};

TEST(AskedFor, BeforeTheFirstListIsAnything) {
  EXPECT_TRUE(AskedFor().matches(0, 0, 7, 70));
}

TEST(AskedFor, OneOfTheRulesIsEnoughAndNoneIsNothing) {
  AskedFor asked;
  asked.replace({of_sender_1, of_small_ones}, 0);
  EXPECT_TRUE(asked.matches(0, 0, 1, 70));
  EXPECT_TRUE(asked.matches(1, 0, 2, 10));
  EXPECT_TRUE(asked.matches(2, 0, 2, 20));
  EXPECT_FALSE(asked.matches(3, 0, 2, 21));
  EXPECT_FALSE(asked.matches(4, 0, 2, 9));
  asked.replace({}, 5);
  EXPECT_FALSE(asked.matches(5, 0, 1, 15));
}

TEST(AskedFor, WhatWasUnderWayMayBeDueToTheListBefore) {
  AskedFor asked;
  asked.replace({of_sender_1}, 0);
  asked.replace({of_sender_2}, 10);
  EXPECT_TRUE(asked.matches(8, 0, 1, 1));
  EXPECT_TRUE(asked.matches(8, 0, 2, 1)) << "the new list may be in force already";
  EXPECT_TRUE(asked.matches(9, 0, 1, 1));
  EXPECT_FALSE(asked.matches(9, 0, 3, 1));
  EXPECT_FALSE(asked.matches(10, 0, 1, 1));
  EXPECT_TRUE(asked.matches(11, 0, 2, 1));
}

TEST(AskedFor, OrWhatWasSentEarlyEnough) {
  AskedFor asked;
  asked.replace({of_sender_1}, 0);
  asked.replace({of_sender_2}, AskedFor::any_number, 1000);
  EXPECT_TRUE(asked.matches(70, 1000, 1, 1));
  EXPECT_FALSE(asked.matches(71, 1001, 1, 1));
  EXPECT_TRUE(asked.matches(72, 1001, 2, 1));
}

TEST(AskedFor, SeveralListsMayBeUnderWay) {
  AskedFor asked;
  asked.replace({of_sender_1}, 0);
  asked.replace({of_sender_2}, 10);
  asked.replace({of_small_ones}, 12);
  EXPECT_TRUE(asked.matches(9, 0, 1, 1));
  EXPECT_FALSE(asked.matches(10, 0, 1, 1));
  EXPECT_TRUE(asked.matches(11, 0, 2, 1));
  EXPECT_FALSE(asked.matches(12, 0, 2, 1));
  EXPECT_TRUE(asked.matches(13, 0, 5, 15));
}

TEST(AskedFor, OnAnotherConnectionAsMuchAsTheNextListSaysMayBeOlder) {
  AskedFor asked;
  asked.replace({of_sender_1}, 0);
  asked.replace({of_sender_2}, 1000);
  asked.reconnect();
  asked.replace({of_small_ones}, 2);
  EXPECT_TRUE(asked.matches(0, 0, 1, 1)) << "begun on the connection before";
  EXPECT_TRUE(asked.matches(1, 0, 2, 1));
  EXPECT_FALSE(asked.matches(2, 0, 2, 1));
}

TEST(AskedFor, ForgetsTheOldestOfVeryManyListsTowardsYes) {
  AskedFor asked;
  for (std::uint64_t list = 0; list < 1000; ++list) asked.replace({of_sender_1}, 5 * list);
  EXPECT_TRUE(asked.matches(0, 0, 3, 1)) << "what was asked for so long ago is not known any more";
  EXPECT_FALSE(asked.matches(5 * 999, 0, 3, 1));
}

}  // namespace
}  // namespace n2nq::worker
