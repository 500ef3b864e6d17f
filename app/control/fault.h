// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does to a run on purpose: to a process (pause, resume, kill, restart) or to one service (break its connection, let it stop
// reading, confirm nothing, answer negatively). As values and text; making them is RunControl's.
//
//   kill:receivers@5        pause:senders@2.5       confirm-nothing:R017@3       normal:R017@6
#pragma once

#include <QString>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/control/role.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

enum class FaultKind { pause, resume, kill, restart, disconnect, stop_reading, confirm_nothing, answer_negatively, normal };

struct Fault {
  FaultKind kind = FaultKind::pause;
  Role role = Role::receivers;
  int number = 0;  // of the service; 0: the whole process
  bool operator==(const Fault&) const = default;
};

/// Whether it is done to one service, not to a process.
bool is_of_service(FaultKind kind);
/// As in --fault and the control protocol: "stop-reading".
std::string_view fault_word(FaultKind kind);
const std::vector<FaultKind>& all_fault_kinds();
/// "receivers killed", "R017 stops reading".
QString fault_sentence(const Fault& fault);

/// WHAT:WHOM. Half a sentence about what is wrong and what would be right; empty: taken.
Problem parse_fault(std::string_view text, Fault& out);
/// What this run cannot do; `amounts` by role. Half a sentence, empty: it can.
Problem check_fault(const Fault& fault, const Settings& settings);

/// What was done in a run, for marks on the charts and for the result.
struct RunEvent {
  enum class Kind { fault, setting, standstill };  // standstill: of this bench itself, while the others went on
  Kind kind = Kind::fault;
  double at_s = 0;  // since the common start
  QString what;
  /// Faults: from the fault until in flight and the median latency were back in the range of the two seconds before it (with
  /// requests: until that median was, and deliveries came at half their former rate or more). What lasts (pause,
  /// kill, a service that does not read, confirm, or answer well) has not recovered before it was mended. None: not within the run, or not
  /// known.
  std::optional<double> recovered_after_s;
  bool done = true;  // false: a host did not carry it out, as `what` says
};

}  // namespace n2nq::app
