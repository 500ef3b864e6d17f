// SPDX-License-Identifier: GPL-3.0-or-later
// How many more deliveries one connection of a receiver may get: its credit (requests) and its window (responses). And what deliveries that
// are begun or not answered take in memory, which all receivers of a queue share: where it is used up, each may have a few at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "broker/queue/flights.h"

namespace n2nq {

/// Of all receivers of a queue.
struct DeliveryMemory {
  size_t bytes = 0;
  size_t bytes_max = SIZE_MAX;
};

class Allowance {
 public:
  static constexpr uint64_t credit_max = UINT32_MAX;
  /// Roughly, with what lists have in reserve.
  static constexpr size_t bytes_per_delivery = 2 * sizeof(Flight);
  /// Deliveries that a receiver may have begun or unanswered though the memory for them is used up. As its own answers give it room again,
  /// nobody has to be told when there is more.
  static constexpr uint64_t always = 16;

  /// A window of 0 means without responses. The memory outlives it.
  Allowance(bool requests, uint32_t window, DeliveryMemory& memory) : requests_(requests), window_(window), memory_(&memory) {}

  uint64_t room() const {
    const uint64_t taken = begun_ + flights_.open();
    const uint64_t by_credit = requests_ ? credit_ : UINT64_MAX;
    const uint64_t window = window_ == 0 ? UINT64_MAX : window_;
    const uint64_t most = memory_->bytes < memory_->bytes_max ? window : std::min(window, always);
    return std::min(by_credit, most - std::min(most, taken));
  }
  /// Meant for this receiver now, or unconfirmed.
  uint64_t unconfirmed() const { return begun_ + flights_.open(); }

  void add_credit(uint64_t more) { credit_ = more > credit_max - credit_ ? credit_max : credit_ + more; }
  /// A delivery is begun; needs room().
  void begin() {
    ++begun_;
    if (requests_) --credit_;
    count();
  }
  /// It will not take place after all.
  void take_back() {
    --begun_;
    add_credit(1);
    count();
  }
  /// It was handed over, and nobody waits for an answer.
  void hand_over() {
    --begun_;
    count();
  }
  /// It was handed over, and an answer is due.
  void hand_over(const Flight& flight) {
    --begun_;
    flights_.add(flight);
    count();
  }
  /// As Flights::answer() and Flights::pass_deadline(); what was open gives its credit back.
  Flights::Answer answer(uint64_t number, Flight& flight) {
    const Flights::Answer answer = flights_.answer(number, flight);
    if (answer == Flights::Answer::taken) add_credit(1);
    count();
    return answer;
  }
  std::optional<Flight> pass_deadline(int64_t now_ns) {
    auto passed = flights_.pass_deadline(now_ns);
    if (passed) add_credit(1);
    count();
    return passed;
  }
  const Flights& flights() const { return flights_; }

  /// For another connection: no credit, nothing begun. Returns what was unconfirmed.
  std::vector<Flight> reset() {
    credit_ = 0;
    begun_ = 0;
    std::vector<Flight> open = flights_.reset();
    count();
    return open;
  }
  void fit() { flights_.fit(idle_kept_bytes); }

 private:
  void count() {
    const size_t bytes = (begun_ + flights_.kept()) * bytes_per_delivery + flights_.answered_bytes();
    memory_->bytes += bytes - std::exchange(counted_bytes_, bytes);
  }

  bool requests_;
  uint32_t window_;
  DeliveryMemory* memory_;
  size_t counted_bytes_ = 0;  // in memory_
  uint64_t credit_ = 0;
  uint64_t begun_ = 0;  // not handed over yet
  Flights flights_;
};

/// When the first of all unanswered deliveries of a queue's receivers is to be taken back; 0: none is. O(receivers).
int64_t soonest_deadline_ns(const auto& receivers) {
  int64_t soonest_ns = 0;
  for (const auto& receiver : receivers) {
    const int64_t at_ns = receiver.allowance.flights().next_deadline_ns();
    if (at_ns != 0 && (soonest_ns == 0 || at_ns < soonest_ns)) soonest_ns = at_ns;
  }
  return soonest_ns;
}

}  // namespace n2nq
