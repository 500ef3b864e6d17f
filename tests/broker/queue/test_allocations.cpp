// SPDX-License-Identifier: GPL-3.0-or-later
// The hot path allocates nothing once it is warm: a program of its own, because it counts every operator new.
#include <gtest/gtest.h>

#include "broker/queue/pieces.h"
#include "broker/queue/queue.h"
#include "broker/wire/record.h"
#include "tests/broker/support/count_allocations.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq {
namespace {

/// Rounds of a wake-up: each of 10 senders brings messages, each of 10 receivers gets one write.
class Rounds {
 public:
  Rounds(const QueueOptions& options, size_t payload_bytes) : options_(options), queue_(Queue::make(options)) {
    for (uint32_t sender = 1; sender <= options.senders; ++sender) records_.push_back(support::make_record(sender, 0, payload_bytes));
    for (uint32_t receiver = 1; receiver <= options.receivers; ++receiver) {
      queue_->join(receiver);
      if (options.requests) queue_->add_credit(receiver, UINT32_MAX);
    }
    confirmed_.resize(options.receivers);
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round, ++now_ns_) {
      for (int i = 0; i < 5; ++i, ++index_) {
        for (wire::Bytes& record : records_) {
          wire::store(record.data() + 8, index_);
          queue_->take_in(record, 1, now_ns_);
        }
      }
      for (const uint32_t receiver : queue_->take_ready()) write(receiver);
      queue_->trim();
      queue_->expire(now_ns_);
    }
  }

 private:
  void write(uint32_t receiver) {
    while (queue_->has_next(receiver)) {
      queue_->begin_batch(receiver, now_ns_);
      const size_t messages = queue_->batch(receiver).messages;
      while (queue_->batch(receiver).under_way()) {
        pieces_.clear();
        queue_->gather(receiver, pieces_);
        queue_->taken(receiver, std::min<size_t>(pieces_.bytes(), 3000), 0);
      }
      if (!options_.responses) continue;
      queue_->confirm(receiver, confirmed_[receiver - 1], static_cast<uint32_t>(messages), false);
      confirmed_[receiver - 1] += messages;
    }
  }

  QueueOptions options_;
  std::unique_ptr<Queue> queue_;
  std::vector<wire::Bytes> records_;
  Pieces pieces_;
  std::vector<uint64_t> confirmed_;
  uint64_t index_ = 0;
  int64_t now_ns_ = 1;
};

void expect_none(QueueOptions options, size_t payload_bytes) {
  options.senders = 10;
  options.receivers = 10;
  options.retention_ns = 20;
  Rounds rounds(options, payload_bytes);
  rounds.run(payload_bytes < 10'000 ? 3000 : 300);  // until every list has been as long as chance makes it
  const uint64_t before = support::allocations();
  rounds.run(300);
  EXPECT_EQ(support::allocations() - before, 0u);
}

class Allocations : public ::testing::TestWithParam<std::tuple<wire::QueueMode, RemovalRule, DispatchRule, size_t>> {};

TEST_P(Allocations, NoneInTheSteadyState) {
  QueueOptions options;
  options.mode = std::get<0>(GetParam());
  options.removal = std::get<1>(GetParam());
  options.dispatch = std::get<2>(GetParam());
  expect_none(options, std::get<3>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Modes, Allocations,
    ::testing::Values(std::tuple{wire::QueueMode::broadcaster, RemovalRule::when_all_have_it, DispatchRule::random, 50u},
                      std::tuple{wire::QueueMode::broadcaster, RemovalRule::after_time, DispatchRule::random, 50u},
                      std::tuple{wire::QueueMode::broadcaster, RemovalRule::when_all_have_it, DispatchRule::random, 100'000u},
                      std::tuple{wire::QueueMode::load_balancer, RemovalRule::when_all_have_it, DispatchRule::random, 50u},
                      std::tuple{wire::QueueMode::load_balancer, RemovalRule::when_all_have_it, DispatchRule::round_robin, 5000u},
                      std::tuple{wire::QueueMode::load_balancer, RemovalRule::when_all_have_it, DispatchRule::next_free, 100'000u}));

/// With responses, requests or both.
class SelectiveAllocations : public ::testing::TestWithParam<std::tuple<wire::QueueMode, RemovalRule, std::pair<bool, bool>>> {};

TEST_P(SelectiveAllocations, NoneInTheSteadyState) {
  QueueOptions options;
  options.mode = std::get<0>(GetParam());
  options.removal = std::get<1>(GetParam());
  std::tie(options.responses, options.requests) = std::get<2>(GetParam());
  expect_none(options, 50);
}

INSTANTIATE_TEST_SUITE_P(Modes, SelectiveAllocations,
                         ::testing::Combine(::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                                            ::testing::Values(RemovalRule::when_all_have_it, RemovalRule::after_time),
                                            ::testing::Values(std::pair{true, false}, std::pair{false, true}, std::pair{true, true})));

}  // namespace
}  // namespace n2nq
