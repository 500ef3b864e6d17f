// SPDX-License-Identifier: GPL-3.0-or-later
// A command on a host that is to end by itself, soon: what it says and how it ended. What does not end, or says too much, is let go of, and
// its channel closed.
//
// Lives on its session's owner's thread; calls return at once.
#pragma once

#include <QByteArray>
#include <QObject>
#include <functional>

#include "app/host/ssh_exec.h"
#include "app/host/step_timer.h"

namespace n2nq::app {

/// What a login script may say before a command begins, and all of what a short one may.
inline constexpr qsizetype ssh_said_bytes_max = 4 << 20;

class SshCommand : public QObject {
  Q_OBJECT
 public:
  static constexpr int limit_ms = 8'000;
  struct Result {
    QString host;
    QString failed;  // half a sentence that names the host: it could not be run, or was let go of; empty: it ended as `how` says
    SshExit how;
    QByteArray out, error_out;
    bool let_go = false;
    int had_ms = limit_ms;  // of time, where it was let go of because that was over
    int took_ms = 0;        // without what this bench stood still

    /// Why it did not do what it was told, in half a sentence that names the host; empty: it did. Fit for a terminal.
    QString problem() const;
  };
  using Over = std::function<void(const Result& result)>;

  /// Begins; `over` is told once, within `within_ms`, unless this is destroyed before. Destroys itself behind that.
  SshCommand(SshSession& session, const QByteArray& command, QObject* parent, Over over, int within_ms = limit_ms);

 private:
  void take(QByteArray& said, const QByteArray& bytes);
  void let_go(const QString& why);
  void end();

  std::unique_ptr<SshExec> exec_;
  StepTimer deadline_;
  Result result_;
  Over over_;
};

}  // namespace n2nq::app
