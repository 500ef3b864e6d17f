// SPDX-License-Identifier: GPL-3.0-or-later
// For what changes many times in a moment and is shown anew each time: a deed that is done once for all requests of a span. The last request
// is never lost.
#pragma once

#include <QTimer>
#include <chrono>
#include <functional>
#include <utility>

namespace n2nq::ui {

class Throttle {
 public:
  /// `act` is called on the thread that made this, and not any more once this is gone.
  Throttle(std::chrono::milliseconds span, std::function<void()> act) {
    timer_.setSingleShot(true);
    timer_.setInterval(span);
    timer_.callOnTimeout(std::move(act));
  }

  /// The deed is done within the span, behind this and all other requests until then.
  void request() {
    if (!timer_.isActive()) timer_.start();
  }

 private:
  QTimer timer_;
};

}  // namespace n2nq::ui
