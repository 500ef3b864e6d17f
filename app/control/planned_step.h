// SPDX-License-Identifier: GPL-3.0-or-later
// What a run without a window does by itself while messages flow: a fault, or receivers that ask for something else.
//
//   --fault kill:receivers@5        --request '{receivers: R1-R25, senders: S1-S10}@2.5'
#pragma once

#include <QString>
#include <string_view>
#include <variant>

#include "app/control/fault.h"
#include "app/settings/requests.h"

namespace n2nq::app {

struct PlannedStep {
  std::variant<Fault, ReceiverRequest> what;
  double at_s = 0;  // since the common start
};

/// Half a sentence about what is wrong and what would be right; empty: taken.
Problem parse_planned_fault(std::string_view text, PlannedStep& out);
Problem parse_planned_request(std::string_view text, PlannedStep& out);
/// What this run cannot do. Half a sentence, empty: it can.
Problem check_step(const PlannedStep& step, const Settings& settings);
/// "receivers killed", "R1-R25 ask for S001–S010, 20–100 B".
QString step_sentence(const PlannedStep& step);
QString request_sentence(const std::optional<NumberRanges>& receivers, const RequestRules& rules);

}  // namespace n2nq::app
