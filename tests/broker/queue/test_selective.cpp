// SPDX-License-Identifier: GPL-3.0-or-later
// Both modes with responses and requests against a simple model, in random lives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/broker/queue/selective_life.h"

namespace n2nq {
namespace {

/// N2NQ_LIVES in the environment asks for more.
#ifdef __SANITIZE_THREAD__
constexpr uint64_t lives = 60;  // twenty times slower there, and nothing here has a second thread
#elif defined(__SANITIZE_ADDRESS__)
constexpr uint64_t lives = 400;
#else
constexpr uint64_t lives = 3000;
#endif

TEST(SelectiveBalancer, WhatComesBackGoesToAnotherReceiverIfOneHasRoom) {
  QueueOptions options;
  options.mode = wire::QueueMode::load_balancer;
  options.receivers = 2;
  options.responses = true;
  options.responses_window = 1;
  for (const DispatchRule dispatch : {DispatchRule::random, DispatchRule::round_robin, DispatchRule::next_free}) {
    options.dispatch = dispatch;
    support::QueueKit kit(options);
    kit.join(1);
    kit.join(2);
    kit.publish(1);
    const uint32_t first = kit->has_next(1) ? 1 : 2;
    const uint32_t other = 3 - first;
    kit.write_all(first);
    EXPECT_EQ(kit->confirm(first, 0, 1, true), Queue::Confirmed::yes);
    EXPECT_FALSE(kit->has_next(first));
    kit.write_all(other);
    EXPECT_EQ(kit.text(other), "1:0");
    // The other one has no room now: the next one is for the first, and comes back to it.
    kit.publish(1);
    kit.write_all(first);
    EXPECT_EQ(kit->confirm(first, 1, 1, true), Queue::Confirmed::yes);
    kit.write_all(first);
    EXPECT_EQ(kit.text(first), "1:0 1:1 1:1");
    EXPECT_EQ(kit.delivered(first).back().attempt, 2);
  }
}

/// As much as 1 MiB is chosen for one at a time: what others left cuts off nobody who reads, also where the limit is as small as that.
TEST(SelectiveBalancer, WhatOthersLeaveIsNobodysBacklog) {
  QueueOptions options;
  options.mode = wire::QueueMode::load_balancer;
  options.receivers = 2;
  options.responses = true;
  options.pending_bytes_max = 1 << 20;
  support::QueueKit kit(options);
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 60; ++i) kit.publish(1, 0, 100'000);
  kit->lose(2);
  kit->take_ready();
  ASSERT_EQ(kit.write(1, 1000), 1000u);
  EXPECT_GT(kit->backlog_bytes(1), 0u);
  EXPECT_LE(kit->backlog_bytes(1), Batch::body_bytes_max);
}

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

/// Each receiver asks for its own size alone, so that it misses nearly everything: in long runs, but only once the whole is known.
TEST(SelectiveBroadcaster, TellsOfWhatWasNotAskedForInLongRuns) {
  constexpr uint32_t receivers = 20, messages = 20'000;
  QueueOptions options;
  options.receivers = receivers;
  options.requests = true;
  support::QueueKit kit(options);
  for (uint32_t number = 1; number <= receivers; ++number) {
    kit.join(number);
    EXPECT_EQ(kit->set_rules(number, {{1, 1, number, number}}, 1), "");
    kit->add_credit(number, messages);
  }
  for (uint64_t i = 0; i < messages; ++i) {
    kit->take_in(support::make_record(1, i, 1 + i % receivers), 1, 1);
    if (i % 100 == 99) {
      for (uint32_t number = 1; number <= receivers; ++number) kit.write_all(number);
    }
  }
  // Who leaves in the middle knows all of it, and nobody else is held up by that.
  for (int part = 0; part < 10; ++part) EXPECT_TRUE(kit->settle(1000));
  EXPECT_FALSE(kit->account(2).has_untold);
  kit->leave(1);
  EXPECT_TRUE(kit->account(1).has_untold);
  EXPECT_FALSE(kit->account(2).has_untold);
  size_t parts = 0;
  for (bool more = true; more; ++parts) {
    more = kit->settle(1000);
    for (uint32_t number = 1; number <= receivers; ++number) {
      if (!kit->account(number).has_untold) continue;
      const SkippedSets untold = kit->take_untold(number);
      const SenderSets& sets = of(untold, wire::SkipReason::unrequested);
      EXPECT_EQ(sets.count(), messages - messages / receivers);
      size_t runs = 0;
      for ([[maybe_unused]] const auto& run : sets.sets().at(1).runs()) ++runs;
      EXPECT_LE(runs, messages / receivers + 1);
    }
  }
  EXPECT_GE(parts, receivers) << "never much at once";
  for (uint32_t number = 1; number <= receivers; ++number) {
    EXPECT_FALSE(kit->account(number).has_untold);
    EXPECT_EQ(of(kit->account(number).skipped, wire::SkipReason::unrequested).count(), messages - messages / receivers);
  }
}

/// One leaves and comes back over and over, while others are to be told much: that waits for its turn, and is not counted for the one.
TEST(SelectiveBroadcaster, WhoComesBackIsNoReasonToFindOutForAllWhatLeft) {
  constexpr uint32_t receivers = 4;
  constexpr uint64_t messages = 100;
  for (size_t settled_bytes = 100; settled_bytes < 20'000; settled_bytes += settled_bytes / 4) {
    SCOPED_TRACE(settled_bytes);
    QueueOptions options;
    options.receivers = receivers;
    options.requests = true;
    support::QueueKit kit(options);
    // Each asks for its own size.
    for (uint32_t number = 1; number <= receivers; ++number) {
      kit.join(number);
      EXPECT_EQ(kit->set_rules(number, {{1, 1, number, number}}, 1), "");
      kit->add_credit(number, 1000 * messages);
    }
    uint64_t published = 0, got = 0;
    const auto publish = [&] {
      for (uint64_t i = 0; i < messages; ++i, ++published) kit.publish(1, 0, 1 + i % receivers);
      for (uint32_t number = 1; number <= receivers; ++number) kit.write_all(number);
    };
    const auto skipped = [&](uint32_t number) { return of(kit->account(number).skipped, wire::SkipReason::unrequested).count(); };
    for (int time = 0; time < 3; ++time) {
      publish();
      got += messages / receivers;
      kit->settle(settled_bytes);  // a part of it
      const uint64_t before = skipped(2);
      kit->leave(1);
      EXPECT_EQ(skipped(1) + kit->still_queued(1).count(), published - got);
      publish();  // of this it gets what nobody else has asked for
      kit.join(1);
      kit->add_credit(1, 1000 * messages);
      kit.write_all(1);
      got += messages / receivers;
      EXPECT_EQ(skipped(2), before) << "found out when it is its turn";
    }
    publish();
    got += messages / receivers;
    while (kit->settle(settled_bytes)) continue;
    while (kit->settle(settled_bytes)) continue;
    for (uint32_t number = 2; number <= receivers; ++number) EXPECT_EQ(skipped(number), published - published / receivers);
    // What left while it had left is not unrequested, and all is counted once.
    kit->finish();
    EXPECT_EQ(skipped(1), 4 * (messages - messages / receivers));
    EXPECT_EQ(kit->still_queued(1).count(), published - got - skipped(1));
    EXPECT_EQ(kit->account(1).handed_over, got);
    SenderSets twice = kit->still_queued(1);
    twice -= of(kit->account(1).skipped, wire::SkipReason::unrequested);
    EXPECT_EQ(twice.count(), kit->still_queued(1).count());
  }
}

/// The slowest one goes, for whom alone very much is kept: others are served between the parts in which it leaves.
TEST(SelectiveBroadcaster, WhatOneHeldBackLeavesInParts) {
  constexpr uint64_t messages = 5000;
  for (const bool cut_off : {false, true}) {
    QueueOptions options;
    options.receivers = 2;
    options.responses = true;
    options.responses_window = 100;
    options.passed_at_once = 300;
    support::QueueKit kit(options);
    kit.join(1);
    kit.join(2);
    for (uint64_t i = 0; i < messages; ++i) {
      kit.publish(1);
      kit.write(1);
      kit.write(2);
      EXPECT_EQ(kit->confirm(2, i, 1, false), Queue::Confirmed::yes);
    }
    kit->trim();
    const size_t held = kit->bytes_held();
    cut_off ? kit->cut_off(1) : kit->leave(1);
    kit->trim();
    EXPECT_GT(kit->bytes_held(), held / 2);
    size_t parts = 0;
    while (const size_t units = kit->work(100)) {
      EXPECT_LE(units, 100u + 302u);
      kit->trim();
      ++parts;
    }
    EXPECT_GE(parts, messages / 402 - 1);
    EXPECT_LT(kit->bytes_held(), 70'000u);
    EXPECT_TRUE(kit->drained(2));
    const uint64_t missed = cut_off ? of(kit->account(1).skipped, wire::SkipReason::cut_off).count() : kit->still_queued(1).count();
    EXPECT_EQ(missed, messages);
    EXPECT_EQ(kit->account(2).confirmed, messages);
  }
}

/// The same where it is of very many kinds, and where a new list of that one lets go of it.
TEST(SelectiveBroadcaster, WhatOneHeldBackInManyKindsLeavesInParts) {
  constexpr uint64_t kinds = 100, messages = 50 * kinds;
  constexpr size_t units_at_once = 100;
  for (const std::string how : {"new list", "END", "cut off"}) {
    SCOPED_TRACE(how);
    QueueOptions options;
    options.receivers = 2;
    options.requests = true;
    options.passed_at_once = 300;
    support::QueueKit kit(options);
    kit.join(1);
    kit.join(2);
    std::vector<wire::Rule> each;
    for (uint32_t kind = 0; kind < kinds; ++kind) each.push_back({1, 1, 2 * kind, 2 * kind});
    ASSERT_EQ(kit->set_rules(1, each, 1), "");
    while (kit->work(units_at_once) > 0) continue;
    kit->add_credit(2, messages);
    for (uint64_t i = 0; i < messages; ++i) kit.publish(1, 0, 2 * (i % kinds));
    kit.write_all(2);
    ASSERT_EQ(kit.delivered(2).size(), messages);
    size_t passed = 0;
    if (how == "new list") {
      ASSERT_EQ(kit->set_rules(1, {}, 2, false), "");
    } else {
      how == "END" ? kit->leave(1) : kit->cut_off(1);
      passed = options.passed_at_once;
    }
    while (const size_t units = kit->work(units_at_once)) {
      EXPECT_LE(units, units_at_once + options.passed_at_once + 10);
      passed += units;
      kit->trim();
    }
    EXPECT_GE(passed, messages) << "each of them is a unit";
    EXPECT_LT(kit->bytes_held(), 70'000u);
    EXPECT_TRUE(kit->drained());
  }
}

/// Everything goes by time but what is to be answered still: that alone keeps memory from others.
TEST(SelectiveBroadcaster, ByTimeNothingIsKeptForAReceiverButWhatItHasNotAnsweredByTheRetention) {
  QueueOptions options;
  options.removal = RemovalRule::after_time;
  options.responses = options.requests = true;
  options.responses_deadline_ns = 10 * options.retention_ns;
  support::QueueKit kit(options);
  kit.join(1);
  kit.publish(1);
  EXPECT_FALSE(kit->is_kept_waiting(1)) << "it asks for nothing, and time does not wait for that";
  kit->add_credit(1, 1);
  kit.write_all(1);
  ASSERT_EQ(kit.text(1), "1:0");
  EXPECT_FALSE(kit->is_kept_waiting(1)) << "its retention is not over";
  kit->expire(options.retention_ns);
  EXPECT_TRUE(kit->is_kept_waiting(1));
  EXPECT_EQ(kit->confirm(1, 0, 1, false), Queue::Confirmed::yes);
  EXPECT_FALSE(kit->is_kept_waiting(1));
}

/// A receiver that answers nothing, with a large window: others are served between the parts in which its deliveries are taken back.
TEST(Selective, DeadlinesOfVeryManyDeliveriesPassInParts) {
  constexpr uint64_t messages = 5000;
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    QueueOptions options;
    options.mode = mode;
    options.responses = true;
    options.responses_window = messages;
    options.passed_at_once = 300;
    support::QueueKit kit(options);
    kit.join(1);
    for (uint64_t i = 0; i < messages; ++i) kit.publish(1);
    kit.write_all(1);
    ASSERT_EQ(kit.delivered(1).size(), messages);
    const int64_t passed_ns = options.responses_deadline_ns + 1;
    size_t parts = 1;
    for (; kit->pass_deadlines(passed_ns); ++parts) {
      kit.write_all(1, passed_ns);
      EXPECT_EQ(kit.delivered(1).size(), messages + parts * options.passed_at_once);
    }
    EXPECT_EQ(parts, messages / options.passed_at_once + 1);
    kit.write_all(1, passed_ns);
    EXPECT_EQ(kit->account(1).redelivered, messages);
    EXPECT_EQ(kit->next_deadline_ns(), passed_ns + options.responses_deadline_ns);
  }
}

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

class Selective : public ::testing::TestWithParam<wire::QueueMode> {};

TEST_P(Selective, DoesWhatTheModelDoes) {
  const char* wanted = std::getenv("N2NQ_LIVES");
  const uint64_t end = wanted ? std::strtoull(wanted, nullptr, 10) : lives;
  for (uint64_t seed = 0; seed < end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    support::Life(seed, GetParam()).live();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, Selective, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

}  // namespace
}  // namespace n2nq
