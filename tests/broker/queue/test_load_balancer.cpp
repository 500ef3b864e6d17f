// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/broker/queue/queue_kit.h"

namespace n2nq {
namespace {

using support::QueueKit;
using support::text_of;
using wire::SkipReason;

QueueOptions balancer_options(DispatchRule dispatch = DispatchRule::round_robin, uint32_t receivers = 3) {
  QueueOptions options;
  options.mode = wire::QueueMode::load_balancer;
  options.dispatch = dispatch;
  options.senders = 3;
  options.receivers = receivers;
  options.retention_ns = 100;
  return options;
}

TEST(LoadBalancer, EveryMessageGoesToExactlyOneReceiver) {
  QueueKit kit(balancer_options(DispatchRule::random, 10));
  for (uint32_t receiver = 1; receiver <= 10; ++receiver) kit.join(receiver);
  for (int i = 0; i < 3000; ++i) kit.publish(1 + static_cast<uint32_t>(i % 3));
  SenderSets all;
  for (uint32_t receiver = 1; receiver <= 10; ++receiver) {
    kit.write_all(receiver);
    for (const auto& one : kit.delivered(receiver)) {
      const uint64_t before = all.count();
      all.add(one.sender, one.index);
      ASSERT_EQ(all.count(), before + 1);
    }
    EXPECT_NEAR(static_cast<double>(kit.delivered(receiver).size()), 300, 100) << receiver;
  }
  EXPECT_EQ(all.count(), 3000u);
  EXPECT_TRUE(kit->drained());
}

TEST(LoadBalancer, RandomIsRepeatedByItsSeed) {
  const auto first_ten = [](uint64_t seed) {
    QueueOptions seeded = balancer_options(DispatchRule::random);
    seeded.seed = seed;
    QueueKit kit(seeded);
    for (uint32_t receiver = 1; receiver <= 3; ++receiver) kit.join(receiver);
    for (int i = 0; i < 30; ++i) kit.publish(1);
    std::string texts;
    for (uint32_t receiver = 1; receiver <= 3; ++receiver) {
      kit.write_all(receiver);
      texts += kit.text(receiver) + " | ";
    }
    return texts;
  };
  EXPECT_EQ(first_ten(1), first_ten(1));
  EXPECT_NE(first_ten(1), first_ten(2));
}

TEST(LoadBalancer, RoundRobinGoesByNumberWhoeverComesAndGoes) {
  QueueKit kit(balancer_options());
  kit.join(3);
  kit.join(1);
  for (int i = 0; i < 3; ++i) kit.publish(1);  // to 1, 3, 1
  kit.join(2);
  for (int i = 0; i < 4; ++i) kit.publish(1);  // to 2, 3, 1, 2
  for (uint32_t receiver = 1; receiver <= 3; ++receiver) kit.write_all(receiver);
  EXPECT_EQ(kit.text(1), "1:0 1:2 1:5");
  EXPECT_EQ(kit.text(2), "1:3 1:6");
  EXPECT_EQ(kit.text(3), "1:1 1:4");
}

TEST(LoadBalancer, MessagesThatComeTogetherGoWhereTheyWouldOneByOne) {
  std::mt19937 random(1);
  for (const uint32_t receivers : {1u, 3u, 7u, 300u}) {
    for (const DispatchRule rule : {DispatchRule::round_robin, DispatchRule::next_free, DispatchRule::random}) {
      QueueKit together(balancer_options(rule, receivers)), one_by_one(balancer_options(rule, receivers));
      for (uint32_t receiver = 1; receiver <= receivers; receiver += static_cast<uint32_t>(1 + random() % 2)) {
        together.join(receiver);
        one_by_one.join(receiver);
      }
      for (int runs = 0; runs < 20; ++runs) {
        std::vector<size_t> payload_bytes(1 + random() % 700);
        for (size_t& bytes : payload_bytes) bytes = random() % 200;
        together.publish_run(2, payload_bytes);
        for (const size_t bytes : payload_bytes) one_by_one.publish(2, 0, bytes);
        const uint32_t who = 1 + static_cast<uint32_t>(random() % receivers);
        if (together->account(who).state != ReceiverAccount::State::connected) continue;
        together.write(who, 10'000);
        one_by_one.write(who, 10'000);
      }
      for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
        if (together->account(receiver).state != ReceiverAccount::State::connected) continue;
        EXPECT_EQ(together->backlog_bytes(receiver), one_by_one->backlog_bytes(receiver));
        together.write_all(receiver);
        one_by_one.write_all(receiver);
        EXPECT_EQ(together.text(receiver), one_by_one.text(receiver));
      }
      EXPECT_TRUE(together->drained());
      EXPECT_EQ(together->bytes_held(), one_by_one->bytes_held());
    }
  }
}

TEST(LoadBalancer, NextFreeIsWhoseKernelHasTakenMost) {
  QueueKit kit(balancer_options(DispatchRule::next_free));
  for (uint32_t receiver = 1; receiver <= 3; ++receiver) kit.join(receiver);
  kit.publish(1, 0, 1000);  // to 1
  kit.publish(1, 0, 10);    // to 2
  kit.publish(1, 0, 500);   // to 3
  kit.publish(1, 0, 10);    // 2 has least
  kit.write(1);             // 1 has nothing now
  kit.publish(1, 0, 10);    // to 1
  for (uint32_t receiver = 1; receiver <= 3; ++receiver) kit.write_all(receiver);
  EXPECT_EQ(kit.text(1), "1:0 1:4");
  EXPECT_EQ(kit.text(2), "1:1 1:3");
  EXPECT_EQ(kit.text(3), "1:2");
}

TEST(LoadBalancer, WithoutReceiversMessagesWaitForTheFirst) {
  QueueKit kit(balancer_options());
  kit.publish(1);
  kit.publish(2);
  EXPECT_FALSE(kit->drained());
  kit.join(2);
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "1:0 2:0");
}

TEST(LoadBalancer, AtTheRetentionAMessageLeavesAndOnlyItsReceiverIsTold) {
  QueueKit kit(balancer_options());
  kit.publish(3, 0);  // nobody's
  kit->expire(100);
  kit.join(1);
  kit.join(2);
  kit.publish(1, 100);  // to 1
  kit.publish(1, 100);  // to 2
  kit.publish(1, 150);  // to 1
  EXPECT_EQ(kit->next_expiry_ns(), 200);
  kit.write(2);
  kit->expire(200);
  EXPECT_EQ(text_of(of(kit->take_untold(1), SkipReason::expired)), "1:0");
  EXPECT_FALSE(kit->account(2).has_untold);
  EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::expired)), "1:0 3:0");
  kit.write_all(1);
  EXPECT_EQ(kit.text(1), "1:2");
  EXPECT_TRUE(kit->drained());
}

