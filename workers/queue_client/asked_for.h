// SPDX-License-Identifier: GPL-3.0-or-later
// What a receiver has asked N2NQ for, so that a delivery that nobody asked for is found. No sockets, no clocks.
//
// Deliveries are under way when a list is replaced, so each list comes with a delivery number: what is below it may have been sent under
// the lists before. That number is not a guess: N2NQ sends nothing without credit, so what needs credit that was given behind the list was
// sent under it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "broker/wire/messages.h"

namespace n2nq::worker {

class AskedFor {
 public:
  /// From now on; only deliveries with a number below `older_below` may be due to a list before.
  void replace(std::vector<wire::Rule> rules, std::uint64_t older_below);
  /// Another connection: delivery numbers begin anew, and only the last list is known to N2NQ.
  void reconnect();
  /// Whether one of the lists that can have been in force asks for it. Numbers rise from call to call. True before the first list.
  bool matches(std::uint64_t number, std::uint32_t sender, std::uint32_t size);

 private:
  struct List {
    std::vector<wire::Rule> rules;
    std::uint64_t older_below = 0;
  };
  /// A receiver that asks faster than it is answered: then the oldest ones count as a list that asks for anything.
  static constexpr std::size_t lists_max = 64;

  std::deque<List> lists_;  // the newest last
};

}  // namespace n2nq::worker
