// SPDX-License-Identifier: GPL-3.0-or-later
// A set of message indexes as runs: small for what really happens (long runs, few holes), with the text form of the control protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace n2nq::wire {

class IndexSet {
 public:
  struct Run {
    uint64_t from = 0;
    uint64_t to = 0;  // inclusive
    bool operator==(const Run&) const = default;
  };

  /// False when the index was in the set already. Appending in rising order costs O(1) and allocates only for a new run.
  bool add(uint64_t index);
  /// Both ends inclusive; from > to adds nothing. Returns how many indexes are new.
  uint64_t add_range(uint64_t from, uint64_t to);
  /// Takes one index out; false when it was not there.
  bool remove(uint64_t index);
  void clear();

  bool contains(uint64_t index) const;
  /// Number of indexes, not of runs.
  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Rising, not touching each other.
  const std::vector<Run>& runs() const { return runs_; }

  IndexSet& operator+=(const IndexSet& other);  // union
  IndexSet& operator-=(const IndexSet& other);  // what is in the other leaves
  bool operator==(const IndexSet&) const = default;

  /// "0-49,51,60-70"; "" for the empty set.
  std::string text() const;
  /// The text form only: rising, inclusive ranges that do not overlap; none for anything else.
  static std::optional<IndexSet> parse(std::string_view text);

 private:
  std::vector<Run> runs_;
  uint64_t count_ = 0;
};

IndexSet operator+(IndexSet left, const IndexSet& right);
IndexSet operator-(IndexSet left, const IndexSet& right);

/// The indexes below `border`; and those from it on, counted from there.
IndexSet below(const IndexSet& set, uint64_t border);
IndexSet from_on(const IndexSet& set, uint64_t border);

}  // namespace n2nq::wire
