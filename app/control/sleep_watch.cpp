// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/sleep_watch.h"

#include <time.h>

#include <algorithm>

namespace n2nq::app {

namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr int look_every_ms = 1'000;

/// CLOCK_MONOTONIC stands still while this machine sleeps.
std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * ns_per_s + now.tv_nsec;
}

}  // namespace

SleepWatch::SleepWatch() {
  QObject::connect(&timer_, &QTimer::timeout, &timer_, [this] {
    longest_ns_ = longest_ns();
    seen_at_ns_ = now_ns();
  });
}

void SleepWatch::start() {
  longest_ns_ = 0;
  seen_at_ns_ = now_ns();
  timer_.start(look_every_ms);
}

QString SleepWatch::sentence() const {
  if (!timer_.isActive() || longest_ns() < limit_s * ns_per_s) return {};
  return QString("This machine, or the bench on it, stood still for up to %1 s: asleep?").arg(longest_ns() / ns_per_s);
}

std::int64_t SleepWatch::longest_ns() const {
  return std::max(longest_ns_, now_ns() - seen_at_ns_);
}

}  // namespace n2nq::app
