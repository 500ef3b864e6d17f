// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/broker/queue/queue_kit.h"

namespace n2nq {
namespace {

using support::QueueKit;
using support::text_of;
using wire::SkipReason;

QueueOptions options(RemovalRule removal = RemovalRule::when_all_have_it, uint32_t receivers = 2) {
  QueueOptions options;
  options.removal = removal;
  options.senders = 3;
  options.receivers = receivers;
  options.retention_ns = 100;
  return options;
}

TEST(Broadcaster, EveryReceiverGetsEveryMessageInOrder) {
  QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  kit.publish(1);
  kit.publish(2);
  kit.publish(1);
  kit.write_all(1);
  kit.write_all(2);
  EXPECT_EQ(kit.text(1), "1:0 2:0 1:1");
  EXPECT_EQ(kit.text(2), "1:0 2:0 1:1");
  EXPECT_EQ(kit->account(1).handed_over, 3u);
  EXPECT_TRUE(kit->drained());
}

TEST(Broadcaster, TheBrokersFieldsAreFilledInAndTheSendersKept) {
  QueueKit kit(options());
  kit.join(1);
  wire::Bytes record = support::make_record(1, 0, 5);
  wire::set_record_flags(record.data(), 0xFFFF);
  wire::set_record_attempt(record.data(), 77);
  kit->take_in(record, 1, 4711);
  kit.write(1, SIZE_MAX, 4712);
  ASSERT_EQ(kit.delivered(1).size(), 1u);
  EXPECT_EQ(kit.delivered(1)[0], (support::Delivered{1, 0, wire::flag_warm_up, 1, 4711, 4712}));
}

TEST(Broadcaster, WhoIsInStepGetsTheCommonFrame) {
  QueueKit kit(options(RemovalRule::when_all_have_it, 3));
  kit.join(1);
  kit.join(2);
  kit.publish(1);
  kit->take_ready();
  ASSERT_TRUE(kit.write_common(1));
  EXPECT_FALSE(kit->is_in_step(1)) << "it has it";
  ASSERT_TRUE(kit.write_common(2, 20)) << "the kernel takes a part";
  kit.join(3);
  kit.publish(2);
  kit.publish(3);
  kit->take_ready();
  EXPECT_TRUE(kit.write_common(1));
  EXPECT_FALSE(kit.write_common(2)) << "the rest comes first";
  EXPECT_FALSE(kit.write_common(3)) << "it misses more";
  kit.write_all(2);
  kit.write_all(3);
  for (const uint32_t receiver : {1u, 2u, 3u}) {
    EXPECT_EQ(kit.text(receiver), "1:0 2:0 3:0") << receiver;
    EXPECT_EQ(kit->account(receiver).handed_over, 3u);
  }
  EXPECT_TRUE(kit->drained());
  kit->take_ready();
  EXPECT_TRUE(kit->common_frame().empty()) << "nothing is new";
}

TEST(Broadcaster, OneWriteCarriesAllThatIsNew) {
  QueueKit kit(options());
  kit.join(1);
  for (int i = 0; i < 1000; ++i) kit.publish(1);
  kit.write(1);
  EXPECT_EQ(kit.delivered(1).size(), 1000u);
  EXPECT_EQ(kit.connections(1)[0].frames(), 1u);
}

TEST(Broadcaster, BatchesAreReadAtOnceUnlessOneMessageIsLarger) {
  for (const uint32_t size_bytes : {100, 29, 19}) {  // of 29 and 19 letters 64 KiB of records are a few bytes less, without the heads
    QueueKit kit(options());
    kit.join(1);
    for (int i = 0; i < 10'000; ++i) kit.publish(1, 0, size_bytes);
    kit.publish(1, 0, 1'000'000);
    kit.publish(1, 0, size_bytes);
    size_t largest_small = 0;
    while (kit->has_next(1)) {
      kit->begin_batch(1, 0);
      const size_t frame_bytes = Batch::head_bytes + kit->batch(1).record_bytes;
      if (frame_bytes > wire::FrameReader::read_bytes_max) {
        EXPECT_EQ(kit->batch(1).messages, 1u) << size_bytes;
      } else {
        largest_small = std::max(largest_small, frame_bytes);
      }
      kit.write(1);
    }
    EXPECT_GT(largest_small, wire::FrameReader::read_bytes_max * 9 / 10);
    EXPECT_EQ(kit.delivered(1).size(), 10'002u);
  }
}

TEST(Broadcaster, APartialWriteGoesOnAtTheByteAndKeepsItsStamp) {
  for (size_t first = 0; first <= 16 + 3 * 58; ++first) {
    QueueKit kit(options());
    kit.join(1);
    for (int i = 0; i < 3; ++i) kit.publish(1);
    kit.write(1, first, 1000);
    kit.publish(1);  // comes behind, in a batch of its own
    kit.write_all(1, 2000);
    ASSERT_EQ(kit.text(1), "1:0 1:1 1:2 1:3") << first;
    ASSERT_EQ(kit.delivered(1)[2].sent_on_ns, 1000) << first;
    ASSERT_EQ(kit.delivered(1)[3].sent_on_ns, 2000) << first;
  }
}

TEST(Broadcaster, WhenAllHaveItAMessageLeavesWithTheLastExpectedReceiver) {
  QueueKit kit(options());
  kit.join(1);
  kit.publish(1);
  kit.write_all(1);
  EXPECT_NE(kit->next_expiry_ns(), 0) << "receiver 2 is expected, connected or not";
  kit.join(2);
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "1:0");
  EXPECT_EQ(kit->next_expiry_ns(), 0);
}

TEST(Broadcaster, AfterTimeAMessageStaysThoughAllHaveIt) {
  QueueKit kit(options(RemovalRule::after_time));
  kit.join(1);
  kit.publish(1, 10);
  kit.write_all(1);
  EXPECT_EQ(kit->next_expiry_ns(), 110);
  kit->expire(109);
  kit.join(2);
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "1:0");
  kit->expire(110);
  EXPECT_EQ(kit->next_expiry_ns(), 0);
  EXPECT_TRUE(kit->account(2).skipped[0].empty());
}

TEST(Broadcaster, ALateJoinerGetsWhatTheQueueStillHoldsAndIsToldTheRest) {
  QueueKit kit(options(RemovalRule::after_time));
  kit.publish(1, 0);
  kit.publish(2, 50);
  kit.publish(1, 60);
  kit->expire(100);
  kit.join(2);
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "2:0 1:1");
  EXPECT_TRUE(kit->account(2).has_untold);
  EXPECT_EQ(text_of(of(kit->take_untold(2), SkipReason::expired)), "1:0");
  EXPECT_FALSE(kit->account(2).has_untold);
  EXPECT_EQ(text_of(of(kit->account(2).skipped, SkipReason::expired)), "1:0");
}

TEST(Broadcaster, RetentionEndsAMessageThatNotAllHaveCountedForThoseWhoLackIt) {
  QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  kit.publish(1, 0);
  kit.publish(1, 0);
  kit.publish(1, 50);
  kit.write(1);
  kit->expire(100);
  EXPECT_TRUE(kit->account(1).skipped[0].empty());
  EXPECT_EQ(text_of(of(kit->account(2).skipped, SkipReason::expired)), "1:0-1");
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "1:2");
}

