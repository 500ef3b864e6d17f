// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of rules on their way into force, one after the other and each in steps, so that no list of one receiver stops the others.
//
//   ask() --> waits its turn --> its borders part cells --> each cell changes over --> in force
//                                        |
//                                        +--> refused
//
// Until then its receiver gets nothing, neither by the old list nor by the new one. A receiver that asks again before its turn has the
// newest list only. Who asks for what is in force waits for nobody, where the caller has time to find that out at once. A step takes about
// as many units as it is given: a unit is a look at one message, cell or place, or two rules of a list that is put in order with its
// borders. No sockets, no time, one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/queue/grid_index.h"

namespace n2nq {

/// A list that is not to be in force, and what is wrong with it.
struct RefusedList {
  uint32_t receiver = 0;
  uint64_t asked_on = 0;  // as ask() was told
  std::string reason;
};

class RuleChanges {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual uint32_t interest_of(uint32_t receiver) const = 0;
    /// Its list's turn has come: what was meant for it under the one before may be taken back. Returns the units it took.
    virtual size_t on_turn(uint32_t receiver) = 0;
    /// From here on this is its interest; cell after cell follows.
    virtual void on_change_begun(uint32_t receiver, uint32_t interest) = 0;
    /// The cell counts for it as the new list says. Returns the units it took.
    virtual size_t on_cell_changes(uint32_t receiver, uint32_t cell, bool matches) = 0;
    /// Returns the units it took.
    virtual size_t on_change_done(uint32_t receiver) = 0;
    /// Its list is not to be: the one before goes on, and nothing is pending unless it asked again.
    virtual void on_refused(uint32_t receiver) = 0;
  };

  RuleChanges(GridIndex& grid, Owner& owner) : grid_(grid), owner_(owner) {}

  /// `asked_on` comes back with a refusal. False: there is nothing to do, because just this list is in force. To look whether it is takes
  /// half a unit for each rule; without `compare` such a list waits for its turn like any other.
  bool ask(uint32_t receiver, GridIndex::List list, uint64_t asked_on, bool compare);
  /// Its list is not in force yet.
  bool pending(uint32_t receiver) const { return active_ == receiver || waiting_.contains(receiver); }
  bool idle() const { return active_ == 0 && turns_.empty(); }
  /// Returns the units it took; a few more than given at most, unless one message or place is many.
  size_t work(size_t units);
  std::vector<RefusedList> take_refused() { return std::exchange(refused_, {}); }

 private:
  size_t begin_next();
  size_t part(size_t units);
  size_t enter();
  size_t change_over(size_t units);
  size_t finish();
  void refuse(std::string reason);

  GridIndex& grid_;
  Owner& owner_;
  struct Asked {
    GridIndex::List list;
    uint64_t on = 0;
  };
  std::deque<uint32_t> turns_;                   // receivers whose list waits, each once
  std::unordered_map<uint32_t, Asked> waiting_;  // by receiver
  uint32_t active_ = 0;                          // the receiver whose list is on its way; 0: none
  uint64_t active_asked_on_ = 0;
  bool entered_ = false;
  uint32_t interest_ = GridIndex::none;  // of the active one, once it is entered
  uint32_t before_ = GridIndex::none;    // the one that nobody holds any more because of it; none: somebody does
  uint32_t next_cell_ = 0;               // those before it have changed over
  std::vector<RefusedList> refused_;     // at most one for each receiver between two calls to take_refused()
};

}  // namespace n2nq
