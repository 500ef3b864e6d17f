// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/frame_places.h"

#include <algorithm>
#include <utility>

#include "broker/net/clock.h"

namespace n2nq::net {

bool FramePlaces::take(Waiter& waiter) {
  if (!waiting_.empty() || !has_room_for(waiter)) {
    waiting_.push_back(&waiter);
    note_whether_waited_for();
    return false;
  }
  waiter.on_place(make(waiter));
  on_taken_();
  return true;
}

void FramePlaces::forget(Waiter& waiter) {
  if (std::erase(waiting_, &waiter) > 0) serve();
}

void FramePlaces::give_back(wire::LargeBuffer place) {
  bytes_taken_ -= place.capacity;
  free_bytes_ += place.capacity;
  free_.push_back(std::move(place));
  while (free_bytes_ > free_bytes_max) {
    free_bytes_ -= free_.front().capacity;
    free_.erase(free_.begin());
  }
  serve();
}

void FramePlaces::set_held(bool held) {
  if (std::exchange(held_, held) && !held) serve();
}

void FramePlaces::serve() {
  while (!waiting_.empty() && has_room_for(*waiting_.front())) {
    Waiter& next = *waiting_.front();
    waiting_.pop_front();
    next.on_place(make(next));
    on_taken_();
  }
  note_whether_waited_for();
}

int64_t FramePlaces::waited_ns() const {
  return waited_ns_ + (waited_since_ns_ != 0 ? now_ns() - waited_since_ns_ : 0);
}

void FramePlaces::note_whether_waited_for() {
  if (waiting_.empty() == (waited_since_ns_ == 0)) return;
  if (waiting_.empty()) waited_ns_ = waited_ns();
  waited_since_ns_ = waiting_.empty() ? 0 : now_ns();
}

wire::LargeBuffer FramePlaces::make(const Waiter& waiter) {
  const size_t bytes = rounded(waiter.place_bytes_wanted());
  // Not one that is far too large, for all of it counts.
  const size_t bytes_most = std::min(2 * bytes, bytes_max_ - bytes_taken_);
  auto fitting = free_.end();
  for (auto one = free_.begin(); one != free_.end(); ++one) {
    const bool fits = one->capacity >= bytes && one->capacity <= bytes_most;
    if (fits && (fitting == free_.end() || one->capacity < fitting->capacity)) fitting = one;
  }
  if (fitting == free_.end()) {
    bytes_taken_ += bytes;
    return {std::make_unique_for_overwrite<uint8_t[]>(bytes), bytes};
  }
  wire::LargeBuffer place = std::move(*fitting);
  free_.erase(fitting);
  free_bytes_ -= place.capacity;
  bytes_taken_ += place.capacity;
  return place;
}

}  // namespace n2nq::net
