// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/rates.h"

#include "broker/net/clock.h"

namespace n2nq::worker {

namespace {

constexpr std::int64_t window_ns = net::ns_per_s;
constexpr std::int64_t keep_every_ns = 95 * net::ns_per_ms;

}  // namespace

Rates::Rates(std::size_t amount, std::int64_t now_ns) {
  kept_.reserve(looks_max);  // pointers into it stay valid
  last_ = {now_ns, std::vector<std::uint64_t>(amount)};
  kept_.push_back(last_);
  base_ = &kept_.front();
}

void Rates::look(std::int64_t now_ns, const std::vector<std::uint64_t>& counts) {
  last_.at_ns = now_ns;
  last_.counts = counts;
  base_ = nullptr;
  const std::size_t amount = kept_.size();
  for (std::size_t i = 0; i < amount; ++i) {  // from the newest to the oldest
    const Look& look = kept_[(oldest_ + amount - 1 - i) % amount];
    base_ = &look;
    if (now_ns - look.at_ns >= window_ns) break;
  }
  const std::int64_t newest_ns = kept_[(oldest_ + amount - 1) % amount].at_ns;
  if (now_ns - newest_ns < keep_every_ns) return;
  if (amount < looks_max) {
    kept_.push_back(last_);
    return;
  }
  // The oldest gives way; should it be the base, the next older one than a second takes over with the next look.
  if (base_ == &kept_[oldest_]) base_ = &kept_[(oldest_ + 1) % amount];
  kept_[oldest_] = last_;
  oldest_ = (oldest_ + 1) % amount;
}

double Rates::per_s(std::size_t place) const {
  const std::int64_t span_ns = last_.at_ns - base_->at_ns;
  if (span_ns <= 0) return 0;
  return static_cast<double>(last_.counts[place] - base_->counts[place]) * 1e9 / static_cast<double>(span_ns);
}

}  // namespace n2nq::worker
