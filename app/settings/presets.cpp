// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/presets.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <algorithm>

#include "app/settings/text_value.h"
#include "app/settings/whole_file.h"

// A static library's resources are only linked when somebody asks for them.
static void link_built_in_presets() {
  Q_INIT_RESOURCE(presets);
}

namespace n2nq::app {

namespace {

constexpr std::size_t preset_name_chars_max = 60;
const char* const built_in_folder = ":/presets";
const char* const suffix = ".yaml";
constexpr std::string_view modified = " (modified)";

/// In the order in which a person should meet them.
const std::vector<std::string_view>& built_in_names() {
  static const std::vector<std::string_view> names = {"quick",
                                                      "thesis-baseline",
                                                      "many-services",
                                                      "placement-internal",
                                                      "placement-senders-external",
                                                      "placement-receivers-external",
                                                      "placement-external"};
  return names;
}

bool is_built_in(std::string_view name) {
  return std::find(built_in_names().begin(), built_in_names().end(), name) != built_in_names().end();
}

ReadSettings read_resource(const std::string& name);

/// Two entries that read alike would be told apart by nobody.
bool is_built_in_title(std::string_view name) {
  return std::any_of(built_in_names().begin(), built_in_names().end(), [name](std::string_view built_in) {
    const ReadSettings read = read_resource(std::string(built_in));
    return read.settings && read.settings->title == name;
  });
}

std::optional<std::string> name_problem(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == ' ';
  };
  const bool framed = !name.empty() && (name.front() == '.' || name.front() == ' ' || name.back() == ' ');
  if (name.empty() || name.size() > preset_name_chars_max || framed || !std::all_of(name.begin(), name.end(), allowed)) {
    return "A preset's name has 1 to " + std::to_string(preset_name_chars_max) +
           " of the characters A–Z a–z 0–9 . _ - and space, and begins with neither a point nor a space, unlike " + in_quotes(name);
  }
  if (is_built_in(name) || is_built_in_title(name))
    return in_quotes(name) + " comes with the program and stays as it is: choose another name";
  return {};
}

ReadSettings read_resource(const std::string& name) {
  QFile file(QString("%1/%2%3").arg(built_in_folder, QString::fromStdString(name), suffix));
  if (!file.open(QIODevice::ReadOnly)) return {{}, {{name, 0, "", "is missing from the program"}}, {}};
  return read_settings_text(file.readAll().toStdString(), name + suffix);
}

Preset described(const std::string& name, const ReadSettings& read, bool built_in) {
  if (!read.settings) return {name, name, read.errors.front().text(), built_in};
  return {name, read.settings->title.empty() ? name : read.settings->title, read.settings->description, built_in};
}

/// The title's end goes, in whole letters, where both are longer than a title may be.
void mark_title(Settings& settings) {
  std::u32string title = QString::fromStdString(settings.title).toStdU32String();
  while (!title.empty() && set_value(settings, "title", QString::fromStdU32String(title).toStdString().append(modified))) title.pop_back();
}

}  // namespace

bool equal_but_for_names(Settings settings, const Settings& other) {
  settings.title = other.title;
  settings.description = other.description;
  return settings == other;
}

Settings named_as_modified(Settings settings, const Settings& preset) {
  if (equal_but_for_names(settings, preset)) return settings;
  if (settings.description == preset.description) settings.description.clear();
  if (settings.title == preset.title && !settings.title.ends_with(modified)) mark_title(settings);
  return settings;
}

bool names_a_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

Presets::Presets(QString folder) : folder_(std::move(folder)) {
  link_built_in_presets();
}

QString Presets::default_folder() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + "/n2nq/presets";
}

QString Presets::path_of(const std::string& name) const {
  return folder_ + '/' + QString::fromStdString(name) + suffix;
}

std::vector<Preset> Presets::list() const {
  std::vector<Preset> out;
  for (const auto name : built_in_names()) out.push_back(described(std::string(name), read_resource(std::string(name)), true));
  for (const QFileInfo& info : QDir(folder_).entryInfoList({QString("*") + suffix}, QDir::Files | QDir::Readable, QDir::Name)) {
    const std::string name = info.completeBaseName().toStdString();
    if (!name_problem(name)) out.push_back(described(name, read_settings_file(info.filePath().toStdString()), false));
  }
  return out;
}

ReadSettings Presets::load(const std::string& name_or_path) const {
  if (names_a_file(name_or_path)) return read_settings_file(name_or_path);
  if (is_built_in(name_or_path)) return read_resource(name_or_path);
  if (!name_problem(name_or_path) && QFile::exists(path_of(name_or_path))) return read_settings_file(path_of(name_or_path).toStdString());

  std::vector<std::string> names;
  for (const Preset& preset : list()) names.push_back(preset.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  return {{},
          {{name_or_path, 0, "",
            "is not a preset (nearest: " + std::string(nearest_word(name_or_path, views)) + "); there are " + one_of(views) +
                ", and files are named with .yaml or a slash"}},
          {}};
}

std::string Presets::name_of(const Settings& settings) const {
  std::string first;
  for (const Preset& preset : list()) {
    const ReadSettings read = load(preset.name);
    if (!read.settings || !equal_but_for_names(settings, *read.settings)) continue;
    if (read.settings->title == settings.title) return preset.name;
    if (first.empty()) first = preset.name;
  }
  return first;
}

std::optional<std::string> Presets::save(const std::string& name, const Settings& settings) const {
  if (auto problem = name_problem(name)) return problem;
  if (!QDir().mkpath(folder_)) return "Cannot make the folder " + folder_.toStdString();
  const QString error = write_whole(path_of(name), QByteArray::fromStdString(settings_yaml_short(settings)));
  return error.isEmpty() ? std::nullopt : std::optional(error.toStdString());
}

std::optional<std::string> Presets::remove(const std::string& name) const {
  if (auto problem = name_problem(name)) return problem;
  QFile file(path_of(name));
  if (!file.remove()) return "Cannot remove " + path_of(name).toStdString() + ": " + file.errorString().toStdString();
  return {};
}

}  // namespace n2nq::app
