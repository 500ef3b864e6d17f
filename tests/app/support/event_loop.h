// SPDX-License-Identifier: GPL-3.0-or-later
// Waiting for events instead of sleeping: the application's event loop turns until something is true.
#pragma once

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>
#include <functional>

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
};

}  // namespace n2nq::app::testing
