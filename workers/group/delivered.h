// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages arrived: what makes duplicates, inversions and losses visible. No sockets, no clocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "broker/wire/index_set.h"
#include "workers/measure/accounts.h"

namespace n2nq::worker {

/// One receiver in broadcaster mode: per sender the set of indexes it has. As long as they come without a gap (also when the first was not
/// 0: a late joiner) that is two numbers per sender; a sender with gaps gets a set of its own.
class DeliveredSets {
 public:
  explicit DeliveredSets(std::uint32_t senders_total) : runs_(senders_total) {}

  struct Finding {
    bool duplicate = false;
    bool inverted = false;  // lower than one that came before and was not flagged either
    /// Duplicates in load-balancer mode: the one that came before said that it was delivered again. This one was overtaken on its way.
    bool overtaken = false;
  };
  /// `sender` is 1 … senders_total, `index` below Pacer::messages_max; `flagged`: the broker said that this one may be out of order.
  Finding add(std::uint32_t sender, std::uint64_t index, bool flagged);

  /// How many of the sender's indexes from `from` to `to`, both inclusive, arrived.
  std::uint64_t count_in(std::uint32_t sender, std::uint64_t from, std::uint64_t to) const;

  /// Runs of senders that share one set, by rising sender; senders without any are left out.
  measure::SenderSets sets() const;

 private:
  struct Run {  // [from, to), or, once there is a gap, `to` says which of gapped_
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    static constexpr std::uint64_t has_gaps = UINT64_MAX;
  };
  struct Gapped {
    wire::IndexSet set;
    std::uint64_t next_unflagged = 0;
  };

  Finding add_gapped(Gapped& gapped, std::uint64_t index, bool flagged);

  std::vector<Run> runs_;
  std::vector<Gapped> gapped_;
};

/// A growing set of indexes as bits, for sets that fill up in no order: adding costs the same wherever it is. A block that is full takes no
/// memory any more, so that a set without gaps needs 16 bytes per 32,768 indexes. What stands far ahead of the rest, because a message says so,
/// takes a block by itself (4 KiB), not all that lies between.
class IndexBits {
 public:
  /// False when it was there already. The index is below Pacer::messages_max.
  bool add(std::uint64_t index);
  /// Of those from `from` to `to`, both inclusive.
  std::uint64_t count_in(std::uint64_t from, std::uint64_t to) const;
  wire::IndexSet set() const;
  bool empty() const { return blocks_.empty() && far_.empty(); }

 private:
  static constexpr std::uint64_t block_bits = 32 * 1024;
  static constexpr std::size_t blocks_left_out_max = 64;  // for them there is memory before anything came; 1 KiB, 2 million indexes
  struct Block {
    std::unique_ptr<std::uint64_t[]> words;  // null: nothing yet, or full
    std::uint32_t count = 0;
  };

  Block& grow_to(std::size_t place);
  static std::uint64_t count_in_block(const Block& block, std::uint64_t first, std::uint64_t last);
  static void add_block_to(wire::IndexSet& set, std::uint64_t base, const Block& block);

  std::vector<Block> blocks_;
  std::map<std::size_t, Block> far_;  // by place, all beyond blocks_
};

/// A group of receivers in load-balancer mode: what all of them have together, and the order in which each of them got it.
class SharedDelivered {
 public:
  SharedDelivered(std::uint32_t senders_total, std::uint32_t receivers)
      : bits_(senders_total), next_(receivers, std::vector<std::uint64_t>(senders_total)), redelivered_(senders_total) {}

  /// `receiver` is a place in the group, from 0.
  DeliveredSets::Finding add(std::uint32_t receiver, std::uint32_t sender, std::uint64_t index, bool flagged, bool redelivered = false);
  std::uint64_t count_in(std::uint32_t sender, std::uint64_t from, std::uint64_t to) const { return bits_[sender - 1].count_in(from, to); }
  measure::SenderSets sets() const;

 private:
  std::vector<IndexBits> bits_;
  std::vector<std::vector<std::uint64_t>> next_;  // per receiver and sender: one above the highest that was not flagged
  std::vector<wire::IndexSet> redelivered_;       // by sender: those that came first as redelivered
};

// Once per message, and mostly without any finding.

inline bool IndexBits::add(std::uint64_t index) {
  const auto place = static_cast<std::size_t>(index / block_bits);
  Block& block = place < blocks_.size() ? blocks_[place] : grow_to(place);
  if (block.count == block_bits) return false;
  if (!block.words) block.words = std::make_unique<std::uint64_t[]>(block_bits / 64);
  std::uint64_t& word = block.words[index % block_bits / 64];
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  if ((word & bit) != 0) return false;
  word |= bit;
  if (++block.count == block_bits) block.words.reset();
  return true;
}

inline DeliveredSets::Finding SharedDelivered::add(std::uint32_t receiver, std::uint32_t sender, std::uint64_t index, bool flagged,
                                                   bool redelivered) {
  if (!bits_[sender - 1].add(index)) {
    return {.duplicate = true, .inverted = false, .overtaken = !redelivered && redelivered_[sender - 1].contains(index)};
  }
  if (redelivered) redelivered_[sender - 1].add(index);
  std::uint64_t& next = next_[receiver][sender - 1];
  const bool inverted = !flagged && index < next;
  if (!flagged && !inverted) next = index + 1;
  return {.inverted = inverted};
}

}  // namespace n2nq::worker
