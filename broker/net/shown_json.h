// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace n2nq::net {

/// A value as an error shows it: short however long it is, and printable.
template <typename Json>
std::string shown(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  constexpr std::size_t shown_max = 40;
  const auto ascii = [](const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); };
  const std::string text =
      json.is_string() ? ascii(Json(json.template get_ref<const std::string&>().substr(0, shown_max))) : ascii(json);
  return text.size() > shown_max ? text.substr(0, shown_max) + "…" : text;
}

/// A key likewise; as it is where it is a plain word.
inline std::string shown_key(const std::string& key) {
  constexpr std::size_t shown_max = 40;
  const auto is_plain = [](char letter) { return letter > ' ' && letter < 0x7F && letter != '"' && letter != '\\'; };
  return key.size() <= shown_max && std::all_of(key.begin(), key.end(), is_plain) ? key : shown(nlohmann::json(key));
}

}  // namespace n2nq::net
