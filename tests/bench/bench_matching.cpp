// SPDX-License-Identifier: GPL-3.0-or-later
// What a delivery costs when 1,000 receivers have different rules, from 10 to 1,000,000 queued messages: in the queue alone, without
// sockets, and in a real n2nq-broker (its processor time, of all threads). Prints two tables and, last, one line of JSON; passes no
// judgement.
//
//   bench_matching [QUEUED]     only with so many queued
//
// Steady state: each message that comes in is followed by as many deliveries as it has copies (broadcaster: one for each receiver whose
// list matches it, load balancer: one), each to a receiver whose list matches it, which gets credit 1 for that (with responses: by the
// confirmation of the one before) and takes its oldest message.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "broker/net/file_limit.h"
#include "broker/queue/queue.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/seed_frames.h"
#include "tests/broker/support/wire_client.h"

namespace {

using namespace n2nq;

constexpr uint32_t senders = 1000;
constexpr uint32_t receivers = 1000;
constexpr uint32_t sizes = 112;
constexpr int rounds = 3;

wire::Rule rule_of(uint32_t receiver) {
  const uint32_t first = 1 + (receiver * 7919) % 991;
  const uint32_t size_min = receiver % 10 * 8;
  return {first, first + 9, size_min, size_min + 39};
}

struct Work {
  wire::QueueMode mode;
  bool responses;
  uint64_t queued;
  const char* name() const { return mode == wire::QueueMode::broadcaster ? "broadcaster" : "load-balancer"; }
};

/// Messages that somebody's list matches, one after another.
class Traffic {
 public:
  explicit Traffic(const Work& work) : mode_(work.mode) {
    for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
      const wire::Rule rule = rule_of(receiver);
      for (uint32_t of = rule.sender_first; of <= rule.sender_last; ++of) by_sender_[of].push_back(receiver);
    }
  }

  void next() {
    do {
      sender = 1 + static_cast<uint32_t>(random_() % senders);
      size = static_cast<uint32_t>(random_() % sizes);
      to.clear();
      for (const uint32_t receiver : by_sender_[sender]) {
        const wire::Rule rule = rule_of(receiver);
        if (size >= rule.size_min && size <= rule.size_max) to.push_back(receiver);
      }
    } while (to.empty());
    if (mode_ == wire::QueueMode::load_balancer) to = {to[random_() % to.size()]};
    index = next_index_[sender]++;
  }
  uint64_t next_index(uint32_t number) const { return next_index_[number]; }

  uint32_t sender = 0;
  uint32_t size = 0;
  uint64_t index = 0;
  std::vector<uint32_t> to;  // who is to get a delivery for it

 private:
  wire::QueueMode mode_;
  std::mt19937_64 random_{1};
  std::vector<std::vector<uint32_t>> by_sender_{senders + 1};
  std::vector<uint64_t> next_index_ = std::vector<uint64_t>(senders + 1);
};

class QueueAlone {
 public:
  static constexpr uint64_t deliveries = 300'000;

  explicit QueueAlone(const Work& work) : responses_(work.responses), traffic_(work) {
    QueueOptions options;
    options.mode = work.mode;
    options.senders = senders;
    options.receivers = receivers;
    options.retention_ns = INT64_MAX / 2;
    options.requests = true;
    options.responses = work.responses;
    options.responses_deadline_ns = INT64_MAX / 2;
    options.dispatch = DispatchRule::round_robin;
    queue_ = Queue::make(options);
    for (uint32_t receiver = 1; receiver <= receivers; ++receiver) {
      queue_->join(receiver);
      queue_->set_rules(receiver, {rule_of(receiver)}, 1);
    }
    for (uint32_t size = 0; size < sizes; ++size) records_.push_back(support::make_record(1, 0, size));
    for (uint64_t i = 0; i < work.queued; ++i) publish();
  }

  /// Mean time of one delivery, with its share of taking in.
  double ns_per_delivery() {
    uint64_t done = 0;
    const auto begin = std::chrono::steady_clock::now();
    while (done < deliveries) {
      publish();
      for (const uint32_t receiver : traffic_.to) done += deliver(receiver);
      queue_->trim();
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()) / static_cast<double>(done);
  }

 private:
  void publish() {
    traffic_.next();
    wire::Bytes& record = records_[traffic_.size];
    wire::store(record.data() + 4, traffic_.sender);
    wire::store(record.data() + 8, traffic_.index);
    queue_->take_in(record, 1, 1);
  }

  uint64_t deliver(uint32_t receiver) {
    if (responses_ && confirmed_[receiver] < handed_over_[receiver]) {
      queue_->confirm(receiver, confirmed_[receiver]++, 1, false);
    } else {
      queue_->add_credit(receiver, 1);
    }
    if (!queue_->has_next(receiver)) return 0;
    queue_->begin_batch(receiver, 1);
    const uint64_t messages = queue_->batch(receiver).messages;
    while (queue_->batch(receiver).under_way()) {
      pieces_.clear();
      queue_->gather(receiver, pieces_);
      queue_->taken(receiver, pieces_.bytes(), 1);
    }
    handed_over_[receiver] += messages;
    return messages;
  }

