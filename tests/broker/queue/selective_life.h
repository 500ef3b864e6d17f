// SPDX-License-Identifier: GPL-3.0-or-later
// A random life of a queue with responses, requests or both, beside a simple model of it: a table of messages and receivers that is
// searched from end to end. Pretend time; everything follows from the seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "tests/broker/queue/queue_kit.h"
#include "tests/broker/queue/selective_model.h"

namespace n2nq::support {

using wire::Rule, wire::SkipReason;
using State = ReceiverAccount::State;

class Life {
 public:
  Life(uint64_t seed, wire::QueueMode mode)
      : random_(seed), options_(make_options(mode)), queue_(Queue::make(options_)), receivers_(options_.receivers + 1) {}

  void live() {
    for (step_ = 0; step_ < 250; ++step_) {
      now_ns_ += static_cast<int64_t>(below(3));
      act(1 + static_cast<uint32_t>(below(options_.receivers)));
      queue_->trim();
      if (mode1()) update_left();
      if (below(4) == 0) check_progress();
      if (mode1() && below(4) == 0) check_books();
      if (::testing::Test::HasFailure()) return;
    }
    closing_ = true;
    for (uint32_t number = 1; number <= options_.receivers; ++number) break_off(number);
    if (mode1()) update_left();
    queue_->finish();
    mode1() ? close_each() : close_total();
  }

 private:
  bool mode1() const { return options_.mode == wire::QueueMode::broadcaster; }
  uint64_t below(uint64_t bound) { return random_() % bound; }
  Receiver& of_number(uint32_t number) { return receivers_[number]; }
  State state(uint32_t number) const { return queue_->account(number).state; }
  bool expected(uint32_t number) const { return queue_->account(number).expected(); }
  With& with(size_t message, uint32_t number) { return messages_[message].with[mode1() ? number : 0]; }

  QueueOptions make_options(wire::QueueMode mode) {
    QueueOptions options;
    options.mode = mode;
    options.senders = 4;
    options.receivers = 1 + static_cast<uint32_t>(below(4));
    options.retention_ns = 60;
    options.removal = below(2) ? RemovalRule::when_all_have_it : RemovalRule::after_time;
    options.dispatch = static_cast<DispatchRule>(below(3));
    options.seed = below(1000);
    const uint64_t features = 1 + below(3);
    options.responses = features & 1;
    options.requests = features & 2;
    options.responses_window = 1 + static_cast<uint32_t>(below(below(2) ? 4 : 40));
    options.responses_attempts_max = 1 + static_cast<uint32_t>(below(4));
    options.responses_deadline_ns = 5 + static_cast<int64_t>(below(30));
    return options;
  }

  static bool matches(const std::vector<Rule>& list, const Message& message) {
    return std::any_of(list.begin(), list.end(), [&](const Rule& rule) {
      return message.sender >= rule.sender_first && message.sender <= rule.sender_last && message.size >= rule.size_min &&
             message.size <= rule.size_max;
    });
  }

  uint64_t room(uint32_t number) {
    const Receiver& receiver = of_number(number);
    const uint64_t by_credit = options_.requests ? receiver.credit : UINT64_MAX;
    const uint64_t unconfirmed = receiver.open() + receiver.batch.size();
    const uint64_t by_window =
        !options_.responses ? UINT64_MAX : options_.responses_window - std::min<uint64_t>(options_.responses_window, unconfirmed);
    return std::min(by_credit, by_window);
  }

  // --- what happens ---

