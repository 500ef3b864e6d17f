// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_reader.h"

#include <algorithm>
#include <filesystem>

#include "app/settings/host_name.h"
#include "app/settings/presets.h"
#include "app/settings/settings_node.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

const std::vector<std::string_view> head_keys = {"format", "title", "about",     "source", "base",   "settings", "hosts", "without_hosts", "order",
                                                 "axes",   "repeats", "stop", "warm_up_s", "scales", "knee",   "figures"};
constexpr double warm_up_s_max = 3600, percent_min = 0.1, percent_max = 100;
constexpr std::size_t base_errors_max = 5, id_chars_max = 40;

}  // namespace

bool CaseReader::is_id(std::string_view text, std::string_view marks) {
  const auto allowed = [marks](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || marks.find(c) != marks.npos; };
  return !text.empty() && text.size() <= id_chars_max && std::ranges::all_of(text, allowed);
}

ReadCase CaseReader::read(const Node& root) {
  if (document_.has_format(root, case_format, "the file is for a newer n2nq-bench")) {
    // What is named by others comes first, wherever the file says it.
    std::map<std::string, std::pair<std::string, Node>> parts;
    document_.each(root, "", head_keys, [&](const std::string& name, const std::string& path, const Node&, const Node& value) {
      parts.insert_or_assign(name, std::pair(path, value));
    });
    for (const std::string_view name : head_keys) {
      if (const auto found = parts.find(std::string(name)); found != parts.end()) head(found->first, found->second.first, found->second.second);
    }
    for (const char* needed : {"title", "axes", "figures"}) {
      if (!root[needed].IsDefined()) document_.add(Node(), needed, "is missing");
    }
  }
  if (!document_.is_clean()) return {{}, document_.take_errors()};
  return {std::move(file_), {}};
}

void CaseReader::head(const std::string& name, const std::string& path, const Node& value) {
  if (name == "title") document_.text(value, path, file_.title);
  if (name == "about") document_.text(value, path, file_.about);
  if (name == "source") document_.text(value, path, file_.source);
  if (name == "base") base(value);
  if (name == "settings") apply(settings(path, value));
  if (name == "hosts") hosts(path, value);
  if (name == "order") order(path, value);
  if (name == "scales") scales(path, value);
  if (name == "knee") knee(path, value);
  if (name == "without_hosts") {
    std::size_t place = 0;
    if (document_.word(value, path, {"run-here", "leave-out"}, place)) file_.needs_hosts = place == 1;
  }
  if (name == "repeats" || name == "stop" || name == "warm_up_s") {
    const std::size_t mistakes = document_.errors_count();
    for (CaseRules& rules : file_.rules) {
      if (document_.errors_count() == mistakes) rule(name, path, value, rules);  // what is wrong for one is so for all, and told once
    }
  }
  if (name == "axes") {
    document_.each(value, path, {}, [this](const std::string& id, const std::string& whole, const Node& at, const Node& node) { axis(id, whole, at, node); });
    double points = 1;
    for (const CaseAxis& axis : file_.axes) points *= static_cast<double>(axis.at(Scale::thesis).size());
    if (points > static_cast<double>(case_points_max)) document_.add(value, path, "come to more than " + std::to_string(case_points_max) + " points");
  }
  if (name == "figures") {
    if (!value.IsSequence() || value.size() == 0 || value.size() > case_figures_max) {
      return document_.add(value, path, "must be a list of 1 to " + std::to_string(case_figures_max) + " figures, each with \"- id: …\"");
    }
    for (std::size_t i = 0; i < value.size(); ++i) figure(path + '[' + std::to_string(i + 1) + ']', value[i]);
  }
}

void CaseReader::base(const Node& node) {
  if (!document_.text(node, "base", file_.base_name)) return;
  const ReadSettings read = read_base();
  for (std::size_t i = 0; i < std::min(read.errors.size(), base_errors_max); ++i) {
    const FileError& error = read.errors[i];
    document_.add(node, "base", error.file == file_.base_name && error.line == 0 ? error.message : "is wrong: " + error.text());
  }
  file_.named_base = read.settings;
  file_.base = read.settings.value_or(Settings());
}

ReadSettings CaseReader::read_base() const {
  if (!where_base_is_.kept.empty()) return read_settings_file(where_base_is_.kept);
  if (!names_a_file(file_.base_name)) return Presets().load(file_.base_name);
  return read_settings_file((std::filesystem::path(where_base_is_.folder) / file_.base_name).string());
}

void CaseReader::hosts(const std::string& path, const Node& node) {
  CaseHosts hosts;
  document_.each(node, path, {"broker", "senders", "receivers"}, [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
    std::string& out = name == "broker" ? hosts.broker : name == "senders" ? hosts.senders : hosts.receivers;
    std::string text;
    if (!document_.text(value, whole, text)) return;
    if (const auto problem = parse_host_name(text, out)) document_.add(value, whole, *problem);
  });
  if (hosts.broker.empty() || hosts.senders.empty() || hosts.receivers.empty()) {
    document_.add(node, path, "must name three hosts: broker, senders and receivers");
  }
  file_.hosts = hosts;
}

void CaseReader::order(const std::string& path, const Node& node) {
  if (node.IsScalar()) {
    std::size_t place = 0;
    if (document_.word(node, path, {"shuffled", "listed"}, place)) file_.shuffled = place == 0;
    return;
  }
  document_.each(node, path, {"seed"}, [&](const std::string&, const std::string& whole, const Node&, const Node& value) {
    std::int64_t seed = 1;
    if (document_.integer(value, whole, 0, INT64_MAX, seed)) file_.order_seed = static_cast<std::uint64_t>(seed);
  });
}

