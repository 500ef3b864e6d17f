// SPDX-License-Identifier: GPL-3.0-or-later
// Named settings: those that come with the program, and those a person saved.
//
// Built-in ones are part of the executable; saved ones are YAML files in one folder, written beside and renamed.
#pragma once

#include <QString>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings_file.h"

namespace n2nq::app {

struct Preset {
  std::string name;  // as typed: "thesis-baseline"
  std::string title;
  std::string description;
  bool built_in = true;
};

/// Equal in all but what they are called: title and description.
bool equal_but_for_names(Settings settings, const Settings& other);

/// What a run of `settings` is called that began as those of a preset, or of a file: where they differ in more than names, a title that is
/// still the preset's says so ("Quick look (modified)"), and a description that is still the preset's is left out, being of other settings.
Settings named_as_modified(Settings settings, const Settings& preset);

/// Ends in .yaml or .yml, or holds a slash: everything else is the name of a preset or a case.
bool names_a_file(std::string_view text);

class Presets {
 public:
  /// `folder`: where saved presets are; it need not exist.
  explicit Presets(QString folder = default_folder());
  static QString default_folder();

  /// Built-in ones first, then saved ones by name. A saved file that cannot be read is listed with its error as description.
  std::vector<Preset> list() const;
  /// A preset's name, or the path of a settings file (ends in .yaml or .yml, or holds a slash).
  ReadSettings load(const std::string& name_or_path) const;
  /// The one that has these settings, whatever they are called: of several the one that is called so, else the first of list(). Empty:
  /// there is none.
  std::string name_of(const Settings& settings) const;
  /// Writes what differs from the defaults. An existing saved preset is replaced. Empty result: done.
  std::optional<std::string> save(const std::string& name, const Settings& settings) const;
  /// Only saved ones can be removed. Empty result: done.
  std::optional<std::string> remove(const std::string& name) const;

 private:
  QString path_of(const std::string& name) const;
  QString folder_;
};

}  // namespace n2nq::app
