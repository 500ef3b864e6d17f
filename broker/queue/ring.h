// SPDX-License-Identifier: GPL-3.0-or-later
// A double-ended list. Memory is given back by fit() only: no allocation once it has been as long as it gets.
//
//   short:  one array that grows by doubling
//   long:   blocks around a circle; a new one goes in where the end has caught up with the front
//
//             front                      +----- end      A block comes in here, and what stood before the front
//               v                        v               in its block moves into it: growing copies one block at
//     [ . . . . o o o ] [ o o o o o o o ] [ o o . . . ]  most, and takes no more memory than it adds.
//
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace n2nq {

/// What fit() leaves a list that is not long any more: while it is at work; and now and then one of a receiver, which will need it again, and
/// one of a cell, of which there may be thousands.
inline constexpr size_t busy_kept_bytes = 1024 * 1024;
inline constexpr size_t idle_kept_bytes = 16 * 1024;
inline constexpr size_t idle_cell_kept_bytes = 1024;

template <typename T>
class Ring {
 public:
  /// Longer lists lie in blocks of so many: 64 KiB or somewhat less.
  static constexpr size_t block_slots = std::bit_floor(size_t{64} * 1024 / sizeof(T));

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// What it takes in memory.
  size_t bytes() const { return slots_ * sizeof(T) + blocks_.capacity() * sizeof(Block); }
  /// Gives back what is not needed of memory that is more than `kept_bytes` and more than four times as much as the list takes.
  void fit(size_t kept_bytes) {
    if (slots_ * sizeof(T) > kept_bytes && size_ < slots_ / 4) give_back();
  }
  T& operator[](size_t index) { return at(slot(index)); }
  const T& operator[](size_t index) const { return at(slot(index)); }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  /// What lies side by side from `index` on, `most` of them at most.
  std::span<const T> side_by_side(size_t index, size_t most) const {
    const size_t begin = slot(index);
    return {&at(begin), std::min({most, block_slots - begin % block_slots, slots_ - begin})};
  }

  void push_back(T value) { grow_back() = std::move(value); }
  /// One more at the end, to be filled in: it may hold what an earlier one held. Costs less than to make a value and to move it in.
  T& grow_back() {
    if (size_ == slots_) grow();
    return at(slot(size_++));
  }
  /// Some more at the end, side by side, to be filled in likewise: `most` of them at most, and one at least. `most` is not 0.
  std::span<T> grow_back(size_t most) {
    if (size_ == slots_) grow();
    const size_t begin = slot(size_);
    const size_t count = std::min({most, slots_ - size_, block_slots - begin % block_slots, slots_ - begin});
    size_ += count;
    return {&at(begin), count};
  }
  /// So many more at the front, to be filled in likewise.
  void grow_front(size_t count) {
    while (slots_ - size_ < count) grow();
    first_ = first_ < count ? first_ + slots_ - count : first_ - count;
    size_ += count;
  }
  void pop_front(size_t count = 1) {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (size_t i = 0; i < count; ++i) (*this)[i] = T();
    }
    size_ -= count;
    first_ = size_ == 0 ? 0 : slot(count);
  }
  /// Takes `count` out from `index` on; costs one move for each element before them.
  void erase(size_t index, size_t count) {
    for (size_t i = index; i-- > 0;) (*this)[i + count] = std::move((*this)[i]);
    pop_front(count);
  }

 private:
  using Block = std::unique_ptr<T[]>;

  T& at(size_t slot) { return blocks_[slot / block_slots][slot % block_slots]; }
  const T& at(size_t slot) const { return blocks_[slot / block_slots][slot % block_slots]; }
  size_t slot(size_t index) const {
    const size_t slot = first_ + index;
    return slot < slots_ ? slot : slot - slots_;
  }
  void grow() {
    if (slots_ < block_slots) return move_into_array(2 * slots_);
    const size_t front_block = first_ / block_slots;
    Block block = std::make_unique<T[]>(block_slots);
    Block& parted = blocks_[front_block];
    std::move(parted.get(), parted.get() + first_ % block_slots, block.get());
    blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(front_block), std::move(block));
    first_ += block_slots;
    slots_ += block_slots;
  }
  void give_back() {
    if (2 * size_ <= block_slots) return move_into_array(2 * size_);
    // The list takes less than a quarter of the slots, so that its end is in no block before its front.
    const size_t front_block = first_ / block_slots;
    std::rotate(blocks_.begin(), blocks_.begin() + static_cast<ptrdiff_t>(front_block), blocks_.end());
    first_ -= front_block * block_slots;
    blocks_.resize((first_ + size_ + block_slots - 1) / block_slots);
    blocks_.shrink_to_fit();
    slots_ = blocks_.size() * block_slots;
  }
  void move_into_array(size_t slots_min) {
    const size_t slots = std::bit_ceil(std::max<size_t>(16, slots_min));
    Block array = std::make_unique<T[]>(slots);
    for (size_t i = 0; i < size_; ++i) array[i] = std::move((*this)[i]);
    blocks_.clear();
    blocks_.shrink_to_fit();
    blocks_.push_back(std::move(array));
    slots_ = slots;
    first_ = 0;
  }

  std::vector<Block> blocks_;  // of block_slots each, or one that is shorter
  size_t slots_ = 0;
  size_t first_ = 0;  // below slots_, or 0
  size_t size_ = 0;
};

/// The same for what is kept in a vector.
template <typename T>
void fit(std::vector<T>& list, size_t kept_bytes) {
  if (list.capacity() * sizeof(T) > kept_bytes && list.size() < list.capacity() / 4) list.shrink_to_fit();
}

/// The same for a table, which keeps its buckets however few are left in it.
template <typename Key, typename Value>
void fit(std::unordered_map<Key, Value>& table) {
  if (table.bucket_count() > 4 * table.size() + 64) table.rehash(0);
}

}  // namespace n2nq
