// SPDX-License-Identifier: GPL-3.0-or-later
// A run whose groups, and N2NQ, are each on a pretend host of its own.
#pragma once

#include <memory>
#include <utility>

#include "tests/app/support/run_control_fixture.h"

namespace n2nq::app::testing {

struct RunHostsTest : RunControlTest {
  static Settings on_three_hosts() {
    Settings settings = small();
    settings.broker.host = "lab-1";
    settings.senders.host = "lab-2";
    settings.receivers.host = "lab-3";
    return settings;
  }
  /// On three hosts, until it is stopped.
  void make_endless(std::unique_ptr<LauncherFactory> launchers = {}) {
    Settings endless = on_three_hosts();
    endless.senders.messages.reset();
    host.behaviour[Role::senders].runs_on = true;
    make(options(), endless, std::move(launchers));
  }
  bool wait_bringing_back() {
    return wait_until([this] { return host.brought.contains(Role::receivers) && host.brought.contains(Role::senders); });
  }
};

}  // namespace n2nq::app::testing
