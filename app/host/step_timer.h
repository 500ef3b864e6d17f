// SPDX-License-Identifier: GPL-3.0-or-later
// For a step of somebody else's that a thread with an event loop waits for. As SshShared does it for those of a session's thread, the time
// in which this bench stood still does not count: what came meanwhile is heard before anybody is blamed.
#pragma once

#include <QTimer>
#include <algorithm>
#include <chrono>

#include "app/host/start_deadline.h"

namespace n2nq::app {

/// timeout() comes once, when that time is over, unless it is stopped before.
class StepTimer : public QTimer {
 public:
  StepTimer() {
    setSingleShot(true);
    setTimerType(Qt::PreciseTimer);  // others may be half a second late, which the 10 s of a start do not have
  }
  void start(int limit_ms) {
    limit_ms_ = limit_ms;
    taken_ = {};
    looked_at_ = Clock::now();
    look_later();
  }
  int limit_ms() const { return limit_ms_; }
  /// Of it, while it runs.
  int taken_ms() const {
    const auto taken = taken_ + (isActive() ? counted_since_look() : Clock::duration::zero());
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(taken).count());
  }

 protected:
  void timerEvent(QTimerEvent* event) override {
    taken_ += counted_since_look();
    looked_at_ = Clock::now();
    if (taken_ >= std::chrono::milliseconds(limit_ms_)) return QTimer::timerEvent(event);
    look_later();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int look_ms = 200;
  void look_later() { QTimer::start(std::clamp(limit_ms_ - taken_ms(), 0, look_ms)); }
  Clock::duration counted_since_look() const {
    const auto since = Clock::now() - looked_at_;
    return since > own_standstill_min ? Clock::duration::zero() : since;
  }

  int limit_ms_ = 0;
  Clock::duration taken_{};
  Clock::time_point looked_at_;
};

}  // namespace n2nq::app
