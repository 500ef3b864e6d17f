// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace n2nq::net {

constexpr std::size_t shown_max = 40;  // letters of a text, as they are escaped

/// A value as an error shows it: short however long it is, and printable.
template <typename Json>
std::string shown(const Json& json) {
  const auto escaped = [](const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); };
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (!json.is_string()) return escaped(json);
  const std::string& text = json.template get_ref<const std::string&>();
  std::string out;
  for (std::size_t bytes = std::min(text.size(), shown_max);; --bytes) {
    const auto is_inside_a_letter = [&](std::size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
    while (bytes > 0 && is_inside_a_letter(bytes)) --bytes;
    out = escaped(Json(text.substr(0, bytes)));
    if (out.size() <= shown_max + 2) return bytes == text.size() ? out : out.insert(out.size() - 1, "…");
  }
}

/// A key likewise; as it is where it is a plain word.
inline std::string shown_key(const std::string& key) {
  const auto is_plain = [](char letter) { return letter > ' ' && letter < 0x7F && letter != '"' && letter != '\\'; };
  const bool is_word = !key.empty() && key.size() <= shown_max && std::all_of(key.begin(), key.end(), is_plain);
  return is_word ? key : shown(nlohmann::json(key));
}

}  // namespace n2nq::net