  bool responses_;
  Traffic traffic_;
  std::unique_ptr<Queue> queue_;
  std::vector<wire::Bytes> records_;
  std::vector<uint64_t> handed_over_ = std::vector<uint64_t>(receivers + 1);
  std::vector<uint64_t> confirmed_ = std::vector<uint64_t>(receivers + 1);
  Pieces pieces_;
};

class WholeBroker {
 public:
  static constexpr uint64_t deliveries = 15'000;

  explicit WholeBroker(const Work& work)
      : responses_(work.responses),
        traffic_(work),
        broker_({{"expect", {{"senders", senders}, {"receivers", receivers}}},
                 {"queue",
                  {{"mode", work.name()},
                   {"requests", true},
                   {"responses", work.responses},
                   {"responses_deadline_ms", 3600000},
                   {"dispatch", "round-robin"}}},
                 {"limits", {{"memory_bytes", uint64_t{2} << 30}}}}) {
    for (uint32_t number = 1; number <= senders; ++number) senders_.push_back(support::WireClient::sender(broker_.port(), number));
    for (uint32_t number = 1; number <= receivers; ++number) {
      receivers_.push_back(support::WireClient::receiver(broker_.port(), number));
      receivers_.back().send(wire::Rules{1, {rule_of(number)}});
    }
    for (uint64_t i = 0; i < work.queued; ++i) publish();
    for (uint32_t number = 1; number <= senders; ++number) {
      if (traffic_.next_index(number) > 0) senders_[number - 1].wait_accepted(traffic_.next_index(number));
    }
  }

  /// The broker's processor time for one delivery, with its share of taking in.
  double ns_per_delivery() {
    uint64_t done = 0;
    const uint64_t begin_ns = processor_ns();
    while (done < deliveries) {
      publish();
      for (const uint32_t receiver : traffic_.to) {
        if (responses_ && confirmed_[receiver] < handed_over_[receiver]) {
          receivers_[receiver - 1].send(wire::Confirm{{{confirmed_[receiver]++, 1, false}}});
        } else {
          receivers_[receiver - 1].send(wire::Credit{1});
        }
      }
      for (const uint32_t receiver : traffic_.to) {
        receivers_[receiver - 1].receive(1);
        ++handed_over_[receiver];
        ++done;
      }
    }
    return static_cast<double>(processor_ns() - begin_ns) / static_cast<double>(done);
  }

 private:
  void publish() {
    traffic_.next();
    senders_[traffic_.sender - 1].publish(traffic_.sender, traffic_.index, traffic_.index + 1, traffic_.size);
  }
  uint64_t processor_ns() {
    uint64_t all_ns = 0;
    const std::string tasks = "/proc/" + std::to_string(broker_.process().pid()) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      uint64_t ns = 0;
      std::ifstream(task.path() / "schedstat") >> ns;
      all_ns += ns;
    }
    return all_ns;
  }

  bool responses_;
  Traffic traffic_;
  support::BrokerUnderTest broker_;
  std::vector<support::WireClient> senders_;
  std::vector<support::WireClient> receivers_;
  std::vector<uint64_t> handed_over_ = std::vector<uint64_t>(receivers + 1);
  std::vector<uint64_t> confirmed_ = std::vector<uint64_t>(receivers + 1);
};

template <typename Bench>
void measure(const char* what, uint64_t only, std::string& json) {
  std::printf("%s: ns per delivery, 1,000 receivers with different rules, %d rounds (lowest and highest)\n", what, rounds);
  std::printf("%-14s %-9s %10s %10s %10s\n", "mode", "responses", "queued", "lowest", "highest");
  for (const auto mode : {wire::QueueMode::broadcaster, wire::QueueMode::load_balancer}) {
    for (const bool responses : {false, true}) {
      for (const uint64_t queued : {10u, 100u, 1'000u, 10'000u, 100'000u, 1'000'000u}) {
        if (only != 0 && queued != only) continue;
        const Work work{mode, responses, queued};
        Bench bench(work);
        bench.ns_per_delivery();  // the first round meets each cell for the first time
        double lowest = 1e18;
        double highest = 0;
        for (int round = 0; round < rounds; ++round) {
          const double ns = bench.ns_per_delivery();
          lowest = std::min(lowest, ns);
          highest = std::max(highest, ns);
        }
        std::printf("%-14s %-9s %10llu %10.0f %10.0f\n", work.name(), responses ? "on" : "off", static_cast<unsigned long long>(queued),
                    lowest, highest);
        std::fflush(stdout);
        char row[240];
        std::snprintf(row, sizeof row,
                      "%s{\"what\":\"%s\",\"mode\":\"%s\",\"responses\":%s,\"queued\":%llu,\"ns_lowest\":%.1f,\"ns_highest\":%.1f}",
                      json.size() > 1 ? "," : "", what, work.name(), responses ? "true" : "false", static_cast<unsigned long long>(queued),
                      lowest, highest);
        json += row;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t only = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::string refusal = net::raise_file_limit(senders + receivers + 100);
  if (!refusal.empty()) std::fprintf(stderr, "%s\n", refusal.c_str());
  std::string json = "[";
  measure<QueueAlone>("queue alone", only, json);
  measure<WholeBroker>("n2nq-broker", only, json);
  std::printf("%s]\n", json.c_str());
}
