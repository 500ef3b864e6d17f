// SPDX-License-Identifier: GPL-3.0-or-later
// For how long this thread's event loop stood still at most, waiting for something else than its next event (a disk, a network, a lock), and
// for how long it computed in one go, by its own processor time. Time in which it waited for a processor that others had does not count, so
// that a busy machine changes next to nothing. Where the kernel does not tell that (schedstat in proc(5)) it counts as standing still. Time in
// which a thread that does nothing was held up as well does not count either: this process was stopped, or its virtual machine was not run.
#pragma once

#include <QObject>
#include <QTimer>

#include "tests/app/support/idle_thread.h"

namespace n2nq::ui_test {

class BlockedMeter : public QObject {
  Q_OBJECT
 public:
  /// Processor time of this thread so far.
  static double computed_ms();

  explicit BlockedMeter(QObject* parent = nullptr);
  /// Between the two it looks; what is between an end() and the next begin() does not count.
  void begin();
  void end();
  /// Of all that was looked at so far, the longest, and how often it was longer than that.
  struct Longest {
    double stall_ms, max_ms = 0;
    int stalls = 0;
    void take(double ms);
  };
  const Longest& blocked() const { return blocked_; }
  /// All that it computed before it came back to the event loop, be it for one event or for several.
  const Longest& computed() const { return computed_; }

 private:
  struct Times {
    double wall_ms = 0, computed_ms = 0, waited_ms = 0, held_up_ms = 0;
  };
  Times now() const;
  void beat();

  QTimer timer_;
  app::testing::IdleThread idle_;
  Times last_;
  Longest blocked_{50}, computed_{100};  // which is 50 on a core that nobody shares
};

}  // namespace n2nq::ui_test
