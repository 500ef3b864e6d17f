// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"

namespace n2nq::support {

/// Runs the loop, at least for one wake-up, to the end of the first one behind which done() says true. A failure of the test, after which
/// it returns too, where that does not come within a minute. Takes the loop's after_wake_up meanwhile.
inline void run_until(net::EventLoop& loop, const std::function<bool()>& done) {
  net::Timer deadline(loop, [&loop] {
    ADD_FAILURE() << "waited too long";
    loop.stop();
  });
  deadline.arm(net::now_ns() + 60 * net::ns_per_s);
  loop.set_after_wake_up([&] {
    if (done()) loop.stop();
  });
  loop.wake_again();
  loop.run();
  loop.set_after_wake_up({});
}

}  // namespace n2nq::support
