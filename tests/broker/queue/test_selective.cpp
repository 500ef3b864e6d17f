// SPDX-License-Identifier: GPL-3.0-or-later
// Both modes with responses and requests against a simple model, in random lives.
#include <gtest/gtest.h>

#include <cstdlib>

#include "broker/queue/selective_broadcaster.h"
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
  for (int i = 0; i < 300; ++i) kit.publish(1, 0, 20'000);
  kit->lose(2);
  kit->take_ready();
  ASSERT_EQ(kit.write(1, 1000), 1000u);
  EXPECT_GT(kit->backlog_bytes(1), 0u);
  EXPECT_LE(kit->backlog_bytes(1), Batch::body_bytes_max);
}

/// However much is done of a new list: what both of them match is wanted all the time, and what neither matches never is.
TEST(SelectiveBalancer, WhatBothListsMatchIsWantedWhileOneChangesOverToTheOther) {
  for (const std::string how : {"retention", "end of the run", "END"}) {
    bool under_way = true;
    for (size_t calls = 0; under_way; ++calls) {
      SCOPED_TRACE(how + " after " + std::to_string(calls));
      QueueOptions options;
      options.mode = wire::QueueMode::load_balancer;
      options.senders = 2;
      options.requests = true;
      support::QueueKit kit(options);
      kit.join(1);
      ASSERT_EQ(kit->set_rules(1, {{1, 1, 0, 1000}}, 1), "");
      kit.publish(1);
      kit.publish(2);
      ASSERT_EQ(kit->set_rules(1, {{1, 1, 5, 20}}, 2, false), "");
      for (size_t call = 0; call < calls; ++call) under_way = kit->work(1) > 0;
      if (how == "END") kit->leave(1);
      how == "end of the run" ? kit->finish() : kit->expire(options.retention_ns);
      const SenderSets& wanted = how == "end of the run" ? kit->total().still_queued : of(kit->total().skipped, wire::SkipReason::expired);
      const SenderSets& unrequested = of(kit->total().skipped, wire::SkipReason::unrequested);
      EXPECT_EQ(support::text_of(wanted), how == "END" ? "" : "1:0");
      EXPECT_EQ(support::text_of(unrequested), how == "END" ? "1:0 2:0" : "2:0");
      if (how != "END") continue;
      while (kit->work(1000) > 0) continue;
      kit.join(1);
      kit.publish(1, options.retention_ns);
      kit->expire(2 * options.retention_ns);
      EXPECT_EQ(support::text_of(wanted), "1:1");
    }
  }
}

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

/// Two leave and come back over and over, at places apart in the middle of a long queue: what waits from there on is known then.
TEST(SelectiveBroadcaster, WhoComesAndGoesInTheMiddleHasWhatWaitsWalkedOverOnce) {
  constexpr uint64_t messages = 20'000;
  for (const bool requests : {false, true}) {
    QueueOptions options;
    options.receivers = 3;  // the last one is never there: the queue keeps all for it
    options.requests = requests;
    options.responses = !requests;
    options.responses_window = messages;
    support::QueueKit kit(options);
    for (uint64_t i = 0; i < messages; ++i) kit.publish(1);
    for (const uint32_t receiver : {1u, 2u}) {
      kit.join(receiver);
      if (requests) kit->add_credit(receiver, messages);
      for (uint32_t batches = 4 * receiver; batches > 0; --batches) kit.write(receiver);
      const auto taken = static_cast<uint32_t>(kit.delivered(receiver).size());
      if (!requests) {
        EXPECT_EQ(kit->confirm(receiver, 0, taken, false), Queue::Confirmed::yes);
      }
    }
    const auto& queue = dynamic_cast<const SelectiveBroadcaster&>(kit.queue());
    uint64_t walked_before = 0;
    for (int round = 0; round < 10; ++round) {
      if (round == 1) walked_before = queue.walked_over();
      for (const uint32_t receiver : {1u, 2u}) {
        SenderSets missed = kit.published();
        for (const support::Delivered& one : kit.delivered(receiver)) missed.remove(one.sender, one.index);
        EXPECT_GT(missed.count(), messages / 2);
        kit->leave(receiver);
        EXPECT_EQ(support::text_of(kit->still_queued(receiver)), support::text_of(missed));
        kit.publish(1);
        kit.join(receiver);
        EXPECT_TRUE(kit->still_queued(receiver).empty());
        if (!requests) {
          EXPECT_EQ(kit->backlog_bytes(receiver), (missed.count() + 1) * 58);
        }
      }
    }
    EXPECT_LT(walked_before, 4 * messages);
    EXPECT_LT(queue.walked_over() - walked_before, 100u) << "what came in meanwhile";
  }
}

