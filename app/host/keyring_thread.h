// SPDX-License-Identifier: GPL-3.0-or-later
// Where QtKeychain is used: at its first job it asks KWallet over D-Bus and stands still for up to half a second until it answers, and later
// ones ask who owns a name. The window's thread has no time for that.
#pragma once

#include <functional>

namespace n2nq::app {

class KeyringThread {
 public:
  /// Runs it there, in order, with an event loop behind it. The main thread. One thread for the whole program, because QtKeychain has one
  /// queue of jobs that stays where it was made; it ends with the application.
  static void run(std::function<void()> job);
};

}  // namespace n2nq::app
