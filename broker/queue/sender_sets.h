// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages: a set of indexes per sender. The ledger's identities.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/wire/index_set.h"

namespace n2nq {

class SenderSets {
 public:
  void add(uint32_t sender, uint64_t index);
  void add_range(uint32_t sender, uint64_t from, uint64_t to);  // inclusive
  void clear();

  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
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
  void recount();

  std::map<uint32_t, wire::IndexSet> sets_;
  uint64_t count_ = 0;
};

}  // namespace n2nq
