// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/count_rate.h"

#include <algorithm>

#include "app/control/live_figures.h"

namespace n2nq::app {

namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t window_ns = ns_per_s;
constexpr std::int64_t window_max_ns = 10 * ns_per_s;
constexpr std::int64_t counted_min = 10;
constexpr std::int64_t missed_min = 16;  // of a mean over ten random gaps one in 14,000 lasts as long
constexpr std::size_t flowing_moves_min = 8;
constexpr double span_min_s = 0.45;

}  // namespace

void CountRate::look(std::int64_t now_ns, std::int64_t count, std::int64_t other) {
  if (now_ns <= last_ns_) return;
  // What had flowed stood still for a while, and the rate was 0. What had waited came since the last look, not in all the time since the last
  // move; of one that comes by itself nobody knows since when. Of a few moves nobody knows whether they were bursts, whose gaps belong to
  // the rate.
  if (flowed_ && has_stopped() && count > moves_.back().count) {
    const Look before = moves_.back();
    moves_.clear();
    if (count - before.count >= counted_min) moves_.push_back({last_ns_, before.count, before.other});
  }
  last_ns_ = now_ns;
  const bool moved = count > last_count_;
  last_count_ = std::max(last_count_, count);
  if (moved && !moves_.empty() && now_ns - moves_.back().at_ns >= window_max_ns) moves_.clear();  // nothing is left of what was before
  if (moved) moves_.push_back({now_ns, count, other});
  const auto is_spare = [&] {
    const Look& next = moves_[1];
    const std::int64_t age_ns = now_ns - next.at_ns;
    return age_ns >= window_max_ns || (age_ns >= window_ns && moves_.back().count - next.count >= counted_min);
  };
  while (moves_.size() > 1 && is_spare()) moves_.pop_front();
  if (!moved) return;  // what goes later, for being old, changes nothing of it
  stopped_after_ns_ = gap_max_ns();
  flowed_ = moves_.size() >= flowing_moves_min;
}

/// From the first to the last move; once the next move is overdue, to now, so that a rate sinks when nothing comes any more.
double CountRate::span_s() const {
  if (moves_.size() < 2) return 0;
  const std::int64_t moved_ns = moves_.back().at_ns - moves_.front().at_ns;
  const std::int64_t gap_ns = moved_ns / static_cast<std::int64_t>(moves_.size() - 1);
  const std::int64_t still_ns = last_ns_ - moves_.back().at_ns;
  return static_cast<double>(still_ns > 2 * gap_ns ? moved_ns + still_ns : moved_ns) / ns_per_s;
}

/// What comes in bursts tells by the gaps between these, what comes at random by how many should have come. Of few neither is known.
std::int64_t CountRate::gap_max_ns() const {
  const std::int64_t counted = moves_.back().count - moves_.front().count;
  if (counted < counted_min) return window_max_ns;
  const std::int64_t moved_ns = moves_.back().at_ns - moves_.front().at_ns;
  const std::int64_t gap_ns = moved_ns / static_cast<std::int64_t>(moves_.size() - 1);
  return std::min(window_max_ns, std::max({window_ns, 2 * gap_ns, missed_min * moved_ns / counted}));
}

/// Nothing came any more, though it was due.
bool CountRate::has_stopped() const {
  return !moves_.empty() && last_ns_ - moves_.back().at_ns >= stopped_after_ns_;
}

double CountRate::per_s() const {
  if (has_stopped()) return 0;
  const double seconds = span_s();
  return seconds < span_min_s ? unknown : static_cast<double>(moves_.back().count - moves_.front().count) / seconds;
}

double CountRate::other_per_s() const {
  if (has_stopped()) return 0;
  const double seconds = span_s();
  return seconds < span_min_s ? unknown : static_cast<double>(moves_.back().other - moves_.front().other) / seconds;
}

}  // namespace n2nq::app
