// SPDX-License-Identifier: GPL-3.0-or-later
// What was typed, as a value. No file is read and nothing is printed here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/cases/case_plan.h"
#include "app/control/planned_step.h"
#include "app/results/assertion.h"

namespace n2nq::app {

enum class Command { window, run, test_case, cases, presets, settings, hosts_list, hosts_check, verify, compare, report, help, version };

struct Arguments {
  Command command = Command::window;
  std::string what;                                           // run: a preset's name or a settings file; case: a case's, or "all"
  std::vector<std::pair<std::string, std::string>> settings;  // run: --set, in order
  std::string out;                                            // run, case: --out; empty: the user's data directory
  std::vector<PlannedStep> steps;                             // run: --fault and --request
  std::vector<Assertion> assertions;                          // run, case: --assert
  std::string hosts;                                          // window, run, case, hosts: --hosts; empty: the user's own file
  std::vector<std::string> folders;                           // verify, compare, report: in order
  int port = 0;                                               // hosts check: --port
  std::optional<Scale> scale;                                 // case
  std::optional<int> repeats;                                 // case
  std::optional<double> warm_up_s;                            // case
  std::optional<CaseHosts> on;                                // case: hosts of external sets
  bool resume = false;                                        // case
  bool again = false;                                         // case: the marked runs once more
  bool accept_build = false;                                  // case
  bool strict = false;
  bool json = false;
};

/// The arguments behind the program's name; the text says what is wrong and what would be right.
std::variant<Arguments, std::string> parse_arguments(const std::vector<std::string>& words);

/// The page that --help prints.
std::string help_text();

}  // namespace n2nq::app
