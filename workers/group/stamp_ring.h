// SPDX-License-Identifier: GPL-3.0-or-later
// The stamps of messages that were offered but are not known to be accepted: all that is needed to offer them again as they were, since
// their payload can be made anew. Grows by doubling up to its limit; a sender whose ring is full waits, which shows as lag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace n2nq::worker {

class StampRing {
 public:
  struct Stamps {
    std::int64_t intended_ns = 0;
    std::int64_t sent_ns = 0;
  };
  static constexpr std::size_t messages_max = 64 * 1024;  // 1 MiB per sender

  std::size_t size() const { return size_; }
  std::size_t room() const { return messages_max - size_; }
  /// Only while there is room().
  void push(Stamps stamps) {
    if (size_ == stamps_.size()) grow();
    stamps_[(first_ + size_++) & (stamps_.size() - 1)] = stamps;
  }
  /// The oldest is 0.
  Stamps at(std::size_t place) const { return stamps_[(first_ + place) & (stamps_.size() - 1)]; }
  void set(std::size_t place, Stamps stamps) { stamps_[(first_ + place) & (stamps_.size() - 1)] = stamps; }
  /// Forgets the `count` oldest.
  void drop(std::size_t count) {
    first_ += count;
    size_ -= count;
  }

 private:
  void grow() {
    std::vector<Stamps> larger(stamps_.empty() ? 64 : stamps_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = at(i);
    stamps_.swap(larger);
    first_ = 0;
  }

  std::vector<Stamps> stamps_;  // a power of two long
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace n2nq::worker
