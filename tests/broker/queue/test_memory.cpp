// SPDX-License-Identifier: GPL-3.0-or-later
// What a queue says it takes in memory against what it takes, with messages of one letter: what is noted for each of them outweighs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "broker/queue/allowance.h"
#include "broker/queue/pieces.h"
#include "broker/queue/queue.h"
#include "broker/queue/taken_in.h"
#include "broker/wire/record.h"
#include "tests/broker/support/count_allocations.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq {
namespace {

constexpr size_t mib = 1 << 20;
/// Of lists that keep a little, of chunks that are kept to be used again, and of everything that is there once.
constexpr size_t beside_bytes = 3 * mib;

/// A queue whose receivers take what they get, and answer what they are told to.
class Measured {
 public:
  explicit Measured(const QueueOptions& options) : options_(options), empty_bytes_(support::allocated_bytes()), queue_(Queue::make(options)) {
    taken_.resize(options.receivers);
  }

  Queue* operator->() { return queue_.get(); }
  uint64_t taken(uint32_t receiver) const { return taken_[receiver - 1]; }

  void publish(int messages) {
    for (int i = 0; i < messages; ++i) {
      wire::store(record_.data() + 8, index_++);
      queue_->take_in(record_, 1, 1);
    }
  }
  void publish_one(size_t payload_bytes) { queue_->take_in(support::make_record(1, index_++, payload_bytes), 1, 1); }
  /// Everything that it may have.
  void take(uint32_t receiver) {
    while (queue_->has_next(receiver)) {
      queue_->begin_batch(receiver, 1);
      taken_[receiver - 1] += queue_->batch(receiver).messages;
      while (queue_->batch(receiver).under_way()) {
        pieces_.clear();
        queue_->gather(receiver, pieces_);
        queue_->taken(receiver, pieces_.bytes(), 1);
      }
    }
    queue_->trim();
  }
  void take_all() {
    for (uint32_t receiver = 1; receiver <= options_.receivers; ++receiver) take(receiver);
  }

  /// Messages and what is noted of them, without the books.
  size_t bytes_now() const { return support::allocated_bytes() - empty_bytes_ - std::min(queue_->books_bytes(), support::allocated_bytes()); }
  void expect_that_it_says_what_it_takes() {
    bytes_max_ = std::max(bytes_max_, bytes_now());
    EXPECT_LE(bytes_now(), queue_->bytes_held() + beside_bytes);
  }
  size_t bytes_max() const { return bytes_max_; }