TEST(Broadcaster, WhatIsUnderWayDoesNotExpire) {
  QueueKit kit(options());
  kit.join(1);
  kit.publish(1, 0);
  kit.publish(1, 0);
  kit.write(1, 20);
  kit->expire(1000);
  EXPECT_TRUE(kit->account(1).skipped[0].empty());
  kit.write_all(1);
  EXPECT_EQ(kit.text(1), "1:0 1:1");
  kit->bring_books_up_to_date();
  EXPECT_EQ(text_of(of(kit->account(2).skipped, SkipReason::expired)), "1:0-1");
}

TEST(Broadcaster, WhatExpiresForThoseThatAreAwayIsEachOnesOwnInTheEnd) {
  QueueOptions of_five = options();
  of_five.receivers = 5;
  QueueKit kit(of_five);
  int64_t now = 0;
  // Two messages come, are written to whoever is there, and expire.
  const auto pass = [&](std::initializer_list<uint32_t> there) {
    kit.publish(1, now);
    kit.publish(2, now);
    for (const uint32_t receiver : there) kit.write_all(receiver);
    now += 1000;
    kit->expire(now);
  };
  const auto expired = [&](uint32_t receiver) { return text_of(of(kit->account(receiver).skipped, SkipReason::expired)); };
  for (const uint32_t receiver : {1, 2, 3}) kit.join(receiver);  // 4 and 5 never come
  pass({1, 2, 3});
  kit->lose(2);
  pass({1, 3});
  kit->lose(3);
  pass({1});
  const size_t books_bytes = kit->books_bytes();
  kit.join(2);
  EXPECT_EQ(expired(2), "1:1-2 2:1-2");
  EXPECT_TRUE(kit->account(2).has_untold);
  pass({1, 2});
  kit->lose(2);
  kit->cut_off(5);
  EXPECT_EQ(expired(5), "1:0-3 2:0-3");
  pass({1});
  kit->bring_books_up_to_date();
  EXPECT_EQ(expired(1), "");
  EXPECT_EQ(expired(2), "1:1-2,4 2:1-2,4");
  EXPECT_EQ(expired(3), "1:2-4 2:2-4");
  EXPECT_EQ(expired(4), "1:0-4 2:0-4");
  EXPECT_EQ(expired(5), "1:0-3 2:0-3");
  // They count as much as they will be, from the beginning.
  EXPECT_LT(kit->books_bytes(), 2 * books_bytes);
  EXPECT_GT(2 * kit->books_bytes(), books_bytes);
  kit->finish();
  EXPECT_EQ(expired(4), "1:0-4 2:0-4");
}

