// SPDX-License-Identifier: GPL-3.0-or-later
// A double-ended list in one array that grows by doubling, and is given back by fit() only: no allocation once it has been as long as it gets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>
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
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Gives back half or more of an array that is longer than `kept_bytes` and more than four times as long as the list.
  void fit(size_t kept_bytes) {
    if (slots_.size() * sizeof(T) > kept_bytes && size_ < slots_.size() / 4) resize(2 * size_);
  }
  T& operator[](size_t index) { return slots_[slot(index)]; }
  const T& operator[](size_t index) const { return slots_[slot(index)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    slots_[slot(size_++)] = std::move(value);
  }
  /// One more at the end, to be filled in: it may hold what an earlier one held. Costs less than to make a value and to move it in.
  T& grow_back() {
    if (size_ == slots_.size()) grow();
    return slots_[slot(size_++)];
  }
  void pop_front(size_t count = 1) {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (size_t i = 0; i < count; ++i) (*this)[i] = T();
    }
    first_ = slot(count);
    size_ -= count;
  }
  /// Takes `count` out from `index` on; costs one move for each element before them.
  void erase(size_t index, size_t count) {
    for (size_t i = index; i-- > 0;) (*this)[i + count] = std::move((*this)[i]);
    pop_front(count);
  }

 private:
  // slots_.size() is a power of two (or 0), so that & wraps around.
  size_t slot(size_t index) const { return (first_ + index) & (slots_.size() - 1); }
  void grow() { resize(2 * slots_.size()); }
  void resize(size_t slots_min) {
    std::vector<T> other(std::bit_ceil(std::max<size_t>(16, slots_min)));
    for (size_t i = 0; i < size_; ++i) other[i] = std::move((*this)[i]);
    slots_ = std::move(other);
    first_ = 0;
  }

  std::vector<T> slots_;
  size_t first_ = 0;
  size_t size_ = 0;
};

/// The same for what is kept in a vector.
template <typename T>
void fit(std::vector<T>& list, size_t kept_bytes) {
  if (list.capacity() * sizeof(T) > kept_bytes && list.size() < list.capacity() / 4) list.shrink_to_fit();
}

}  // namespace n2nq