  void act(uint32_t number) {
    const bool connected = state(number) == State::connected;
    switch (below(20)) {
      case 0:
      case 1:
        if (!connected && state(number) != State::cut_off) join(number);
        break;
      case 2:
        if (connected && below(3) == 0) {
          break_off(number);
          queue_->lose(number);
        }
        break;
      case 3:
        if (connected && below(8) == 0) leave(number, false);
        break;
      case 4:
        if (connected && below(20) == 0) leave(number, true);
        break;
      case 5:
        if (connected && below(3) == 0) {
          break_off(number);
          queue_->replace(number);
          join(number);
        }
        break;
      case 6:
      case 7:
        expire();
        break;
      case 8:
      case 9:
      case 10:
      case 11:
        for (uint64_t i = below(6); i > 0; --i) publish(1 + static_cast<uint32_t>(below(options_.senders)));
        break;
      case 12:
        if (options_.requests && connected) set_rules(number);
        break;
      case 13:
        if (options_.requests && connected) {
          const uint64_t more = below(10) == 0 ? 1000 : below(6);
          queue_->add_credit(number, more);
          of_number(number).credit += more;
        }
        break;
      case 14:
        if (options_.responses) pass_deadlines();
        break;
      case 15:
      case 16:
        if (options_.responses && connected) answer(number);
        break;
      default:
        if (connected) write(number, below(3) == 0 ? below(200) : SIZE_MAX);
    }
  }

  void publish(uint32_t sender) {
    const size_t payload = below(30) == 0 ? 70'000 : below(100);
    Message message{sender, next_index_[sender], static_cast<uint32_t>(payload), now_ns_, false, false, {}};
    message.with.assign(mode1() ? options_.receivers + 1 : 1, With::none);
    by_identity_[{sender, message.index}] = messages_.size();
    messages_.push_back(message);
    published_.add(sender, message.index);
    queue_->take_in(support::make_record(sender, next_index_[sender]++, payload), now_ns_);
  }

  void join(uint32_t number) {
    const bool comes_back = state(number) == State::left;
    queue_->join(number);
    Receiver& receiver = of_number(number);
    receiver.credit = 0;
    receiver.flights.clear();
    if (!comes_back || !mode1()) return;
    for (size_t i = 0; i < messages_.size(); ++i) {
      // What is queued still it may have after all.
      if (messages_[i].left || with(i, number) != With::skipped) continue;
      if (final_[number].contains(i)) continue;
      with(i, number) = With::none;
      for (auto& set : model_skipped_[number]) set.erase(i);
      still_queued_[number].erase(i);
    }
  }

  void skip(uint32_t number, SkipReason reason, size_t message) {
    with(message, number) = With::skipped;
    model_skipped_[mode1() ? number : 0][static_cast<size_t>(reason) - 1].insert(message);
  }

  /// The connection is gone: what was handed over and not confirmed comes again, the rest of the batch is owed.
  void break_off(uint32_t number) {
    Receiver& receiver = of_number(number);
    std::vector<Sent> unanswered;
    const size_t written = queue_->batch(number).under_way() ? queue_->batch(number).records_written() : 0;
    size_t sum = 0;
    for (const Sent& sent : receiver.batch) {
      sum += wire::record_header_bytes + messages_[sent.message].size;
      if (sum > written) {
        if (messages_[sent.message].left) {
          skip(number, SkipReason::expired, sent.message);
        } else {
          with(sent.message, number) = mode1() || closing_ ? With::owed : With::none;
        }
      } else {
        note_handed_over(number, sent);
        if (options_.responses) unanswered.push_back(sent);
      }
    }
    receiver.batch.clear();
    for (const Receiver::Flight& flight : receiver.flights) {
      if (flight.open) unanswered.push_back(flight.sent);
    }
    receiver.flights.clear();
    for (const Sent& sent : unanswered) again(number, sent, 0);
  }

  void again(uint32_t number, const Sent& sent, uint32_t own_fault) {
    const uint32_t failures = failures_[{sent.message, mode1() ? number : 0}] += own_fault;
    if (messages_[sent.message].left) {
      skip(number, SkipReason::expired, sent.message);
    } else if (failures >= options_.responses_attempts_max && !closing_) {
      skip(number, SkipReason::parked, sent.message);
      if (mode1()) with(sent.message, number) = With::done;  // as far as the others are concerned
      if (!mode1()) messages_[sent.message].left = true;
    } else {
      with(sent.message, number) = mode1() || closing_ ? With::owed : With::none;
    }
  }

