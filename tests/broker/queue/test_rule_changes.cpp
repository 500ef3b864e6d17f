// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of requests that are brought in force while messages wait: in parts, in turn, and what that moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/broker/queue/queue_kit.h"

namespace n2nq {
namespace {

/// What a new list takes from its receiver, and brings it, are units like any others, so that lists in turn hold up nobody.
TEST(SelectiveBalancer, WhatANewListMovesIsCounted) {
  QueueOptions options;
  options.mode = wire::QueueMode::load_balancer;
  options.senders = 1;
  options.receivers = 2;
  options.requests = true;
  support::QueueKit kit(options);
  kit.join(1);
  kit.join(2);
  ASSERT_EQ(kit->set_rules(1, {{1, 1, 0, UINT32_MAX}}, 1), "");
  kit->add_credit(1, UINT32_MAX);
  constexpr size_t messages = 1000;
  for (uint64_t index = 0; index < messages; ++index) kit->take_in(support::make_record(1, index, 10), 1, 1);
  ASSERT_TRUE(kit->has_next(1));
  ASSERT_EQ(kit->set_rules(1, {{1, 1, 0, 20}}, 2, false), "");
  EXPECT_FALSE(kit->has_next(1)) << "it gets nothing until the new one is in force";
  size_t units = 0;
  while (const size_t more = kit->work(1)) units += more;
  EXPECT_GE(units, 2 * messages) << "taken back, and given again";
  EXPECT_TRUE(kit->has_next(1));
  kit.write_all(1);
  while (kit->has_next(1)) kit.write_all(1);
  EXPECT_EQ(kit.delivered(1).size(), messages);
}

/// Nor does one with more of them than are meant for it at a time.
TEST(SelectiveBalancer, WhatANewListMovesAtOnceIsNotMuch) {
  QueueOptions options;
  options.mode = wire::QueueMode::load_balancer;
  options.requests = true;
  support::QueueKit kit(options);
  kit.join(1);
  ASSERT_EQ(kit->set_rules(1, {{1, 1, 0, UINT32_MAX}}, 1), "");
  kit->add_credit(1, UINT32_MAX);
  constexpr size_t messages = 15'000;
  for (size_t i = 0; i < messages; ++i) kit.publish(1, 0, 0);
  ASSERT_EQ(kit->set_rules(1, {{1, 1, 0, 20}}, 2, false), "");
  size_t steps = 0;
  for (; const size_t units = kit->work(1); ++steps) EXPECT_LE(units, 4096 + 10u);
  EXPECT_GE(steps, 2u) << "taken back, and given again";
  while (kit->has_next(1)) kit.write_all(1);
  const std::vector<support::Delivered> delivered = kit.delivered(1);
  ASSERT_EQ(delivered.size(), messages);
  for (size_t i = 0; i < messages; ++i) ASSERT_EQ(delivered[i].index, i);
}

/// One list of 500 rules, each for another sender and size, over as many kinds of messages as there are messages.
class LargeList : public ::testing::TestWithParam<wire::QueueMode> {
 protected:
  static constexpr uint32_t senders = 100, each = 100;  // and one more sender for whoever else is there
  static QueueOptions options() {
    QueueOptions options;
    options.mode = GetParam();
    options.senders = senders + 1;
    options.receivers = 3;
    options.requests = true;
    return options;
  }
  static std::vector<wire::Rule> list() {
    std::vector<wire::Rule> rules;
    for (uint32_t i = 0; i < 500; ++i) rules.push_back({1 + i % senders, 1 + i % senders, 3 * (i % each), 3 * (i % each)});
    return rules;
  }
  static void fill(Queue& queue) {
    for (uint64_t index = 0; index < each; ++index) {
      for (uint32_t sender = 1; sender <= senders; ++sender) queue.take_in(support::make_record(sender, index, 3 * index), 1, 1);
    }
  }
  static QueueOptions small() {
    QueueOptions small = options();
    small.notes_bytes_max = 1'000'000;
    return small;
  }
  /// Receiver 1, which has another list in force: this one is refused, but not at once.
  static void ask_for_too_much(support::QueueKit& kit) {
    kit.join(1);
    EXPECT_EQ(kit->set_rules(1, {{1, 1, 0, 30}}, 1), "");
    fill(kit.queue());
    EXPECT_EQ(kit->set_rules(1, list(), 7), "") << "found out later";
  }
};

TEST_P(LargeList, IsBroughtInForceInStepsBetweenWhichOthersAreServed) {
  support::QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  EXPECT_EQ(kit->set_rules(1, {}, 1), "");
  const std::vector<wire::Rule> of_another = {{senders + 1, senders + 1, 0, UINT32_MAX}};
  EXPECT_EQ(kit->set_rules(2, of_another, 1), "");
  kit->add_credit(2, UINT32_MAX);
  fill(kit.queue());
  EXPECT_EQ(kit->set_rules(1, list(), 1), "");
  EXPECT_EQ(kit->set_rules(2, of_another, 2), "") << "as who comes back does: it waits for nobody's turn";
  kit->add_credit(1, UINT32_MAX);
  size_t steps = 0, longest = 0;
  const size_t wanted = kit->messages_taken_in();
  while (const size_t units = kit->work(2000)) {
    longest = std::max(longest, units);
    EXPECT_FALSE(kit->drained(1));
    if (steps < each) kit->take_in(support::make_record(senders + 1, steps, 10), 1, 2);
    kit.write_all(2);
    ++steps;
    EXPECT_EQ(kit.delivered(2).size(), std::min<size_t>(steps, each)) << "others are not to wait for it";
  }
  EXPECT_GE(steps, wanted / 2000);
  EXPECT_LE(longest, 2000u + 100u);
  EXPECT_TRUE(kit->take_refused_lists().empty());
  while (kit->has_next(1)) kit.write_all(1);
  std::set<std::pair<uint32_t, uint64_t>> asked_for;
  for (const wire::Rule& rule : list()) asked_for.insert({rule.sender_first, rule.size_min / 3});
  EXPECT_EQ(kit.delivered(1).size(), asked_for.size());
  for (const auto& record : kit.delivered(1)) EXPECT_TRUE(asked_for.contains({record.sender, record.index}));
}

/// In the load balancer it is meant for one of them alone, until that one asks for something else.
TEST_P(LargeList, LetsOthersHaveMeanwhileWhatWasMeantForWhoWaitsForItsTurn) {
  constexpr uint64_t messages = 3000;
  support::QueueKit kit(options());
  const uint32_t sender = senders + 1;
  for (uint32_t number = 1; number <= 3; ++number) kit.join(number);
  EXPECT_EQ(kit->set_rules(1, {}, 1), "");
  for (uint32_t number = 2; number <= 3; ++number) EXPECT_EQ(kit->set_rules(number, {{sender, sender, 0, UINT32_MAX}}, 1), "");
  kit->add_credit(1, UINT32_MAX);
  kit->add_credit(2, UINT32_MAX);
  for (uint64_t index = 0; index < messages; ++index) kit->take_in(support::make_record(sender, index, 10), 1, 1);
  EXPECT_TRUE(kit->has_next(2)) << "meant for it";
  fill(kit.queue());
  EXPECT_EQ(kit->set_rules(1, list(), 1), "");
  EXPECT_EQ(kit->set_rules(2, {{sender, sender, 1000, 1000}}, 2, false), "");
  kit->add_credit(3, UINT32_MAX);
  kit.write_all(3);
  while (kit.delivered(3).size() < messages) {
    const size_t units = kit->work(500);
    ASSERT_GT(units, 0u) << "nobody gets " << messages - kit.delivered(3).size() << " of them";
    EXPECT_LE(units, 2 * 500u + 100u) << "in parts: so many given back, and as many handed out";
    kit.write_all(3);
  }
  EXPECT_FALSE(kit->has_next(1)) << "its list, which the other one waits for, is not in force yet";
  for (uint64_t index = 0; index < messages; ++index) EXPECT_EQ(kit.delivered(3)[index].index, index);
  // What comes next goes by the lists.
  while (kit->work(2000) > 0) continue;
  kit->take_in(support::make_record(sender, messages, 1000), 1, 2);
  kit.write_all(2);
  kit.write_all(3);
  const uint64_t copies = GetParam() == wire::QueueMode::broadcaster ? 2 : 1;
  EXPECT_EQ(kit.delivered(2).size() + kit.delivered(3).size(), messages + copies);
}

TEST_P(LargeList, IsRefusedWhereTheQueueWouldHaveToKnowTooMuchOfEachMessage) {
  support::QueueKit kit(small());
  ask_for_too_much(kit);
  while (kit->work(2000) > 0) EXPECT_LE(kit->bytes_held(), 5'000'000u);
  const std::vector<RefusedList> refused = kit->take_refused_lists();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].receiver, 1u);
  EXPECT_EQ(refused[0].asked_on, 7u);
  EXPECT_NE(refused[0].reason.find("too many different kinds"), std::string::npos) << refused[0].reason;
  // The list before is in force.
  kit->add_credit(1, UINT32_MAX);
  kit.write_all(1);
  EXPECT_EQ(kit.delivered(1).size(), 11u);
}

