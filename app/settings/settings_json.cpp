// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings_json.h"

#include "app/settings/key_table.h"

namespace n2nq::app {

namespace {

nlohmann::ordered_json value_json(const Key& key, const std::string& text) {
  switch (key.kind) {
    case KeyKind::word:
    case KeyKind::text:
      return text;
    case KeyKind::flag:
      return text == "true";
    case KeyKind::requests: {
      std::optional<Requests> requests;
      parse_requests(text, requests);
      return requests_json(requests);
    }
    case KeyKind::number:
    case KeyKind::range:
      // Both are written as JSON writes them.
      return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json::parse(text);
  }
  return nullptr;
}

}  // namespace

nlohmann::ordered_json settings_json(const Settings& settings) {
  nlohmann::ordered_json out;
  for (const Key& key : key_table()) {
    const std::string name(key.info.key);
    const auto dot = name.find('.');
    auto& place = dot == std::string::npos ? out[name] : out[name.substr(0, dot)][name.substr(dot + 1)];
    place = value_json(key, key.text(settings));
  }
  return out;
}

}  // namespace n2nq::app
