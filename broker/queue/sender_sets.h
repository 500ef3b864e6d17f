// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages: a set of indexes per sender. The ledger's identities.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/wire/index_set.h"

namespace n2nq {

class SenderSets {
 public:
  /// Of each sender's set, with the allocator's part; and what stands around it as text.
  static constexpr size_t node_bytes = sizeof(std::pair<const uint32_t, wire::IndexSet>) + 6 * sizeof(void*);
  static constexpr size_t entry_letters = 16;

  void add(uint32_t sender, uint64_t index);
  void add_range(uint32_t sender, uint64_t from, uint64_t to);  // inclusive
  /// False when it was not there.
  bool remove(uint32_t sender, uint64_t index);
  void clear();
  /// All that senders below this one have.
  void remove_senders_below(uint32_t sender);

  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// What it takes in memory, roughly. O(1).
  size_t bytes() const { return bytes_ + sets_.size() * node_bytes; }
  /// How long it is as text, at most, roughly. O(1).
  size_t text_bytes() const { return text_bytes_ + sets_.size() * entry_letters; }
  /// By sender; senders without an index are not there.
  const std::map<uint32_t, wire::IndexSet>& sets() const { return sets_; }

  SenderSets& operator+=(const SenderSets& other);
  SenderSets& operator-=(const SenderSets& other);

  /// Runs of neighbouring senders that share one set, as the control protocol writes them.
  struct SharedSet {
    uint32_t sender_first = 0;
    uint32_t sender_last = 0;
    std::string set;
    bool operator==(const SharedSet&) const = default;
  };
  std::vector<SharedSet> shared() const;

 private:
  /// Around each change of a set: what it was is taken off, what it is is added.
  void take_off(const wire::IndexSet& set);
  void put_on(const wire::IndexSet& set);
  void put_on_or_erase(std::map<uint32_t, wire::IndexSet>::iterator own);

  std::map<uint32_t, wire::IndexSet> sets_;
  uint64_t count_ = 0;
  size_t bytes_ = 0;  // of the sets, without the map
  size_t text_bytes_ = 0;  // likewise
};

/// Adds one message after another to a set, the neighbours of one sender in one go; all is in it when this goes out of scope.
class GatheredRuns {
 public:
  explicit GatheredRuns(SenderSets& sets) : sets_(sets) {}
  ~GatheredRuns() {
    for (const Run& run : runs_) put(run);
  }
  GatheredRuns(const GatheredRuns&) = delete;
  GatheredRuns& operator=(const GatheredRuns&) = delete;

  void add(uint32_t sender, uint64_t index) {
    Run& run = runs_[sender % runs_.size()];
    if (run.sender == sender && run.end == index) {
      ++run.end;
    } else {
      put(run);
      run = {sender, index, index + 1};
    }
  }

 private:
  struct Run {
    uint32_t sender = 0;
    uint64_t begin = 0, end = 0;
  };
  void put(const Run& run) {
    if (run.begin != run.end) sets_.add_range(run.sender, run.begin, run.end - 1);
  }

  SenderSets& sets_;
  std::array<Run, 1024> runs_;  // by sender; where two share a place, each ends the other's run
};

}  // namespace n2nq
