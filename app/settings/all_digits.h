// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as they are, in Qt's texts: a knee of 1234567 per second is none of 1.23457e+06.
#pragma once

#include "app/settings/qt_text.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

/// Reads back as the same double; never with an exponent.
inline QString all_digits(double value) {
  return qt_text(decimal_text(value));
}

}  // namespace n2nq::app
