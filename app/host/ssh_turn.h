// SPDX-License-Identifier: GPL-3.0-or-later
// Whose turn it is to ask the person for something that several connections need: they wait for each other, and find then what was
// answered.
#pragma once

#include <QString>
#include <memory>

#include "app/host/ssh_link.h"

namespace n2nq::app {

class TurnToAsk {
 public:
  /// Waits for its turn, for as long as the person takes. Throws when the session is closed meanwhile. In the last moment it may be closed,
  /// too, by an owner who has given up its turns by then: to be followed by SshLink::check_that_it_waited().
  TurnToAsk(SshLink& link, QString what);
  ~TurnToAsk();
  TurnToAsk(const TurnToAsk&) = delete;
  TurnToAsk& operator=(const TurnToAsk&) = delete;

 private:
  const std::shared_ptr<SshSecrets> secrets_;
  const SshShared* const who_;
  const QString what_;
};

}  // namespace n2nq::app