TEST(Broadcaster, AReceiverThatComesBackGoesOnAtTheFirstMessageTheKernelDidNotTakeWhole) {
  for (size_t bytes = 0; bytes < 16 + 3 * 58; ++bytes) {
    QueueKit kit(options());
    kit.join(1);
    for (int i = 0; i < 3; ++i) kit.publish(1);
    kit.write(1, bytes);
    kit->lose(1);
    kit.join(1);
    kit.write_all(1);
    std::string indexes;
    for (const auto& one : kit.delivered(1)) indexes += std::to_string(one.index);
    ASSERT_EQ(indexes, "012") << bytes;
    ASSERT_EQ(kit->account(1).handed_over, 3u);
  }
}

TEST(Broadcaster, WhoIsLostWhileWhatWasUnderWayHasExpiredLosesIt) {
  QueueKit kit(options());
  kit.join(1);
  for (int i = 0; i < 3; ++i) kit.publish(1, 0);
  kit.write(1, 16 + 58 + 10);
  kit->expire(1000);
  kit->lose(1);
  EXPECT_EQ(kit->account(1).handed_over, 1u);
  EXPECT_EQ(text_of(of(kit->account(1).skipped, SkipReason::expired)), "1:1-2");
}

TEST(Broadcaster, WhoIsCutOffIsNotExpectedAnyMoreAndCountsWhatItDoesNotGet) {
  QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 3; ++i) kit.publish(1);
  kit.write(2, 16 + 58 + 10);
  kit.write_all(1);
  EXPECT_FALSE(kit->drained());
  kit->cut_off(2);
  EXPECT_TRUE(kit->drained());
  EXPECT_EQ(kit->next_expiry_ns(), 0) << "nobody else needs them";
  kit.publish(2);
  kit.write_all(1);
  kit->finish();
  EXPECT_EQ(kit->account(2).handed_over, 1u);
  EXPECT_EQ(text_of(of(kit->account(2).skipped, SkipReason::cut_off)), "1:1-2 2:0");
}

TEST(Broadcaster, WhoLeavesAndComesBackGetsWhatIsThereStill) {
  QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  kit.publish(1);
  kit->leave(2);
  kit.write_all(1);  // 1:0 leaves the queue, nobody else is expected
  kit.publish(1);
  kit.join(2);
  kit.publish(1);
  kit.write_all(2);
  kit.write_all(1);
  kit->finish();
  EXPECT_EQ(kit.text(2), "1:1 1:2");
  EXPECT_EQ(text_of(kit->still_queued(2)), "1:0");
  EXPECT_EQ(kit->account(2).handed_over, 2u);
}

