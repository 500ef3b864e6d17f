// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "app/settings/settings_node.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

constexpr std::size_t errors_max = 50;
constexpr std::string_view format_key = "format";

/// Walks a parsed document; collects settings, errors and lines.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  ReadSettings read(const YAML::Node& root) {
    if (!root.IsMap()) {
      add(root, "", "must be a list of keys with values, such as \"format: 1\"");
    } else if (format_is_readable(root)) {
      for_each(root, "", [this](const std::string& key, const YAML::Node& at, const YAML::Node& value) { top_level(key, at, value); });
    }
    if (read_.errors.empty()) {
      read_.settings = settings_;
    } else {
      std::stable_sort(read_.errors.begin(), read_.errors.end(), [](const FileError& a, const FileError& b) { return a.line < b.line; });
    }
    return std::move(read_);
  }

 private:
  void add(const YAML::Node& at, std::string key, std::string message) {
    if (read_.errors.size() < errors_max) read_.errors.push_back({name_, line_of(at), std::move(key), std::move(message)});
  }

  bool format_is_readable(const YAML::Node& root) {
    const YAML::Node format = root[std::string(format_key)];
    const std::string right = "\"format: " + std::to_string(settings_format) + "\"";
    if (!format.IsDefined()) {
      read_.errors.push_back({name_, 0, std::string(format_key), "is missing: the file must say " + right});
      return false;
    }
    std::int64_t version = 0;
    if (!format.IsScalar() || parse_integer(format.Scalar(), 1, 1'000'000, version)) {
      add(format, std::string(format_key), "must be a whole number from 1; this version writes " + right);
      return false;
    }
    if (version > settings_format) {
      add(format, std::string(format_key),
          "is " + std::to_string(version) + ", but this version reads up to format " + std::to_string(settings_format) +
              ": a newer n2nq-bench wrote it");
      return false;
    }
    return true;  // with a second format, older documents are migrated here, before any key is looked at
  }

  template <class Visit>
  void for_each(const YAML::Node& map, const std::string& prefix, Visit visit) {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) {
        add(entry.first, prefix, "has a key that is not a word");
        continue;
      }
      const std::string key = (prefix.empty() ? "" : prefix + ".") + entry.first.Scalar();
      if (!seen.insert(key).second) {
        add(entry.first, key, "stands twice; keep one of them");
      } else {
        visit(key, entry.first, entry.second);
      }
    }
  }

  void top_level(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    if (key == format_key) return;
    const auto& known = setting_sections();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      if (value.IsMap() && !find_table_key(key)) {
        add(at, key, "is not a section; the nearest one is " + std::string(nearest_word(key, known)));
      } else {
        leaf(key, at, value);
      }
    } else if (!value.IsMap()) {
      add(at, key, "is a section: it needs keys below it, such as " + std::string(first_key_of(key)));
    } else {
      for_each(value, key, [this](const std::string& inner, const YAML::Node& inner_at, const YAML::Node& inner_value) {
        leaf(inner, inner_at, inner_value);
      });
    }
  }

  void leaf(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    const Key* known = find_table_key(key);
    if (!known) {
      add(at, key, "is not a setting; the nearest one is " + std::string(nearest_key(key)));
      return;
    }
    read_.lines[key] = line_of(at);
    std::string shape;
    const auto text = value_text_of(*known, value, shape);
    if (!text) {
      add(at, key, shape);
      return;
    }
    const Settings before = settings_;
    if (auto problem = known->set(settings_, trimmed(*text))) {
      add(place_of_problem(*known, at, value), key, *problem);
    } else {
      check_pair(key, at, before, *text);
    }
  }

  /// Of a list, its first entry that is wrong by itself.
  static YAML::Node place_of_problem(const Key& key, const YAML::Node& at, const YAML::Node& value) {
    if (key.kind != KeyKind::requests || !value.IsSequence()) return at;
    for (const auto& entry : value) {
      YAML::Node alone;
      alone.push_back(entry);
      std::string shape;
      Settings unused;
      const auto text = value_text_of(key, alone, shape);
      if (!text || key.set(unused, *text)) return entry;
    }
    return at;
  }

  /// Two keys of a file that exclude each other are a mistake; only against a default does the given one win.
  void check_pair(const std::string& key, const YAML::Node& at, const Settings& before, std::string_view text) {
    static const std::vector<std::pair<std::string, std::string>> pairs = {{"senders.messages", "senders.duration_s"},
                                                                           {"senders.delay_ms", "senders.rate_per_s"}};
    if (trimmed(text).empty() || trimmed(text) == "none") return;
    for (const auto& [a, b] : pairs) {
      if (key != a && key != b) continue;
      const std::string& other = key == a ? b : a;
      if (read_.lines.contains(other) && !find_table_key(other)->text(before).empty()) {
        add(at, key, "excludes " + other + " (line " + std::to_string(read_.lines[other]) + "): keep one of them");
      }
    }
  }

  std::string name_;
  Settings settings_;
  ReadSettings read_;
};

