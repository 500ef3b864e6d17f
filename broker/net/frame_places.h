// SPDX-License-Identifier: GPL-3.0-or-later
// Memory for frames that are longer than a read and have not come whole: shared by the connections, with one limit for all.
//
// A frame gets its place at its header and keeps it until it is whole; who finds no room waits, in order, and is not read meanwhile. So
// every place is given back at some time: nobody who has one waits for another. That holds as long as who has one is read.
// Belongs to the loop's thread, and outlives its connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "broker/wire/frame.h"

namespace n2nq::net {

class FramePlaces {
 public:
  /// Memory that nobody has, kept to be used again; beside bytes_max.
  static constexpr size_t free_bytes_max = 4 * 1024 * 1024;

  class Waiter {
   public:
    virtual ~Waiter() = default;
    /// The same as long as it waits.
    virtual size_t place_bytes_wanted() const = 0;
    /// It does not wait, or no longer. Not to ask for another place in it.
    virtual void on_place(wire::LargeBuffer place) = 0;
  };

  /// `bytes_max` has to be enough for the longest frame and 64 KiB. `on_taken` is told after each place that somebody has got.
  FramePlaces(size_t bytes_max, std::function<void()> on_taken) : bytes_max_(bytes_max), on_taken_(std::move(on_taken)) {}

  /// False: the waiter has to wait for its place; else it has got it.
  bool take(Waiter& waiter);
  void forget(Waiter& waiter);
  void give_back(wire::LargeBuffer place);
  /// While held nobody gets a place, however much room there is.
  void set_held(bool held);
  size_t bytes_taken() const { return bytes_taken_; }
  /// Of memory that nobody has: no more than free_bytes_max.
  size_t bytes_free() const { return free_bytes_; }
  size_t waiting() const { return waiting_.size(); }
  /// For how long somebody waited, until now.
  int64_t waited_ns() const;

 private:
  /// Places come in steps of this, and one that was given back may be up to twice what the next frame wants: so frames of changing sizes
  /// use the same ones again and again.
  static constexpr size_t step_bytes = 64 * 1024;
  static size_t rounded(size_t bytes) { return (bytes + step_bytes - 1) / step_bytes * step_bytes; }
  bool has_room_for(const Waiter& waiter) const { return !held_ && rounded(waiter.place_bytes_wanted()) <= bytes_max_ - bytes_taken_; }
  wire::LargeBuffer make(const Waiter& waiter);
  void serve();
  void note_whether_waited_for();

  const size_t bytes_max_;
  const std::function<void()> on_taken_;
  size_t bytes_taken_ = 0;
  bool held_ = false;
  std::deque<Waiter*> waiting_;  // at most one for each connection
  int64_t waited_ns_ = 0;
  int64_t waited_since_ns_ = 0;  // 0: nobody waits
  std::vector<wire::LargeBuffer> free_;
  size_t free_bytes_ = 0;
};

}  // namespace n2nq::net
