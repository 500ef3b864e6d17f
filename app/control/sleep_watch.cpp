// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/sleep_watch.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace n2nq::app {

namespace {

constexpr std::int64_t ns_per_ms = 1'000'000, ns_per_s = 1'000 * ns_per_ms;
constexpr int look_every_ms = 200;

/// CLOCK_MONOTONIC stands still while this machine sleeps.
std::int64_t now_ns(clockid_t clock = CLOCK_BOOTTIME) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * ns_per_s + now.tv_nsec;
}

}  // namespace

SleepWatch::SleepWatch(int limit_ms, std::function<void(double, double)> over) : limit_ns_(limit_ms * ns_per_ms), over_(std::move(over)) {
  QObject::connect(&timer_, &QTimer::timeout, &timer_, [this] { look(); });
}

void SleepWatch::start() {
  longest_ns_ = 0;
  seen_at_ns_ = now_ns();
  awake_seen_at_ns_ = now_ns(CLOCK_MONOTONIC);
  timer_.start(look_every_ms);
}

bool SleepWatch::look() {
  if (!timer_.isActive()) return false;
  longest_ns_ = longest_ns();
  const std::int64_t now = now_ns(), awake_now = now_ns(CLOCK_MONOTONIC);
  const std::int64_t stood_ns = now - std::exchange(seen_at_ns_, now) - look_every_ms * ns_per_ms;
  const std::int64_t began_ago_ns = awake_now - std::exchange(awake_seen_at_ns_, awake_now);
  if (stood_ns < limit_ns_) return false;
  over_(static_cast<double>(stood_ns) / ns_per_s, static_cast<double>(began_ago_ns) / ns_per_s);
  return true;
}

QString SleepWatch::sentence() const {
  if (!timer_.isActive() || longest_ns() < limit_ns_) return {};
  return QString("This machine, or the bench on it, stood still for up to %1 s: asleep?").arg(longest_ns() / ns_per_s);
}

std::int64_t SleepWatch::longest_ns() const {
  return std::max(longest_ns_, now_ns() - seen_at_ns_);
}

}  // namespace n2nq::app
