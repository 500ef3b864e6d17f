// SPDX-License-Identifier: GPL-3.0-or-later
// A test case as a value, and its file: a sweep, in words of settings. Nothing here runs anything.
//
// A case has axes (message size, services, queue mode, …); every combination of their values is a point, and every point is run as often
// as the scale repeats it. Figures pick points: one axis is x, one gives the curves, the others are held. docs/test-cases.md describes the
// file. Reading names every mistake by line and key, as for settings files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings_file.h"

namespace n2nq::app {

/// The only format there is so far.
inline constexpr int case_format = 1;
inline constexpr std::size_t case_axes_max = 8, case_values_max = 200, case_figures_max = 50, case_points_max = 5000;
inline constexpr int case_repeats_max = 1000;

/// quick: the shape in minutes. thesis: the numbers of the thesis. stress: each curve until the knee.
enum class Scale { quick, thesis, stress };
inline constexpr std::array<Scale, 3> all_scales = {Scale::quick, Scale::thesis, Scale::stress};
const std::vector<std::string_view>& scale_words();
std::string_view scale_word(Scale scale);

/// In place of a list of requests: receiver i asks for sender i, and where there are fewer receivers, they share the senders in turn.
inline constexpr std::string_view requests_in_pairs = "pairs";

/// One setting, as set_value() takes it; of queue.requests also requests_in_pairs.
struct CaseSetting {
  std::string key, text;
  bool operator==(const CaseSetting&) const = default;
};

/// Where a group runs: on N2NQ's host, or on another one.
enum class Place { internal, external };

struct CaseValue {
  std::string name;              // "1 kB", "broadcaster": in legends, and what `where` asks for
  std::string plain;             // as the file gives it: "1000"; `where` knows it too
  std::optional<double> number;  // its place on an axis of numbers
  std::vector<CaseSetting> settings;
  std::optional<Place> senders, receivers;
};

struct CaseAxis {
  std::string id;     // "size"
  std::string title;  // "Message size"
  std::string unit;   // "kB"
  std::vector<std::string> keys;  // settings that take its numbers; empty: each value has settings of its own
  double divide = 1;              // a value of the keys over this is its number
  std::array<std::vector<CaseValue>, all_scales.size()> values;
  const std::vector<CaseValue>& at(Scale scale) const { return values[static_cast<std::size_t>(scale)]; }
  bool has_numbers(Scale scale) const;
  const CaseValue* find(Scale scale, std::string_view name) const;
  /// The value whose keys take `text`.
  CaseValue of_keys(const std::string& text) const;
  /// What a number of it counts: its unit, else its title in small letters.
  std::string counted() const;
};

/// What is known of a figure from elsewhere, such as the thesis.
struct CaseKnown {
  std::string text;  // with its place: "p. 46: …"
  std::optional<double> x, y;
  std::string series;
};

struct CaseFigure {
  enum class Kind { lines, percentiles };
  std::string id, title;
  Kind kind = Kind::lines;
  std::string x;                    // an axis; percentiles: none
  std::string y;                    // a figure of the summary: "latency_us.mean_lowest_95"
  std::string y_title;              // empty: from the path
  bool y_logarithmic = false;
  std::vector<std::string> series;  // axes whose values become curves; empty: one curve
  std::map<std::string, std::vector<std::string>> where;  // names of the values of held axes
  std::vector<CaseKnown> known;
  std::vector<std::string> remarks;
};

/// How often and how a scale runs each point.
struct CaseRules {
  int repeats = 1;
  int repeats_max = 0;          // with interval_percent
  double interval_percent = 0;  // repeat until the 95 % interval is at most ± this much of the value; 0: `repeats` is all
  double warm_up_s = 0;
  std::vector<CaseSetting> settings;  // on top of the case's
};

/// What the scale stress looks for on each curve: the highest load under which nothing grows.
struct CaseKnee {
  std::string axis;  // the load; only its numbers count
  double from = 1, to = 1;
  double within_percent = 3;
  double p99_max_us = 100'000;
};

struct CaseHosts {
  std::string broker, senders, receivers;
  bool operator==(const CaseHosts&) const = default;
};

struct CaseFile {
  std::string title, about, source;
  std::string base_name;                 // a preset or a settings file; empty: the defaults
  std::optional<Settings> named_base;    // what that came to; empty: none is named
  Settings base;                         // with the case's own settings
  bool pairs = false;                    // of these, queue.requests is requests_in_pairs
  std::optional<CaseHosts> hosts;        // which hosts external sets use, where a hosts file is given for the case and nothing else
  bool needs_hosts = false;              // without hosts, external sets are not run; else they run here
  bool shuffled = true;                  // within a block of repeats
  std::uint64_t order_seed = 1;
  std::vector<CaseAxis> axes;            // values of later ones overrule those of earlier ones
  std::array<CaseRules, all_scales.size()> rules;
  std::optional<CaseKnee> knee;
  std::vector<CaseFigure> figures;
  std::string text;            // of the file
  bool begun = false;          // CaseText::begun

  const CaseRules& at(Scale scale) const { return rules[static_cast<std::size_t>(scale)]; }
  const CaseAxis* find_axis(std::string_view id) const;
  /// Whether any value says where services run. If none does, hosts are of no use to the case.
  bool has_places() const;
};

struct ReadCase {
  std::optional<CaseFile> file;   // empty when there are errors
  std::vector<FileError> errors;  // in the order of the file
};

/// Where a case's `base` is, if it is no preset.
struct CaseBase {
  std::string folder{};  // relative paths begin there; empty: in the current folder
  std::string kept{};    // a settings file that is read in place of what the case names; empty: there is none
};

/// begun: of a case's folder, which may be of an earlier version: what that passed over is no mistake there.
enum class CaseText { written, begun };

/// `name` stands in messages.
ReadCase read_case_text(std::string_view text, const std::string& name, const CaseBase& base = {}, CaseText what = CaseText::written);
ReadCase read_case_file(const std::string& path, const CaseBase& base, CaseText what);
/// With relative paths of `base` beside the file.
ReadCase read_case_file(const std::string& path);

}  // namespace n2nq::app