TEST(LoadBalancer, WhatIsUnderWayDoesNotExpireButWhatWaitsBehindItDoes) {
  QueueKit kit(balancer_options(DispatchRule::round_robin, 1));
  kit.join(1);
  kit.publish(1, 0);
  kit.publish(1, 0);
  kit.write(1, 20);
  kit.publish(1, 0);
  kit->expire(100);
  kit.write_all(1);
  EXPECT_EQ(kit.text(1), "1:0 1:1");
  EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::expired)), "1:2");
}

TEST(LoadBalancer, WhatExpiredWhileItWasUnderWayIsGivenToNobodyElse) {
  for (const bool cut_off : {false, true}) {
    QueueKit kit(balancer_options(DispatchRule::round_robin, 2));
    kit.join(1);
    for (const int64_t at_ns : {0, 0, 0, 50}) kit.publish(1, at_ns);
    kit.write(1, 16 + 58 + 10);  // 1:0 whole, 1:1 in part
    kit->expire(100);
    kit.join(2);
    cut_off ? kit->cut_off(1) : kit->lose(1);
    kit.write_all(2);
    EXPECT_EQ(kit.text(2), "1:3") << "which was not due";
    EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::expired)), cut_off ? "1:2" : "1:1-2");
    EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::cut_off)), cut_off ? "1:1" : "");
    EXPECT_EQ(kit->account(1).handed_over, 1u);
    EXPECT_TRUE(kit->drained());
  }
}

