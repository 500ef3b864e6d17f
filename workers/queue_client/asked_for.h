// SPDX-License-Identifier: GPL-3.0-or-later
// What a receiver has asked N2NQ for, so that a delivery that nobody asked for is found. No sockets, no clocks.
//
// Deliveries are under way when a list is replaced, so each list says until when older ones may still be behind a delivery. Either by its
// number: N2NQ sends nothing without credit, so what needs credit that was given behind the list was sent under it. Or, where credit comes
// back by itself (a delivery that was not answered in time), by the time it was sent: N2NQ has read the list by then, or has given this
// connection up as silent.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "broker/wire/messages.h"

namespace n2nq::worker {

class AskedFor {
 public:
  static constexpr std::uint64_t any_number = UINT64_MAX;
  static constexpr std::int64_t any_time = INT64_MAX;

  /// From now on; only deliveries with a number below `older_below`, sent up to `older_until_ns`, may be due to a list before.
  void replace(std::vector<wire::Rule> rules, std::uint64_t older_below, std::int64_t older_until_ns = any_time);
  /// Another connection: delivery numbers begin anew, and what was begun under the lists so far may still come. The next list says how
  /// much.
  void reconnect();
  /// Whether one of the lists that can have been in force asks for it. Numbers rise from call to call. True before the first list.
  /// `sent_ns`: when N2NQ sent it, by the clock of `older_until_ns`.
  bool matches(std::uint64_t number, std::int64_t sent_ns, std::uint32_t sender, std::uint32_t size);

 private:
  struct List {
    std::vector<wire::Rule> rules;
    std::uint64_t older_below = 0;
    std::int64_t older_until_ns = any_time;
  };
  /// A receiver that asks faster than it is answered: then the oldest ones count as a list that asks for anything.
  static constexpr std::size_t lists_max = 64;

  std::deque<List> lists_;  // the newest last
};

}  // namespace n2nq::worker
