// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host.h"

#include <arpa/inet.h>

#include <QDir>
#include <algorithm>

namespace n2nq::app {

namespace {

constexpr std::size_t address_chars_max = 253;
constexpr std::size_t user_bytes_max = 64;
constexpr std::size_t path_bytes_max = 4096;
constexpr std::size_t folder_chars_max = 200;  // leaves room for the files' names below it
constexpr int port_max = 65'535;

bool is_one_of(char c, std::string_view others) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
}

bool has_only(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [others](char c) { return is_one_of(c, others); });
}

/// "name:22" or "192.0.2.7:22". An IPv6 address has more colons.
bool ends_with_port(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

Problem parse_address(std::string_view text, std::string& out) {
  if (text.size() > address_chars_max || text.starts_with('-') || !has_only(text, "._-:%")) {
    return "must be a name, an IP address or an alias of ~/.ssh/config, without user and port, not " + in_quotes(text);
  }
  if (ends_with_port(text))
    return "must be without the port, which has a field of its own (SSH port, port in a file), not " + in_quotes(text);
  out = text;
  return {};
}

Problem parse_port(std::string_view text, int& out) {
  std::int64_t value = 0;
  if (!text.empty()) {
    if (auto problem = parse_integer(text, 1, port_max, value)) return problem;
  }
  out = static_cast<int>(value);
  return {};
}

Problem parse_user(std::string_view text, std::string& out) {
  if (text.find(' ') != std::string_view::npos) return "must be one word, not " + in_quotes(text);
  return parse_line(text, user_bytes_max, out);
}

Problem parse_yes(std::string_view text, bool& out) {
  const bool yes = text == "yes" || text == "true";
  if (!yes && !text.empty() && text != "no" && text != "false") return "must be yes or no, not " + in_quotes(text);
  out = yes;
  return {};
}

/// It becomes part of paths on the host, and must stay where it says. Kept in its shortest spelling: whoever looks there at what it is in
/// goes by its text, and "link/" is what the link leads to.
Problem parse_folder(std::string_view text, std::string& out) {
  const bool climbs = ("/" + std::string(text) + "/").find("/../") != std::string::npos;
  const bool names_none = !text.empty() && text.find_first_not_of("./") == std::string_view::npos;
  if (text.size() > folder_chars_max || text.starts_with('-') || climbs || names_none || !has_only(text, "._/-")) {
    return "must be the path of a folder of its own, of at most " + std::to_string(folder_chars_max) +
           " of the characters A–Z a–z 0–9 . _ / -, without .., below the home there or from /, not " + in_quotes(text);
  }
  const std::string path = QDir::cleanPath(QString::fromStdString(std::string(text))).toStdString();
  out = path.starts_with('-') ? "./" + path : path;  // or commands there would take it for an option
  return {};
}

}  // namespace

Problem parse_data_address(std::string_view text, std::string& out) {
  const std::string address(text);
  in_addr four{};
  in6_addr six{};
  const bool is_four = ::inet_pton(AF_INET, address.c_str(), &four) == 1, is_six = ::inet_pton(AF_INET6, address.c_str(), &six) == 1;
  if (!address.empty() && !is_four && !is_six) return "must be a numeric address such as 10.0.0.5, not " + in_quotes(text);
  if ((is_four && four.s_addr == htonl(INADDR_ANY)) || (is_six && IN6_IS_ADDR_UNSPECIFIED(&six))) {
    return "must be the address other machines connect to, not " + in_quotes(text);
  }
  if (is_six && IN6_IS_ADDR_LINKLOCAL(&six)) return "must be an address that leads there from more than one link, not " + in_quotes(text);
  out = address;
  return {};
}

const std::vector<HostField>& host_fields() {
  static const std::vector<HostField> fields = {
      {"name", "Name", "", "What settings and window call this machine.",
       [](Host& host, std::string_view text) { return parse_host_name(text, host.name); }, [](const Host& host) { return host.name; }},
      {"address", "Address", "the name", "Where SSH finds it: a name, an IP address, or an alias of ~/.ssh/config.",
       [](Host& host, std::string_view text) { return parse_address(text, host.address); }, [](const Host& host) { return host.address; }},
      {"port", "SSH port", "as ~/.ssh/config says, else 22", "Port of its SSH server.",
       [](Host& host, std::string_view text) { return parse_port(text, host.port); },
       [](const Host& host) { return host.port == 0 ? std::string() : std::to_string(host.port); }},
      {"user", "User", "as ~/.ssh/config says, else the user here", "Whom to log in as.",
       [](Host& host, std::string_view text) { return parse_user(text, host.user); }, [](const Host& host) { return host.user; }},
      {"identity_file", "Key file", "as ssh: config, agent, default keys", "Private key to log in with; a passphrase is asked for.",
       [](Host& host, std::string_view text) { return parse_line(text, path_bytes_max, host.identity_file); },
       [](const Host& host) { return host.identity_file; }},
      {"data_address", "Data address", "where SSH connected to",
       "Numeric address at which the run's other machines reach it; a cloud machine often has a public and a private one.",
       [](Host& host, std::string_view text) { return parse_data_address(text, host.data_address); },
       [](const Host& host) { return host.data_address; }},
      {"folder", "Folder", ".cache/n2nq-bench", "Where on the machine programs and a run's files are put, below its home or from /.",
       [](Host& host, std::string_view text) { return parse_folder(text, host.folder); }, [](const Host& host) { return host.folder; }},
      {"keep_files", "Keep files", "no: removed there once they are here", "What a run wrote there stays there, too",
       [](Host& host, std::string_view text) { return parse_yes(text, host.keep_files); },
       [](const Host& host) { return std::string(host.keep_files ? "yes" : ""); }, true},
  };
  return fields;
}

const HostField* find_host_field(std::string_view key) {
  const auto& fields = host_fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [key](const HostField& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace n2nq::app
