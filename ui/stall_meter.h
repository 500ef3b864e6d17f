// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window was busy at most before it could take up the next event, and how much processor time the bench uses.
//
// A timer beats every beat_ms; what a beat comes later than that is a stall. Of each stall the part in which this thread itself was
// computing is kept apart, because on a busy machine a thread is also late when others are served first.
#pragma once

#include <QObject>
#include <QTimer>
#include <chrono>

namespace n2nq::ui {

class StallMeter : public QObject {
  Q_OBJECT
 public:
  static constexpr int beat_ms = 10;

  struct Figures {
    double stall_max_ms = 0;  // longest delay of a beat
    double busy_max_ms = 0;   // longest computing of this thread between two beats
    double cpu_percent = 0;   // of one processor, this process, all threads
    double seconds = 0;       // since begin()
  };

  explicit StallMeter(QObject* parent = nullptr);
  void begin();
  Figures figures() const;

 private:
  void beat();

  QTimer timer_;
  std::chrono::steady_clock::time_point begun_, last_;
  double last_thread_s_ = 0, begun_process_s_ = 0;
  Figures worst_;
};

/// Processor time of this process so far, all threads, in seconds.
double process_cpu_s();

}  // namespace n2nq::ui
