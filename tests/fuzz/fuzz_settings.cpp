// SPDX-License-Identifier: GPL-3.0-or-later
// Settings files: what is wrong is named by line, and what is right can be written and read again.
#include "app/settings/settings_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace n2nq;
  const app::ReadSettings read = app::read_settings_text(fuzz::text_of({data, size}), "input");
  fuzz::require(read.settings.has_value() == read.errors.empty(), "settings, or errors");
  const bool only = read.errors.size() == 1;
  for (const app::FileError& error : read.errors) {
    fuzz::require(!error.message.empty(), "an error says what is wrong");
    const bool says_where = fuzz::says_where(error.text(), "input", error.line, error.key, {data, size}, only);
    fuzz::require(says_where, "an error names file, and line or key");
  }
  if (!read.settings) return 0;
  app::validate_read(*read.settings, read, "input");
  app::remarks(*read.settings);
  const std::string written = app::settings_yaml(*read.settings);
  const app::ReadSettings again = app::read_settings_text(written, "again");
  fuzz::require(again.settings.has_value(), "what is written can be read");
  fuzz::require(app::settings_yaml(*again.settings) == written, "it stays what it is");
  const app::ReadSettings brief = app::read_settings_text(app::settings_yaml_short(*read.settings), "brief");
  fuzz::require(brief.settings && app::settings_yaml(*brief.settings) == written, "the short form says the same");
  return 0;
}
