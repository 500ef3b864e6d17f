// SPDX-License-Identifier: GPL-3.0-or-later
// Whole numbers out of JSON that another process wrote: what is none, or does not fit, is refused. (nlohmann's own conversions take 1.5 for
// 1, wrap what is too large, and are undefined for 1e300.)
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "workers/measure/json_keys.h"

namespace n2nq::measure {

/// Nothing where it is no whole number from `min` to `max`.
template <std::integral Int, typename Json>
std::optional<Int> whole_within(const Json& json, Int min, Int max) {
  const auto fits = [&](auto value) { return std::cmp_greater_equal(value, min) && std::cmp_less_equal(value, max); };
  if (json.is_number_unsigned()) {
    const auto value = json.template get<std::uint64_t>();
    return fits(value) ? std::optional(static_cast<Int>(value)) : std::nullopt;
  }
  if (!json.is_number_integer()) return std::nullopt;
  const auto value = json.template get<std::int64_t>();
  return fits(value) ? std::optional(static_cast<Int>(value)) : std::nullopt;
}

/// `Json` is nlohmann::json or nlohmann::ordered_json. Throws std::invalid_argument that shows the value; `name` as it is to be called.
template <std::integral Int, typename Json>
Int whole_number(const Json& json, const char* name) {
  const auto value = whole_within(json, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max());
  if (!value) refuse_value(name, json, "a whole number that fits");
  return *value;
}

/// The same from `min` to `max`, which it names then.
template <std::integral Int, typename Json>
Int whole_from_to(const Json& json, const char* name, Int min, Int max) {
  const auto value = whole_within(json, min, max);
  if (!value) refuse_value(name, json, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  return *value;
}

/// The value under a key that has to be there.
template <std::integral Int, typename Json>
Int whole_at(const Json& object, const char* key, Int min = std::numeric_limits<Int>::min(), Int max = std::numeric_limits<Int>::max()) {
  return whole_from_to(value_at(object, key, "a whole number"), key, min, max);
}

template <std::integral Int, typename Json>
void read_whole(const Json& object, const char* key, Int& out) {
  out = whole_at<Int>(object, key);
}

/// Nothing where the key is absent or null.
template <std::integral Int, typename Json>
std::optional<Int> whole_if_any(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::nullopt;
  return whole_from_to(*it, key, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max());
}

/// `fallback` there.
template <std::integral Int, typename Json>
Int whole_or(const Json& object, const char* key, Int fallback) {
  return whole_if_any<Int>(object, key).value_or(fallback);
}

}  // namespace n2nq::measure
