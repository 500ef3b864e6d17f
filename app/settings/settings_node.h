// SPDX-License-Identifier: GPL-3.0-or-later
// Values of settings as a YAML document holds them. Shared by the readers of files; knows yaml-cpp, they hide it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/key_table.h"

namespace n2nq::app {

/// The text that set_value() takes for this key. Empty: the value has a form that the key cannot have, and `problem` says which it can.
std::optional<std::string> value_text_of(const Key& key, const YAML::Node& value, std::string& problem);

/// "senders" of "senders.amount"; empty for a key without a section.
std::string_view section_of(std::string_view key);
/// In the order of a settings file.
const std::vector<std::string_view>& setting_sections();
/// "senders.host" for "senders".
std::string_view first_key_of(std::string_view section);

}  // namespace n2nq::app
