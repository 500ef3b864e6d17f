// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_exec.h"

#include <QPointer>
#include <QTimer>

#include "app/host/ssh_session.h"

namespace n2nq::app {

SshExec::SshExec(SshSession& session, const QByteArray& command, Late late) : session_(&session), id_(0) {
  if (session.state() == SshSession::State::ready) {
    connect(this, &SshExec::started, this, [this] { started_ = true; });
    id_ = session.begin_exec(this, command, late);
    return;
  }
  session_ = nullptr;
  QTimer::singleShot(0, this, [this, name = session.name()] { emit failed(QString("there is no connection to %1").arg(name)); });
}

SshExec::~SshExec() {
  if (session_) session_->forget_exec(id_);
}

void SshExec::write(const QByteArray& bytes) {
  if (!session_) return;
  session_->run([id = id_, bytes](SshWorker& worker) {
    if (SshChannel* channel = worker.channel(id)) channel->write(bytes);
  });
}

void SshExec::end_stdin() {
  if (!session_) return;
  session_->run([id = id_](SshWorker& worker) {
    if (SshChannel* channel = worker.channel(id)) channel->end_stdin();
  });
}

void SshExec::wait_no_longer() {
  if (!session_) return;
  session_->run([id = id_](SshWorker& worker) {
    if (SshChannel* channel = worker.channel(id)) channel->wait_no_longer();
  });
}

void SshExec::on_failed(const QString& why) {
  leave_session();
  emit failed(why);
}

void SshExec::on_exited(const SshExit& how) {
  exit_ = how;
  emit exited();
}

void SshExec::on_ended(const SshExit& how) {
  leave_session();
  emit ended(how);
}

void SshExec::on_lost(const SshProblem& why) {
  if (started_) {
    SshExit how = exit_;
    how.lost = why;
    emit ended(how);
  } else {
    emit failed(why.why);
  }
}

void SshExec::leave_session() {
  if (session_) session_->forget_exec(id_);
  session_ = nullptr;
}

}  // namespace n2nq::app