std::vector<CaseSetting> CaseReader::settings(const std::string& path, const Node& node) {
  std::vector<CaseSetting> out;
  Settings together;
  std::map<std::string, int> lines;
  const auto take = [&](const std::string& whole, const std::string& key, const Node& at, const Node& value) {
    const std::size_t before = out.size();
    setting(whole, key, at, value, out);
    if (out.size() == before || file_.begun) return;
    const auto [first, is_new] = lines.emplace(key, line_of(at));
    if (!is_new) return document_.add(at, whole, "stands twice, first in line " + std::to_string(first->second) + "; keep one of them");
    // One that excludes another clears it.
    const Settings without = together;
    if (out.back().text != requests_in_pairs) set_value(together, key, out.back().text);
    for (const auto& [other, line] : lines) {
      if (other == key || value_text(without, other).empty() || !value_text(together, other).empty()) continue;
      document_.add(at, whole, "excludes " + other + " (line " + std::to_string(line) + "): keep one of them");
    }
  };
  const auto& sections = setting_sections();
  document_.each(node, path, {}, [&](const std::string& name, const std::string& whole, const Node& at, const Node& value) {
    const bool is_section = std::find(sections.begin(), sections.end(), name) != sections.end();
    if (!is_section) return take(whole, name, at, value);
    document_.each(value, whole, {}, [&](const std::string& inner, const std::string& deep, const Node& inner_at, const Node& inner_value) {
      take(deep, name + '.' + inner, inner_at, inner_value);
    });
  });
  return out;
}

void CaseReader::setting(const std::string& path, const std::string& key, const Node& at, const Node& value, std::vector<CaseSetting>& out) {
  const Key* known = find_table_key(key);
  if (!known) return document_.add(at, path, "is not a setting; the nearest one is " + std::string(nearest_key(key)));
  if (key == "queue.requests" && value.IsScalar() && value.Scalar() == requests_in_pairs) {
    out.push_back({key, std::string(requests_in_pairs)});
    return;
  }
  std::string problem;
  const auto text = value_text_of(*known, value, problem);
  if (!text) return document_.add(at, path, problem);
  Settings scratch;
  if (const auto wrong = known->set(scratch, trimmed(*text))) return document_.add(at, path, *wrong);
  out.push_back({key, std::string(trimmed(*text))});
}

void CaseReader::apply(const std::vector<CaseSetting>& settings) {
  for (const CaseSetting& setting : settings) {
    if (setting.key == "queue.requests") file_.pairs = setting.text == requests_in_pairs;
    if (setting.text != requests_in_pairs) set_value(file_.base, setting.key, setting.text);
  }
}

void CaseReader::rule(const std::string& name, const std::string& path, const Node& value, CaseRules& out) {
  std::int64_t count = 0;
  if (name == "repeats" && document_.integer(value, path, 1, case_repeats_max, count)) out.repeats = static_cast<int>(count);
  if (name == "warm_up_s") document_.decimal(value, path, 0, warm_up_s_max, out.warm_up_s);
  if (name == "stop") stop_rule(path, value, out);
  if (name == "settings") out.settings = settings(path, value);
}

void CaseReader::stop_rule(const std::string& path, const Node& node, CaseRules& out) {
  document_.each(node, path, {"interval_percent", "repeats_max"}, [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
    std::int64_t count = 0;
    if (name == "interval_percent") document_.decimal(value, whole, percent_min, percent_max, out.interval_percent);
    if (name == "repeats_max" && document_.integer(value, whole, 3, case_repeats_max, count)) out.repeats_max = static_cast<int>(count);
  });
  if (out.interval_percent <= 0 || out.repeats_max <= 0) {
    document_.add(node, path, "needs interval_percent and repeats_max: repeat until the interval is that tight, but not more often than that");
  }
}

void CaseReader::scales(const std::string& path, const Node& node) {
  document_.each(node, path, scale_words(), [&](const std::string& scale, const std::string& whole, const Node&, const Node& rules) {
    const auto place = std::find(scale_words().begin(), scale_words().end(), scale) - scale_words().begin();
    document_.each(rules, whole, {"repeats", "stop", "warm_up_s", "settings"},
                   [&](const std::string& name, const std::string& deep, const Node&, const Node& value) {
                     rule(name, deep, value, file_.rules[static_cast<std::size_t>(place)]);
                   });
  });
}

void CaseReader::knee(const std::string& path, const Node& node) {
  CaseKnee knee;
  document_.each(node, path, {"axis", "from", "to", "within_percent", "p99_max_us"},
                 [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
                   std::int64_t load = 1;
                   if (name == "axis") document_.text(value, whole, knee.axis);
                   if (name == "from" && document_.integer(value, whole, 1, 1'000'000'000, load)) knee.from = static_cast<double>(load);
                   if (name == "to" && document_.integer(value, whole, 1, 1'000'000'000, load)) knee.to = static_cast<double>(load);
                   if (name == "within_percent") document_.decimal(value, whole, percent_min, percent_max, knee.within_percent);
                   if (name == "p99_max_us") document_.decimal(value, whole, 1, 1e9, knee.p99_max_us);
                 });
  if (!is_axis(path + ".axis", node, knee.axis)) return;
  if (file_.find_axis(knee.axis)->keys.empty()) {
    document_.add(node, path + ".axis", "must be an axis with a key, so that any load can be set; " + knee.axis + " has none");
  }
  if (knee.to <= knee.from) document_.add(node, path, "needs a load to begin with and a larger one not to go beyond: from and to");
  file_.knee = knee;
}

}  // namespace n2nq::app
