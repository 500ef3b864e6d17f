// SPDX-License-Identifier: GPL-3.0-or-later
// One process for the check of lab machines: put, started, configured; what it says, object by object, and its end.
//
// Lives on one thread. Destroying it ends the process; it must not be destroyed by what it calls.
#pragma once

#include <QByteArray>
#include <QString>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/control/message_parts.h"
#include "app/host/launcher.h"

namespace n2nq::app {

class CheckProcess {
 public:
  using Said = std::function<void(const nlohmann::json& object)>;
  using Over = std::function<void(const QString& why)>;
  /// `configure` is asked for what the process hears first; `over` is told when it could not be started or has ended, or when `said` throws
  /// because what it said makes no sense: then it is killed, and not heard any more.
  CheckProcess(std::unique_ptr<Launcher> launcher, const QString& program, std::function<nlohmann::json(Launcher&)> configure, Said said,
               Over over);

  void send(const nlohmann::json& object);
  void renew_lease();

 private:
  void take(const QByteArray& bytes);
  void give_up(const QString& why);

  std::unique_ptr<Launcher> launcher_;
  Said said_;
  Over over_;
  QByteArray line_;
  MessageParts parts_;
  QString error_;  // the last one that it said
};

}  // namespace n2nq::app
