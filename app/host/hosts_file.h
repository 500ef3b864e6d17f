// SPDX-License-Identifier: GPL-3.0-or-later
// The lab machines a person knows, and the file they are kept in:
//
//   format: 1
//   local_data_address: 10.0.0.2     where lab machines reach this one; may be absent
//   hosts:
//     - name: lab-1                  the other keys of a host may be absent: see host.h
//       address: lab-1.example.org
//
// It holds no secret: keys are named by their files, passwords are never kept. Reading never changes anything outside the returned value.
#pragma once

#include <QByteArrayList>
#include <QString>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/host/host.h"
#include "app/settings/settings_file.h"

namespace n2nq::app {

inline constexpr int hosts_format = 1;
inline constexpr std::size_t hosts_max = 100;
inline constexpr std::size_t hosts_file_bytes_max = 1 << 20;

struct Hosts {
  std::string local_data_address;  // numeric; empty: none was given
  std::vector<Host> hosts;         // no two of the same name

  bool operator==(const Hosts&) const = default;
  /// Null: there is no such host. Valid until `hosts` changes.
  const Host* find(std::string_view name) const;
};

struct ReadHosts {
  std::optional<Hosts> hosts;     // empty when there are errors
  std::vector<FileError> errors;  // in the order of the file
};

ReadHosts read_hosts_text(std::string_view text, const std::string& name);
/// A file that does not exist holds no hosts, where `may_be_absent`. What is read is a regular file or a link to one, or what the shell hands
/// over (settings_file_text()).
ReadHosts read_hosts_file(const std::string& path, bool may_be_absent);
/// The two halves of it: what reads, on any thread, and what understands. Two entries: what was found, and its text or why there is none.
QByteArrayList find_hosts_file(const QString& path);
ReadHosts read_found_hosts(const QByteArrayList& found, const std::string& path, bool may_be_absent);

/// Says what is set, in its head that no comments are kept, and nothing else; reads back as the same hosts.
std::string hosts_yaml(const Hosts& hosts);
/// Written beside and renamed, readable by its owner alone; makes the folder. A link stays, and what it leads to is written. Empty result:
/// done.
std::optional<std::string> write_hosts_file(const std::string& path, const Hosts& hosts);

/// $XDG_CONFIG_HOME/n2nq-bench/hosts.yaml.
QString default_hosts_path();

}  // namespace n2nq::app
