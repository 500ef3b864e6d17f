// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl+C, SIGTERM and a closed terminal as signals of the event loop.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QSocketNotifier>

namespace n2nq::app {

/// What is said when somebody has interrupted for the first, second, third time.
const char* words_of_interrupt(int times);

class Interrupts : public QObject {
  Q_OBJECT
 public:
  /// Before any other thread is started: threads inherit what is blocked here.
  Interrupts();
  ~Interrupts() override;

 signals:
  void interrupted();

 private:
  int fd_;
  QSocketNotifier notifier_;
  QElapsedTimer since_last_;
};

}  // namespace n2nq::app
