// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace n2nq::app {

/// One word of a command that is to be typed into a shell, whatever is in it.
inline QString shell_quoted(QString text) {
  return '\'' + text.replace('\'', "'\\''") + '\'';
}

}  // namespace n2nq::app