/// Number by number, whether a delivery says "redelivered"; the attempt has to say the same.
std::string redelivered_text(QueueKit& kit, uint32_t receiver) {
  std::string text;
  for (const auto& one : kit.delivered(receiver)) {
    const bool again = one.flags & wire::flag_redelivered;
    EXPECT_EQ(one.attempt, again ? 2 : 1) << one.index;
    text += (text.empty() ? "" : " ") + std::to_string(one.index) + (again ? "r" : "");
  }
  return text;
}

TEST(LoadBalancer, WhenAReceiverGoesItsRestGoesToOthersInOrderAndWhatTheKernelTookInPartIsMarked) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 6; ++i) kit.publish(1);  // 1: 0 2 4, 2: 1 3 5
  kit.write(1, 16 + 58 + 10);                  // 1:0 whole, 1:2 in part
  kit->lose(1);
  kit.write_all(2);
  EXPECT_EQ(redelivered_text(kit, 2), "1 2r 3 4 5");
  EXPECT_EQ(kit->account(1).handed_over, 1u);
  EXPECT_EQ(kit->account(2).redelivered, 1u);
}

TEST(LoadBalancer, WhatIsPassedOnBehindLaterOnesIsMarked) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 6; ++i) kit.publish(1);  // 1: 0 2 4, 2: 1 3 5
  kit.write(2, 16 + 2 * 58 + 10);              // 1 and 3 whole, 5 in part
  kit->lose(1);
  kit.publish(1);
  kit.write_all(2);
  EXPECT_EQ(redelivered_text(kit, 2), "1 3 5 0r 2r 4r 6");
  EXPECT_EQ(kit->account(2).redelivered, 3u);
}

TEST(LoadBalancer, WhatWasPassedOnBehindABatchThatIsGivenUpComesInOrderAgain) {
  for (const bool comes_back : {true, false}) {
    QueueKit kit(balancer_options());
    kit.join(1);
    kit.join(2);
    for (int i = 0; i < 6; ++i) kit.publish(1);
    kit.write(2, 16 + 58 + 10);  // 1 whole, 3 in part, 5 under way
    kit->lose(1);
    kit.pass_on();               // 0 2 4 behind them
    if (comes_back) {
      kit.replace(2);
    } else {
      kit->lose(2);
      kit.join(1);
    }
    kit.publish(1);
    const uint32_t receiver = comes_back ? 2 : 1;
    kit.write_all(receiver);
    EXPECT_EQ(redelivered_text(kit, receiver), comes_back ? "1 0r 2 3r 4 5 6" : "0 2 3r 4 5 6");
  }
}

TEST(LoadBalancer, WhoComesBackGetsWhatIsOlderThanWhatItHasMarked) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 4; ++i) kit.publish(1);  // 1: 0 2, 2: 1 3
  kit.write_all(1);
  kit.publish(1);
  kit->lose(1);
  kit->lose(2);
  kit.join(1);
  kit.write_all(1);
  EXPECT_EQ(redelivered_text(kit, 1), "0 2 1r 3 4");
}

