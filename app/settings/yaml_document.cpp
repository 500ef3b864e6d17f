// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/yaml_document.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

constexpr std::size_t text_bytes_max = 2000;
constexpr std::size_t texts_max = 200;
constexpr int decimals = 9;

/// Notes where a document begins that holds anything.
class Beginning : public YAML::EventHandler {
 public:
  int line = 0;

  void OnDocumentStart(const YAML::Mark&) override { line = 0; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { note(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override { note(mark); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override { note(mark); }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override { note(mark); }
  void OnMapEnd() override {}

 private:
  void note(const YAML::Mark& mark) {
    if (line == 0) line = mark.line + 1;
  }
};

}  // namespace

int line_of(const YAML::Node& node) {
  return node.Mark().line + 1;
}

int second_document_line(std::string_view text) {
  // Not by YAML::LoadAll: it never ends where the parser stays at one place.
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Beginning beginning;
  if (!parser.HandleNextDocument(beginning) || !parser.HandleNextDocument(beginning)) return 0;
  return beginning.line;
}

void YamlDocument::add(const YAML::Node& at, const std::string& key, const std::string& message) {
  if (errors_.size() < errors_max) errors_.push_back({name_, line_of(at), key, message});
}

std::vector<FileError> YamlDocument::take_errors() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const FileError& a, const FileError& b) { return a.line < b.line; });
  return std::move(errors_);
}

bool YamlDocument::has_format(const YAML::Node& root, int format, const char* why_newer) {
  constexpr const char* key = "format";
  const std::string right = "\"format: " + std::to_string(format) + "\"";
  if (!root.IsMap()) {
    add(root, "", "must be a list of keys with values, such as " + right);
    return false;
  }
  const YAML::Node said = root[key];
  std::int64_t version = 0;
  if (!said.IsDefined()) {
    add(YAML::Node(), key, "is missing: the file must say " + right);
  } else if (!said.IsScalar() || parse_integer(said.Scalar(), 1, 1'000'000, version)) {
    add(said, key, "must be a whole number from 1; this version writes " + right);
  } else if (version > format) {
    add(said, key,
        "is " + std::to_string(version) + ", but this version reads up to format " + std::to_string(format) + ": " + why_newer);
  }
  return is_clean();
}

void YamlDocument::each(const YAML::Node& map, const std::string& path, const std::vector<std::string_view>& known, const Visit& visit) {
  if (!map.IsMap()) return add(map, path, "needs keys with values below it" + (known.empty() ? "" : ", such as " + std::string(known.front())));
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) {
      add(entry.first, path, "has a key that is not a word");
      continue;
    }
    const std::string name = entry.first.Scalar();
    const std::string whole = path.empty() ? name : path + '.' + name;
    if (!seen.insert(name).second) {
      add(entry.first, whole, "stands twice; keep one of them");
    } else if (!known.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
      add(entry.first, whole, "is not a key here; the nearest one is " + std::string(nearest_word(name, known)));
    } else {
      visit(name, whole, entry.first, entry.second);
    }
  }
}

bool YamlDocument::scalar(const YAML::Node& node, const std::string& key, const char* what) {
  if (node.IsScalar()) return true;
  add(node, key, std::string("must be ") + what + ", not " + (node.IsSequence() ? "a list" : node.IsMap() ? "keys with values" : "nothing"));
  return false;
}

bool YamlDocument::text(const YAML::Node& node, const std::string& key, std::string& out) {
  if (!scalar(node, key, "a text")) return false;
  const auto problem = parse_line(trimmed(node.Scalar()), text_bytes_max, out);
  if (problem) add(node, key, *problem);
  return !problem;
}

bool YamlDocument::integer(const YAML::Node& node, const std::string& key, std::int64_t min, std::int64_t max, std::int64_t& out) {
  if (!scalar(node, key, "a whole number")) return false;
  const auto problem = parse_integer(node.Scalar(), min, max, out);
  if (problem) add(node, key, *problem);
  return !problem;
}

bool YamlDocument::decimal(const YAML::Node& node, const std::string& key, double min, double max, double& out) {
  if (!scalar(node, key, "a number")) return false;
  const auto problem = parse_decimal(node.Scalar(), min, max, decimals, out);
  if (problem) add(node, key, *problem);
  return !problem;
}

bool YamlDocument::word(const YAML::Node& node, const std::string& key, const std::vector<std::string_view>& words, std::size_t& out) {
  if (!scalar(node, key, "a word")) return false;
  const auto problem = parse_word(node.Scalar(), words, out);
  if (problem) add(node, key, *problem);
  return !problem;
}

bool YamlDocument::flag(const YAML::Node& node, const std::string& key, bool& out) {
  std::size_t place = 0;
  if (!word(node, key, {"false", "true"}, place)) return false;
  out = place == 1;
  return true;
}

bool YamlDocument::texts(const YAML::Node& node, const std::string& key, std::vector<std::string>& out) {
  if (!node.IsSequence()) return text(node, key, out.emplace_back());
  if (node.size() == 0 || node.size() > texts_max) {
    add(node, key, "must have 1 to " + std::to_string(texts_max) + " entries, not " + std::to_string(node.size()));
    return false;
  }
  bool good = true;
  for (const YAML::Node& entry : node) good = text(entry, key, out.emplace_back()) && good;
  return good;
}

}  // namespace n2nq::app
