// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/emulator/lane.h"

#include <algorithm>
#include <cstring>

#include "broker/net/clock.h"

namespace n2nq::lab {

void Lane::set_shape(const Shape& shape) {
  shape_ = shape;
  if (shape_.blackhole) {
    counts_.swallowed += under_way_.size();
    under_way_.clear();
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
  if (left_ns - now_ns > wait_ns_max || under_way_.size() >= frames_max || frame.size() > frame_bytes_max) {
    ++counts_.dropped;
    return;
  }
  transmitted_ns_ = left_ns;
  if (falls_on(shape_.loss)) {
    ++counts_.lost;
    return;
  }
  std::int64_t due_ns = left_ns + shape_.delay_ns;
  if (shape_.jitter_ns > 0 && falls_on(shape_.jitter_share)) due_ns += std::uniform_int_distribution<std::int64_t>(0, shape_.jitter_ns)(chance_);
  last_due_ns_ = std::max(last_due_ns_, due_ns);
  Frame& kept = under_way_.emplace_back();
  kept.due_ns = last_due_ns_;
  kept.size = frame.size();
  std::memcpy(kept.bytes.data(), frame.data(), frame.size());
}

void Lane::pop() {
  ++counts_.frames;
  counts_.bytes += under_way_.front().size;
  under_way_.pop_front();
}

bool Lane::falls_on(double share) {
  return share > 0 && std::uniform_real_distribution<double>(0, 1)(chance_) < share;
}

}  // namespace n2nq::lab
