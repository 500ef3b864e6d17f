// SPDX-License-Identifier: GPL-3.0-or-later
// A file on a host that a dead process has left outside of its run's folder, and that is needed yet. As long as this lives it stays where it
// is; with this, with the connection, and when nothing was heard of this program for 13 s, it goes into that folder, or away where there
// is none any more: a bench that is killed meanwhile leaves nothing elsewhere.
//
// Lives on its session's owner's thread; nothing answers.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include "app/host/ssh_exec.h"

namespace n2nq::app {

class SshStandby : public QObject {
 public:
  /// `folder`: absolute, or below the home folder there. Of a path with other letters than [A-Za-z0-9._/-], or one of no file in memory,
  /// nothing is done: it is what that host said.
  SshStandby(SshSession& session, const QString& file, const QString& folder);

 private:
  SshExec exec_;
  QTimer still_timer_;
};

}  // namespace n2nq::app
