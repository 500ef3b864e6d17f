// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "app/cases/case_reader.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

ReadCase failed(const std::string& name, int line, std::string message) {
  return {{}, {{name, line, "", std::move(message)}}};
}

}  // namespace

const std::vector<std::string_view>& scale_words() {
  static const std::vector<std::string_view> words = {"quick", "thesis", "stress"};
  return words;
}

std::string_view scale_word(Scale scale) {
  return scale_words()[static_cast<std::size_t>(scale)];
}

bool CaseAxis::has_numbers(Scale scale) const {
  return std::all_of(at(scale).begin(), at(scale).end(), [](const CaseValue& value) { return value.number.has_value(); });
}

const CaseValue* CaseAxis::find(Scale scale, std::string_view name) const {
  const auto found =
      std::find_if(at(scale).begin(), at(scale).end(), [&](const CaseValue& value) { return value.name == name || value.plain == name; });
  return found == at(scale).end() ? nullptr : &*found;
}

CaseValue CaseAxis::of_keys(const std::string& text) const {
  CaseValue value;
  value.plain = text;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) value.number = number / divide;
  value.name = value.number ? decimal_text(*value.number) + (unit.empty() ? "" : " " + unit) : text;
  for (const std::string& key : keys) value.settings.push_back({key, text});
  return value;
}

std::string CaseAxis::counted() const {
  if (!unit.empty()) return unit;
  std::string words = title;
  for (char& letter : words) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return words;
}

const CaseAxis* CaseFile::find_axis(std::string_view id) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const CaseAxis& axis) { return axis.id == id; });
  return found == axes.end() ? nullptr : &*found;
}

bool CaseFile::has_places() const {
  return std::any_of(axes.begin(), axes.end(), [](const CaseAxis& axis) {
    return std::any_of(axis.values.begin(), axis.values.end(), [](const std::vector<CaseValue>& of_scale) {
      return std::any_of(of_scale.begin(), of_scale.end(), [](const CaseValue& value) { return value.senders || value.receivers; });
    });
  });
}

ReadCase read_case_text(std::string_view text, const std::string& name, const CaseBase& base, CaseText what) {
  if (text.size() > settings_file_bytes_max) {
    return failed(name, 0, "is larger than " + std::to_string(settings_file_bytes_max) + " B: not a test case's file");
  }
  ReadCase read = read_document(
      text, [&](const YAML::Node& root) { return CaseReader(name, base, what).read(root); },
      [&](int line, std::string why) { return failed(name, line, std::move(why)); });
  if (read.file) read.file->text = text;
  return read;
}

ReadCase read_case_file(const std::string& path) {
  return read_case_file(path, {.folder = std::filesystem::path(path).parent_path().string()}, CaseText::written);
}

ReadCase read_case_file(const std::string& path, const CaseBase& base, CaseText what) {
  std::string problem;
  const auto text = settings_file_text(path, problem);
  return text ? read_case_text(*text, path, base, what) : failed(path, 0, problem);
}

}  // namespace n2nq::app
