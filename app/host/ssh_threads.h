// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of sessions. Nobody waits for one: a session that is destroyed leaves its thread, whose sockets are shut down, to end by itself.
// Only the end of the program waits for those that are left. Look-ups of names that nobody needs any more are Qt's threads, which cannot be
// ended: its own end would wait for the system's answers.
#pragma once

#include <functional>

namespace n2nq::app {

class SshThreads {
 public:
  /// Any thread.
  static void start(std::function<void()> body);
  /// Waits for those that are left, before the end of the program does.
  static void join();
  /// The main thread: one is left that the system has not answered yet.
  static void note_left_look_up();
  static bool any_left_look_up();
};

}  // namespace n2nq::app
