// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever happens, the books balance: what was taken in = handed over + expired + cut off + still queued, by identity, for each receiver
// (broadcaster) or in total (load balancer). Random lives of random receivers, from one seed each.
#include <gtest/gtest.h>

#include <random>

#include "tests/broker/queue/queue_kit.h"

namespace n2nq {
namespace {

using support::Delivered;
using support::QueueKit;
using support::text_of;
using wire::SkipReason;
using State = ReceiverAccount::State;

#ifdef __SANITIZE_THREAD__
constexpr uint64_t lives = 50;  // twenty times slower there, and nothing here has a second thread
#elif defined(__SANITIZE_ADDRESS__)
constexpr uint64_t lives = 200;
#else
constexpr uint64_t lives = 1000;
#endif

class Life {
 public:
  Life(uint64_t seed, wire::QueueMode mode) : random_(seed), options_(make_options(mode)), kit_(options_) {}

  uint64_t common_writes() const { return kit_.common_writes(); }

  void live() {
    for (int step = 0; step < 400; ++step) {
      now_ns_ += static_cast<int64_t>(below(3));
      act(1 + static_cast<uint32_t>(below(options_.receivers)));
      if (HasFatalFailure()) return;
    }
    kit_->finish();
    check_order();
    options_.mode == wire::QueueMode::broadcaster ? check_each() : check_total();
  }

 private:
  static bool HasFatalFailure() { return ::testing::Test::HasFatalFailure(); }
  uint64_t below(uint64_t bound) { return random_() % bound; }

  QueueOptions make_options(wire::QueueMode mode) {
    QueueOptions options;
    options.mode = mode;
    options.senders = 3;
    options.receivers = 1 + static_cast<uint32_t>(below(5));
    options.retention_ns = 40;
    options.removal = below(2) ? RemovalRule::when_all_have_it : RemovalRule::after_time;
    options.dispatch = static_cast<DispatchRule>(below(3));
    options.seed = below(1000);
    return options;
  }

  void act(uint32_t receiver) {
    const State state = kit_->account(receiver).state;
    const bool connected = state == State::connected, leaving = state == State::leaving;
    switch (below(16)) {
      case 0:
      case 1:
        if (!connected && !leaving && state != State::cut_off) kit_.join(receiver);
        break;
      case 2:
        if (connected && below(3) == 0) kit_->lose(receiver);
        break;
      case 3:
        if (connected && below(4) == 0) below(2) ? kit_->leave(receiver) : kit_->stop_giving(receiver);
        if (leaving && below(2) == 0) kit_->leave(receiver);
        break;
      case 4:
        if ((connected || leaving) && below(8) == 0) kit_->cut_off(receiver);
        break;
      case 5:
        if (connected && below(3) == 0) kit_.replace(receiver);
        if (leaving && below(3) == 0) {
          kit_->leave(receiver);
          kit_.join(receiver);
        }
        break;
      case 6:
        kit_->expire(now_ns_);
        break;
      case 7:
      case 8:
      case 9:
      case 10:
        for (uint64_t i = below(5); i > 0; --i) kit_.publish(1 + static_cast<uint32_t>(below(3)), now_ns_, payload_bytes());
        break;
      case 11:
      case 12:
        write_round();
        break;
      default:
        if (connected || leaving) kit_.write(receiver, below(3) == 0 ? below(200) : SIZE_MAX, now_ns_);
        kit_->trim();
    }
  }

  /// As the server does at the end of a wake-up, but that sometimes somebody is left out.
  void write_round() {
    if (below(4) > 0) kit_->work(1 + below(10));
    const std::vector<uint32_t> ready = kit_->take_ready();
    for (const uint32_t receiver : ready) {
      const size_t bytes_max = below(4) == 0 ? below(300) : SIZE_MAX;
      if (below(8) == 0 || kit_->account(receiver).state != State::connected) continue;
      if (!kit_.write_common(receiver, bytes_max, now_ns_)) kit_.write(receiver, bytes_max, now_ns_);
    }
    kit_->trim();
  }

  size_t payload_bytes() { return below(20) == 0 ? 70'000 + below(10) : below(5) == 0 ? 20'000 : below(100); }

  /// Per sender, indexes rise on what carries no mark; nothing comes twice.
  void check_order() {
    for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
      std::map<uint32_t, int64_t> last;
      for (const Delivered& one : kit_.delivered(receiver)) {
        if (one.flags & wire::flag_redelivered) continue;
        const auto before = last.try_emplace(one.sender, -1).first;
        ASSERT_GT(static_cast<int64_t>(one.index), before->second) << "receiver " << receiver;
        before->second = static_cast<int64_t>(one.index);
      }
    }
  }

  SenderSets delivered_set(uint32_t receiver) {
    SenderSets set;
    for (const Delivered& one : kit_.delivered(receiver)) set.add(one.sender, one.index);
    EXPECT_EQ(set.count(), kit_.delivered(receiver).size()) << "delivered twice to receiver " << receiver;
    EXPECT_EQ(set.count(), kit_->account(receiver).handed_over);
    return set;
  }

