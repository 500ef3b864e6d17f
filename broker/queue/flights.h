// SPDX-License-Identifier: GPL-3.0-or-later
// What was handed over on one connection of one receiver and is not answered yet, by delivery number.
//
//   number  0 … 499  500  501 … 999 | 1000
//           answered open  …   open | next          a deadline may pass before the answer comes: that delivery is no longer open,
//                                                   and its answer, when it comes all the same, is late
//
// Memory: what is open (the owner bounds it by the window), as much again of what is not open any more, and the set of what was answered
// (answered_bytes_max; beyond it the older half is forgotten). Of those whose deadline passed as many are remembered as a window may
// have, so that an answer to all at once is no long work.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "broker/queue/ring.h"
#include "broker/wire/index_set.h"

namespace n2nq {

struct Flight {
  uint32_t message = 0;  // the owner's handle
  uint16_t attempt = 1;
  uint16_t failures = 0;  // attempts before this one that were answered negatively, or not in time
  bool open = true;
  int64_t deadline_ns = 0;
};

class Flights {
 public:
  static constexpr size_t answered_bytes_max = size_t{128} << 10;
  static constexpr uint64_t passed_max = 65'536;

  /// The next delivery; its deadline is not before that of the one before.
  void add(const Flight& flight);
  size_t open() const { return open_; }
  /// The one open the longest; null: nothing is open.
  const Flight* oldest() const;
  /// Those that take memory: what is open, and at most 64 and as many again as are open.
  size_t kept() const { return recent_.size() + old_.size(); }
  size_t answered_bytes() const { return answered_.bytes(); }
  /// As Ring's.
  void fit(size_t kept_bytes);
  /// Deliveries so far.
  uint64_t next_number() const { return first_ + recent_.size(); }

  enum class Answer {
    taken,       // it was open; `flight` says what it was
    late,        // its deadline had passed: nothing to do
    forgotten,   // it may have been answered before: nothing to do
    twice,       // it was answered before
    never_sent,  //
  };
  Answer answer(uint64_t number, Flight& flight);

  /// The first number of which it is still known whether it was answered.
  uint64_t remembered_from() const { return forgotten_below_; }

  /// The one open the longest, when its deadline has passed; it is open no longer.
  std::optional<Flight> pass_deadline(int64_t now_ns);
  /// 0: nothing is open.
  int64_t next_deadline_ns() const;
  /// Everything that is open, in the order of the numbers; then begins anew with number 0, for another connection.
  std::vector<Flight> reset();

 private:
  struct Numbered {
    uint64_t number = 0;
    Flight flight;
  };

  Flight* find(uint64_t number);
  void close(Flight& flight);
  void tidy();
  void make_way();
  bool was_answered(uint64_t number) const;
  void limit_answered();
  void forget_below(uint64_t number);
  uint64_t oldest_open() const;

  // What is open lies in recent_ (numbers without gaps, from first_ on), or in old_ when much that came behind it is not.
  Ring<Flight> recent_;
  uint64_t first_ = 0;
  Ring<Numbered> old_;  // rising
  size_t open_ = 0;
  wire::IndexSet answered_;
  uint64_t forgotten_below_ = 0;
};

}  // namespace n2nq
