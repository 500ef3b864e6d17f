// SPDX-License-Identifier: GPL-3.0-or-later
// Values of settings as a YAML document holds them, and the document. Shared by the readers of files; knows yaml-cpp, they hide it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/key_table.h"

namespace n2nq::app {

/// From 1.
int line_of(const YAML::Node& node);

/// Where another document begins that holds anything; 0: there is none.
int second_document_line(std::string_view text);

/// What `read` makes of a file's only document. Of what is not YAML, and of a second document, which nobody would read, what `failed` makes
/// of the line (from 1; 0: not known) and what is wrong.
template <class Read, class Failed>
auto read_document(std::string_view text, Read read, Failed failed) {
  try {
    if (const int line = second_document_line(text); line > 0)
      return failed(line, std::string("begins another document (behind ---), which would not be read: one is all a file has"));
    return read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    return failed(error.mark.is_null() ? 0 : error.mark.line + 1, "is not YAML: " + error.msg);
  } catch (const std::exception& error) {
    return failed(0, std::string("is not YAML: ") + error.what());
  }
}

/// The text that set_value() takes for this key. Empty: the value has a form that the key cannot have, and `problem` says which it can.
std::optional<std::string> value_text_of(const Key& key, const YAML::Node& value, std::string& problem);

/// "senders" of "senders.amount"; empty for a key without a section.
std::string_view section_of(std::string_view key);
/// In the order of a settings file.
const std::vector<std::string_view>& setting_sections();
/// "senders.host" for "senders".
std::string_view first_key_of(std::string_view section);

}  // namespace n2nq::app
