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
    const bool connected = state == State::connected;
    switch (below(16)) {
      case 0:
      case 1:
        if (!connected && state != State::cut_off) kit_.join(receiver);
        break;
      case 2:
        if (connected && below(3) == 0) kit_->lose(receiver);
        break;
      case 3:
        if (connected && below(4) == 0) kit_->leave(receiver);
        break;
      case 4:
        if (connected && below(8) == 0) kit_->cut_off(receiver);
        break;
      case 5:
        if (connected && below(3) == 0) kit_.replace(receiver);
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
        if (connected) kit_.write(receiver, below(3) == 0 ? below(200) : SIZE_MAX, now_ns_);
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

INSTANTIATE_TEST_SUITE_P(BothModes, Ledger, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

}  // namespace
}  // namespace n2nq