TEST(LoadBalancer, WhatALongBacklogLeavesBehindIsPassedOnInPartsWithinTheRetention) {
  constexpr uint64_t messages = 20'000;
  for (const DispatchRule rule : {DispatchRule::round_robin, DispatchRule::random, DispatchRule::next_free}) {
    QueueKit kit(balancer_options(rule, 2));
    kit.join(1);
    for (uint64_t i = 0; i < messages; ++i) kit.publish(1, i < messages / 2 ? 0 : 50);
    kit.join(2);
    kit->lose(1);
    kit.publish(2, 50);
    kit->take_ready();
    EXPECT_EQ(kit->backlog_bytes(2), 0u);
    EXPECT_EQ(kit->unassigned_bytes(), (messages + 1) * 58) << "what comes in goes behind what was left";
    for (uint64_t passed = 0; passed < messages / 4;) {
      const size_t part = kit->work(1000);
      ASSERT_EQ(part, passed == 0 ? 1002u : 1000u) << "and twice as many as came in since";
      passed += part;
      EXPECT_EQ(kit->backlog_bytes(2), passed * 58);
      EXPECT_EQ(kit->take_ready(), std::vector<uint32_t>{2});
    }
    EXPECT_EQ(kit->next_expiry_ns(), 100);
    kit->expire(100);
    EXPECT_EQ(text_of(of(kit->take_untold(2), SkipReason::expired)), "1:0-5001");
    EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::expired)), "1:0-9999");
    kit.write_all(2);
    EXPECT_EQ(kit->work(1000), 0u);
    EXPECT_TRUE(kit->drained());
    const auto delivered = kit.delivered(2);
    ASSERT_EQ(delivered.size(), messages / 2 + 1);
    for (size_t i = 0; i < messages / 2; ++i) {
      ASSERT_EQ(delivered[i].index, messages / 2 + i);
      ASSERT_EQ(delivered[i].flags, 0);
    }
    EXPECT_EQ(delivered.back().sender, 2u);
    EXPECT_EQ(kit->account(2).redelivered, 0u);
  }
}

TEST(LoadBalancer, WhatWasLeftBehindComesToItsEndHoweverMuchComesInMeanwhile) {
  QueueKit kit(balancer_options(DispatchRule::round_robin, 2));
  kit.publish_run(1, std::vector<size_t>(5000, 10));
  kit.join(1);
  kit.join(2);
  // As N2NQ does: a part in each wake-up, and more comes in than one of these is.
  for (int wake_ups = 1; kit->unassigned_bytes() > 0; ++wake_ups) {
    ASSERT_LT(wake_ups, 10);
    kit.publish_run(2, std::vector<size_t>(3000, 10));
    kit->work(2000);
    for (uint32_t receiver = 1; receiver <= 2; ++receiver) {
      while (kit->has_next(receiver)) {
        kit->begin_batch(receiver, 0);
        kit->taken(receiver, Batch::head_bytes + kit->batch(receiver).record_bytes, 0);
      }
    }
  }
}

TEST(LoadBalancer, WhoTakesNothingGetsOnlySoMuchOfWhatOthersLeft) {
  constexpr size_t bytes = 100'048, pending_bytes_max = 4'000'000;
  for (const DispatchRule rule : {DispatchRule::round_robin, DispatchRule::random, DispatchRule::next_free}) {
    QueueOptions limited = balancer_options(rule, 4);
    limited.pending_bytes_max = pending_bytes_max;
    QueueKit kit(limited);
    for (int i = 0; i < 200; ++i) kit.publish(1, 0, bytes - 48);
    EXPECT_FALSE(kit->has_work()) << "nobody is there";
    for (uint32_t receiver = 1; receiver <= 4; ++receiver) kit.join(receiver);
    while (kit->has_work()) ASSERT_GT(kit->work(2000), 0u);
    EXPECT_EQ(kit->work(2000), 0u);
    for (uint32_t receiver = 1; receiver <= 4; ++receiver) {
      EXPECT_LE(kit->backlog_bytes(receiver), pending_bytes_max / 4) << receiver;
      EXPECT_GT(kit->backlog_bytes(receiver), pending_bytes_max / 4 - 2 * bytes) << receiver;
    }
    // What the others do not take is for who does; a message that is larger than that goes alone.
    kit.publish(2, 0, 3'000'000);
    while (!kit->drained() && kit.write(1) > 0) ASSERT_LE(kit->backlog_bytes(1), pending_bytes_max);
    EXPECT_EQ(kit->unassigned_bytes(), 0u);
    const auto delivered = kit.delivered(1);
    EXPECT_EQ(delivered.back().sender, 2u);
    for (size_t i = 1; i < delivered.size(); ++i) EXPECT_EQ(delivered[i].flags, 0);
  }
}

