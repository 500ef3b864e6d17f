// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages there were so far, and which of them since a receiver went: what was taken in, which a broadcaster owes to nobody then and
// counts all the same, and what expired for all that are away, which is noted once and not for each of them.
//
//   add() --> [ S1: 0-499, S2: 0-512, … ] --> snapshot() --> since()       who go at the same moment share one snapshot
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/queue/sender_sets.h"
#include "broker/wire/index_set.h"

namespace n2nq {

class TakenIn {
 public:
  /// Not to be changed, nor to outlive its TakenIn.
  class Snapshot {
   public:
    Snapshot(const std::vector<wire::IndexSet>& by_sender, size_t& bytes_in_all);
    ~Snapshot() { bytes_in_all_ -= bytes_; }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

   private:
    friend class TakenIn;
    const std::vector<wire::IndexSet> by_sender_;
    const size_t bytes_;
    size_t& bytes_in_all_;
  };

  /// Senders are numbered from 1 to `senders`.
  explicit TakenIn(uint32_t senders) : by_sender_(senders) {}
  TakenIn(const TakenIn&) = delete;
  TakenIn& operator=(const TakenIn&) = delete;

  /// So many messages, their indexes one behind another.
  void add(uint32_t sender, uint64_t first_index, size_t messages) {
    by_sender_[sender - 1].add_range(first_index, first_index + messages - 1);
    changed_ = true;
  }
  void add(const SenderSets& sets);
  std::shared_ptr<const Snapshot> snapshot();
  SenderSets since(const Snapshot& then) const;
  /// What it takes in memory with all snapshots that somebody has, roughly. O(senders).
  size_t bytes() const;
  /// What since() takes at most, roughly, in memory and as text. O(senders).
  size_t since_bytes_max() const;
  size_t since_text_bytes_max() const;

 private:
  std::vector<wire::IndexSet> by_sender_;
  size_t snapshots_bytes_ = 0;
  std::weak_ptr<const Snapshot> latest_;
  bool changed_ = false;  // since the latest one
};

}  // namespace n2nq