TEST_P(LargeList, ThatIsRefusedLateHoldsUpNoConnectionThatCameMeanwhile) {
  support::QueueKit kit(small());
  ask_for_too_much(kit);
  kit->lose(1);
  kit.join(1);
  kit->add_credit(1, UINT32_MAX);
  kit->take_ready();
  EXPECT_FALSE(kit->has_next(1)) << "its list is under way";
  while (kit->work(2000) > 0) continue;
  ASSERT_EQ(kit->take_refused_lists().size(), 1u);
  const std::vector<uint32_t>& ready = kit->take_ready();
  EXPECT_TRUE(std::find(ready.begin(), ready.end(), 1u) != ready.end()) << "nobody else says that there is something for it";
  kit.write_all(1);
  EXPECT_EQ(kit.delivered(1).size(), 11u);
}

/// To put it in order is work like any other, also where no message waits that it could part.
TEST_P(LargeList, OfEachOfManyReceiversHasItsPartOfTheTime) {
  constexpr uint32_t receivers = 200, side = 32;
  QueueOptions many = options();
  many.receivers = receivers;
  support::QueueKit kit(many);
  // All single sizes of single senders but one, so that no two lists are equal and all have the same few borders.
  const auto list_without = [](uint32_t left_out) {
    std::vector<wire::Rule> rules;
    for (uint32_t i = 0; i < side * side; ++i) {
      const uint32_t sender = 1 + i % side, size = i / side;
      if (i != left_out) rules.push_back({sender, sender, size, size});
    }
    return rules;
  };
  size_t most = 0;
  const auto parts_until_all_are_in_force = [&](uint32_t first_left_out) {
    for (uint32_t number = 1; number <= receivers; ++number) {
      EXPECT_EQ(kit->set_rules(number, list_without(first_left_out + number), 1, false), "");
    }
    size_t parts = 0;
    for (; const size_t units = kit->work(2000); ++parts) most = std::max(most, units);
    return parts;
  };
  for (uint32_t number = 1; number <= receivers; ++number) kit.join(number);
  EXPECT_GE(parts_until_all_are_in_force(0), receivers / 5);
  EXPECT_GE(parts_until_all_are_in_force(receivers), receivers / 3) << "and the list before is taken apart, too";
  EXPECT_LE(most, 2000u + side * side + 10u) << "one list beyond";
  EXPECT_TRUE(kit->take_refused_lists().empty());
}