  void note_handed_over(uint32_t number, const Sent& sent) {
    Receiver& receiver = of_number(number);
    ++handed_over_[number];
    receiver.handed.insert(sent.message);
    if (sent.flags == 0) {
      const Message& message = messages_[sent.message];
      int64_t& last = receiver.last_unmarked.try_emplace(message.sender, -1).first->second;
      EXPECT_GT(static_cast<int64_t>(message.index), last) << "out of order, and not marked: receiver " << number;
      last = static_cast<int64_t>(message.index);
    }
    if (!options_.responses) {
      with(sent.message, number) = With::done;
      if (!mode1()) messages_[sent.message].left = true;
      done_[mode1() ? number : 0].insert(sent.message);
    } else {
      with(sent.message, number) = With::flight;
    }
  }

  void leave(uint32_t number, bool cut) {
    break_off(number);
    if (mode1()) {
      update_left();
      for (size_t i = 0; i < messages_.size(); ++i) {
        const bool owed = with(i, number) == With::owed;
        if (!owed && (messages_[i].left || with(i, number) != With::none)) continue;
        const bool missed = owed || matches(of_number(number).list, messages_[i]);
        if (owed) final_[number].insert(i);
        if (!missed) {
          skip(number, SkipReason::unrequested, i);
        } else if (cut) {
          skip(number, SkipReason::cut_off, i);
        } else {
          with(i, number) = With::skipped;
          still_queued_[number].insert(i);
        }
      }
    }
    cut ? queue_->cut_off(number) : queue_->leave(number);
  }

  void expire() {
    queue_->expire(now_ns_);
    for (size_t i = 0; i < messages_.size(); ++i) {
      Message& message = messages_[i];
      if (message.left || message.taken_in_ns + options_.retention_ns > now_ns_) continue;
      message.left = message.expired = true;
      mode1() ? expire_for_each(i) : expire_in_total(i);
    }
  }

  void expire_for_each(size_t i) {
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      if (!expected(number)) {
        miss(number, i);
      } else if (with(i, number) == With::none) {
        skip(number, matches(of_number(number).list, messages_[i]) ? SkipReason::expired : SkipReason::unrequested, i);
      } else if (with(i, number) == With::owed) {
        skip(number, SkipReason::expired, i);
      }
    }
  }

  /// It leaves while the receiver is not expected.
  void miss(uint32_t number, size_t i) {
    if (with(i, number) != With::none) return;
    with(i, number) = With::skipped;
    if (state(number) == State::left) still_queued_[number].insert(i);
    if (state(number) == State::cut_off) skip(number, SkipReason::cut_off, i);
  }

