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
      if (below(8) == 0) queue_->fit();
      if (below(2) == 0) queue_->settle(1 + below(300));
      if (below(4) == 0) check_progress();
      if (mode1() && below(4) == 0) check_books();
      if (::testing::Test::HasFailure()) return;
    }
    if (!mode1() && options_.requests && state(1) == State::connected && below(2)) leave_list_on_its_way(1);
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
    if (below(2)) options.rule_units_at_once = below(10);
    if (below(2)) options.passed_at_once = 1 + below(4);
    if (below(2)) options.gone_listed_max = below(3);
    if (below(2)) options.walked_at_once = 1 + below(4);
    return options;
  }

  // What happens (selective_life.cpp)
  static bool matches(const std::vector<Rule>& list, const Message& message);
  uint64_t room(uint32_t number);
  void act(uint32_t number);
  void publish(uint32_t sender);
  void join(uint32_t number);
  void skip(uint32_t number, SkipReason reason, size_t message);
  /// The connection is gone: what was handed over and not confirmed comes again, the rest of the batch is owed.
  void break_off(uint32_t number);
  void again(uint32_t number, const Sent& sent, uint32_t own_fault);
  void note_handed_over(uint32_t number, const Sent& sent);
  void stop_giving(uint32_t number);
  void leave(uint32_t number, bool cut);
  /// Mode 1: what is there and what it is owed it will not get.
  void miss_rest(uint32_t number, bool cut);
  void expire();
  void expire_for_each(size_t i);
  /// It leaves while the receiver is not expected.
  void miss(uint32_t number, size_t i);
  void expire_in_total(size_t i);
  /// Mode 2: an expected receiver asks for it. Where one is changing over, and only one of its two lists does, the queue may say so or not.
  bool is_wanted(size_t i, const SenderSets& said) const;
  /// Mode 1: what everybody has who asks for it leaves.
  void update_left();
  void ask_for_list(uint32_t number);
  void set_rules(uint32_t number);
  void leave_list_on_its_way(uint32_t number);
  /// While its list is on the way: what comes to the same whichever list is in force. `narrows`: from all there is to something.
  void live_meanwhile(uint32_t number, bool narrows);
  void pass_deadlines();
  void answer(uint32_t number);

  // Deliveries (selective_deliveries.cpp)
  void write(uint32_t number, size_t bytes_max);
  void read_batch(uint32_t number, uint64_t room_before);
  void check_delivery(uint32_t number, const Sent& sent);
  bool is_for(uint32_t number, size_t i);
  /// Nothing waits for a receiver that has room for it.
  void check_progress();

  // The books (selective_books.cpp)
  SenderSets sets_of(const std::set<size_t>& messages) const;
  void check_books();
  static void add_disjoint(SenderSets& sum, const SenderSets& part, const char* what);
  void close_each();
  void close_total();

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
  std::map<uint32_t, std::set<size_t>> missed_leaving_;  // left the queue since the receiver said END; mode 1
  std::map<uint32_t, std::set<size_t>> final_;  // given up for good when the receiver left
  std::map<uint32_t, std::set<size_t>> done_;
  std::map<uint32_t, uint64_t> handed_over_, confirmed_;
  Pieces pieces_;
  int64_t now_ns_ = 1;
  int step_ = 0;
  bool closing_ = false;
};

}  // namespace n2nq::support