TEST(LoadBalancer, WhatIsLeftBehindWhileItIsPassedOnComesInOrderToWhoComesBackAndIsQueuedAtTheEnd) {
  for (const bool comes_back : {true, false}) {
    QueueKit kit(balancer_options(DispatchRule::round_robin, 3));
    for (uint32_t receiver = 1; receiver <= 3; ++receiver) kit.join(receiver);
    for (int i = 0; i < 30'000; ++i) kit.publish(1);
    for (uint32_t receiver = 1; receiver <= 3; ++receiver) {
      kit->lose(receiver);
      kit->work(2000);
      kit->work(2000);
    }
    EXPECT_EQ(kit->work(2000), 0u) << "nobody is there";
    kit.publish(1);
    if (comes_back) {
      kit.join(2);
      EXPECT_EQ(kit->work(2000), 2002u) << "and twice as many as came in since";
      kit.write_all(2);
      const auto delivered = kit.delivered(2);
      ASSERT_EQ(delivered.size(), 30'001u);
      for (uint64_t i = 0; i < delivered.size(); ++i) {
        ASSERT_EQ(delivered[i].index, i);
        ASSERT_EQ(delivered[i].flags, 0);
      }
      EXPECT_TRUE(kit->drained());
    }
    kit->finish();
    EXPECT_EQ(text_of(kit->total().still_queued), comes_back ? "" : "1:0-30000");
  }
}

TEST(LoadBalancer, WhoComesAndTakesNothingMarksNothing) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 4; ++i) kit.publish(1);  // 1: 0 2, 2: 1 3
  kit.write_all(1);
  kit->lose(1);
  kit->lose(2);
  kit.join(1);  // 1 and 3 would come behind 2
  kit.pass_on();
  EXPECT_GT(kit->backlog_bytes(1), 0u);
  kit->lose(1);
  kit.join(3);
  kit.write_all(3);
  EXPECT_EQ(redelivered_text(kit, 3), "1 3");
}

/// As when a whole group of receivers dies: nothing is done for each of them that has to do with all that waits.
TEST(LoadBalancer, WhatManyLeaveBehindAtOnceIsPassedOnOnceAndInOrder) {
  constexpr uint32_t receivers = 50;
  for (const DispatchRule rule : {DispatchRule::round_robin, DispatchRule::random, DispatchRule::next_free}) {
    for (const bool one_stays : {true, false}) {
      QueueKit kit(balancer_options(rule, receivers));
      for (uint32_t number = 1; number <= receivers; ++number) kit.join(number);
      for (int i = 0; i < 1000; ++i) kit.publish(1);
      for (uint32_t number = 1; number < receivers + !one_stays; ++number) kit->lose(number);
      kit.publish(1);
      if (!one_stays) kit.join(receivers);
      kit.write_all(receivers);
      const auto delivered = kit.delivered(receivers);
      ASSERT_EQ(delivered.size(), 1001u);
      for (uint64_t i = 0; i < delivered.size(); ++i) {
        ASSERT_EQ(delivered[i].index, i);
        ASSERT_EQ(delivered[i].flags, 0);  // nobody had anything of it
      }
      EXPECT_TRUE(kit->drained());
    }
  }
}

TEST(LoadBalancer, WhatWasLeftBehindExpiresInTimeAndIsQueuedAtTheEnd) {
  QueueKit kit(balancer_options(DispatchRule::round_robin, 2));
  kit.join(1);
  kit.join(2);
  kit.publish(1, 0);
  kit.publish(1, 0);
  kit.publish(1, 50);
  kit.publish(1, 50);
  kit->lose(1);
  kit->lose(2);
  kit->expire(100);
  EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::expired)), "1:0-1");
  kit.join(2);
  kit->lose(2);
  kit->finish();
  EXPECT_EQ(text_of(kit->total().still_queued), "1:2-3");
}

