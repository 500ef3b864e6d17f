// SPDX-License-Identifier: GPL-3.0-or-later
// A double-ended list in one array that grows by doubling and is never given back: no allocation once it has been as long as it gets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace n2nq {

template <typename T>
class Ring {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Gives its memory back when it is empty and was long.
  void shrink() {
    if (empty() && slots_.size() > long_slots) *this = Ring();
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
  static constexpr size_t long_slots = 65'536;

  // slots_.size() is a power of two (or 0), so that & wraps around.
  size_t slot(size_t index) const { return (first_ + index) & (slots_.size() - 1); }
  void grow() {
    std::vector<T> bigger(std::max<size_t>(16, 2 * slots_.size()));
    for (size_t i = 0; i < size_; ++i) bigger[i] = std::move((*this)[i]);
    slots_ = std::move(bigger);
    first_ = 0;
  }

  std::vector<T> slots_;
  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace n2nq
