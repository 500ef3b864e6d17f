// SPDX-License-Identifier: GPL-3.0-or-later
// Whether this bench stood still: its machine slept, or somebody stopped the process. Then the silence that others are blamed for was its
// own.
#pragma once

#include <QString>
#include <QTimer>
#include <cstdint>
#include <functional>

namespace n2nq::app {

/// Looks five times a second. Lives on the thread whose standing still is meant, with an event loop.
class SleepWatch {
 public:
  /// `over` is called when it goes on: for how long it stood still, and how long ago that began by a clock that stands still while this
  /// machine sleeps. What is shorter than the limit is the load of a busy machine, and nobody else is blamed for it.
  SleepWatch(int limit_ms, std::function<void(double stood_s, double began_ago_s)> over);
  /// Forgets what was before.
  void start();
  void stop() { timer_.stop(); }
  /// "This machine, or the bench on it, stood still for up to 23 s: asleep?"; empty: it did not, or for less than the limit.
  QString sentence() const;
  /// Whether it stood still since it looked last; `over` was called, then. For a timer, which may be overdue by that.
  bool look();

 private:
  std::int64_t longest_ns() const;

  const std::int64_t limit_ns_;
  const std::function<void(double, double)> over_;
  QTimer timer_;
  std::int64_t seen_at_ns_ = 0, longest_ns_ = 0;  // by a clock that goes on while this machine sleeps
  std::int64_t awake_seen_at_ns_ = 0;             // by one that does not
};

}  // namespace n2nq::app
