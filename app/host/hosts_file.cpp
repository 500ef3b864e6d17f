// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/hosts_file.h"

#include <errno.h>
#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>
#include <iterator>

#include "app/settings/text_value.h"
#include "app/settings/whole_file.h"
#include "app/settings/yaml_document.h"

namespace n2nq::app {

namespace {

constexpr std::string_view secrets[] = {"password", "passphrase"};  // that people look for a key for
/// Whoever finds the file of the window writes into it as into one of their own.
constexpr const char* head =
    "# Changes on the page Hosts of n2nq-bench are written here, and the whole file anew with them: comments are not kept, nor the order of "
    "keys.\n";
constexpr const char *found_text = "text", *found_unreadable = "unreadable", *found_none = "none";
constexpr std::string_view format_key = "format", local_key = "local_data_address", hosts_key = "hosts";

class Reader {
 public:
  explicit Reader(const std::string& name) : document_(name) {}

  ReadHosts read(const YAML::Node& root) {
    if (document_.has_format(root, hosts_format)) {
      document_.each(root, "", {}, [this](const std::string& key, const std::string&, const YAML::Node& at, const YAML::Node& value) {
        top_level(key, at, value);
      });
    }
    if (!document_.is_clean()) return {{}, document_.take_errors()};
    return {std::move(hosts_), {}};
  }

 private:
  /// A key without a value is one that is empty.
  static bool is_one_value(const YAML::Node& value) { return value.IsScalar() || value.IsNull(); }
  static std::string_view text_of(const YAML::Node& value) { return value.IsNull() ? std::string_view() : trimmed(value.Scalar()); }

  void top_level(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    if (key == format_key) return;
    if (key == local_key) {
      if (auto problem = is_one_value(value) ? parse_data_address(text_of(value), hosts_.local_data_address)
                                             : Problem("must be a numeric address such as 10.0.0.5")) {
        document_.add(at, key, *problem);
      }
    } else if (key != hosts_key) {
      document_.add(at, key, "is not known here; the nearest key is " + std::string(nearest_word(key, {format_key, local_key, hosts_key})));
    } else if (value.IsSequence()) {
      for (const auto& entry : value) host(entry);
    } else if (!value.IsNull()) {
      document_.add(at, key, "must be a list of hosts, such as \"- name: lab-1\"");
    }
  }

  void host(const YAML::Node& entry) {
    const std::string path = "hosts[" + std::to_string(++hosts_seen_) + "]";
    if (!entry.IsMap()) return document_.add(entry, path, "must be a host with keys, such as \"- name: lab-1\"");
    Host read;
    const std::size_t errors_before = document_.errors_count();
    document_.each(entry, path, {}, [&](const std::string& key, const std::string& whole, const YAML::Node& at, const YAML::Node& value) {
      field(read, key, whole, at, value);
    });
    if (document_.errors_count() != errors_before) return;
    if (read.name.empty()) return document_.add(entry, path + ".name", "is missing: each host needs a name, such as \"name: lab-1\"");
    if (hosts_.find(read.name))
      return document_.add(entry, path + ".name", "is " + in_quotes(read.name) + ", as another host's: names must differ");
    if (hosts_.hosts.size() == hosts_max) return document_.add(entry, "hosts", "has more than " + std::to_string(hosts_max) + " entries");
    hosts_.hosts.push_back(std::move(read));
  }

  void field(Host& read, const std::string& key, const std::string& path, const YAML::Node& at, const YAML::Node& value) {
    const HostField* known = find_host_field(key);
    if (!known) {
      std::vector<std::string_view> names;
      for (const HostField& each : host_fields()) names.push_back(each.key);
      std::vector<std::string_view> with_secrets = names;
      with_secrets.insert(with_secrets.end(), std::begin(secrets), std::end(secrets));
      if (std::find(std::begin(secrets), std::end(secrets), nearest_word(key, with_secrets)) != std::end(secrets))
        return document_.add(at, path, "is not a key of a host: no secret stands in this file; it is asked for when it is needed");
      return document_.add(at, path, "is not a key of a host; the nearest one is " + std::string(nearest_word(key, names)));
    }
    if (!is_one_value(value)) return document_.add(at, path, "must be one value");
    if (auto problem = known->set(read, text_of(value))) document_.add(at, path, *problem);
  }

  YamlDocument document_;
  Hosts hosts_;
  std::size_t hosts_seen_ = 0;
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
  return read_found_hosts(find_hosts_file(QString::fromStdString(path)), path, may_be_absent);
}

QByteArrayList find_hosts_file(const QString& path) {
  static_assert(settings_file_bytes_max >= hosts_file_bytes_max);
  std::string problem;
  if (const auto text = settings_file_text(path.toStdString(), problem)) return {found_text, QByteArray::fromStdString(*text)};
  // A file server that does not say whether it is there would be taken for one that has none.
  struct stat unused {};
  const bool is_none = ::stat(QFile::encodeName(path).constData(), &unused) != 0 && (errno == ENOENT || errno == ENOTDIR);
  return {is_none ? found_none : found_unreadable, QByteArray::fromStdString(problem)};
}

ReadHosts read_found_hosts(const QByteArrayList& found, const std::string& path, bool may_be_absent) {
  if (found[0] == found_text) return read_hosts_text(found[1].toStdString(), path);
  return may_be_absent && found[0] == found_none ? ReadHosts{Hosts(), {}} : failed(path, 0, found[1].toStdString());
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
  const QString error = write_whole(name, QByteArray::fromStdString(hosts_yaml(hosts)), QFile::ReadOwner | QFile::WriteOwner);
  return error.isEmpty() ? std::nullopt : std::optional(error.toStdString());
}

QString default_hosts_path() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + "/n2nq-bench/hosts.yaml";
}

}  // namespace n2nq::app
