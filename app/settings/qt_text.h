// SPDX-License-Identifier: GPL-3.0-or-later
// Between the bench's texts, which are UTF-8, and Qt's.
#pragma once

#include <QString>
#include <string>
#include <string_view>

namespace n2nq {

inline QString qt_text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Of a JSON value: a text as it is, anything else as JSON writes it.
template <class Json>
QString json_words(const Json& value) {
  return qt_text(value.is_string() ? value.template get<std::string>() : value.dump());
}

}  // namespace n2nq
