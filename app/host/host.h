// SPDX-License-Identifier: GPL-3.0-or-later
// A lab machine as a person describes it, and every rule about that description. A value: no file, no socket, no Qt.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/host_name.h"

namespace n2nq::app {

struct Host {
  std::string name;           // what settings and window call it: [A-Za-z0-9][A-Za-z0-9._-]{0,63}, never "local"
  std::string address;        // for SSH: a name, a numeric address, or an alias of ~/.ssh/config; empty: the name
  int port = 0;               // of sshd; 0: what ~/.ssh/config says, else 22
  std::string user;           // empty: what ~/.ssh/config says, else the user here
  std::string identity_file;  // empty: as ssh would (config, agent, default keys)
  std::string data_address;   // numeric; where the run's other hosts reach it; empty: the address SSH connected to
  bool keep_files = false;    // of a run, there, after they were brought here
  std::string folder;         // on the host, [A-Za-z0-9._/-]; empty: .cache/n2nq-bench in the home there

  bool operator==(const Host&) const = default;
  /// What SSH is asked for.
  const std::string& ssh_target() const { return address.empty() ? name : address; }
};

/// One of a host's values: what it is and which texts it takes. The source of the hosts file's errors and of the dialog.
struct HostField {
  std::string_view key;      // "data_address", as the hosts file writes it
  std::string_view label;    // "Data address"
  std::string_view unset;    // what an empty value stands for, as the empty field shows it
  std::string_view meaning;  // one sentence for the tooltip
  std::function<Problem(Host&, std::string_view)> set;
  std::function<std::string(const Host&)> text;  // empty: unset
  bool is_yes_or_no = false;                     // takes yes and no; unset is no
};

/// In the order of the hosts file.
const std::vector<HostField>& host_fields();
const HostField* find_host_field(std::string_view key);

/// A numeric IPv4 or IPv6 address at which other machines can reach one; empty stays empty.
Problem parse_data_address(std::string_view text, std::string& out);

}  // namespace n2nq::app