 private:
  QueueOptions options_;
  wire::Bytes record_ = support::make_record(1, 0, 1);
  size_t empty_bytes_;
  std::unique_ptr<Queue> queue_;
  Pieces pieces_;
  std::vector<uint64_t> taken_;
  uint64_t index_ = 0;
  size_t bytes_max_ = 0;
};

QueueOptions options_of(wire::QueueMode mode, bool responses, bool requests, uint32_t receivers) {
  QueueOptions options;
  options.mode = mode;
  options.responses = responses;
  options.requests = requests;
  options.receivers = receivers;
  options.retention_ns = 1000;
  return options;
}

using Mode = std::tuple<wire::QueueMode, std::pair<bool, bool>>;

class Memory : public ::testing::TestWithParam<Mode> {
 protected:
  QueueOptions options(uint32_t receivers) const {
    const auto [mode, features] = GetParam();
    return options_of(mode, features.first, features.second, receivers);
  }
};

TEST_P(Memory, OfWhatWaitsIsWhatTheQueueSaysAndIsGivenBack) {
  Measured queue(options(4));
  for (int round = 0; round < 60; ++round) {
    queue.publish(5000);
    queue.expect_that_it_says_what_it_takes();
  }
  EXPECT_GT(queue.bytes_max(), 300'000u * 40);
  for (uint32_t receiver = 1; receiver <= 4; ++receiver) {
    queue->join(receiver);
    if (options(4).requests) queue->add_credit(receiver, UINT32_MAX);
    queue.expect_that_it_says_what_it_takes();
  }
  queue.publish(5000);
  queue->lose(2);
  queue.expect_that_it_says_what_it_takes();
  queue->expire(1002);
  for (int second = 0; second < 10; ++second) queue->fit();
  EXPECT_EQ(queue->bytes_held(), queue->bytes_held() % MessageLog::chunk_bytes) << "the open chunk";
  EXPECT_LE(queue.bytes_now(), beside_bytes);
}

TEST_P(Memory, OfWhatIsPassedFromOneReceiverToTheNextIsWhatTheQueueSays) {
  Measured queue(options(20));
  for (uint32_t receiver = 1; receiver <= 20; ++receiver) {
    queue->join(receiver);
    if (options(20).requests) queue->add_credit(receiver, UINT32_MAX);
    queue.publish(10'000);
    queue.expect_that_it_says_what_it_takes();
    if (receiver > 1) queue->lose(receiver - 1);
    queue.expect_that_it_says_what_it_takes();
    while (queue->work(2000) > 0) queue.expect_that_it_says_what_it_takes();
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Memory,
                         ::testing::Combine(::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                                            ::testing::Values(std::pair{false, false}, std::pair{true, false}, std::pair{false, true},
                                                              std::pair{true, true})));

TEST(BalancerMemory, OfABacklogThatNobodyTakesIsNotCopiedForEachThatComesAndGoes) {
  Measured queue(options_of(wire::QueueMode::load_balancer, false, false, 2));
  queue.publish(100'000);
  for (int round = 0; round < 3; ++round) {
    for (const uint32_t receiver : {1, 2}) {
      const uint64_t before = support::allocations();
      queue->join(receiver);
      queue->work(2000);
      EXPECT_GT(queue->backlog_bytes(receiver), 90'000u);
      queue->lose(receiver);
      if (round > 0) {
        EXPECT_LT(support::allocations(), before + 50) << "of the part that was passed on";
      }
    }
  }
  queue->join(2);
  while (queue->work(2000) > 0) queue.take(2);
  EXPECT_EQ(queue.taken(2), 100'000u);
}

TEST(BalancerMemory, OfACellThatIsEmptyAndNotInTurnsIsNotMoreForThoseWhoAskForItWithoutCredit) {
  constexpr uint32_t kinds = 1000, watchers = 99;
  Measured queue(options_of(wire::QueueMode::load_balancer, false, true, watchers + 1));
  std::vector<wire::Rule> each_kind;
  for (uint32_t kind = 0; kind < kinds; ++kind) each_kind.push_back({1, 1, kind, kind});
  for (uint32_t receiver = 1; receiver <= watchers + 1; ++receiver) {
    queue->join(receiver);
    const auto list = receiver == 1 ? each_kind : std::vector<wire::Rule>{{1, 1, 5, 5}, {1, 1, 2000, 2000 + receiver}};
    ASSERT_EQ(queue->set_rules(receiver, list, 0), "");
    while (queue->work(100'000) > 0) {
    }
  }
  queue->add_credit(1, kinds);
  for (uint32_t kind = 0; kind < kinds; ++kind) queue.publish_one(kind);
  queue.take(1);
  for (int i = 0; i < 4000; ++i) {
    queue.publish_one(5);
    queue->add_credit(1, 1);
    queue.take(1);
  }
  queue.publish_one(5);  // waits
  queue.expect_that_it_says_what_it_takes();
}

TEST(BooksMemory, OfWhatReceiversDoNotGetIsWhatTheBooksSay) {
  // Holes of all kinds: what random lists of rules leave out.
  std::minstd_rand random(1);
  const size_t before = support::allocated_bytes();
  std::vector<SenderSets> books(50);
  for (uint64_t index = 0; index < 20'000; ++index) {
    for (SenderSets& each : books) {
      if (random() % 50 == 0) each.add(1 + static_cast<uint32_t>(random() % 20), index + random() % 100);
    }
  }
  size_t said = 0;
  for (const SenderSets& each : books) said += each.bytes();
  const auto taken = static_cast<double>(support::allocated_bytes() - before - books.capacity() * sizeof(SenderSets));
  EXPECT_NEAR(static_cast<double>(said), taken, taken / 20);
}

TEST(BooksMemory, OfSetsOfOneRunIsWhatTheBooksSay) {
  const size_t before = support::allocated_bytes();
  SenderSets books;
  for (uint32_t sender = 1; sender <= 10'000; ++sender) books.add_range(sender, 5, 500);
  const size_t taken = support::allocated_bytes() - before;
  EXPECT_GE(books.bytes(), taken);
  EXPECT_LE(books.bytes(), taken + taken / 10);
}

TEST(BooksMemory, OfReceiversThatLeaveOneAfterTheOtherAreInTheBooks) {
  TakenIn taken_in(1000);
  const size_t empty_bytes = taken_in.bytes(), before = support::allocated_bytes();
  std::vector<std::shared_ptr<const TakenIn::Snapshot>> left;
  for (uint64_t index = 0; index < 100; ++index) {
    for (uint32_t sender = 1; sender <= 1000; ++sender) taken_in.add(sender, 2 * index, 1);
    for (int two = 0; two < 2; ++two) left.push_back(taken_in.snapshot());
  }
  const auto taken = static_cast<double>(support::allocated_bytes() - before);
  EXPECT_NEAR(static_cast<double>(taken_in.bytes() - empty_bytes), taken, taken / 4);
  EXPECT_EQ(taken_in.since(*left[3]).count(), 1000u * 98);
  left.clear();
  EXPECT_LT(taken_in.bytes(), empty_bytes + 1000 * 101 * sizeof(wire::IndexSet::Run) * 2);
}

/// Each with a list of its own that matches all 1,000 kinds; then all have the same list, and go.
TEST(BroadcasterMemory, OfReceiversThatAreGoneIsGivenBack) {
  constexpr uint32_t receivers = 200, kinds = 1000;
  const QueueOptions options = options_of(wire::QueueMode::broadcaster, false, true, receivers);
  const size_t before_bytes = support::allocated_bytes();
  const auto queue = Queue::make(options);
  const auto ask = [&](uint32_t number, const std::vector<wire::Rule>& rules) {
    ASSERT_EQ(queue->set_rules(number, rules, 1), "");
    while (queue->work(100'000) > 0) continue;
  };
  for (uint32_t number = 1; number <= receivers; ++number) {
    queue->join(number);
    ask(number, {{1, 1, 0, 2 * kinds + number}});
  }
  std::vector<wire::Rule> each_kind;
  for (uint32_t kind = 0; kind < kinds; kind += 2) each_kind.push_back({1, 1, kind, kind});
  ask(receivers, each_kind);
  for (uint64_t index = 0; index < 2 * kinds; ++index) queue->take_in(support::make_record(1, index, index % kinds), 1, 1);
  queue->expire(10'000);
  for (uint32_t number = 1; number <= receivers; ++number) ask(number, {wire::Rule()});
  for (uint32_t number = 1; number <= receivers; ++number) queue->leave(number);
  for (int second = 0; second < 10; ++second) {
    while (queue->settle(SIZE_MAX)) continue;
    queue->fit();
  }
  const size_t took_bytes = support::allocated_bytes() - before_bytes;
  EXPECT_GT(queue->kinds_bytes(), kinds * 500) << "which are kept for the next ones";
  EXPECT_LE(took_bytes, queue->kinds_bytes() + queue->books_bytes() + 2 * mib) << "with the log's 1 MiB";
}

TEST(BalancerMemory, OfLongBatchesIsGivenBack) {
  constexpr uint32_t receivers = 150;
  Measured queue(options_of(wire::QueueMode::load_balancer, false, true, receivers));
  for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
    queue->join(receiver);
    queue->add_credit(receiver, UINT32_MAX);
    queue.publish(5000);
    queue.take(receiver);
    queue->lose(receiver);
  }
  for (int second = 0; second < 10; ++second) queue->fit();
  EXPECT_LE(queue.bytes_now(), receivers * idle_kept_bytes + 2 * mib) << "of what was meant for each, and the log's 1 MiB";
}

class UnansweredMemory : public ::testing::TestWithParam<wire::QueueMode> {};

/// 16,000 kinds that came and went: each of 16 receivers asks for one of 16 rows of sizes of each sender.
TEST(KindsMemory, OfKindsThatThereWereIsWhatTheQueueSaysAndHasALimit) {
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    constexpr uint32_t receivers = 16, senders = 1000;
    QueueOptions options = options_of(mode, false, true, receivers);
    options.senders = senders;
    options.notes_bytes_max = 512 * mib;
    const size_t before_bytes = support::allocated_bytes();
    const auto queue = Queue::make(options);
    for (uint32_t number = 1; number <= receivers; ++number) {
      queue->join(number);
      std::vector<wire::Rule> rules;
      for (uint32_t sender = 1; sender <= senders; ++sender) rules.push_back({sender, sender, 10 * number, 10 * number + 9});
      ASSERT_EQ(queue->set_rules(number, rules, 1), "");
      while (queue->work(100'000) > 0) continue;
    }
    const size_t lists_bytes = support::allocated_bytes() - before_bytes;
    uint64_t index = 0;
    for (uint32_t number = 1; number <= receivers; ++number, ++index) {
      for (uint32_t sender = 1; sender <= senders; ++sender) queue->take_in(support::make_record(sender, index, 10 * number), 1, 1);
      queue->expire(10'000);
      queue->settle(SIZE_MAX);
    }
    queue->fit();
    const size_t took_bytes = support::allocated_bytes() - before_bytes - lists_bytes - queue->books_bytes();
    EXPECT_GT(queue->kinds_bytes(), 5 * mib);
    EXPECT_LE(took_bytes, queue->kinds_bytes() + beside_bytes);
    EXPECT_LE(queue->kinds_bytes(), 64 * mib);
  }
}

/// Size n of sender n, and so next to nothing of what these borders make different kinds.
std::vector<wire::Rule> one_size_of_each(uint32_t senders) {
  std::vector<wire::Rule> rules;
  for (uint32_t sender = 1; sender <= senders; ++sender) rules.push_back({sender, sender, sender, sender});
  return rules;
}

TEST(KindsMemory, OfKindsThatNobodyAsksForHasALimitToo) {
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    constexpr uint32_t senders = 200;
    QueueOptions options = options_of(mode, false, true, 2);
    options.senders = senders;
    options.notes_bytes_max = 16 * mib;
    const auto queue = Queue::make(options);
    queue->join(1);
    ASSERT_EQ(queue->set_rules(1, one_size_of_each(senders), 1), "");
    while (queue->work(100'000) > 0) continue;
    size_t most = 0;
    for (uint32_t size = 1; size <= senders; ++size) {
      for (uint32_t sender = 1; sender <= senders; ++sender) queue->take_in(support::make_record(sender, size - 1, size), 1, 1);
      queue->expire(10'000'000'000'000);
      queue->settle(SIZE_MAX);
      most = std::max(most, queue->kinds_bytes());
    }
    EXPECT_GT(most, 4 * mib) << "so many there were";
    EXPECT_LE(most, 8 * mib + 2 * mib) << "with the memory that a list has in reserve";
  }
}

/// No message waits for a receiver with room. And of more kinds than are kept, the few that are in use are.
TEST(KindsMemory, OfKindsThatAreHandedOutAtOnceHasALimitToo) {
  constexpr uint32_t senders = 200;
  QueueOptions options = options_of(wire::QueueMode::load_balancer, false, true, 2);
  options.senders = senders;
  options.notes_bytes_max = 16 * mib;
  Measured queue(options);
  queue->join(1);
  queue->join(2);
  queue->add_credit(2, UINT32_MAX);
  ASSERT_EQ(queue->set_rules(1, one_size_of_each(senders), 1), "");
  while (queue->work(100'000) > 0) continue;
  size_t most = 0;
  for (uint32_t size = 1; size <= senders; ++size) {
    for (uint32_t sender = 1; sender <= senders; ++sender) queue->take_in(support::make_record(sender, size - 1, size), 1, 1);
    queue.take(2);
    most = std::max(most, queue->kinds_bytes());
  }
  EXPECT_EQ(queue.taken(2), senders * senders);
  EXPECT_GT(most, 4 * mib) << "so many there were";
  EXPECT_LE(most, 8 * mib + 2 * mib) << "with the memory that a list has in reserve";
  const uint64_t looks_before = queue->looks_at_new_kinds();
  for (uint64_t index = senders; index < senders + 200u; ++index) {
    queue->take_in(support::make_record(1, index, index % 2 == 0 ? 1 : senders), 1, 1);  // one of the first kinds, and of the last
    queue.take(2);
  }
  const uint64_t rules = senders + 1;
  EXPECT_LE(queue->looks_at_new_kinds() - looks_before, 2 * rules) << "each was new once at most";
}

/// Nobody is read any more: what comes beyond the budget is what receivers make N2NQ note of what waits.
TEST(KindsMemory, AndThatOfDeliveriesGrowBeyondTheBudgetByTheirSharesOfIt) {
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    constexpr uint32_t senders = 200;
    constexpr size_t budget_bytes = 8 * mib, reserve_bytes = budget_bytes / 4;
    QueueOptions options = options_of(mode, true, true, 2);
    options.senders = senders;
    options.responses_window = 65'536;
    options.notes_bytes_max = budget_bytes / 2;
    options.deliveries_bytes_max = budget_bytes / 4;
    Measured queue(options);
    for (uint32_t size = 1; queue->bytes_held() < budget_bytes; ++size) {
      for (uint32_t sender = 1; sender <= senders; ++sender) queue->take_in(support::make_record(sender, size - 1, size), 1, 1);
    }
    const size_t before_bytes = queue->bytes_held();
    for (uint32_t receiver = 1; receiver <= 2; ++receiver) queue->join(receiver);
    ASSERT_EQ(queue->set_rules(1, one_size_of_each(senders), 1), "");
    size_t most = 0;
    while (queue->work(1000) > 0) most = std::max(most, queue->bytes_held());
    EXPECT_EQ(queue->take_refused_lists().size(), 1u) << "it would be more than half";
    EXPECT_GE(most, before_bytes + options.notes_bytes_max / 2) << "so much there was";
    EXPECT_LE(most, before_bytes + options.notes_bytes_max + reserve_bytes);
    for (uint32_t receiver = 1; receiver <= 2; ++receiver) {
      queue->add_credit(receiver, UINT32_MAX);
      queue.take(receiver);
    }
    const size_t others_bytes = 2 * Allowance::always * Allowance::bytes_per_delivery;
    EXPECT_LE(queue->bytes_held(), before_bytes + options.notes_bytes_max + reserve_bytes + options.deliveries_bytes_max + others_bytes);
  }
}

/// 40,000 kinds wait at once, and none of them is worth keeping when they have gone.
TEST(KindsMemory, OfKindsThatAreGoneIsWhatTheQueueSaysAndIsGivenBack) {
  for (const wire::QueueMode mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    constexpr uint32_t senders = 200;
    QueueOptions options = options_of(mode, false, true, 1);
    options.senders = senders;
    options.notes_bytes_max = 0;
    const size_t before_bytes = support::allocated_bytes();
    const auto queue = Queue::make(options);
    queue->join(1);
    ASSERT_EQ(queue->set_rules(1, one_size_of_each(senders), 1), "");
    while (queue->work(100'000) > 0) continue;
    const size_t list_bytes = support::allocated_bytes() - before_bytes;
    for (uint32_t round = 0; round < 2; ++round) {  // the second time as well as the first
      for (uint32_t size = 1; size <= senders; ++size) {
        for (uint32_t sender = 1; sender <= senders; ++sender) {
          queue->take_in(support::make_record(sender, round * senders + size - 1, size), 1, 1);
        }
      }
      EXPECT_GT(queue->kinds_bytes(), 10 * mib);
      queue->expire(10'000);
      while (queue->settle(SIZE_MAX)) continue;
      queue->trim();
      const auto took_bytes = [&] { return support::allocated_bytes() - before_bytes - list_bytes - queue->books_bytes(); };
      EXPECT_LE(took_bytes(), queue->kinds_bytes() + beside_bytes + 6 * mib) << "of the log, kept for a while";
      const size_t before_fit = queue->kinds_bytes();
      queue->fit();
      EXPECT_GT(queue->kinds_bytes(), before_fit / 2) << "not all of it at once";
      for (int second = 0; second < 10; ++second) queue->fit();
      EXPECT_LE(queue->kinds_bytes(), mib / 10);
      EXPECT_LE(took_bytes(), beside_bytes);
    }
  }
}

TEST_P(UnansweredMemory, OfAMillionMessagesBehindOneThatNobodyAnswersIsNext) {
  Measured queue(options_of(GetParam(), true, false, 2));
  queue->join(1);
  queue->join(2);
  queue.publish(2);
  queue.take_all();
  const uint64_t first = queue.taken(1);
  std::vector<uint64_t> answered{0, queue.taken(2)};
  if (answered[1] > 0) queue->confirm(2, 0, static_cast<uint32_t>(answered[1]), false);
  for (int round = 0; round < 10'000; ++round) {
    queue.publish(100);
    queue.take_all();
    for (uint32_t receiver = 1; receiver <= 2; ++receiver) {
      const uint64_t from = std::max(answered[receiver - 1], receiver == 1 ? first : 0);
      queue->confirm(receiver, from, static_cast<uint32_t>(queue.taken(receiver) - from), false);
      answered[receiver - 1] = queue.taken(receiver);
    }
    queue->trim();
    queue.expect_that_it_says_what_it_takes();
  }
  EXPECT_LE(queue->bytes_held(), mib / 2);
  EXPECT_LE(queue.bytes_max(), beside_bytes);
}

TEST_P(UnansweredMemory, OfAllThatNobodyAnswersHasALimit) {
  QueueOptions options = options_of(GetParam(), true, false, 100);
  options.responses_window = 65'536;
  options.deliveries_bytes_max = 4 * mib;
  Measured queue(options);
  for (uint32_t receiver = 1; receiver <= 100; ++receiver) queue->join(receiver);
  for (int round = 0; round < 200; ++round) {
    queue.publish(1000);
    queue.take_all();
    queue.expect_that_it_says_what_it_takes();
  }
  const size_t per_message = GetParam() == wire::QueueMode::broadcaster ? 250 : 300;
  EXPECT_LE(queue->bytes_held(), 200'000 * per_message + options.deliveries_bytes_max + mib);
  // Each has some all the same, and with its answers it gets on.
  for (uint32_t receiver = 1; receiver <= 100; ++receiver) {
    uint64_t answered = 0;
    ASSERT_GE(queue.taken(receiver), Allowance::always);
    for (int turn = 0; turn < 3; ++turn) {
      const uint64_t before = queue.taken(receiver);
      queue->confirm(receiver, answered, static_cast<uint32_t>(before - answered), false);
      answered = before;
      queue.take(receiver);
      if (GetParam() == wire::QueueMode::broadcaster) {
        EXPECT_GT(queue.taken(receiver), before);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, UnansweredMemory, ::testing::Values(wire::QueueMode::broadcaster, wire::QueueMode::load_balancer),
                         [](const auto& mode) { return mode.param == wire::QueueMode::broadcaster ? "broadcaster" : "load_balancer"; });

TEST(FlightsMemory, OfHalvesThatAreAnsweredLateIsNotKept) {
  // One that is never answered, and of each window that follows every other one late: none of what is answered is to stay.
  Flights flights;
  Flight flight;
  flights.add({});
  for (uint64_t first = 1; first < 2'000'000; first += 1000) {
    for (int i = 0; i < 1000; ++i) flights.add({});
    for (uint64_t odd = first; odd < first + 1000; odd += 2) flights.answer(odd, flight);
    for (uint64_t even = first + 1; even < first + 1000; even += 2) flights.answer(even, flight);
    ASSERT_LE(flights.kept(), 2 * flights.open() + 64);
  }
  EXPECT_EQ(flights.open(), 1u);
}

}  // namespace
}  // namespace n2nq