/// Who asks for it over and over would have it put in order each time.
TEST_P(LargeList, ThatIsInForceAlreadyWaitsForItsTurnWhereMuchIsAsked) {
  support::QueueKit kit(options());
  kit.join(1);
  ASSERT_EQ(kit->set_rules(1, {{1, 1, 0, 20}}, 1), "");
  kit->add_credit(1, 10);
  kit.publish(1);
  kit->take_ready();
  ASSERT_TRUE(kit->has_next(1));
  EXPECT_EQ(kit->set_rules(1, {{1, 1, 0, 20}}, 2), "");
  EXPECT_TRUE(kit->has_next(1)) << "it waits for nobody";
  EXPECT_EQ(kit->set_rules(1, {{1, 1, 0, 20}}, 3, false), "");
  EXPECT_FALSE(kit->has_next(1)) << "not looked at yet";
  while (kit->work(1) > 0) continue;
  EXPECT_TRUE(kit->take_refused_lists().empty());
  kit.write_all(1);
  EXPECT_EQ(kit.text(1), "1:0");
  EXPECT_TRUE(kit->drained(1));
}

INSTANTIATE_TEST_SUITE_P(BothModes, LargeList, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

/// One leaves while the list of another moves messages from one cell to others, a few at a time.
TEST(SelectiveBroadcaster, WhoLeavesInTheMiddleOfAChangeOfListsMissesAllThatWaits) {
  constexpr uint64_t messages = 60;
  QueueOptions options;
  options.receivers = 3;
  options.requests = true;
  options.rule_units_at_once = 1;
  bool more = true;  // in the middle of it, that is
  for (int steps = 0; more; ++steps) {
    support::QueueKit kit(options);
    for (uint32_t number = 1; number <= 3; ++number) kit.join(number);
    for (uint64_t i = 0; i < messages; ++i) kit->take_in(support::make_record(1, i, 1 + i % 2), 1, 1);
    EXPECT_EQ(kit->set_rules(1, {{1, 1, 1, 1}}, 1), "");
    for (int i = 0; i < steps; ++i) more = kit->work(1) > 0;
    for (const uint32_t number : {2, 3, 1}) {
      kit->leave(number);
      const uint64_t unrequested = of(kit->account(number).skipped, wire::SkipReason::unrequested).count();
      EXPECT_EQ(kit->still_queued(number).count() + unrequested, messages) << "receiver " << number << ", after " << steps;
      EXPECT_EQ(unrequested, number == 1 ? messages / 2 : 0);
      while (kit->work(1) > 0) continue;
    }
  }
}

/// A list whose borders cross all kinds has come, so each message that comes back is of a new one, to be compared with both lists.
class ManyComeBack : public ::testing::Test {
 protected:
  static constexpr uint64_t messages = 40;
  static QueueOptions options() {
    QueueOptions options;
    options.mode = wire::QueueMode::load_balancer;
    options.receivers = 2;
    options.requests = options.responses = true;
    options.retention_ns = 1000;
    options.senders = 2;
    options.rule_units_at_once = 1;
    return options;
  }
  void ask_for_each(uint32_t last_sender) {
    std::vector<wire::Rule> each;
    for (uint32_t size = 1; size <= messages; ++size) each.push_back({1, last_sender, size, size});
    EXPECT_EQ(kit->set_rules(2, each, 1), "");
    while (kit->work(1) > 0) continue;
  }
  ManyComeBack() : kit(options()) {
    kit.join(1);
    kit.join(2);
    ask_for_each(2);
    kit->add_credit(1, 1000);
    for (uint32_t size = 1; size <= messages; ++size) kit->take_in(support::make_record(1, size - 1, size), 1, 1);
    kit.write_all(1, 2);
    EXPECT_EQ(kit.delivered(1).size(), messages);
    ask_for_each(1);
    kit->add_credit(2, 1000);
    kit->lose(1);
  }
  void write_what_is_there() { kit.write_all(2, 3); }
  support::QueueKit kit;
};

TEST_F(ManyComeBack, TheyDoInParts) {
  int parts = 0;
  for (size_t before = 0;; ++parts) {
    write_what_is_there();
    const size_t now = kit.delivered(2).size();
    EXPECT_LE(now - before, 4u) << "of 41 rules each";
    before = now;
    EXPECT_FALSE(kit->drained());
    if (kit->work(1) == 0) break;
  }
  EXPECT_GT(parts, 10);
  const std::vector<support::Delivered> delivered = kit.delivered(2);
  ASSERT_EQ(delivered.size(), messages);
  for (uint64_t index = 0; index < messages; ++index) {
    EXPECT_EQ(delivered[index].index, index) << "in order, one behind the other";
    EXPECT_EQ(delivered[index].flags, wire::flag_redelivered);
  }
  EXPECT_EQ(kit->confirm(2, 0, messages, false), Queue::Confirmed::yes);
  EXPECT_TRUE(kit->drained());
}

TEST_F(ManyComeBack, WhatExpiresMeanwhileIsCountedAsThat) {
  kit->expire(5000);
  while (kit->work(1) > 0) continue;
  write_what_is_there();
  const size_t in_time = kit.delivered(2).size();
  EXPECT_EQ(of(kit->account(1).skipped, wire::SkipReason::expired).count() + of(kit->account(2).skipped, wire::SkipReason::expired).count() +
                in_time, messages);
  EXPECT_LT(in_time, 5u);
  EXPECT_EQ(kit->confirm(2, 0, static_cast<uint32_t>(in_time), false), in_time > 0 ? Queue::Confirmed::yes : Queue::Confirmed::nothing);
  EXPECT_TRUE(kit->drained());
}

TEST_F(ManyComeBack, WhatHasNotWhenTheRunEndsIsStillQueued) {
  kit->work(1);
  write_what_is_there();
  EXPECT_LT(kit.delivered(2).size(), messages);
  kit->finish();
  EXPECT_EQ(kit->total().still_queued.count(), messages) << "unconfirmed, or on its way to be delivered again";
}

TEST_F(ManyComeBack, WhatHasExpiredWhenTheRunEndsIsNotStillQueued) {
  kit->expire(5000);
  kit->finish();
  EXPECT_EQ(kit->total().still_queued.count(), 0u);
  EXPECT_EQ(of(kit->total().skipped, wire::SkipReason::expired).count(), messages);
}

}  // namespace
}  // namespace n2nq