  static void add_disjoint(SenderSets& sum, const SenderSets& part, const char* what) {
    const uint64_t before = sum.count();
    sum += part;
    EXPECT_EQ(sum.count(), before + part.count()) << what << " overlaps: " << text_of(part);
  }

  void check_each() {
    for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) {
      SenderSets sum = delivered_set(receiver);
      const SkippedSets& skipped = kit_->account(receiver).skipped;
      add_disjoint(sum, of(skipped, SkipReason::expired), "expired");
      add_disjoint(sum, of(skipped, SkipReason::cut_off), "cut off");
      add_disjoint(sum, kit_->still_queued(receiver), "still queued");
      ASSERT_EQ(text_of(sum), text_of(kit_.published())) << "receiver " << receiver;
    }
  }

  void check_total() {
    SenderSets sum;
    for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) add_disjoint(sum, delivered_set(receiver), "delivered");
    add_disjoint(sum, of(kit_->total().skipped, SkipReason::expired), "expired");
    add_disjoint(sum, of(kit_->total().skipped, SkipReason::cut_off), "cut off");
    add_disjoint(sum, kit_->total().still_queued, "still queued");
    ASSERT_EQ(text_of(sum), text_of(kit_.published()));
  }

  std::mt19937_64 random_;
  QueueOptions options_;
  QueueKit kit_;
  int64_t now_ns_ = 1;
};

class Ledger : public ::testing::TestWithParam<wire::QueueMode> {};

TEST_P(Ledger, BalancesInEveryLife) {
  uint64_t common_writes = 0;
  for (uint64_t seed = 0; seed < lives; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed, GetParam());
    life.live();
    common_writes += life.common_writes();
    if (HasFailure()) return;
  }
  if (GetParam() == wire::QueueMode::broadcaster) {
    EXPECT_GT(common_writes, lives);
  } else {
    EXPECT_EQ(common_writes, 0u);
  }
}

/// Each has had its END, and senders go on.
TEST(EveryQueue, KeepsForWhoComesBackWhatComesWhileNobodyIsExpectedUnlessAllHaveIt) {
  const auto check = [](const QueueOptions& options) {
    const bool is_broadcaster = options.mode == wire::QueueMode::broadcaster;
    const auto kit_of_the_ended = [&options] {
      auto kit = std::make_unique<QueueKit>(options);
      for (uint32_t receiver = 1; receiver <= options.receivers; ++receiver) {
        kit->join(receiver);
        kit->queue().leave(receiver);
      }
      kit->publish(1);
      kit->queue().trim();
      return kit;
    };
    const auto back = kit_of_the_ended();
    back->join(1);
    if (options.requests) back->queue().add_credit(1, 1);
    back->write_all(1);
    const bool all_have_it = is_broadcaster && options.removal == RemovalRule::when_all_have_it && !options.responses && !options.requests;
    EXPECT_EQ(back->text(1), all_have_it ? "" : "1:0");
    for (const bool expires : {false, true}) {
      const auto away = kit_of_the_ended();
      if (expires) away->queue().expire(options.retention_ns);
      away->queue().finish();
      const Queue& queue = away->queue();
      const SkippedSets& skipped = queue.total().skipped;
      if (is_broadcaster) {
        EXPECT_EQ(text_of(queue.still_queued(1)), "1:0");
      } else if (options.requests) {
        EXPECT_EQ(text_of(of(skipped, SkipReason::unrequested)), "1:0");
      } else {
        EXPECT_EQ(text_of(expires ? of(skipped, SkipReason::expired) : queue.total().still_queued), "1:0");
      }
    }
  };
  QueueOptions options;
  options.receivers = 2;
  options.retention_ns = 100;
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    for (const RemovalRule removal : {RemovalRule::when_all_have_it, RemovalRule::after_time}) {
      for (const int features : {0, 1, 2, 3}) {
        options.mode = mode;
        options.removal = removal;
        options.responses = (features & 1) != 0;
        options.requests = (features & 2) != 0;
        SCOPED_TRACE(testing::Message() << "mode " << static_cast<int>(mode) << ", removal " << static_cast<int>(removal) << ", features "
                                        << features);
        check(options);
      }
    }
  }
}

