// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/stall_meter.h"

#include <time.h>

#include <algorithm>

namespace n2nq::ui {

namespace {

double clock_s(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double ms_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

double process_cpu_s() {
  return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

StallMeter::StallMeter(QObject* parent) : QObject(parent), timer_(this) {
  timer_.setTimerType(Qt::PreciseTimer);
  timer_.setInterval(beat_ms);
  connect(&timer_, &QTimer::timeout, this, &StallMeter::beat);
}

void StallMeter::begin() {
  worst_ = {};
  begun_ = last_ = std::chrono::steady_clock::now();
  last_thread_s_ = clock_s(CLOCK_THREAD_CPUTIME_ID);
  begun_process_s_ = process_cpu_s();
  timer_.start();
}

void StallMeter::beat() {
  const auto now = std::chrono::steady_clock::now();
  const double thread_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
  worst_.stall_max_ms = std::max(worst_.stall_max_ms, ms_between(last_, now) - beat_ms);
  worst_.busy_max_ms = std::max(worst_.busy_max_ms, (thread_s - last_thread_s_) * 1e3);
  last_ = now;
  last_thread_s_ = thread_s;
}

StallMeter::Figures StallMeter::figures() const {
  Figures out = worst_;
  out.seconds = ms_between(begun_, std::chrono::steady_clock::now()) / 1e3;
  if (out.seconds > 0) out.cpu_percent = (process_cpu_s() - begun_process_s_) / out.seconds * 100;
  return out;
}

}  // namespace n2nq::ui