TEST(Broadcaster, WhoLeavesInTheMiddleOfABatchAndComesBackGetsWhatIsThereStill) {
  QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  for (int i = 0; i < 3; ++i) kit.publish(1);
  kit.write(2, 16 + 58 + 10);  // 1:0 whole, 1:1 in part, 1:2 under way
  kit.publish(1);
  kit->stop_giving(2);
  EXPECT_EQ(text_of(kit->still_queued(2)), "1:3");
  kit->stop_giving(2);
  kit.write_all(1);  // they leave the queue: nobody else is expected
  EXPECT_EQ(kit->next_expiry_ns(), 0);
  kit.publish(1);
  kit->leave(2);
  EXPECT_EQ(text_of(kit->still_queued(2)), "1:1-3");
  kit.join(2);
  kit.write_all(2);
  EXPECT_EQ(kit.text(2), "1:4");
  EXPECT_EQ(text_of(kit->still_queued(2)), "1:1-3");
  EXPECT_EQ(kit->account(2).handed_over, 2u);
}

/// With so many messages that what waits is not walked over each time.
TEST(Broadcaster, WhoLeavesAndComesBackOverAndOverGetsWhatIsThereStillOfMany) {
  QueueOptions many = options(RemovalRule::when_all_have_it, 3);
  many.retention_ns = 1'000'000;
  QueueKit kit(many);
  int64_t now_ns = 0;
  const auto publish = [&](int messages) {
    for (int i = 0; i < messages; ++i) kit.publish(1 + static_cast<uint32_t>(i % 2), ++now_ns);
  };
  kit.join(1);
  kit.join(2);  // and number 3 was never there: the queue keeps all for it
  publish(20'000);
  for (int round = 0; round < 6; ++round) {
    kit.write(1, 100'000);
    for (const uint32_t receiver : {1u, 2u, 1u}) {
      kit->leave(receiver);
      SenderSets missed = kit.published();
      for (const support::Delivered& one : kit.delivered(receiver)) missed.remove(one.sender, one.index);
      missed -= of(kit->account(receiver).skipped, SkipReason::expired);
      EXPECT_EQ(text_of(kit->still_queued(receiver)), text_of(missed)) << "round " << round << ", receiver " << receiver;
      publish(100);
      kit.join(receiver);
      EXPECT_TRUE(kit->still_queued(receiver).empty()) << "round " << round << ", receiver " << receiver;
    }
    if (round % 2 == 1) kit->expire(many.retention_ns + 1'000 * round);  // the first thousands leave, by what is known of what waits
    if (round == 4) {
      for (int call = 0; call < 30; ++call) kit->fit();
    }
  }
  EXPECT_GT(of(kit->account(2).skipped, SkipReason::expired).count(), 4'000u);
}

/// What is known of what waits may begin at the end of a chunk, which then goes.
TEST(Broadcaster, WhoLeavesAtABorderBetweenChunksTakesNothingFromWhatIsKnown) {
  for (const bool leaver_writes : {false, true}) {
    QueueKit kit(options());
    kit.join(1);
    kit.join(2);
    for (int i = 0; i < 20'000; ++i) kit.publish(1);
    if (leaver_writes) kit.write(2);  // as far as the border that the other one comes to
    kit->leave(2);
    const uint64_t missed = kit->still_queued(2).count();
    kit.write(1);
    if (leaver_writes) kit.write(1, 1000);
    kit->trim();
    kit.write(1);
    kit->trim();
    kit.join(2);
    EXPECT_LT(kit->still_queued(2).count(), missed) << "some is there still";
    kit.write_all(1);
    kit.write_all(2);
    kit->finish();
    EXPECT_EQ(kit.delivered(1).size(), 20'000u);
    EXPECT_EQ(kit.delivered(2).size() + kit->still_queued(2).count(), 20'000u);
  }
}

TEST(Broadcaster, WhoeverLeavesAndReadsHoweverMuchOfManyMissesWhatItDoesNotGet) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t end) { return static_cast<uint32_t>(random() % end); };
    QueueKit kit(options(RemovalRule::when_all_have_it, 3));
    std::array<bool, 4> is_there{};
    for (uint32_t receiver = 1; receiver <= 3; ++receiver) kit.join(receiver), is_there[receiver] = true;
    for (int step = 0; step < 60; ++step) {
      const uint32_t receiver = 1 + below(3);
      switch (below(5)) {
        case 0:
          for (uint32_t left = below(8000); left > 0; --left) kit.publish(1 + below(2), 0, below(50));
          break;
        case 1:
          is_there[receiver] ? kit->leave(receiver) : kit.join(receiver);
          is_there[receiver] = !is_there[receiver];
          break;
        case 2:
          kit->trim();
          break;
        default:
          if (is_there[receiver]) kit.write(receiver, below(2) == 0 ? SIZE_MAX : below(300'000));
      }
    }
    for (uint32_t receiver = 1; receiver <= 2; ++receiver) {  // the third one, if it is there, stays
      if (is_there[receiver]) kit->leave(receiver);
    }
    kit->finish();
    for (uint32_t receiver = 1; receiver <= 3; ++receiver) {
      SenderSets missed = kit.published();
      for (const support::Delivered& one : kit.delivered(receiver)) missed.remove(one.sender, one.index);
      ASSERT_EQ(text_of(kit->still_queued(receiver)), text_of(missed)) << "seed " << seed << ", receiver " << receiver;
    }
  }
}

TEST(Broadcaster, WhatReceiversMissedWhileTheyHadLeftIsInTheBooks) {
  QueueKit kit(options(RemovalRule::after_time));
  kit.join(1);
  const size_t before = kit->books_bytes();
  for (int64_t index = 0; index < 20'000; ++index) {
    if (index % 2 == 0) kit->leave(1);
    kit.publish(1, index);
    kit->expire(index + 1'000);
    if (index % 2 == 0) kit.join(1);
  }
  EXPECT_EQ(kit->still_queued(1).count(), 10'000u);
  EXPECT_GE(kit->books_bytes(), before + kit->still_queued(1).bytes());
  EXPECT_GT(kit->still_queued(1).bytes(), 1'000u);
}

TEST(Broadcaster, AReplacedConnectionGoesOnUnderTheSameNumber) {
  QueueKit kit(options());
  kit.join(1);
  for (int i = 0; i < 3; ++i) kit.publish(1);
  kit.write(1, 16 + 2 * 58 + 1);
  kit.replace(1);
  kit.write_all(1);
  EXPECT_EQ(kit.text(1), "1:2");
  EXPECT_EQ(kit->account(1).handed_over, 3u);
}

TEST(Broadcaster, MemoryComesBackThoughOneReceiverIsStuckInABatch) {
  QueueKit kit(options());
  kit.join(1);
  kit.join(2);
  kit.publish(1, 0, 50'000);
  kit.write(2, 100);  // holds its own chunk, no others
  for (int i = 0; i < 1000; ++i) {
    kit.publish(1, i, 50'000);
    kit.write_all(1);
    kit->expire(i);
  }
  EXPECT_LE(kit->bytes_held(), 103 * MessageLog::chunk_bytes);
  EXPECT_GE(kit->account(2).skipped[0].count(), 890u);
}

TEST(Broadcaster, BacklogIsWhatTheKernelHasNotTaken) {
  QueueKit kit(options());
  kit.join(1);
  for (int i = 0; i < 3; ++i) kit.publish(1);
  EXPECT_EQ(kit->backlog_bytes(1), 3u * 58);
  kit.write(1, 16 + 58);
  EXPECT_EQ(kit->backlog_bytes(1), 2u * 58);
  kit.publish(1);
  EXPECT_EQ(kit->backlog_bytes(1), 3u * 58);
  EXPECT_EQ(kit->backlog_bytes(2), 4u * 58);
}

}  // namespace
}  // namespace n2nq
