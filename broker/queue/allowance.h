// SPDX-License-Identifier: GPL-3.0-or-later
// How many more deliveries one connection of a receiver may get: its credit (requests) and its window (responses).
#pragma once

#include <algorithm>
#include <cstdint>

#include "broker/queue/flights.h"

namespace n2nq {

class Allowance {
 public:
  static constexpr uint64_t credit_max = UINT32_MAX;

  /// A window of 0 means without responses.
  Allowance(bool requests, uint32_t window) : requests_(requests), window_(window) {}

  uint64_t room() const {
    const uint64_t by_credit = requests_ ? credit_ : UINT64_MAX;
    const uint64_t by_window = window_ == 0 ? UINT64_MAX : window_ - std::min<uint64_t>(window_, begun_ + flights_.open());
    return std::min(by_credit, by_window);
  }
  /// Meant for this receiver now, or unconfirmed.
  uint64_t unconfirmed() const { return begun_ + flights_.open(); }

  void add_credit(uint64_t more) { credit_ = more > credit_max - credit_ ? credit_max : credit_ + more; }
  /// A delivery is begun; needs room().
  void begin() {
    ++begun_;
    if (requests_) --credit_;
  }
  /// It will not take place after all.
  void take_back() {
    --begun_;
    add_credit(1);
  }
  /// It was handed over, and nobody waits for an answer.
  void hand_over() { --begun_; }
  /// It was handed over, and an answer is due.
  void hand_over(const Flight& flight) {
    --begun_;
    flights_.add(flight);
  }
  /// As Flights::answer() and Flights::pass_deadline(); what was open gives its credit back.
  Flights::Answer answer(uint64_t number, Flight& flight) {
    const Flights::Answer answer = flights_.answer(number, flight);
    if (answer == Flights::Answer::taken) add_credit(1);
    return answer;
  }
  std::optional<Flight> pass_deadline(int64_t now_ns) {
    auto passed = flights_.pass_deadline(now_ns);
    if (passed) add_credit(1);
    return passed;
  }
  const Flights& flights() const { return flights_; }

  /// For another connection: no credit, nothing begun. Returns what was unconfirmed.
  std::vector<Flight> reset() {
    credit_ = 0;
    begun_ = 0;
    return flights_.reset();
  }

 private:
  bool requests_;
  uint32_t window_;
  uint64_t credit_ = 0;
  uint64_t begun_ = 0;  // not handed over yet
  Flights flights_;
};

}  // namespace n2nq
