// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the keys of one object of the control protocol strictly: a value of another kind, out of range or unknown is refused by name, and
// the refusal says what would be right.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "broker/net/shown_json.h"

namespace n2nq::net {

/// A key that is missing, unknown or wrong. what() says what would be right.
class SectionError : public std::runtime_error {
 public:
  SectionError(std::string section_key, const std::string& message) : std::runtime_error(message), key_(std::move(section_key)) {}
  /// The dotted path: "limits.memory_bytes".
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

/// All functions throw SectionError. A key counts as known once it was asked for.
class Section {
 public:
  Section(const nlohmann::json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object.is_object()) throw SectionError(name_, name_ + " is no object");
  }

  std::string key(const std::string& name) const { return name_.empty() ? name : name_ + "." + name; }

  /// Null when the key is absent.
  const nlohmann::json* find(const std::string& name) {
    known_.insert(name);
    const auto it = object_.find(name);
    return it == object_.end() ? nullptr : &*it;
  }
  const nlohmann::json& get(const std::string& name) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) throw SectionError(key(name), key(name) + " is missing");
    return *value;
  }
  /// The section under a key that has to be there.
  Section section(const std::string& name) { return Section(get(name), key(name)); }

  /// Leaves `value` alone when the key is absent. Both ends inclusive.
  template <typename Int>
  void whole_number(const std::string& name, Int& value, std::int64_t min, std::int64_t max) {
    if (const nlohmann::json* found = find(name)) value = static_cast<Int>(in_range(key(name), *found, min, max));
  }
  /// The same for a key that has to be there.
  template <typename Int>
  void required_number(const std::string& name, Int& value, std::int64_t min, std::int64_t max) {
    value = static_cast<Int>(in_range(key(name), get(name), min, max));
  }

  /// Empty when the key is absent.
  std::string text(const std::string& name) {
    const nlohmann::json* found = find(name);
    if (found == nullptr) return {};
    if (!found->is_string()) throw SectionError(key(name), key(name) + " is " + shown(*found) + ", it has to be text");
    return found->get<std::string>();
  }

  bool flag(const std::string& name, bool when_absent = false) {
    const nlohmann::json* found = find(name);
    if (found == nullptr) return when_absent;
    if (!found->is_boolean()) throw SectionError(key(name), key(name) + " is " + shown(*found) + ", it has to be true or false");
    return found->get<bool>();
  }

  /// `value` when the key is absent.
  template <typename Value>
  Value choice(const std::string& name, Value value, std::initializer_list<std::pair<const char*, Value>> choices) {
    if (find(name) == nullptr) return value;
    const std::string chosen = text(name);
    std::string right;
    for (const auto& [word, meaning] : choices) {
      if (chosen == word) return meaning;
      right += (right.empty() ? "" : ", ") + std::string(word);
    }
    throw SectionError(key(name), key(name) + " is " + shown(get(name)) + ", it has to be one of: " + right);
  }

  void refuse_unknown() const {
    for (const auto& item : object_.items()) {
      if (!known_.contains(item.key())) throw SectionError(key(item.key()), key(shown_key(item.key())) + " is not known");
    }
  }

  /// A number that lies somewhere else, say in an array; `name` as it is to be called.
  static std::int64_t in_range(const std::string& name, const nlohmann::json& found, std::int64_t min, std::int64_t max) {
    const bool fits = found.is_number_integer() && !(found.is_number_unsigned() && found.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) &&
                      found.get<std::int64_t>() >= min && found.get<std::int64_t>() <= max;
    if (fits) return found.get<std::int64_t>();
    throw SectionError(
        name, name + " is " + shown(found) + ", it has to be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }

 private:
  const nlohmann::json& object_;
  std::string name_;
  std::set<std::string> known_;
};

}  // namespace n2nq::net
