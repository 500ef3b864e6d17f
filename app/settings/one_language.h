// SPDX-License-Identifier: GPL-3.0-or-later
// What the system says of errors, in the language of this program and of those on other machines.
#pragma once

#include <clocale>

namespace n2nq::app {

/// Behind the making of Qt's application, which takes the person's language for it: sentences would be half in one and half in another, and
/// what other machines say could not be told from what is said here. Before any thread is begun.
inline void speak_one_language() {
  std::setlocale(LC_MESSAGES, "C");
}

}  // namespace n2nq::app
