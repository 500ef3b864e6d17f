// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/requests.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace n2nq::app {

namespace {

constexpr std::int64_t number_max = 100'000;
constexpr std::int64_t size_max = std::int64_t{1} << 30;
constexpr std::size_t entries_max = 2000;
constexpr std::size_t ranges_max = 1000;  // of one entry; N2NQ takes at most 1,024 rules

template <class Visit>
Problem for_each_part(std::string_view text, char separator, Visit visit) {
  while (true) {
    const auto end = text.find(separator);
    if (auto problem = visit(trimmed(text.substr(0, end)))) return problem;
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

Problem parse_number(std::string_view text, char letter, int& out) {
  if (!text.empty() && (text.front() == letter || text.front() == letter + ('a' - 'A'))) text.remove_prefix(1);
  std::int64_t value = 0;
  if (parse_integer(text, 1, number_max, value)) return "";
  out = static_cast<int>(value);
  return {};
}

std::string service_text(char letter, int number) {
  char text[16];
  std::snprintf(text, sizeof text, "%c%03d", letter, number);
  return text;
}

/// Sorted, and united where they touch.
NumberRanges united(NumberRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  NumberRanges out;
  for (const auto& range : ranges) {
    if (!out.empty() && range.first <= out.back().second + 1) {
      out.back().second = std::max(out.back().second, range.second);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

/// A scalar or a list of scalars, as the text that the parsers take.
std::string scalar_text(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  std::string out;
  if (node.IsSequence()) {
    for (const auto& item : node) out += (out.empty() ? "" : ", ") + (item.IsScalar() ? item.Scalar() : std::string("?"));
  }
  return out;
}

Problem parse_entry(const YAML::Node& node, ReceiverRequest& out) {
  if (!node.IsMap()) return "must hold entries such as {receivers: R1-R25, senders: S1-S10, sizes: 20-100, prefetch: 1}";
  std::set<std::string> seen;
  for (const auto& field : node) {
    const std::string name = field.first.IsScalar() ? field.first.Scalar() : "?";
    if (!seen.insert(name).second) return "has " + in_quotes(name) + " twice in one entry; keep one of them";
    const std::string text = scalar_text(field.second);
    Problem problem;
    if (name == "receivers") {
      problem = parse_numbers(text, 'R', out.receivers);
    } else if (name == "senders") {
      problem = parse_numbers(text, 'S', out.senders);
    } else if (name == "sizes") {
      problem = parse_sizes(text, out.sizes);
    } else if (name == "prefetch") {
      std::int64_t prefetch = 0;
      problem = parse_integer(text, 1, prefetch_max, prefetch);
      out.prefetch = static_cast<int>(prefetch);
    } else {
      return "has the unknown field " + in_quotes(name) + "; the nearest one is " +
             std::string(nearest_word(name, {"receivers", "senders", "sizes", "prefetch"}));
    }
    if (problem) return name + " " + *problem;
  }
  return {};
}

}  // namespace

Problem parse_numbers(std::string_view text, char letter, std::optional<NumberRanges>& out) {
  const std::string wanted =
      std::string("must be any, none, or numbers such as ") + letter + "1-" + letter + "10, " + letter + "15, not " + in_quotes(text);
  if (text == "any") return out.reset(), std::nullopt;
  NumberRanges ranges;
  if (text != "none") {
    const Problem problem = for_each_part(text, ',', [&](std::string_view part) -> Problem {
      const auto dash = part.find('-');
      std::pair<int, int> range;
      if (parse_number(trimmed(part.substr(0, dash)), letter, range.first)) return wanted;
      range.second = range.first;
      if (dash != std::string_view::npos && parse_number(trimmed(part.substr(dash + 1)), letter, range.second)) return wanted;
      if (range.second < range.first) return wanted;
      ranges.push_back(range);
      return {};
    });
    if (problem) return problem;
    ranges = united(std::move(ranges));
    if (ranges.size() > ranges_max) return "must be at most " + std::to_string(ranges_max) + " ranges";
  }
  out = std::move(ranges);
  return {};
}

std::string numbers_text(const std::optional<NumberRanges>& ranges, char letter) {
  if (!ranges) return "any";
  if (ranges->empty()) return "none";
  std::string out;
  for (const auto& [first, last] : *ranges) {
    out += (out.empty() ? "" : ", ") + std::string(1, letter) + std::to_string(first);
    if (last != first) out += std::string("-") + letter + std::to_string(last);
  }
  return out;
}

std::string services_text(const NumberRanges& ranges, char letter) {
  std::string out;
  for (const auto& [first, last] : ranges) {
    out += (out.empty() ? "" : ", ") + service_text(letter, first);
    if (last != first) out += "–" + service_text(letter, last);
  }
  return out;
}

Problem parse_sizes(std::string_view text, std::optional<std::pair<std::int64_t, std::int64_t>>& out) {
  if (text == "any") return out.reset(), std::nullopt;
  const auto dash = text.find('-');
  std::pair<std::int64_t, std::int64_t> sizes;
  const bool bad = parse_integer(trimmed(text.substr(0, dash)), 0, size_max, sizes.first).has_value() ||
                   (dash != std::string_view::npos && parse_integer(trimmed(text.substr(dash + 1)), 0, size_max, sizes.second).has_value());
  if (dash == std::string_view::npos) sizes.second = sizes.first;
  if (bad || sizes.second < sizes.first) return "must be any, one size such as 50, or a range such as 20-100, not " + in_quotes(text);
  out = sizes;
  return {};
}

std::string sizes_text(const std::optional<std::pair<std::int64_t, std::int64_t>>& sizes) {
  if (!sizes) return "any";
  return std::to_string(sizes->first) + (sizes->first == sizes->second ? "" : "-" + std::to_string(sizes->second));
}

Problem parse_requests(std::string_view text, std::optional<Requests>& out) {
  if (text == "false") return out.reset(), std::nullopt;
  if (text == "true") return out.emplace(), std::nullopt;
  const std::string wanted =
      "must be false, true, or a list such as [{receivers: R1-R25, senders: S1-S10, sizes: 20-100, prefetch: 1}], not " + in_quotes(text);
  try {
    const YAML::Node list = YAML::Load(std::string(text));
    if (!list.IsSequence()) return wanted;
    if (list.size() == 0) return "must have an entry, not []; or say false (no requests), or true (each receiver asks for anything)";
    if (list.size() > entries_max) return "must have at most " + std::to_string(entries_max) + " entries";
    Requests requests;
    for (const auto& node : list) {
      if (auto problem = parse_entry(node, requests.emplace_back())) return problem;
    }
    out = std::move(requests);
    return {};
  } catch (const YAML::Exception&) {
    return wanted;
  }
}

std::string requests_text(const std::optional<Requests>& requests) {
  if (!requests) return "false";
  if (requests->empty()) return "true";
  std::string out;
  for (const ReceiverRequest& request : *requests) {
    out += (out.empty() ? "" : ", ") + std::string("{receivers: [") + numbers_text(request.receivers, 'R') + "], senders: [" +
           numbers_text(request.senders, 'S') + "], sizes: " + sizes_text(request.sizes) +
           ", prefetch: " + std::to_string(request.prefetch) + "}";
  }
  return "[" + out + "]";
}

nlohmann::ordered_json requests_json(const std::optional<Requests>& requests) {
  if (!requests) return false;
  if (requests->empty()) return true;
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const ReceiverRequest& request : *requests) {
    out.push_back({{"receivers", numbers_text(request.receivers, 'R')},
                   {"senders", numbers_text(request.senders, 'S')},
                   {"sizes", sizes_text(request.sizes)},
                   {"prefetch", request.prefetch}});
  }
  return out;
}

std::string RequestRules::text() const {
  if (rules.empty()) return "nothing";
  // Rules that differ in their senders alone are said together.
  struct Said {
    NumberRanges senders;
    bool any_sender;
    decltype(Rule::sizes) sizes;
  };
  std::vector<Said> said;
  for (const Rule& rule : rules) {
    const auto same = std::find_if(said.begin(), said.end(), [&](const Said& other) {
      return !other.any_sender && rule.senders && other.sizes == rule.sizes;
    });
    if (same != said.end()) {
      same->senders.push_back(*rule.senders);
    } else {
      said.push_back({rule.senders ? NumberRanges{*rule.senders} : NumberRanges{}, !rule.senders, rule.sizes});
    }
  }
  std::string out;
  for (const Said& rule : said) {
    std::string part = rule.any_sender ? "any" : services_text(rule.senders, 'S');
    if (rule.sizes) {
      part = (rule.any_sender ? "" : part + ", ") + std::to_string(rule.sizes->first);
      if (rule.sizes->second != rule.sizes->first) part += "–" + std::to_string(rule.sizes->second);
      part += " B";
    }
    out += (out.empty() ? "" : " or ") + part;
  }
  return out;
}

RequestRules rules_of(const ReceiverRequest& request) {
  RequestRules out;
  out.prefetch = request.prefetch;
  if (!request.senders) {
    out.rules = {{std::nullopt, request.sizes}};
  } else {
    out.rules.clear();
    for (const auto& range : *request.senders) out.rules.push_back({range, request.sizes});
  }
  return out;
}

std::vector<RequestRules> rules_of(const Requests& requests, int receivers) {
  std::vector<RequestRules> out(static_cast<std::size_t>(receivers));
  std::vector<bool> named(out.size());
  for (const ReceiverRequest& request : requests) {
    const RequestRules more = rules_of(request);
    for (const auto& [first, last] : request.receivers.value_or(NumberRanges{{1, receivers}})) {
      for (int number = first; number <= std::min(last, receivers); ++number) {
        const auto place = static_cast<std::size_t>(number - 1);
        if (!named[place]) out[place].rules.clear();
        named[place] = true;
        for (const auto& rule : more.rules) {
          if (std::find(out[place].rules.begin(), out[place].rules.end(), rule) == out[place].rules.end()) out[place].rules.push_back(rule);
        }
        out[place].prefetch = more.prefetch;
      }
    }
  }
  return out;
}

}  // namespace n2nq::app
