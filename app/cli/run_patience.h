// SPDX-License-Identifier: GPL-3.0-or-later
// How long the command line stands for what the system says of users: as usual, but while a run's processes live by what this
// thread says to them.
#pragma once

#include <chrono>

#include "app/control/run_control.h"
#include "app/host/ssh_config_databases.h"

namespace n2nq::app {

/// Until the run is over, and at each restart in it, what was answered before has to do.
inline void be_brief_while_it_runs(const RunControl& run) {
  QObject::connect(&run, &RunControl::state_changed, &run, [&run] {
    constexpr std::chrono::milliseconds between_two_leases(100);
    const bool processes_wait = run.state() == RunState::running || run.state() == RunState::ending;
    set_database_patience(processes_wait ? between_two_leases : database_patience_usual);
  });
}

}  // namespace n2nq::app
