// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings_node.h"

#include <algorithm>

namespace n2nq::app {

namespace {

std::string shape_problem(const Key& key, const YAML::Node& value) {
  if (key.kind == KeyKind::range) return "must be one size or a range such as [20, 100]";
  if (key.kind == KeyKind::requests) return "must be false, true, or a list of entries such as {receivers: R1-R25, senders: S1-S10}";
  return std::string("must be one value, not ") + (value.IsSequence() ? "a list" : "a section");
}

}  // namespace

std::optional<std::string> value_text_of(const Key& key, const YAML::Node& value, std::string& problem) {
  if (value.IsNull()) {
    Settings unused;
    if (!key.set(unused, "")) return "";  // a text may be empty, and an optional value absent
    problem = "has no value: give one, or leave the key out";
    return {};
  }
  if (value.IsScalar()) return value.Scalar();
  if (key.kind == KeyKind::range && value.IsSequence() && value.size() == 2 && value[0].IsScalar() && value[1].IsScalar()) {
    return "[" + value[0].Scalar() + ", " + value[1].Scalar() + "]";
  }
  if (key.kind == KeyKind::requests && value.IsSequence()) {
    YAML::Emitter flow;
    flow << YAML::Flow << value;
    return flow.c_str();
  }
  problem = shape_problem(key, value);
  return {};
}

std::string_view section_of(std::string_view key) {
  const auto dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

const std::vector<std::string_view>& setting_sections() {
  static const std::vector<std::string_view> sections = [] {
    std::vector<std::string_view> out;
    for (const Key& key : key_table()) {
      const auto section = section_of(key.info.key);
      if (!section.empty() && std::find(out.begin(), out.end(), section) == out.end()) out.push_back(section);
    }
    return out;
  }();
  return sections;
}

std::string_view first_key_of(std::string_view section) {
  const auto& table = key_table();
  return std::find_if(table.begin(), table.end(), [&](const Key& key) { return section_of(key.info.key) == section; })->info.key;
}

}  // namespace n2nq::app
