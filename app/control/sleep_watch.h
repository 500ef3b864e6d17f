// SPDX-License-Identifier: GPL-3.0-or-later
// Whether this bench stood still: its machine slept, or somebody stopped the process. Then the silence that others are blamed for was its
// own.
#pragma once

#include <QString>
#include <QTimer>
#include <cstdint>

namespace n2nq::app {

/// Looks once a second. Lives on the thread whose standing still is meant, with an event loop.
class SleepWatch {
 public:
  SleepWatch();
  /// Forgets what was before.
  void start();
  void stop() { timer_.stop(); }
  /// "This machine, or the bench on it, stood still for up to 23 s: asleep?"; empty: it did not, or for less than `limit_s`.
  QString sentence() const;

  /// Less is the load of a busy machine, and nobody else is blamed for it.
  static constexpr int limit_s = 5;

 private:
  std::int64_t longest_ns() const;

  QTimer timer_;
  std::int64_t seen_at_ns_ = 0, longest_ns_ = 0;  // by a clock that goes on while this machine sleeps
};

}  // namespace n2nq::app
