// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_turn.h"

#include <utility>

namespace n2nq::app {

namespace {

constexpr std::chrono::milliseconds look_every{500};  // whether the session was closed

}  // namespace

TurnToAsk::TurnToAsk(SshLink& link, QString what) : secrets_(link.target().secrets), who_(&link.shared()), what_(std::move(what)) {
  link.shared().end_step();
  const int left_ms = link.shared().reach_left_ms();
  while (!secrets_->begin_asking(what_, who_, look_every)) link.shared().check();
  link.shared().begin_reach(left_ms);  // who had the turn may have asked
}

TurnToAsk::~TurnToAsk() {
  secrets_->end_asking(what_, who_);
}

}  // namespace n2nq::app
