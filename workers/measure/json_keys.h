// SPDX-License-Identifier: GPL-3.0-or-later
// What stands under the keys of JSON that another process wrote. What is missing, or of another kind, is refused by its key, with what it
// is and what it has to be: nlohmann's own errors name no key. All of these throw std::invalid_argument, whose text begins with the key.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "broker/net/shown_json.h"

namespace n2nq::measure {

using net::shown;

/// `name` as it is to be called; `right`: what it has to be, such as "a list".
template <typename Json>
[[noreturn]] void refuse_value(const std::string& name, const Json& json, const std::string& right) {
  throw std::invalid_argument(name + " is " + shown(json) + ", it has to be " + right);
}

template <typename Json>
const Json& value_at(const Json& object, const char* key, const char* right) {
  const auto found = object.find(key);
  if (found == object.end()) throw std::invalid_argument(std::string(key) + " is missing, it has to be " + right);
  return *found;
}

template <typename Json>
std::string text_at(const Json& object, const char* key) {
  const Json& value = value_at(object, key, "text");
  if (!value.is_string()) refuse_value(key, value, "text");
  return value.template get<std::string>();
}

/// The same where nothing is amiss if there is none: empty then, and where it is of another kind.
template <typename Json>
std::string text_or_none(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->template get<std::string>() : std::string();
}

template <typename Json>
double number_at(const Json& object, const char* key) {
  const Json& value = value_at(object, key, "a number");
  if (!value.is_number()) refuse_value(key, value, "a number");
  return value.template get<double>();
}

template <typename Json>
const Json& object_at(const Json& object, const char* key) {
  const Json& value = value_at(object, key, "an object");
  if (!value.is_object()) refuse_value(key, value, "an object");
  return value;
}

template <typename Json>
const Json& list_at(const Json& object, const char* key) {
  const Json& value = value_at(object, key, "a list");
  if (!value.is_array()) refuse_value(key, value, "a list");
  return value;
}

/// What `read` makes of the object under a key. What is wrong in there is told with the way to it: "bound.asymmetry_ns is missing, …".
template <typename Json, typename Read>
auto in_object(const Json& object, const char* key, Read read) {
  const Json& inner = object_at(object, key);
  try {
    return read(inner);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(key) + "." + error.what());
  }
}

/// The same with each object of the list under a key: "services[3].number is missing, …".
template <typename Json, typename Read>
void each_object(const Json& object, const char* key, Read read) {
  const Json& list = list_at(object, key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto name = [&] { return std::string(key) + "[" + std::to_string(i) + "]"; };
    if (!list[i].is_object()) refuse_value(name(), list[i], "an object");
    try {
      read(list[i]);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(name() + "." + error.what());
    }
  }
}

}  // namespace n2nq::measure
