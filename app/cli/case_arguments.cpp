// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/case_arguments.h"

#include <algorithm>
#include <optional>

#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

constexpr double warm_up_s_max = 3600;

struct Option {
  std::string_view name;
  std::string_view example;  // of its value; empty: it takes none
};
constexpr Option options[] = {{"--scale", "quick"},
                              {"--repeats", "5"},
                              {"--warm-up", "1.5"},
                              {"--out", "results/delay"},
                              {"--hosts", "lab/hosts.yaml"},
                              {"--on", "lab-1,lab-2,lab-3"},
                              {"--assert", "\"latency_us.p99 < 500\""},
                              {"--resume", ""},
                              {"--again", ""},
                              {"--accept-build", ""},
                              {"--strict", ""},
                              {"--json", ""},
                              {"--help", ""}};

using Problem = std::optional<std::string>;

/// "lab-1,lab-2,lab-3".
Problem parse_on(const std::string& text, CaseHosts& out) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    names.emplace_back(trimmed(std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
  if (names.size() != 3 || std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); })) {
    return "must name three hosts: of N2NQ, of external senders and of external receivers, such as lab-1,lab-2,lab-3, not " +
           in_quotes(text);
  }
  out = {names[0], names[1], names[2]};
  return {};
}

Problem take_value(std::string_view name, const std::string& value, Arguments& out) {
  if (name == "--scale") {
    std::size_t place = 0;
    if (const auto problem = parse_word(value, scale_words(), place)) return problem;
    out.scale = static_cast<Scale>(place);
  } else if (name == "--repeats") {
    std::int64_t count = 0;
    if (const auto problem = parse_integer(value, 1, case_repeats_max, count)) return problem;
    out.repeats = static_cast<int>(count);
  } else if (name == "--warm-up") {
    double seconds = 0;
    if (const auto problem = parse_decimal(value, 0, warm_up_s_max, 3, seconds)) return problem;
    out.warm_up_s = seconds;
  } else if (name == "--on") {
    return parse_on(value, out.on.emplace());
  } else if (name == "--assert") {
    Assertion& assertion = out.assertions.emplace_back();
    auto problem = parse_assertion(value, assertion);
    if (!problem) problem = check_path(assertion);
    return problem;
  } else {
    if (value.empty()) return "needs a name; the one given is empty";
    (name == "--out" ? out.out : out.hosts) = value;
  }
  return {};
}

void take_flag(std::string_view name, Arguments& out) {
  if (name == "--resume") out.resume = true;
  if (name == "--again") out.again = true;
  if (name == "--accept-build") out.accept_build = true;
  if (name == "--strict") out.strict = true;
  if (name == "--json") out.json = true;
  if (name == "--help") out.command = Command::help;
}

Problem check_together(const Arguments& arguments) {
  if (arguments.what.empty()) return "case needs a test case, a file or all, such as: n2nq-bench case delay (n2nq-bench cases lists them)";
  if (arguments.repeats && arguments.scale == Scale::stress) {
    return "--repeats does not go with --scale stress, which runs each load until it is clear whether it is too much, at most three times: "
           "leave one of them out";
  }
  if (!arguments.resume) {
    if (arguments.again) return "--again goes with --resume: it runs the marked runs of a case that is there once more";
    if (arguments.accept_build) return "--accept-build goes with --resume: it mixes runs of two builds";
    return {};
  }
  // Of all cases some may not be begun yet: for those they count.
  if (arguments.what == "all") return {};
  if (arguments.repeats || arguments.warm_up_s || arguments.on)
    return "a case goes on as it was begun: --repeats, --warm-up and --on do not go with --resume";
  return {};
}

}  // namespace

std::variant<Arguments, std::string> parse_case_arguments(const std::vector<std::string>& words) {
  Arguments out;
  out.command = Command::test_case;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "-h") {
      out.command = Command::help;
      continue;
    }
    if (!word.starts_with('-')) {
      if (!out.what.empty()) return "case takes one test case; there are two: " + out.what + " and " + word;
      out.what = word;
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    const auto option = std::find_if(std::begin(options), std::end(options), [&](const Option& each) { return each.name == name; });
    if (option == std::end(options)) {
      std::vector<std::string_view> names;
      for (const Option& each : options) names.push_back(each.name);
      return name + " is not an option of case (nearest: " + std::string(nearest_word(name, names)) + ")";
    }
    if (option->example.empty()) {
      if (name != word) return name + " takes no value, not " + in_quotes(word.substr(name.size() + 1));
      take_flag(name, out);
      continue;
    }
    if (name == word && at + 1 == words.size()) return name + " needs a value, such as: " + name + " " + std::string(option->example);
    const std::string value = name == word ? words[++at] : word.substr(name.size() + 1);
    if (const auto problem = take_value(name, value, out)) return name + " " + *problem;
  }
  if (out.command == Command::help) return out;
  if (const auto problem = check_together(out)) return *problem;
  return out;
}

}  // namespace n2nq::app
