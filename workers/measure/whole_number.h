// SPDX-License-Identifier: GPL-3.0-or-later
// Whole numbers out of JSON that another process wrote: what is none, or does not fit, is refused. (nlohmann's own conversions take 1.5 for
// 1, wrap what is too large, and are undefined for 1e300.)
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace n2nq::measure {

/// `Json` is nlohmann::json or nlohmann::ordered_json. Throws std::invalid_argument that shows the value; `name` as it is to be called.
template <std::integral Int, typename Json>
Int whole_number(const Json& json, const char* name) {
  if (json.is_number_unsigned() && std::in_range<Int>(json.template get<std::uint64_t>())) {
    return static_cast<Int>(json.template get<std::uint64_t>());
  }
  if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<Int>(json.template get<std::int64_t>())) {
    return static_cast<Int>(json.template get<std::int64_t>());
  }
  constexpr std::size_t shown_max = 40;
  throw std::invalid_argument(std::string(name) + " is " + json.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, shown_max) +
                              ", it has to be a whole number that fits");
}

/// The value under a key that has to be there.
template <std::integral Int, typename Json>
void read_whole(const Json& object, const char* key, Int& out) {
  out = whole_number<Int>(object.at(key), key);
}

/// `fallback` where the key is absent or null.
template <std::integral Int, typename Json>
Int whole_or(const Json& object, const char* key, Int fallback) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? fallback : whole_number<Int>(*it, key);
}

}  // namespace n2nq::measure
