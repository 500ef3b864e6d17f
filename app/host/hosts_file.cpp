// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/hosts_file.h"

#include <yaml-cpp/yaml.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>
#include <iterator>
#include <set>

#include "app/settings/settings_node.h"

namespace n2nq::app {

namespace {

constexpr std::size_t errors_max = 50;
constexpr std::string_view secrets[] = {"password", "passphrase"};  // that people look for a key for
/// Whoever finds the file of the window writes into it as into one of their own.
constexpr const char* head =
    "# Changes on the page Hosts of n2nq-bench are written here, and the whole file anew with them: comments are not kept, nor the order of "
    "keys.\n";
constexpr std::string_view format_key = "format", local_key = "local_data_address", hosts_key = "hosts";

class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  ReadHosts read(const YAML::Node& root) {
    if (!root.IsMap()) {
      add(root, "", "must be a list of keys with values, such as \"format: 1\"");
    } else if (format_is_readable(root)) {
      for_each(root, "", [this](const std::string& key, const YAML::Node& at, const YAML::Node& value) { top_level(key, at, value); });
    }
    if (read_.errors.empty()) read_.hosts = std::move(hosts_);
    return std::move(read_);
  }

 private:
  void add(const YAML::Node& at, std::string key, std::string message) {
    if (read_.errors.size() < errors_max) read_.errors.push_back({name_, at.Mark().line + 1, std::move(key), std::move(message)});
  }

  bool format_is_readable(const YAML::Node& root) {
    const YAML::Node format = root[std::string(format_key)];
    const std::string right = "\"format: " + std::to_string(hosts_format) + "\"";
    if (!format.IsDefined()) {
      read_.errors.push_back({name_, 0, std::string(format_key), "is missing: the file must say " + right});
      return false;
    }
    std::int64_t version = 0;
    if (!format.IsScalar() || parse_integer(format.Scalar(), 1, 1'000'000, version)) {
      add(format, std::string(format_key), "must be a whole number from 1; this version writes " + right);
    } else if (version > hosts_format) {
      add(format, std::string(format_key),
          "is " + std::to_string(version) + ", but this version reads up to format " + std::to_string(hosts_format) +
              ": a newer n2nq-bench wrote it");
    }
    return read_.errors.empty();
  }

  template <class Visit>
  void for_each(const YAML::Node& map, const std::string& prefix, Visit visit) {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) {
        add(entry.first, prefix, "has a key that is not a word");
      } else if (!seen.insert(entry.first.Scalar()).second) {
        add(entry.first, prefix + entry.first.Scalar(), "stands twice; keep one of them");
      } else {
        visit(entry.first.Scalar(), entry.first, entry.second);
      }
    }
  }

  /// A key without a value is one that is empty.
  static bool is_one_value(const YAML::Node& value) { return value.IsScalar() || value.IsNull(); }
  static std::string_view text_of(const YAML::Node& value) { return value.IsNull() ? std::string_view() : trimmed(value.Scalar()); }

  void top_level(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    if (key == format_key) return;
    if (key == local_key) {
      if (auto problem = is_one_value(value) ? parse_data_address(text_of(value), hosts_.local_data_address)
                                             : Problem("must be a numeric address such as 10.0.0.5")) {
        add(at, key, *problem);
      }
    } else if (key != hosts_key) {
      add(at, key, "is not known here; the nearest key is " + std::string(nearest_word(key, {format_key, local_key, hosts_key})));
    } else if (value.IsSequence()) {
      for (const auto& entry : value) host(entry);
    } else if (!value.IsNull()) {
      add(at, key, "must be a list of hosts, such as \"- name: lab-1\"");
    }
  }

  void host(const YAML::Node& entry) {
    const std::string prefix = "hosts[" + std::to_string(++hosts_seen_) + "].";
    if (!entry.IsMap()) return add(entry, prefix.substr(0, prefix.size() - 1), "must be a host with keys, such as \"- name: lab-1\"");
    Host read;
    const std::size_t errors_before = read_.errors.size();
    for_each(entry, prefix,
             [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) { field(read, prefix, key, at, value); });
    if (read_.errors.size() != errors_before) return;
    if (read.name.empty()) return add(entry, prefix + "name", "is missing: each host needs a name, such as \"name: lab-1\"");
    if (hosts_.find(read.name)) return add(entry, prefix + "name", "is " + in_quotes(read.name) + ", as another host's: names must differ");
    if (hosts_.hosts.size() == hosts_max) return add(entry, "hosts", "has more than " + std::to_string(hosts_max) + " entries");
    hosts_.hosts.push_back(std::move(read));
  }

  void field(Host& read, const std::string& prefix, const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    const HostField* known = find_host_field(key);
    if (!known) {
      std::vector<std::string_view> names;
      for (const HostField& each : host_fields()) names.push_back(each.key);
      std::vector<std::string_view> with_secrets = names;
      with_secrets.insert(with_secrets.end(), std::begin(secrets), std::end(secrets));
      if (std::find(std::begin(secrets), std::end(secrets), nearest_word(key, with_secrets)) != std::end(secrets))
        return add(at, prefix + key, "is not a key of a host: no secret stands in this file; it is asked for when it is needed");
      return add(at, prefix + key, "is not a key of a host; the nearest one is " + std::string(nearest_word(key, names)));
    }
    if (!is_one_value(value)) return add(at, prefix + key, "must be one value");
    if (auto problem = known->set(read, text_of(value))) add(at, prefix + key, *problem);
  }

  std::string name_;
  Hosts hosts_;
  std::size_t hosts_seen_ = 0;
  ReadHosts read_;
};

