// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/emulator/lane.h"

#include <algorithm>
#include <cstring>

#include "broker/net/clock.h"

namespace n2nq::lab {

void Lane::set_shape(const Shape& shape) {
  shape_ = shape;
  if (shape_.blackhole) {
    counts_.swallowed += under_way_.size() + held_up_.size();
    under_way_.clear();
    held_up_.clear();
    under_way_bytes_ = 0;
    last_due_ns_ = 0;  // nobody waits for what is gone
  }
  transmitted_ns_ = 0;  // what waited at the old rate is on its way
}

void Lane::put(std::span<const std::uint8_t> frame, std::int64_t now_ns) {
  if (shape_.blackhole) {
    ++counts_.swallowed;
    return;
  }
  std::int64_t left_ns = now_ns;
  if (shape_.rate_bps > 0) {
    const auto bits = static_cast<std::int64_t>(frame.size()) * 8;
    left_ns = std::max(now_ns, transmitted_ns_) + bits * net::ns_per_s / shape_.rate_bps;
  }
  if (left_ns - now_ns > wait_ns_max || under_way_.size() + held_up_.size() >= frames_max || frame.size() > frame_bytes_max) {
    ++counts_.dropped;
    return;
  }
  transmitted_ns_ = left_ns;
  if (falls_on(shape_.loss)) {
    ++counts_.lost;
    return;
  }
  std::int64_t due_ns = left_ns + shape_.delay_ns;
  const bool is_jittered = shape_.jitter_ns > 0 && falls_on(shape_.jitter_share), is_reordered = falls_on(shape_.reorder);
  if (is_jittered) due_ns += std::uniform_int_distribution<std::int64_t>(0, shape_.jitter_ns)(chance_);
  const bool is_held_up = is_reordered || (is_jittered && shape_.jitter_overtaken);
  if (is_held_up) {
    ++counts_.held_up;
    due_ns = std::max(last_due_ns_, due_ns) + (is_reordered ? shape_.reorder_ns : 0);
    if (!held_up_.empty()) due_ns = std::max(due_ns, held_up_.back().due_ns);
  } else {
    due_ns = last_due_ns_ = std::max(last_due_ns_, due_ns);
  }
  Frame& kept = (is_held_up ? held_up_ : under_way_).emplace_back();
  kept.due_ns = due_ns;
  kept.size = frame.size();
  std::memcpy(kept.bytes.data(), frame.data(), frame.size());
  under_way_bytes_ += frame.size();
  counts_.under_way_bytes_max = std::max(counts_.under_way_bytes_max, under_way_bytes_);
}

const Lane::Frames& Lane::next() const {
  if (held_up_.empty()) return under_way_;
  if (under_way_.empty()) return held_up_;
  return held_up_.front().due_ns < under_way_.front().due_ns ? held_up_ : under_way_;
}

void Lane::pop() {
  Frames& frames = &next() == &held_up_ ? held_up_ : under_way_;
  ++counts_.frames;
  counts_.bytes += frames.front().size;
  under_way_bytes_ -= frames.front().size;
  frames.pop_front();
}

bool Lane::falls_on(double share) {
  return share > 0 && std::uniform_real_distribution<double>(0, 1)(chance_) < share;
}

}  // namespace n2nq::lab