/// One "key: value" line; texts are quoted, since they may hold anything.
void write_value(YAML::Emitter& out, const Key& key, const Settings& settings) {
  const std::string text = key.text(settings);
  const auto dot = key.info.key.find('.');
  out << YAML::Key << std::string(dot == std::string_view::npos ? key.info.key : key.info.key.substr(dot + 1)) << YAML::Value;
  if (key.kind == KeyKind::text) {
    out << YAML::DoubleQuoted << text;
  } else if (text.empty()) {
    out << "none";
  } else if (key.kind == KeyKind::range && text.starts_with('[')) {
    const auto& senders = settings.senders;
    out << YAML::Flow << YAML::BeginSeq << senders.size_min_bytes << senders.size_max_bytes << YAML::EndSeq;
  } else if (key.kind == KeyKind::flag) {
    out << (text == "true");
  } else if (key.kind == KeyKind::requests) {
    out << YAML::Load(text);
  } else {
    out << text;
  }
}

std::string write_yaml(const Settings& settings, bool only_differing) {
  const Settings defaults;
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << std::string(format_key) << YAML::Value << settings_format;
  std::string_view open_section;
  for (const Key& key : key_table()) {
    if (only_differing && key.text(settings) == key.text(defaults)) continue;
    const auto section = section_of(key.info.key);
    if (section != open_section) {
      if (!open_section.empty()) out << YAML::EndMap;
      if (!section.empty()) out << YAML::Key << std::string(section) << YAML::Value << YAML::BeginMap;
      open_section = section;
    }
    write_value(out, key, settings);
  }
  if (!open_section.empty()) out << YAML::EndMap;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

ReadSettings failed(const std::string& name, int line, std::string message) {
  ReadSettings read;
  read.errors.push_back({name, line, "", std::move(message)});
  return read;
}

}  // namespace

std::string FileError::text() const {
  std::string out = file;
  if (line > 0) out += ":" + std::to_string(line);
  out += ": ";
  if (!key.empty()) out += key + " ";
  return out + message;
}

ReadSettings read_settings_text(std::string_view text, const std::string& name) {
  if (text.size() > settings_file_bytes_max) {
    return failed(name, 0, "is larger than " + std::to_string(settings_file_bytes_max) + " B: not a settings file");
  }
  return read_document(
      text, [&](const YAML::Node& root) { return Reader(name).read(root); },
      [&](int line, std::string why) { return failed(name, line, std::move(why)); });
}

ReadSettings read_settings_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(path, 0, "cannot be read: no such file, or no permission");
  std::string text(settings_file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return failed(path, 0, "cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return read_settings_text(text, path);
}

std::vector<FileError> validate_read(const Settings& settings, const ReadSettings& read, const std::string& name) {
  std::vector<FileError> out;
  for (auto& error : validate(settings)) {
    const auto line = read.lines.find(error.key);
    out.push_back({name, line == read.lines.end() ? 0 : line->second, error.key, error.message});
  }
  return out;
}

std::string settings_yaml(const Settings& settings) {
  return write_yaml(settings, false);
}

std::string settings_yaml_short(const Settings& settings) {
  return write_yaml(settings, true);
}

}  // namespace n2nq::app
