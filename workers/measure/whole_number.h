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

/// Throws std::invalid_argument that shows the value; `name` as it is to be called.
template <std::integral Int>
Int whole_number(const nlohmann::json& json, const char* name) {
  if (json.is_number_unsigned() && std::in_range<Int>(json.get<std::uint64_t>())) return static_cast<Int>(json.get<std::uint64_t>());
  if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<Int>(json.get<std::int64_t>())) {
    return static_cast<Int>(json.get<std::int64_t>());
  }
  constexpr std::size_t shown_max = 40;
  throw std::invalid_argument(std::string(name) + " is " +
                              json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, shown_max) +
                              ", it has to be a whole number that fits");
}

/// The value under a key that has to be there.
template <std::integral Int>
void read_whole(const nlohmann::json& object, const char* key, Int& out) {
  out = whole_number<Int>(object.at(key), key);
}

/// `fallback` where the key is absent or null.
template <std::integral Int>
Int whole_or(const nlohmann::json& object, const char* key, Int fallback) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? fallback : whole_number<Int>(*it, key);
}

}  // namespace n2nq::measure