TEST(LoadBalancer, WhoIsCutOffLosesOnlyTheMessageThatWasCutInTwo) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 6; ++i) kit.publish(1);
  kit.write(1, 16 + 58 + 10);
  kit->cut_off(1);
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "1:1 1:3 1:4 1:5");
  EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::cut_off)), "1:2");
  EXPECT_TRUE(kit->drained());
}

TEST(LoadBalancer, WhoLeavesInTheMiddleOfABatchKeepsThatAloneAndIsChosenNoMore) {
  for (const bool breaks : {false, true}) {
    QueueKit kit(balancer_options());
    kit.join(1);
    kit.join(2);
    for (int i = 0; i < 4; ++i) kit.publish(1, 0);  // 1: 0 2, 2: 1 3
    kit.write(1, 16 + 58 + 10);                     // 0 whole, 2 in part
    for (int i = 0; i < 4; ++i) kit.publish(1, 50);  // 1: 4 6, 2: 5 7
    kit->stop_giving(1);
    EXPECT_EQ(kit->unassigned_bytes(), 2 * 58u);
    for (int i = 0; i < 2; ++i) kit.publish(1, 50);
    kit.write_all(2);
    EXPECT_EQ(redelivered_text(kit, 2), "1 3 4 5 6 7 8 9");
    kit->expire(100);
    EXPECT_FALSE(kit->drained()) << "what is under way does not expire";
    EXPECT_EQ(kit->next_expiry_ns(), 0);
    if (!breaks) kit.write_all(1);
    kit->leave(1);
    kit.write_all(2);
    EXPECT_EQ(kit.text(1), breaks ? "1:0" : "1:0 1:2");
    EXPECT_EQ(text_of(of(kit->total().skipped, SkipReason::expired)), breaks ? "1:2" : "");
    EXPECT_TRUE(kit->drained());
  }
}

TEST(LoadBalancer, TheLastReceiversRestWaitsForTheNextOne) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.publish(1);
  kit.publish(1);
  kit->lose(1);
  kit.publish(1);
  kit.join(3);
  kit.write_all(3);
  EXPECT_EQ(kit.text(3), "1:0 1:1 1:2");
}

TEST(LoadBalancer, AttemptsBeyondWhatTheFieldHoldsAreNoFirstOnes) {
  QueueKit kit(balancer_options());
  kit.publish(1);
  for (int i = 0; i < 70'000; ++i) {
    kit.join(1);
    kit.write(1, 16 + 10);
    kit->lose(1);
  }
  kit.join(1);
  kit.write_all(1);
  EXPECT_EQ(kit.delivered(1).back().attempt, UINT16_MAX);
}

TEST(LoadBalancer, WhatNobodyTookIsStillQueuedAtTheEnd) {
  QueueKit kit(balancer_options());
  kit.join(1);
  kit.publish(1);
  kit.publish(1);
  kit.write(1, 16 + 58 + 10);
  kit.publish(2);
  kit->finish();
  EXPECT_EQ(kit->account(1).handed_over, 1u);
  EXPECT_EQ(text_of(kit->total().still_queued), "1:1 2:0");
}

TEST(LoadBalancer, SmallAndLargeMessagesGoTogether) {
  QueueKit kit(balancer_options(DispatchRule::round_robin, 2));
  kit.join(1);
  kit.join(2);
  for (size_t i = 0; i < 400; ++i) kit.publish(1, 0, i % 7 == 0 ? 20'000 : i);
  while (kit.write(1, 977) > 0) {
  }
  kit.write_all(2);
  EXPECT_EQ(kit.delivered(1).size(), 200u);
  EXPECT_EQ(kit.delivered(2).size(), 200u);
}

}  // namespace
}  // namespace n2nq
