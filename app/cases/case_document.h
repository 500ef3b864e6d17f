// SPDX-License-Identifier: GPL-3.0-or-later
// A YAML document while it is read: values taken strictly, mistakes collected with line and key. Knows nothing of test cases.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings_file.h"

namespace n2nq::app {

class CaseDocument {
 public:
  static constexpr std::size_t errors_max = 50;

  explicit CaseDocument(std::string name) : name_(std::move(name)) {}

  /// `key`: the whole path, "axes.size.values".
  void add(const YAML::Node& at, const std::string& key, const std::string& message);
  bool is_clean() const { return errors_.empty(); }
  /// In the order of the lines.
  std::vector<FileError> take_errors();

  using Visit = std::function<void(const std::string& name, const std::string& path, const YAML::Node& at, const YAML::Node& value)>;
  /// Visits each key of a map once; empty `known`: whatever they are called. Unknown ones, doubled ones and what is no map are mistakes.
  void each(const YAML::Node& map, const std::string& path, const std::vector<std::string_view>& known, const Visit& visit);

  bool text(const YAML::Node& node, const std::string& key, std::string& out);
  bool integer(const YAML::Node& node, const std::string& key, std::int64_t min, std::int64_t max, std::int64_t& out);
  bool decimal(const YAML::Node& node, const std::string& key, double min, double max, double& out);
  bool word(const YAML::Node& node, const std::string& key, const std::vector<std::string_view>& words, std::size_t& out);
  bool flag(const YAML::Node& node, const std::string& key, bool& out);
  /// One text or a list of them.
  bool texts(const YAML::Node& node, const std::string& key, std::vector<std::string>& out);

 private:
  bool scalar(const YAML::Node& node, const std::string& key, const char* what);
  std::string name_;
  std::vector<FileError> errors_;
};

}  // namespace n2nq::app