/// They stand close to each other in the middle of a long queue, or at the end of the run anywhere; some ask for nothing.
TEST(SelectiveBroadcaster, ManyThatGoAtOnceShareTheWalkOverWhatWaits) {
  constexpr uint32_t receivers = 20;
  constexpr uint64_t messages = 20'000;
  for (const std::string how : {"cut off", "END", "end of the run"}) {
    SCOPED_TRACE(how);
    QueueOptions options;
    options.receivers = receivers;
    options.requests = true;
    support::QueueKit kit(options);
    const auto asks = [](uint32_t receiver) { return receiver % 5 != 0; };
    const auto has = [&](uint32_t receiver) -> uint64_t {
      if (receiver == 1 || !asks(receiver)) return 0;  // for the first one the queue keeps all
      return how == "end of the run" ? 900 * receiver : 9000 + 10 * receiver;
    };
    for (uint64_t i = 0; i < messages; ++i) kit.publish(1);
    for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
      kit.join(receiver);
      if (!asks(receiver)) {
        ASSERT_EQ(kit->set_rules(receiver, {}, 1), "");
      }
      kit->add_credit(receiver, has(receiver));
      kit.write_all(receiver);
      ASSERT_EQ(kit.delivered(receiver).size(), has(receiver));
    }
    while (kit->work(1000) > 0) continue;
    const auto& queue = dynamic_cast<const SelectiveBroadcaster&>(kit.queue());
    const uint64_t walked_before = queue.walked_over();
    if (how == "end of the run") {
      kit->finish();
      EXPECT_LE(queue.walked_over() - walked_before, messages);
    } else {
      for (uint32_t receiver = receivers; receiver > 0; --receiver) how == "END" ? kit->leave(receiver) : kit->cut_off(receiver);
      EXPECT_LT(queue.walked_over() - walked_before, 2 * messages);
    }
    for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
      const SkippedSets& skipped = kit->account(receiver).skipped;
      const SenderSets& missed = how == "cut off" ? of(skipped, wire::SkipReason::cut_off) : kit->still_queued(receiver);
      EXPECT_EQ(missed.count(), asks(receiver) ? messages - has(receiver) : 0) << receiver;
      EXPECT_EQ(of(skipped, wire::SkipReason::unrequested).count(), asks(receiver) ? 0 : messages) << receiver;
    }
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

/// One that answers nothing of very much does not keep the others' messages from coming back.
TEST(Selective, DeadlinesOfOneReceiverDoNotDelayThoseOfOthers) {
  constexpr uint64_t messages = 1000;
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    QueueOptions options;
    options.mode = mode;
    options.senders = options.receivers = 2;
    options.responses = options.requests = true;
    options.responses_window = messages;
    options.passed_at_once = 10;
    support::QueueKit kit(options);
    for (const uint32_t number : {1u, 2u}) {
      kit.join(number);
      ASSERT_EQ(kit->set_rules(number, {{number, number, 0, 1000}}, 1), "");
      kit->add_credit(number, 2 * messages);
    }
    for (uint64_t i = 0; i < messages; ++i) kit.publish(1);
    kit.publish(2);
    for (const uint32_t number : {1u, 2u}) kit.write_all(number);
    ASSERT_EQ(kit.delivered(1).size(), messages);
    ASSERT_EQ(kit.delivered(2).size(), 1u);
    const int64_t passed_ns = options.responses_deadline_ns + 1;
    for (int call = 0; call < 2; ++call) EXPECT_TRUE(kit->pass_deadlines(passed_ns));
    while (kit->work(1000) > 0) continue;  // what comes back of new kinds waits for that
    kit.write_all(2, passed_ns);
    EXPECT_EQ(kit.text(2), "2:0 2:0");
    while (kit->pass_deadlines(passed_ns)) continue;
    while (kit->work(1000) > 0) continue;
    kit.write_all(1, passed_ns);
    EXPECT_EQ(kit.delivered(1).size(), 2 * messages);
  }
}

/// Where one entry is held and very many behind it have left, who comes to that one steps over all of them.
TEST(SelectiveBroadcaster, WhatIsPassedWhileABatchIsBegunIsWorkUntilItIsDone) {
  constexpr uint64_t messages = 1000;
  QueueOptions options;
  options.receivers = 2;
  options.responses = options.requests = true;
  options.responses_window = messages;
  options.passed_at_once = 300;
  options.gone_listed_max = 2 * messages;
  support::QueueKit kit(options);
  kit.join(1);
  kit.join(2);
  ASSERT_EQ(kit->set_rules(2, {}, 1), "");
  kit->add_credit(1, messages);
  for (uint64_t i = 0; i < messages; ++i) kit.publish(1);
  kit.write_all(1);
  ASSERT_EQ(kit->confirm(1, 1, messages - 1, false), Queue::Confirmed::yes);
  kit->trim();
  ASSERT_EQ(kit->set_rules(2, {wire::Rule()}, 1), "");
  while (kit->work(1000) > 0) continue;
  EXPECT_FALSE(kit->has_work());
  kit->add_credit(2, 1);
  kit.write_all(2);
  ASSERT_EQ(kit.text(2), "1:0");
  size_t parts = 0;
  for (; kit->has_work(); ++parts) {
    ASSERT_LT(parts, messages);
    EXPECT_GT(kit->work(100), 0u);
  }
  EXPECT_EQ(parts, 3u) << "300 while the batch was begun, and as many with each part";
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