TEST(EveryBroadcaster, BooksTheBatchOfWhoIsCutOffBehindItsEndAsThat) {
  for (const int features : {0, 1, 2, 3}) {
    QueueOptions options;
    options.receivers = 2;
    options.responses = (features & 1) != 0;
    options.requests = (features & 2) != 0;
    options.responses_window = 5000;
    SCOPED_TRACE(features);
    QueueKit kit(options);
    for (const uint32_t receiver : {1u, 2u}) {
      kit.join(receiver);
      if (options.requests) kit->add_credit(receiver, 10'000);
    }
    constexpr uint64_t before = 200, behind = 10;
    for (uint64_t i = 0; i < before; ++i) kit.publish(1, 0, 1000);
    ASSERT_EQ(kit.write(1, 1500), 1500u);  // one of them, and a part of the next
    const uint64_t under_way = kit->batch(1).messages;
    kit->stop_giving(1);
    for (uint64_t i = 0; i < behind; ++i) kit.publish(1, 0, 1000);
    kit->cut_off(1);
    kit->finish();
    SenderSets cut, still_queued;
    for (uint64_t i = options.responses ? 0 : 1; i < under_way; ++i) cut.add(1, i);
    for (uint64_t i = under_way; i < before; ++i) still_queued.add(1, i);
    for (uint64_t i = before; i < before + behind; ++i) cut.add(1, i);
    EXPECT_EQ(text_of(of(kit->account(1).skipped, SkipReason::cut_off)), text_of(cut));
    EXPECT_EQ(text_of(kit->still_queued(1)), text_of(still_queued));
  }
}

/// It says that it leaves and does not read, so that its batch stays under way; then it reads after all, or its connection breaks.
TEST(EveryQueue, GivesNothingMoreToWhoLeavesInTheMiddleOfABatch) {
  constexpr size_t payload_bytes = 1000;
  const auto check = [](const QueueOptions& options, bool reads_on) {
    const bool is_broadcaster = options.mode == wire::QueueMode::broadcaster;
    QueueKit kit(options);
    const auto publish = [&kit](int messages) {
      for (int i = 0; i < messages; ++i) kit.publish(1, 0, payload_bytes);
    };
    const auto got_by_other = [&kit] {
      SenderSets got;
      for (const Delivered& one : kit.delivered(2)) got.add(one.sender, one.index);
      return got.count();
    };
    uint64_t confirmed = 0;
    const auto serve_other = [&] {
      while (kit->work(1000) > 0) continue;
      kit.write_all(2);
      if (!options.responses) return;
      const uint64_t count = kit.delivered(2).size() - confirmed;
      EXPECT_NE(kit->confirm(2, confirmed, static_cast<uint32_t>(count), false), Queue::Confirmed::never_sent);
      confirmed += count;
      kit->trim();
    };
    for (const uint32_t receiver : {1u, 2u}) {
      kit.join(receiver);
      if (options.requests) kit->add_credit(receiver, 10'000);
    }
    publish(100);
    ASSERT_EQ(kit.write(1, 1500), 1500u);  // one of them, and a part of the next
    publish(100);
    const uint64_t under_way = kit->batch(1).messages;
    const size_t backlog_bytes = kit->batch(1).record_bytes - kit->batch(1).records_written();
    kit->stop_giving(1);
    EXPECT_EQ(kit->backlog_bytes(1), backlog_bytes);
    EXPECT_FALSE(kit->account(1).expected());
    for (int part = 0; part < 10; ++part) {
      publish(100);
      serve_other();
    }
    const uint64_t published = kit.published().count();
    EXPECT_EQ(published, 1200u);
    EXPECT_EQ(kit->backlog_bytes(1), backlog_bytes) << "it is no slower than it was";
    EXPECT_EQ(kit->batch(1).messages, under_way);
    EXPECT_EQ(got_by_other(), is_broadcaster ? published : published - under_way);
    EXPECT_EQ(kit->unassigned_bytes(), 0u);
    if (!is_broadcaster || options.removal == RemovalRule::when_all_have_it) {
      EXPECT_LT(kit->bytes_held(), published * payload_bytes / 2) << "nothing is kept for it but that batch";
    }
    if (reads_on) {
      kit.write(1);
      EXPECT_FALSE(kit->batch(1).under_way());
      EXPECT_FALSE(kit->has_next(1));
    }
    kit->leave(1);
    EXPECT_EQ(kit->account(1).state, State::left);
    EXPECT_EQ(kit->account(1).handed_over, reads_on ? under_way : 1u);
    EXPECT_EQ(kit.delivered(1).size(), kit->account(1).handed_over);
    serve_other();
    EXPECT_TRUE(kit->drained());
    kit->finish();
    const auto done_by = [&](uint32_t receiver) {
      return options.responses ? kit->account(receiver).confirmed : kit->account(receiver).handed_over;
    };
    for (const uint32_t receiver : {1u, 2u}) {
      for (const SenderSets& sets : kit->account(receiver).skipped) EXPECT_TRUE(sets.empty()) << text_of(sets);
    }
    if (is_broadcaster) {
      EXPECT_EQ(done_by(1) + kit->still_queued(1).count(), published);
      EXPECT_EQ(done_by(2), published);
    } else {
      EXPECT_EQ(done_by(1) + done_by(2), published);
      EXPECT_TRUE(kit->total().still_queued.empty());
    }
  };
  QueueOptions options;
  options.receivers = 2;
  options.dispatch = DispatchRule::round_robin;
  options.responses_window = 5000;
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    for (const RemovalRule removal : {RemovalRule::when_all_have_it, RemovalRule::after_time}) {
      for (const int features : {0, 1, 2, 3}) {
        for (const bool reads_on : {false, true}) {
          options.mode = mode;
          options.removal = removal;
          options.responses = (features & 1) != 0;
          options.requests = (features & 2) != 0;
          SCOPED_TRACE(testing::Message() << "mode " << static_cast<int>(mode) << ", removal " << static_cast<int>(removal) << ", features "
                                          << features << ", reads on " << reads_on);
          check(options, reads_on);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, Ledger, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

}  // namespace
}  // namespace n2nq
