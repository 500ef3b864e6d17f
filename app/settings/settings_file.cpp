// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings_file.h"

#include <QFile>
#include <algorithm>

#include "app/settings/settings_node.h"
#include "app/settings/text_value.h"
#include "app/settings/whole_file.h"
#include "app/settings/yaml_document.h"

namespace n2nq::app {

namespace {

constexpr std::string_view format_key = "format";

/// Walks a parsed document; collects settings, errors and lines.
class Reader {
 public:
  explicit Reader(const std::string& name) : document_(name) {}

  ReadSettings read(const YAML::Node& root) {
    if (document_.has_format(root, settings_format)) {
      // With a second format, older documents are migrated here, before any key is looked at.
      document_.each(root, "", {}, [this](const std::string& key, const std::string&, const YAML::Node& at, const YAML::Node& value) {
        top_level(key, at, value);
      });
    }
    if (document_.is_clean()) read_.settings = settings_;
    read_.errors = document_.take_errors();
    return std::move(read_);
  }

 private:
  void top_level(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    if (key == format_key) return;
    const auto& known = setting_sections();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      if (value.IsMap() && !find_table_key(key)) {
        document_.add(at, key, "is not a section; the nearest one is " + std::string(nearest_word(key, known)));
      } else {
        leaf(key, at, value);
      }
    } else if (!value.IsMap()) {
      document_.add(at, key, "is a section: it needs keys below it, such as " + std::string(first_key_of(key)));
    } else {
      document_.each(value, key, {}, [this](const std::string&, const std::string& path, const YAML::Node& key_at, const YAML::Node& inner) {
        leaf(path, key_at, inner);
      });
    }
  }

  void leaf(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    const Key* known = find_table_key(key);
    if (!known) {
      document_.add(at, key, "is not a setting; the nearest one is " + std::string(nearest_key(key)));
      return;
    }
    if (const auto [line, is_new] = read_.lines.try_emplace(key, line_of(at)); !is_new) {
      document_.add(at, key, "stands here and in line " + std::to_string(line->second) + ": keep one of them");
      return;
    }
    std::string shape;
    const auto text = value_text_of(*known, value, shape);
    if (!text) {
      document_.add(at, key, shape);
      return;
    }
    const Settings before = settings_;
    if (auto problem = known->set(settings_, trimmed(*text))) {
      document_.add(place_of_problem(*known, at, value), key, *problem);
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
        document_.add(at, key, "excludes " + other + " (line " + std::to_string(read_.lines[other]) + "): keep one of them");
      }
    }
  }

  YamlDocument document_;
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

/// A file of the shell's, as of "<(…)" and "< …": whoever starts the bench knows what that is, and may have it wait for a pipe.
bool is_handed_over(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
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

std::optional<std::string> settings_file_text(const std::string& path, std::string& problem) {
  QFile file(QString::fromStdString(path));
  QString why;
  if (is_handed_over(path)) {
    if (!file.open(QIODevice::ReadOnly)) why = file.errorString();
  } else {
    why = open_regular(file);
  }
  QByteArray bytes;
  if (why.isEmpty()) {
    QByteArray more;
    do {  // a pipe gives what there is
      more = file.read(static_cast<qint64>(settings_file_bytes_max) + 1 - bytes.size());
      bytes += more;
    } while (!more.isEmpty());
    if (file.error() != QFileDevice::NoError) why = file.errorString();
  }
  if (!why.isEmpty()) return problem = "cannot be read: " + why.toStdString(), std::nullopt;
  return bytes.toStdString();
}

ReadSettings read_settings_file(const std::string& path) {
  std::string problem;
  const auto text = settings_file_text(path, problem);
  return text ? read_settings_text(*text, path) : failed(path, 0, problem);
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
