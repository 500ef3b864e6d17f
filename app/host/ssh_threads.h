// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of sessions. Nobody waits for one: a session that is destroyed leaves its thread, whose sockets are shut down, to end by itself.
// Only the end of the program waits for those that are left, but not for one that hangs on a file whose file server is away, nor for the
// look-up of a name, which cannot be ended either.
#pragma once

#include <functional>

namespace n2nq::app {

class SshThreads {
 public:
  /// What the end of the program does with one that is not over.
  enum class AtEnd { waits, leaves_it };
  /// Any thread. False: the system has no more of them, and nothing was begun.
  [[nodiscard]] static bool start(std::function<void()> body, AtEnd at_end = AtEnd::waits);
  /// Waits for those that are left, for some seconds. Ends the process where one hangs, or is not waited for. What is to be told or stored
  /// has to be by then.
  static void exit_if_any_is_left(int code);
};

}  // namespace n2nq::app