ReadHosts failed(const std::string& name, int line, std::string message) {
  ReadHosts read;
  read.errors.push_back({name, line, "", std::move(message)});
  return read;
}

}  // namespace

const Host* Hosts::find(std::string_view name) const {
  const auto found = std::find_if(hosts.begin(), hosts.end(), [name](const Host& host) { return host.name == name; });
  return found == hosts.end() ? nullptr : &*found;
}

ReadHosts read_hosts_text(std::string_view text, const std::string& name) {
  if (text.size() > hosts_file_bytes_max) {
    return failed(name, 0, "is larger than " + std::to_string(hosts_file_bytes_max) + " B: not a hosts file");
  }
  return read_document(
      text, [&](const YAML::Node& root) { return Reader(name).read(root); },
      [&](int line, std::string why) { return failed(name, line, std::move(why)); });
}

ReadHosts read_hosts_file(const std::string& path, bool may_be_absent) {
  QFile file(QString::fromStdString(path));
  if (may_be_absent && !file.exists()) return {Hosts(), {}};
  if (!file.open(QIODevice::ReadOnly)) return failed(path, 0, "cannot be read: " + file.errorString().toStdString());
  return read_hosts_text(file.read(hosts_file_bytes_max + 1).toStdString(), path);
}

std::string hosts_yaml(const Hosts& hosts) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << std::string(format_key) << YAML::Value << hosts_format;
  if (!hosts.local_data_address.empty()) out << YAML::Key << std::string(local_key) << YAML::Value << hosts.local_data_address;
  out << YAML::Key << std::string(hosts_key) << YAML::Value << YAML::BeginSeq;
  for (const Host& host : hosts.hosts) {
    out << YAML::BeginMap;
    for (const HostField& field : host_fields()) {
      const std::string text = field.text(host);
      // Quoted: a name such as 1e3 or "no" is a text, whatever YAML makes of it.
      if (!text.empty()) out << YAML::Key << std::string(field.key) << YAML::Value << YAML::DoubleQuoted << text;
    }
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return head + std::string(out.c_str()) + "\n";
}

std::optional<std::string> write_hosts_file(const std::string& path, const Hosts& hosts) {
  const QString name = QString::fromStdString(path), folder = QFileInfo(name).path();
  if (!QDir().mkpath(folder)) return "Cannot make the folder " + folder.toStdString();
  QSaveFile file(name);
  const QByteArray text = QByteArray::fromStdString(hosts_yaml(hosts));
  const bool open = file.open(QIODevice::WriteOnly) && file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  if (!open || file.write(text) != text.size() || !file.commit()) {
    return "Cannot write " + path + ": " + file.errorString().toStdString();
  }
  return {};
}

QString default_hosts_path() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + "/n2nq-bench/hosts.yaml";
}

}  // namespace n2nq::app
