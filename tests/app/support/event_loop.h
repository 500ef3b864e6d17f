// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for events instead of sleeping: the application's event loop turns until something is true.
#pragma once

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QTimer>
#include <chrono>
#include <functional>
#include <optional>

#include "tests/app/support/idle_thread.h"

namespace n2nq::app::testing {

/// Only a test that hangs ever waits this long.
inline constexpr int deadline_ms = 60'000;

/// One QCoreApplication for a test program, made by the first fixture that needs it.
class WithEventLoop : public ::testing::Test {
 protected:
  WithEventLoop() {
    static int argc = 1;
    static char name[] = "test";
    static char* argv[] = {name, nullptr};
    static QCoreApplication application(argc, argv);
  }

  static bool wait_until(const std::function<bool()>& condition) {
    const QDeadlineTimer deadline(deadline_ms);
    QTimer wake;
    wake.start(20);
    while (!condition()) {
      if (deadline.hasExpired()) return false;
      QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    }
    return true;
  }

  /// How long it took until that, without the time in which this machine held up a thread that does nothing; nothing where it never was.
  static std::optional<qint64> wait_ms(const std::function<bool()>& condition) {
    QElapsedTimer since;
    since.start();
    const IdleThread idle(std::chrono::milliseconds(20), std::chrono::milliseconds(200));
    if (!wait_until(condition)) return std::nullopt;
    return since.elapsed() - idle.held_up_ms();
  }
};

}  // namespace n2nq::app::testing
