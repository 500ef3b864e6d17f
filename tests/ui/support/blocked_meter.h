// SPDX-License-Identifier: GPL-3.0-or-later
// For how long this thread's event loop stood still at most, waiting for something else than its next event (a disk, a network, a lock), and
// for how long it computed. Time in which it waited for a processor that others had does not count, so that a busy machine changes nothing.
// Where the kernel does not tell them apart (schedstat in proc(5)) all of it counts as standing still.
#pragma once

#include <QObject>
#include <QTimer>

namespace n2nq::ui_test {

class BlockedMeter : public QObject {
  Q_OBJECT
 public:
  explicit BlockedMeter(QObject* parent = nullptr);
  /// Between the two it looks; what is between an end() and the next begin() does not count.
  void begin();
  void end();
  /// Of all that was looked at so far.
  double blocked_max_ms() const { return blocked_max_ms_; }
  double computed_max_ms() const { return computed_max_ms_; }

 private:
  struct Times {
    double wall_ms = 0, computed_ms = 0, waited_ms = 0;
  };
  static Times now();
  void beat();

  QTimer timer_;
  Times last_;
  double blocked_max_ms_ = 0, computed_max_ms_ = 0;
};

}  // namespace n2nq::ui_test
