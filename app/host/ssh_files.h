// SPDX-License-Identifier: GPL-3.0-or-later
// Files on one host: tasks that go on in turns on the thread of a session for files, and answers on its owner's thread.
//
// Lives on the session's owner's thread; calls return at once. Every task is answered exactly once, with a problem when the connection ends
// before, unless its context is destroyed or it is given up.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "app/host/ssh_session.h"
#include "app/host/ssh_tasks.h"

namespace n2nq::app {

class SshFiles : public QObject {
  Q_OBJECT
 public:
  using Done = std::function<void(const SshProblem&)>;
  static constexpr int follow_every_ms = 250;

  /// The session is of SshUse::files, is ready, and lives longer.
  explicit SshFiles(SshSession& session);
  ~SshFiles() override;

  /// Takes turns with the others until it is done or has failed. `context`: whom the answer is for.
  quint64 run(std::shared_ptr<SshTask> task, QObject* context, Done done);
  /// Not answered any more; what it was in the middle of is left as it is.
  void give_up(quint64 id);
  /// The local file is kept up to date until unfollow(); what goes wrong is tried again.
  void follow(const QString& remote, const QString& local);
  void unfollow(const QString& local);
  /// Of its session.
  std::shared_ptr<SshShared> shared() const { return session_.shared(); }

 private:
  struct Running {
    QPointer<QObject> context;
    Done done;
    std::shared_ptr<std::atomic<bool>> given_up;
  };
  void finish(quint64 id, const SshProblem& problem);
  void look_at_followed();

  SshSession& session_;
  quint64 next_ = 1;
  std::map<quint64, Running> running_;
  struct Followed {
    std::shared_ptr<SshTask> task;
    quint64 running = 0;  // 0: it waits for its next turn
  };
  std::map<QString, Followed> followed_;
  QTimer follow_timer_;
};

}  // namespace n2nq::app
