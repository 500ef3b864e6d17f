// SPDX-License-Identifier: GPL-3.0-or-later
// Messages that can be named by a number of their own while they live, and a list of those in the queue by age. They lie in blocks, so that
// growing costs no copy and no second table beside the first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "broker/queue/ring.h"

namespace n2nq {

struct QueuedMessage {
  uint64_t number = 0;  // its place in the order of taking in
  uint64_t chunk = 0;   // where its record lies in the log
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t cell = 0;
  uint32_t holders = 0;  // deliveries under way that need the record
  uint32_t last_receiver = 0;
  uint16_t failures = 0;  // deliveries that were answered negatively, or not in time
  uint32_t older = UINT32_MAX;
  uint32_t newer = UINT32_MAX;
  bool aging = false;  // its retention has not ended
  enum class Place : uint8_t { waiting, assigned, batch, flight, coming_back, gone } place = Place::waiting;
};

/// Of heaps whose top is what has the lowest number.
inline constexpr auto higher = [](const auto& a, const auto& b) { return a.number > b.number; };

class MessageTable {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  /// The newest of all.
  uint32_t add(const QueuedMessage& message) {
    uint32_t handle = free_;
    if (free_ != none) {
      free_ = (*this)[handle].newer;
    } else {
      handle = slots_used_++;
      if (handle / block_slots == blocks_.size()) blocks_.push_back(std::make_unique<Block>());
    }
    ++size_;
    QueuedMessage& added = (*this)[handle];
    added = message;
    added.aging = true;
    added.older = newest_;
    added.newer = none;
    (newest_ == none ? oldest_ : (*this)[newest_].newer) = handle;
    newest_ = handle;
    return handle;
  }
  /// Out of the list by age; it lives on.
  void stop_aging(uint32_t handle) {
    QueuedMessage& message = (*this)[handle];
    if (!message.aging) return;
    message.aging = false;
    (message.older == none ? oldest_ : (*this)[message.older].newer) = message.newer;
    (message.newer == none ? newest_ : (*this)[message.newer].older) = message.older;
  }
  void remove(uint32_t handle) {
    stop_aging(handle);
    (*this)[handle].newer = free_;
    free_ = handle;
    if (--size_ > 0) return;
    // Nobody names a message any more: what a long queue took is given back.
    if (bytes() > busy_kept_bytes) *this = MessageTable();
  }

  QueuedMessage& operator[](uint32_t handle) { return (*blocks_[handle / block_slots])[handle % block_slots]; }
  const QueuedMessage& operator[](uint32_t handle) const { return (*blocks_[handle / block_slots])[handle % block_slots]; }
  uint32_t oldest() const { return oldest_; }
  uint32_t newer(uint32_t handle) const { return (*this)[handle].newer; }
  size_t size() const { return size_; }
  /// What it takes in memory; as long as there is a message, for as many as there have been at once.
  size_t bytes() const { return blocks_.size() * sizeof(Block); }

 private:
  static constexpr uint32_t block_slots = 256;
  using Block = std::array<QueuedMessage, block_slots>;

  std::vector<std::unique_ptr<Block>> blocks_;
  uint32_t slots_used_ = 0;
  uint32_t free_ = none;
  uint32_t oldest_ = none;
  uint32_t newest_ = none;
  size_t size_ = 0;
};

}  // namespace n2nq
