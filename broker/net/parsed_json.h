// SPDX-License-Identifier: GPL-3.0-or-later
// JSON that somebody else wrote. Any thread.
#pragma once

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

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

/// What is said of a file whose text parsed_json() discards: "is not JSON in line 7". Reads it once more.
template <class Text>
std::string why_no_json(const Text& text) {
  if (is_nested_too_deeply(text)) return "has JSON of more than " + std::to_string(json_depth_max) + " levels";
  try {
    [[maybe_unused]] const auto json = nlohmann::json::parse(std::begin(text), std::end(text));
  } catch (const nlohmann::json::parse_error& error) {
    // Without the byte at which it was seen: that may be the end of the line that is wrong.
    const auto before = static_cast<std::ptrdiff_t>(std::min<std::size_t>(error.byte > 0 ? error.byte - 1 : 0, std::size(text)));
    return "is not JSON in line " + std::to_string(std::count(std::begin(text), std::begin(text) + before, '\n') + 1);
  } catch (const nlohmann::json::out_of_range&) {
    return "has a number that is beyond all range";
  }
  return "is not JSON";
}

}  // namespace n2nq::net
