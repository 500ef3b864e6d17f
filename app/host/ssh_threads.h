// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of sessions. Nobody waits for one: a session that is destroyed leaves its thread, whose sockets are shut down, to end by itself.
// Only the end of the program waits for those that are left, but not for one that hangs on a file whose file server is away. Look-ups of
// names that nobody needs any more are Qt's threads, which cannot be ended: its own end would wait for the system's answers.
#pragma once

#include <functional>

namespace n2nq::app {

class SshThreads {
 public:
  /// Any thread. False: the system has no more of them, and nothing was begun.
  [[nodiscard]] static bool start(std::function<void()> body);
  /// The main thread: one is left that the system has not answered yet.
  static void note_left_look_up();
  /// Waits for the sessions that are left, for some seconds. Ends the process where one hangs, or where such a look-up is left, for which Qt
  /// would wait at the application's end for half a minute or more. What is to be told or stored has to be by then.
  static void exit_if_any_is_left(int code);
};

}  // namespace n2nq::app
