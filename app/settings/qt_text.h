// SPDX-License-Identifier: GPL-3.0-or-later
// Between the bench's texts, which are UTF-8, and Qt's.
#pragma once

#include <QString>
#include <string_view>

namespace n2nq {

inline QString qt_text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace n2nq
