// SPDX-License-Identifier: GPL-3.0-or-later
// `--assert "latency_us.p99 < 500"`: a bound on one figure of a summary, which turns a run into a check.
#pragma once

#include <QString>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/settings/settings.h"

namespace n2nq::app {

struct Assertion {
  enum class Relation { less, at_most, greater, at_least, equal, different };
  std::string text;  // as it was typed
  std::string path;  // of the figure, in the summary: "latency_us.p99"
  Relation relation = Relation::less;
  double bound = 0;  // in the figure's unit
};

/// Empty: it is one, in `out`. Otherwise what is wrong and what would be right. Knows no summary yet: check_path() does.
std::optional<std::string> parse_assertion(const std::string& text, Assertion& out);
/// Whether a run can have that figure at all; otherwise the nearest that it can have.
std::optional<std::string> check_path(const Assertion& assertion);
/// Whether a run with these settings has the service, or the warm-up, that the figure is of.
std::optional<std::string> check_path_with(const Assertion& assertion, const Settings& settings);

struct AssertionResult {
  Assertion assertion;
  bool known = true;  // false: this summary has no such figure
  bool met = false;   // a figure that the run did not give meets nothing
  double value = 0;   // NaN: null in the summary
  double clock_bound =
      std::numeric_limits<double>::quiet_NaN();  // how far it may be off because clocks are, in its unit; NaN: of one clock, infinite: not known
  /// "latency_us.p99 < 500: not met: 812.3 µs, 312.3 µs (62 %) too much".
  QString sentence() const;
};

AssertionResult check_assertion(const Assertion& assertion, const nlohmann::json& summary);
/// For the last line of --json: text, figure's value, met.
nlohmann::ordered_json assertions_json(const std::vector<AssertionResult>& results);

}  // namespace n2nq::app
