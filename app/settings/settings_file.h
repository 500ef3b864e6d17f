// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as YAML: reading with every mistake named by line and key, and writing.
//
// A file says only what differs from the defaults, and which format it has. Reading never changes anything outside the returned value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings.h"

namespace n2nq::app {

/// The only format there is so far. An older file is migrated while it is read, a newer one is refused.
inline constexpr int settings_format = 1;
/// A settings file is a page of text; anything larger is a mistake.
inline constexpr std::size_t settings_file_bytes_max = 1 << 20;

struct FileError {
  std::string file;
  int line = 0;     // from 1; 0: the file as a whole
  std::string key;  // may be empty
  std::string message;
  /// "quick.yaml:7: senders.amount must be …".
  std::string text() const;
};

struct ReadSettings {
  std::optional<Settings> settings;               // empty when there are errors
  std::vector<FileError> errors;                  // in the order of the file
  std::map<std::string, int, std::less<>> lines;  // where each key that the file names stands
};

/// Reads a text; `name` stands in messages. Rules between keys are validate()'s, so that --set can still mend them.
ReadSettings read_settings_text(std::string_view text, const std::string& name);
ReadSettings read_settings_file(const std::string& path);

/// The text of a file of settings or of what holds some: all of it, or its first settings_file_bytes_max + 1 bytes, which are too many for
/// its reader. A regular file, or what the shell hands over (/dev/stdin, /dev/fd/…, /proc/self/fd/…). Empty: `problem` says why it cannot
/// be read.
std::optional<std::string> settings_file_text(const std::string& path, std::string& problem);

/// validate() with the lines of the file the settings came from.
std::vector<FileError> validate_read(const Settings& settings, const ReadSettings& read, const std::string& name);

/// Every key with its value, in canonical order; reads back as the same settings.
std::string settings_yaml(const Settings& settings);
/// Only the keys whose values differ from the defaults; reads back as the same settings.
std::string settings_yaml_short(const Settings& settings);

}  // namespace n2nq::app
