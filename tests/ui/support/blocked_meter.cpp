// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/blocked_meter.h"

#include <time.h>

#include <QFile>
#include <algorithm>
#include <chrono>

namespace n2nq::ui_test {

namespace {

constexpr int beat_ms = 5;
constexpr int held_up_ms_min = 4 * beat_ms;  // less makes no stall
constexpr double ns_per_ms = 1e6;

/// For a processor. (What stands before it, the time on one, is as old as the last tick.)
double waited_ms() {
  QFile file(QStringLiteral("/proc/thread-self/schedstat"));
  return file.open(QIODevice::ReadOnly) ? file.readAll().split(' ').value(1).toDouble() / ns_per_ms : 0;
}

}  // namespace

double BlockedMeter::computed_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / ns_per_ms;
}

void BlockedMeter::Longest::take(double ms) {
  max_ms = std::max(max_ms, ms);
  if (ms > stall_ms) ++stalls;
}

BlockedMeter::BlockedMeter(QObject* parent)
    : QObject(parent), timer_(this), idle_(std::chrono::milliseconds(beat_ms), std::chrono::milliseconds(held_up_ms_min)) {
  timer_.setTimerType(Qt::PreciseTimer);
  timer_.setInterval(beat_ms);
  connect(&timer_, &QTimer::timeout, this, &BlockedMeter::beat);
}

BlockedMeter::Times BlockedMeter::now() const {
  const auto wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch());
  return {wall.count(), computed_ms(), waited_ms(), static_cast<double>(idle_.held_up_ms())};
}

void BlockedMeter::begin() {
  last_ = now();
  timer_.start();
}

void BlockedMeter::end() {
  beat();
  timer_.stop();
}

void BlockedMeter::beat() {
  const Times at = now();
  const double blocked_ms = (at.wall_ms - last_.wall_ms) - (at.computed_ms - last_.computed_ms) - (at.waited_ms - last_.waited_ms) -
                            (at.held_up_ms - last_.held_up_ms) - beat_ms;
  blocked_.take(blocked_ms);
  computed_.take(at.computed_ms - last_.computed_ms);
  last_ = at;
}

}  // namespace n2nq::ui_test
