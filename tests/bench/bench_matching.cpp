// SPDX-License-Identifier: GPL-3.0-or-later
// What a delivery costs in the queue when 1,000 receivers have different rules, from 10 to 1,000,000 queued messages: the queue alone,
// without sockets. Prints a table and, last, one line of JSON; passes no judgement.
//
// Steady state: each message that comes in is followed by as many deliveries as it has copies (broadcaster: one for each receiver whose
// list matches it, load balancer: one), each to a receiver whose list matches it, which gets credit 1 for that and takes its oldest
// message.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "broker/queue/queue.h"
#include "tests/broker/support/seed_frames.h"

namespace {

using namespace n2nq;

constexpr uint32_t senders = 1000;
constexpr uint32_t receivers = 1000;
constexpr uint32_t sizes = 112;
constexpr uint64_t deliveries = 300'000;
constexpr int rounds = 3;

wire::Rule rule_of(uint32_t receiver) {
  const uint32_t first = 1 + (receiver * 7919) % 991;
  const uint32_t size_min = receiver % 10 * 8;
  return {first, first + 9, size_min, size_min + 39};
}

class Bench {
 public:
  Bench(wire::QueueMode mode, bool responses, uint64_t queued) : mode_(mode), responses_(responses) {
    QueueOptions options;
    options.mode = mode;
    options.senders = senders;
    options.receivers = receivers;
    options.retention_ns = INT64_MAX / 2;
    options.requests = true;
    options.responses = responses;
    options.dispatch = DispatchRule::round_robin;
    queue_ = Queue::make(options);
    for (uint32_t sender = 1; sender <= senders; ++sender) {
      for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
        const wire::Rule rule = rule_of(receiver);
        if (sender >= rule.sender_first && sender <= rule.sender_last) by_sender_[sender].push_back(receiver);
      }
    }
    for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
      queue_->join(receiver);
      queue_->set_rules(receiver, {rule_of(receiver)});
    }
    for (uint32_t size = 0; size < sizes; ++size) records_.push_back(support::make_record(1, 0, size));
    for (uint64_t i = 0; i < queued; ++i) publish();
  }

  /// Mean time of one delivery, with its share of taking in.
  double ns_per_delivery() {
    uint64_t done = 0;
    const auto begin = std::chrono::steady_clock::now();
    while (done < deliveries) {
      publish();
      if (mode_ == wire::QueueMode::broadcaster) {
        for (const uint32_t receiver : matching_) done += deliver(receiver);
      } else {
        done += deliver(matching_[random_() % matching_.size()]);
      }
      queue_->trim();
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()) / static_cast<double>(done);
  }

 private:
  /// A message that somebody's list matches.
  void publish() {
    do {
      sender_ = 1 + static_cast<uint32_t>(random_() % senders);
      const auto size = static_cast<uint32_t>(random_() % sizes);
      matching_.clear();
      for (const uint32_t receiver : by_sender_[sender_]) {
        const wire::Rule rule = rule_of(receiver);
        if (size >= rule.size_min && size <= rule.size_max) matching_.push_back(receiver);
      }
      record_ = &records_[size];
    } while (matching_.empty());
    wire::store(record_->data() + 4, sender_);
    wire::store(record_->data() + 8, next_index_[sender_]++);
    queue_->take_in(*record_, 1);
  }

  uint64_t deliver(uint32_t receiver) {
    queue_->add_credit(receiver, 1);
    if (!queue_->has_next(receiver)) return 0;
    queue_->begin_batch(receiver, 1);
    const uint64_t messages = queue_->batch(receiver).messages;
    while (queue_->batch(receiver).under_way()) {
      pieces_.clear();
      queue_->gather(receiver, pieces_);
      queue_->taken(receiver, pieces_.bytes(), 1);
    }
    if (responses_) {
      queue_->confirm(receiver, confirmed_[receiver], static_cast<uint32_t>(messages), false);
      confirmed_[receiver] += messages;
    }
    return messages;
  }

  wire::QueueMode mode_;
  bool responses_;
  std::unique_ptr<Queue> queue_;
  std::mt19937_64 random_{1};
  std::vector<std::vector<uint32_t>> by_sender_{senders + 1};
  std::vector<wire::Bytes> records_;
  std::vector<uint64_t> next_index_ = std::vector<uint64_t>(senders + 1);
  std::vector<uint64_t> confirmed_ = std::vector<uint64_t>(receivers + 1);
  std::vector<uint32_t> matching_;
  wire::Bytes* record_ = nullptr;
  uint32_t sender_ = 0;
  Pieces pieces_;
};

}  // namespace

int main() {
  std::printf("ns per delivery, 1,000 receivers with different rules, %d rounds (lowest and highest)\n", rounds);
  std::printf("%-14s %-9s %10s %10s %10s\n", "mode", "responses", "queued", "lowest", "highest");
  std::string json = "[";
  for (const auto mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    for (const bool responses : {false, true}) {
      for (const uint64_t queued : {10u, 100u, 1'000u, 10'000u, 100'000u, 1'000'000u}) {
        Bench bench(mode, responses, queued);
        double lowest = 1e18;
        double highest = 0;
        for (int round = 0; round < rounds; ++round) {
          const double ns = bench.ns_per_delivery();
          lowest = std::min(lowest, ns);
          highest = std::max(highest, ns);
        }
        const char* name = mode == wire::QueueMode::broadcaster ? "broadcaster" : "load-balancer";
        std::printf("%-14s %-9s %10llu %10.0f %10.0f\n", name, responses ? "on" : "off", static_cast<unsigned long long>(queued), lowest,
                    highest);
        std::fflush(stdout);
        char row[200];
        std::snprintf(row, sizeof row, "%s{\"mode\":\"%s\",\"responses\":%s,\"queued\":%llu,\"ns_lowest\":%.1f,\"ns_highest\":%.1f}",
                      json.size() > 1 ? "," : "", name, responses ? "true" : "false", static_cast<unsigned long long>(queued), lowest,
                      highest);
        json += row;
      }
    }
  }
  std::printf("%s]\n", json.c_str());
}
