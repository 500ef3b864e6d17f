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
  bytes_taken_ += bytes;
  const auto fitting = std::find_if(free_.begin(), free_.end(), [bytes](const wire::LargeBuffer& one) { return one.capacity == bytes; });
  if (fitting == free_.end()) return {std::make_unique_for_overwrite<uint8_t[]>(bytes), bytes};
  wire::LargeBuffer place = std::move(*fitting);
  free_.erase(fitting);
  free_bytes_ -= bytes;
  return place;
}

}  // namespace n2nq::net
