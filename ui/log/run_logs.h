// SPDX-License-Identifier: GPL-3.0-or-later
// Log windows of the run on the page Bench: which file a service's log is, and that one which is written on another host comes here as long
// as somebody looks at it.
#pragma once

#include <QObject>

#include "app/control/run_control.h"
#include "ui/log/log_viewers.h"
#include "ui/model/run_actions.h"

namespace n2nq::ui {

class RunLogs : public QObject {
  Q_OBJECT
 public:
  /// Both live longer.
  RunLogs(RunActions& actions, LogViewers& viewers, QObject* parent = nullptr);

  /// A sender's or a receiver's, counted from 1. Null where there is none: none() says why.
  LogWindow* open(app::Role role, int number);
  /// N2NQ's own; nothing before it was started.
  void open_of_broker();

 signals:
  void none(const QString& why);

 private:
  QString title(const QString& whose, app::Role role) const;
  LogWindow* follow(LogWindow* window, app::Role role, int number);

  RunActions& actions_;
  app::RunControl& run_;
  LogViewers& viewers_;
};

}  // namespace n2nq::ui