  void expire_in_total(size_t i) {
    if (with(i, 0) != With::none) return;  // on its way
    bool wanted = !options_.requests;
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      wanted |= expected(number) && matches(of_number(number).list, messages_[i]);
    }
    skip(0, wanted ? SkipReason::expired : SkipReason::unrequested, i);
  }

  /// Mode 1: what everybody has who asks for it leaves.
  void update_left() {
    if (options_.removal != RemovalRule::when_all_have_it) return;
    for (size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].left) continue;
      bool one_asks = false;
      bool all_have_it = true;
      for (uint32_t number = 1; number <= options_.receivers; ++number) {
        const With with_it = with(i, number);
        all_have_it &= with_it != With::batch && with_it != With::flight && with_it != With::owed;
        if (!expected(number) || !matches(of_number(number).list, messages_[i])) continue;
        one_asks = true;
        all_have_it &= with_it == With::done || final_[number].contains(i);
      }
      if (!one_asks || !all_have_it) continue;
      messages_[i].left = true;
      for (uint32_t number = 1; number <= options_.receivers; ++number) {
        if (!expected(number)) {
          miss(number, i);
        } else if (with(i, number) == With::none) {
          skip(number, SkipReason::unrequested, i);
        }
      }
    }
  }

  void set_rules(uint32_t number) {
    std::vector<Rule> list;
    for (uint64_t rules = below(4); rules > 0; --rules) {
      Rule rule;
      if (below(3)) {
        rule.sender_first = static_cast<uint32_t>(below(5));
        rule.sender_last = rule.sender_first + static_cast<uint32_t>(below(4));
      }
      if (below(3)) {
        rule.size_min = static_cast<uint32_t>(below(90));
        rule.size_max = rule.size_min + static_cast<uint32_t>(below(60));
      }
      list.push_back(rule);
    }
    EXPECT_EQ(queue_->set_rules(number, list), "");
    of_number(number).list = list;
  }

  void pass_deadlines() {
    queue_->pass_deadlines(now_ns_);
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      Receiver& receiver = of_number(number);
      for (Receiver::Flight& flight : receiver.flights) {
        if (!flight.open || flight.deadline_ns > now_ns_) continue;
        flight.open = false;
        receiver.credit += options_.requests;
        again(number, flight.sent, 1);
      }
    }
  }

  void answer(uint32_t number) {
    Receiver& receiver = of_number(number);
    const uint64_t sent = receiver.flights.size();
    const uint64_t first = sent < 8 || below(3) == 0 ? below(sent + 1) : sent - below(8);
    const uint32_t count = 1 + static_cast<uint32_t>(below(6));
    const bool negative = below(4) == 0;
    if (first + count > sent) {
      EXPECT_EQ(queue_->confirm(number, first, count, negative), Queue::Confirmed::never_sent);
      return;
    }
    const bool twice =
        std::any_of(receiver.flights.begin() + static_cast<ptrdiff_t>(first),
                    receiver.flights.begin() + static_cast<ptrdiff_t>(first + count), [](const auto& one) { return one.answered; });
    if (twice) return;  // an error, behind which the connection is closed
    EXPECT_EQ(queue_->confirm(number, first, count, negative), Queue::Confirmed::yes);
    for (uint64_t delivery = first; delivery < first + count; ++delivery) {
      Receiver::Flight& flight = receiver.flights[delivery];
      flight.answered = true;
      if (!std::exchange(flight.open, false)) continue;
      receiver.credit += options_.requests;
      if (negative) {
        again(number, flight.sent, 1);
      } else {
        with(flight.sent.message, number) = With::done;
        if (!mode1()) messages_[flight.sent.message].left = true;
        EXPECT_TRUE(done_[mode1() ? number : 0].insert(flight.sent.message).second) << "confirmed twice";
        ++confirmed_[number];
      }
    }
    EXPECT_EQ(queue_->confirm(number, first, 1, false), Queue::Confirmed::twice);
  }

  // --- deliveries ---

  void write(uint32_t number, size_t bytes_max) {
    Receiver& receiver = of_number(number);
    if (!queue_->batch(number).under_way()) {
      if (!queue_->has_next(number)) return;
      const uint64_t room_before = room(number);
      queue_->begin_batch(number, now_ns_);
      read_batch(number, room_before);
      if (::testing::Test::HasFailure()) return;
    }
    const size_t taken = std::min(bytes_max, receiver.batch_bytes.size());
    receiver.batch_bytes.erase(receiver.batch_bytes.begin(), receiver.batch_bytes.begin() + static_cast<ptrdiff_t>(taken));
    pieces_.clear();
    queue_->gather(number, pieces_);
    queue_->taken(number, taken, now_ns_);
    if (queue_->batch(number).under_way()) return;
    for (const Sent& sent : std::exchange(receiver.batch, {})) {
      note_handed_over(number, sent);
      if (options_.responses) receiver.flights.push_back({sent, now_ns_ + options_.responses_deadline_ns, true, false});
    }
  }

  void read_batch(uint32_t number, uint64_t room_before) {
    Receiver& receiver = of_number(number);
    pieces_.clear();
    queue_->gather(number, pieces_);
    receiver.batch_bytes.clear();
    for (int i = 0; i < pieces_.count(); ++i) {
      const auto* bytes = static_cast<const uint8_t*>(pieces_.data()[i].iov_base);
      receiver.batch_bytes.insert(receiver.batch_bytes.end(), bytes, bytes + pieces_.data()[i].iov_len);
    }
    ASSERT_EQ(receiver.batch_bytes.size(), Batch::head_bytes + queue_->batch(number).record_bytes);
    wire::RecordWalk walk(wire::ByteView(receiver.batch_bytes).subspan(Batch::head_bytes));
    while (const auto record = walk.next()) {
      const wire::RecordHeader header = wire::read_record_header(record->data());
      EXPECT_EQ(wire::compute_record_checksum(record->data()), header.checksum);
      const Sent sent{by_identity_.at({header.sender, header.index}), header.attempt, header.flags};
      ASSERT_NO_FATAL_FAILURE(check_delivery(number, sent));
      receiver.batch.push_back(sent);
      with(sent.message, number) = With::batch;
    }
    EXPECT_EQ(receiver.batch.size(), queue_->batch(number).messages);
    EXPECT_LE(receiver.batch.size(), room_before) << "more than credit and window allow";
    if (options_.requests) receiver.credit -= receiver.batch.size();
  }

  void check_delivery(uint32_t number, const Sent& sent) {
    const Message& message = messages_[sent.message];
    SCOPED_TRACE("receiver " + std::to_string(number) + ", message " + std::to_string(message.sender) + ":" +
                 std::to_string(message.index));
    EXPECT_FALSE(message.left) << "it had left the queue";
    const bool redelivered = sent.flags & wire::flag_redelivered;
    const With before = with(sent.message, number);
    if (before == With::owed) {
      EXPECT_TRUE(redelivered || !of_number(number).handed.contains(sent.message));
    } else {
      EXPECT_EQ(before, With::none);
      EXPECT_TRUE(matches(of_number(number).list, message)) << "nobody asked for it";
      EXPECT_FALSE(mode1() && redelivered);
      for (uint32_t other = 1; other <= options_.receivers && !redelivered; ++other) {
        const bool counts = !mode1() || other == number;
        EXPECT_FALSE(counts && of_number(other).handed.contains(sent.message)) << "twice, and not marked";
      }
    }
    EXPECT_EQ(redelivered, sent.attempt > 1);
    if (mode1() && before == With::none) {
      // The oldest one first.
      for (size_t i = 0; i < sent.message; ++i) EXPECT_FALSE(is_for(number, i)) << "message " << i << " is older";
    }
  }

  bool is_for(uint32_t number, size_t i) {
    if (messages_[i].left) return false;
    if (with(i, number) == With::owed) return true;
    return with(i, number) == With::none && matches(of_number(number).list, messages_[i]);
  }

  /// Nothing waits for a receiver that has room for it.
  void check_progress() {
    if (!mode1()) {
      // What is assigned shows only in batches.
      for (uint32_t number = 1; number <= options_.receivers; ++number) {
        if (state(number) != State::connected) continue;
        do {
          write(number, SIZE_MAX);
        } while (queue_->has_next(number) && !::testing::Test::HasFailure());
      }
    }
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      if (state(number) != State::connected || room(number) == 0 || queue_->batch(number).under_way()) continue;
      bool something = false;
      size_t which = 0;
      for (size_t i = 0; i < messages_.size() && !something; which = i++) something = is_for(number, i);
      EXPECT_EQ(queue_->has_next(number), something)
          << messages_[which].sender << ":" << messages_[which].index << " for receiver " << number << " at step " << step_;
    }
    bool any = false;
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      bool some = !of_number(number).batch.empty() || of_number(number).open() > 0;
      for (size_t i = 0; i < messages_.size() && !some; ++i) some = is_for(number, i);
      some &= expected(number);
      EXPECT_EQ(mode1() ? queue_->drained(number) : !some, !some) << "receiver " << number << " at step " << step_;
      any |= some;
    }
    const bool shows = mode1() || options_.requests;
    EXPECT_EQ(shows ? queue_->drained() : !any, !any) << "at step " << step_;
  }

  // --- the books ---

  SenderSets sets_of(const std::set<size_t>& messages) const {
    SenderSets sets;
    for (const size_t i : messages) sets.add(messages_[i].sender, messages_[i].index);
    return sets;
  }

  void check_books() {
    // In parts, and what came in meanwhile after that.
    for (int time = 0; time < 2; ++time) {
      while (queue_->settle(1 + below(4))) {
      }
    }
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      if (!expected(number)) continue;
      for (const SkipReason reason : {SkipReason::expired, SkipReason::unrequested, SkipReason::parked}) {
        EXPECT_EQ(text_of(of(queue_->account(number).skipped, reason)),
                  text_of(sets_of(model_skipped_[number][static_cast<size_t>(reason) - 1])))
            << "receiver " << number << ", reason " << static_cast<int>(reason) << ", step " << step_;
      }
    }
  }

  static void add_disjoint(SenderSets& sum, const SenderSets& part, const char* what) {
    const uint64_t before = sum.count();
    sum += part;
    EXPECT_EQ(sum.count(), before + part.count()) << what << " overlaps: " << text_of(part);
  }

  void close_each() {
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      SCOPED_TRACE("receiver " + std::to_string(number));
      for (size_t i = 0; i < messages_.size(); ++i) {
        if (with(i, number) == With::owed) {
          still_queued_[number].insert(i);
        } else if (with(i, number) == With::none) {
          if (state(number) == State::cut_off) {
            skip(number, SkipReason::cut_off, i);
          } else if (state(number) == State::left || matches(of_number(number).list, messages_[i])) {
            still_queued_[number].insert(i);
          } else {
            skip(number, SkipReason::unrequested, i);
          }
        }
      }
      const ReceiverAccount& account = queue_->account(number);
      SenderSets sum = sets_of(done_[number]);
      EXPECT_EQ(account.handed_over, handed_over_[number]);
      EXPECT_EQ(account.confirmed, confirmed_[number]);
      for (const SkipReason reason : {SkipReason::expired, SkipReason::unrequested, SkipReason::parked, SkipReason::cut_off}) {
        EXPECT_EQ(text_of(of(account.skipped, reason)), text_of(sets_of(model_skipped_[number][static_cast<size_t>(reason) - 1])))
            << static_cast<int>(reason);
        add_disjoint(sum, of(account.skipped, reason), "skipped");
      }
      EXPECT_EQ(text_of(queue_->still_queued(number)), text_of(sets_of(still_queued_[number])));
      add_disjoint(sum, queue_->still_queued(number), "still queued");
      ASSERT_EQ(text_of(sum), text_of(published_));
    }
  }

  void close_total() {
    std::set<size_t> still_queued;
    for (size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].left || (with(i, 0) != With::none && with(i, 0) != With::owed)) continue;
      bool wanted = !options_.requests || with(i, 0) == With::owed;
      for (uint32_t number = 1; number <= options_.receivers; ++number) wanted |= matches(of_number(number).list, messages_[i]);
      if (wanted) {
        still_queued.insert(i);
      } else {
        skip(0, SkipReason::unrequested, i);
      }
    }
    SenderSets sum = sets_of(done_[0]);
    for (const SkipReason reason : {SkipReason::expired, SkipReason::unrequested, SkipReason::parked, SkipReason::cut_off}) {
      EXPECT_EQ(text_of(of(queue_->total().skipped, reason)), text_of(sets_of(model_skipped_[0][static_cast<size_t>(reason) - 1])))
          << static_cast<int>(reason);
      add_disjoint(sum, of(queue_->total().skipped, reason), "skipped");
    }
    EXPECT_EQ(text_of(queue_->total().still_queued), text_of(sets_of(still_queued)));
    add_disjoint(sum, queue_->total().still_queued, "still queued");
    ASSERT_EQ(text_of(sum), text_of(published_));
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      EXPECT_EQ(queue_->account(number).handed_over, handed_over_[number]);
      EXPECT_EQ(queue_->account(number).confirmed, confirmed_[number]);
    }
  }

  std::mt19937_64 random_;
  QueueOptions options_;
  std::unique_ptr<Queue> queue_;
  std::vector<Receiver> receivers_;
  std::vector<Message> messages_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> by_identity_;
  std::map<uint32_t, uint64_t> next_index_;
  std::map<std::pair<size_t, uint32_t>, uint32_t> failures_;  // by message and, in mode 1, receiver
  SenderSets published_;
  std::map<uint32_t, std::array<std::set<size_t>, 4>> model_skipped_;
  std::map<uint32_t, std::set<size_t>> still_queued_;
  std::map<uint32_t, std::set<size_t>> final_;  // given up for good when the receiver left
  std::map<uint32_t, std::set<size_t>> done_;
  std::map<uint32_t, uint64_t> handed_over_, confirmed_;
  Pieces pieces_;
  int64_t now_ns_ = 1;
  int step_ = 0;
  bool closing_ = false;
};

}  // namespace n2nq::support
