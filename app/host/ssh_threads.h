// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of sessions. Nobody waits for one: a session that is destroyed leaves its thread, whose sockets are shut down, to end by itself.
// Only the end of the program waits for those that are left.
#pragma once

#include <functional>

namespace n2nq::app {

class SshThreads {
 public:
  /// Any thread.
  static void start(std::function<void()> body);
};

}  // namespace n2nq::app
