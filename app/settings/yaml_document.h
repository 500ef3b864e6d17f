// SPDX-License-Identifier: GPL-3.0-or-later
// A YAML document while it is read: values taken strictly, mistakes collected with line and key. Knows no key but "format".
// Shared by the readers of files; knows yaml-cpp, they hide it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings_file.h"

namespace n2nq::app {

/// From 1; 0: no line, as of a node that the document has not.
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

class YamlDocument {
 public:
  static constexpr std::size_t errors_max = 50;

  explicit YamlDocument(std::string name) : name_(std::move(name)) {}

  /// `key`: the whole path, "axes.size.values".
  void add(const YAML::Node& at, const std::string& key, const std::string& message);
  bool is_clean() const { return errors_.empty(); }
  std::size_t errors_count() const { return errors_.size(); }
  /// In the order of the lines.
  std::vector<FileError> take_errors();

  /// Whether `root` has keys and says in "format" a format up to this one; if not, that is added as a mistake. `why_newer` is told of a
  /// later format.
  bool has_format(const YAML::Node& root, int format, const char* why_newer = "a newer n2nq-bench wrote it");

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
