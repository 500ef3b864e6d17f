// SPDX-License-Identifier: GPL-3.0-or-later
// Walks a test case's document: what it says becomes a CaseFile, what it gets wrong a list. Behind read_case_text().
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/cases/case_file.h"
#include "app/settings/yaml_document.h"

namespace n2nq::app {

class CaseReader {
 public:
  CaseReader(std::string name, CaseBase where_base_is, CaseText what) : where_base_is_(std::move(where_base_is)), document_(std::move(name)) {
    file_.begun = what == CaseText::begun;
  }
  ReadCase read(const YAML::Node& root);

 private:
  using Node = YAML::Node;

  void head(const std::string& name, const std::string& path, const Node& value);
  void base(const Node& node);
  ReadSettings read_base() const;
  void hosts(const std::string& path, const Node& node);
  void order(const std::string& path, const Node& node);

  /// A map of settings, in sections or with dotted keys.
  std::vector<CaseSetting> settings(const std::string& path, const Node& node);
  void setting(const std::string& path, const std::string& key, const Node& at, const Node& value, std::vector<CaseSetting>& out);
  void apply(const std::vector<CaseSetting>& settings);

  void rule(const std::string& name, const std::string& path, const Node& value, CaseRules& out);
  void stop_rule(const std::string& path, const Node& node, CaseRules& out);
  void scales(const std::string& path, const Node& node);
  void knee(const std::string& path, const Node& node);

  void axis(const std::string& id, const std::string& path, const Node& at, const Node& node);
  bool axis_keys(const std::string& path, const Node& node, CaseAxis& axis);
  void axis_values(const std::string& path, const Node& node, CaseAxis& axis);
  std::vector<CaseValue> values(const std::string& path, const Node& node, const CaseAxis& axis);
  void numbers(const std::string& path, const Node& node, const CaseAxis& axis, std::vector<CaseValue>& out);
  void value_of_keys(const std::string& path, const Node& node, const std::string& text, const CaseAxis& axis, std::vector<CaseValue>& out);
  CaseValue value_with_settings(const std::string& path, const Node& node, const CaseAxis& axis);
  void place(const std::string& path, const Node& node, CaseValue& out);

  void figure(const std::string& path, const Node& node);
  void figure_key(const std::string& name, const std::string& path, const Node& value, CaseFigure& out);
  void where(const std::string& path, const Node& node, CaseFigure& out);
  void known(const std::string& path, const Node& node, CaseFigure& out);
  void check_figure(const std::string& path, const Node& node, const CaseFigure& figure);
  /// A word of at most 40 characters: a–z, 0–9 and these marks.
  static bool is_id(std::string_view text, std::string_view marks);
  bool is_axis(const std::string& path, const Node& node, const std::string& id);

  CaseBase where_base_is_;
  YamlDocument document_;
  CaseFile file_;
};

}  // namespace n2nq::app
