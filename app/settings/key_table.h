// SPDX-License-Identifier: GPL-3.0-or-later
// The table behind keys(): per key its description, its kind, and how it is read from and written as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

/// How a value looks where a format has types (JSON, YAML).
enum class KeyKind { number, word, text, flag, range, requests };

struct Key {
  KeyInfo info;
  KeyKind kind;
  std::function<Problem(Settings&, std::string_view)> set;
  std::function<std::string(const Settings&)> text;
};

/// All keys in the order of a settings file.
const std::vector<Key>& key_table();
const Key* find_table_key(std::string_view key);

}  // namespace n2nq::app
