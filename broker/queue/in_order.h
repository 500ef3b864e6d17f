// SPDX-License-Identifier: GPL-3.0-or-later
// What several lists hold, each in order, taken out as one list in that order. To put a list in costs nothing for each of what it holds,
// however long it is: lists that are long stay as they are, those that are short become one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "broker/queue/ring.h"

namespace n2nq {

/// `T` says is_behind() of another one; no two are equal.
template <typename T>
class InOrder {
 public:
  /// A list of more is long.
  static constexpr size_t short_max = 2048;

  bool empty() const { return last_.empty() && long_.empty(); }
  /// The first of all. Not to be called while it is empty, like pop_front().
  const T& front() const { return is_last_first() ? last_.front() : long_.front().front(); }
  void pop_front() {
    if (is_last_first()) {
      last_.pop_front();
      return last_.fit(busy_kept_bytes);
    }
    std::pop_heap(long_.begin(), long_.end(), begins_behind);
    Ring<T>& list = long_.back();
    list.pop_front();
    if (list.empty()) return long_.pop_back();
    list.fit(busy_kept_bytes);
    std::push_heap(long_.begin(), long_.end(), begins_behind);
  }
  /// Behind all that is here.
  void push_back(const T& one) { last_.push_back(one); }
  /// All of a list that is in order, which is empty then.
  void add(Ring<T>& list) {
    if (list.empty()) return;
    if (last_.empty()) return std::swap(last_, list);
    const size_t before = last_.size();
    const bool follows = list.front().is_behind(last_.back());
    if (list.size() <= short_max && (follows || before <= short_max)) {
      for (size_t i = 0; i < list.size(); ++i) last_.push_back(list[i]);
      if (!follows) merge(last_, before);
      list = {};
      return;
    }
    if (list.size() > before) std::swap(last_, list);
    long_.push_back(std::exchange(last_, std::exchange(list, {})));
    std::push_heap(long_.begin(), long_.end(), begins_behind);
  }
  /// All of another one, which is empty then.
  void add(InOrder& other) {
    if (empty()) return std::swap(*this, other);
    for (Ring<T>& list : other.long_) add(list);
    other.long_.clear();
    add(other.last_);
  }
  /// Where it is a single list: swaps that with `list`, which is empty.
  bool swap_whole(Ring<T>& list) {
    if (!long_.empty()) return false;
    std::swap(last_, list);
    return true;
  }
  /// All there is, in no order.
  template <typename Look>
  void for_each(const Look& look) const {
    const auto look_at = [&look](const Ring<T>& list) {
      for (size_t i = 0; i < list.size(); ++i) look(list[i]);
    };
    for (const Ring<T>& list : long_) look_at(list);
    look_at(last_);
  }
  void fit(size_t kept_bytes) {
    for (Ring<T>& list : long_) list.fit(kept_bytes);
    last_.fit(kept_bytes);
    n2nq::fit(long_, kept_bytes);
  }

 private:
  static bool begins_behind(const Ring<T>& one, const Ring<T>& other) { return one.front().is_behind(other.front()); }
  bool is_last_first() const {
    return long_.empty() || (!last_.empty() && long_.front().front().is_behind(last_.front()));
  }
  /// It is in order up to `middle`, and from there on; then as a whole.
  static void merge(Ring<T>& list, size_t middle) {
    std::vector<T> more;
    more.reserve(list.size() - middle);
    for (size_t i = middle; i < list.size(); ++i) more.push_back(list[i]);
    for (size_t to = list.size(); !more.empty();) {
      if (middle > 0 && list[middle - 1].is_behind(more.back())) {
        list[--to] = list[--middle];
      } else {
        list[--to] = more.back();
        more.pop_back();
      }
    }
  }

  std::vector<Ring<T>> long_;  // a heap: the one that begins first stands first
  Ring<T> last_;               // short, or what came behind it in order made it long
};

}  // namespace n2nq
