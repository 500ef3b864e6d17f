// SPDX-License-Identifier: GPL-3.0-or-later
// JSON that somebody else wrote. Any thread.
#pragma once

#include <iterator>
#include <nlohmann/json.hpp>

namespace n2nq::net {

/// Deeper nesting than any message or file of ours has. To copy what is nested very deeply takes the whole stack.
inline constexpr int json_depth_max = 64;

template <class Text>
bool is_nested_too_deeply(const Text& text) {
  int depth = 0;
  bool quoted = false, escaped = false;
  for (const char letter : text) {
    if (quoted) {
      quoted = escaped || letter != '"';
      escaped = !escaped && letter == '\\';
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > json_depth_max) return true;
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return false;
}

/// Discarded where the text is no JSON, or nested more deeply. In time that grows with the text alone, which the parser's own callbacks, that
/// could count as well, do not.
template <class Json = nlohmann::json, class Text>
Json parsed_json(const Text& text) {
  if (is_nested_too_deeply(text)) return Json(Json::value_t::discarded);
  return Json::parse(std::begin(text), std::end(text), nullptr, /*allow_exceptions=*/false);
}

}  // namespace n2nq::net
