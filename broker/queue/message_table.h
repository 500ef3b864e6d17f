// SPDX-License-Identifier: GPL-3.0-or-later
// Messages that can be named by a number of their own while they live, and a list of those in the queue by age.
#pragma once

#include <cstdint>
#include <vector>

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
  enum class Place : uint8_t { waiting, assigned, batch, flight, gone } place = Place::waiting;
};

/// Of heaps whose top is what has the lowest number.
inline constexpr auto higher = [](const auto& a, const auto& b) { return a.number > b.number; };

class MessageTable {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  /// The newest of all.
  uint32_t add(const QueuedMessage& message) {
    uint32_t handle = static_cast<uint32_t>(messages_.size());
    if (free_ != none) {
      handle = free_;
      free_ = messages_[handle].newer;
      messages_[handle] = message;
    } else {
      messages_.push_back(message);
    }
    ++size_;
    QueuedMessage& added = messages_[handle];
    added.aging = true;
    added.older = newest_;
    added.newer = none;
    (newest_ == none ? oldest_ : messages_[newest_].newer) = handle;
    newest_ = handle;
    return handle;
  }
  /// Out of the list by age; it lives on.
  void stop_aging(uint32_t handle) {
    QueuedMessage& message = messages_[handle];
    if (!message.aging) return;
    message.aging = false;
    (message.older == none ? oldest_ : messages_[message.older].newer) = message.newer;
    (message.newer == none ? newest_ : messages_[message.newer].older) = message.older;
  }
  void remove(uint32_t handle) {
    stop_aging(handle);
    messages_[handle].newer = free_;
    free_ = handle;
    if (--size_ > 0) return;
    // Nobody names a message any more: what a long queue took is given back.
    if (messages_.capacity() > kept_max) *this = MessageTable();
  }

  QueuedMessage& operator[](uint32_t handle) { return messages_[handle]; }
  const QueuedMessage& operator[](uint32_t handle) const { return messages_[handle]; }
  uint32_t oldest() const { return oldest_; }
  uint32_t newer(uint32_t handle) const { return messages_[handle].newer; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kept_max = 65'536;

  std::vector<QueuedMessage> messages_;
  uint32_t free_ = none;
  uint32_t oldest_ = none;
  uint32_t newest_ = none;
  size_t size_ = 0;
};

}  // namespace n2nq
