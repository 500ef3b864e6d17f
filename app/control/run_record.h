// SPDX-License-Identifier: GPL-3.0-or-later
// What is known about a run when all its processes are gone, as plain values: the input of the result, handed from the run's thread to
// the one that works it out.
#pragma once

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/control/clock_contradiction.h"
#include "app/control/control_message.h"
#include "app/control/fault.h"
#include "app/control/role.h"
#include "app/control/run_folder.h"
#include "app/settings/settings.h"
#include "workers/measure/clock_report.h"

namespace n2nq::app {

/// What a group may be behind the common start without a word, beyond what its clock may err.
constexpr double worth_telling_late_ms = 50;

struct ProcessRecord {
  std::optional<HelloMessage> hello;
  bool ran = true;                                           // false: no process of it was begun in this run
  nlohmann::json floor;                                      // of the first process, as the host was at rest; null: unknown
  bool told_start = false;                                   // this process, or one that it goes on for
  std::int64_t started_late_ns = 0;                          // behind the common start; of the first process that was told it
  double started_late_bound_us = 0;                          // ± of that: it is reckoned between two clocks
  std::optional<measure::ClockReport> clock;                 // workers: the last one; none: the clock is N2NQ's, or not known
  std::int64_t clock_age_ns = 0;                             // it lives, and has said that so long ago, at most
  std::int64_t unheard_ns = 0;                               // it went on so long behind that, at most, and gave no account of its clock
  std::optional<measure::ClockReport> clock_first;           // the first one of this process
  std::optional<measure::ClockReport> clock_before_restart;  // of the process that this one goes on for
  std::size_t spans_before = 0;                              // of its clock's jumps, also before a restart, those told before the plan
  std::shared_ptr<const nlohmann::json> bye;                 // null: it never came
  std::vector<std::string> faults;                           // of those that gave no bye, as they had told them
  bool gone_on = false;                                      // for a killed one
  bool salvaged = false;                                     // killed: its bye is what was read back of what it had noted
  nlohmann::json sampled_log;                                // killed with log: sampled, which is no account: what a bye says of its logs
  QString trouble;                                           // empty: it ended as asked
  std::optional<double> gone_at_s;                           // of the run's time, when this bench saw its end or the end of the link to it
  std::optional<double> last_heard_at_s;                     // likewise, when the last bytes came over a link that was lost
  QStringList last_lines;                                    // of stderr, with trouble
  QString files_left;                                        // why what it wrote is not all here; empty: it is
  QString folder_left;                                       // why there is something on its host still, though it is

  /// What its bye says of the process itself, such as its times on a core, is of the run; not of who read it back, or the last of several.
  bool is_one_process() const { return !salvaged && !gone_on; }
  /// Counts of its logs; null: not told.
  nlohmann::json log() const { return bye ? bye->value("log", nlohmann::json()) : sampled_log; }
};

struct RunRecord {
  Settings settings;
  std::optional<RunFolder> folder;
  QDateTime started, ended;             // wall clock
  /// Whether what the groups found of their clocks makes them two, whatever their hosts said.
  ClockContradiction contradiction;
  std::int64_t start_at_broker_ns = 0;  // the instant 0, by N2NQ's clock; with traffic
  bool traffic_started = false;
  std::optional<double> warmed_up_s;  // as fast as it goes: when all of the warm-up was seen to be sent, since the common start
  bool stopped_by_user = false;
  bool hurried_by_user = false;  // asked a second time to stop before all had ended
  bool killed_by_user = false;
  QStringList troubles;  // sentences about what ended the run otherwise than planned
  std::array<ProcessRecord, 3> processes;
  std::vector<RunEvent> events;   // in the order in which they happened
  QStringList steps_not_made;     // planned ones, and why
  QString gave_up;                // why N2NQ was not waited for until it was drained; empty: it was
  bool broker_restarted = false;  // then its bye tells of its last life only

  const ProcessRecord& of(Role role) const { return processes[index_of(role)]; }
};

}  // namespace n2nq::app
