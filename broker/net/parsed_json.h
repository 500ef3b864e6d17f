// SPDX-License-Identifier: GPL-3.0-or-later
// JSON that somebody else wrote. Any thread.
#pragma once

#include <iterator>
#include <nlohmann/json.hpp>

namespace n2nq::net {

/// Deeper nesting than any message or file of ours has. To copy what is nested very deeply takes the whole stack.
inline constexpr int json_depth_max = 64;

/// Discarded where the text is no JSON, or nested more deeply.
template <class Json = nlohmann::json, class Text>
Json parsed_json(const Text& text) {
  bool too_deep = false;
  Json json = Json::parse(
      std::begin(text), std::end(text),
      [&too_deep](int depth, typename Json::parse_event_t, Json&) {
        too_deep = too_deep || depth > json_depth_max;
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  return too_deep ? Json(Json::value_t::discarded) : json;
}

}  // namespace n2nq::net
