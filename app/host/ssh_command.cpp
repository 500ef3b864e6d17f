// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_command.h"

#include <utility>

#include "app/host/ssh_session.h"
#include "broker/wire/printable.h"

namespace n2nq::app {

namespace {

constexpr qsizetype told_chars_max = 300;

}  // namespace

SshCommand::SshCommand(SshSession& session, const QByteArray& command, QObject* parent, Over over, int within_ms)
    : QObject(parent), exec_(std::make_unique<SshExec>(session, command)), over_(std::move(over)) {
  result_.host = session.name();
  connect(exec_.get(), &SshExec::output, this, [this](const QByteArray& bytes) { take(result_.out, bytes); });
  connect(exec_.get(), &SshExec::error_output, this, [this](const QByteArray& bytes) { take(result_.error_out, bytes); });
  connect(exec_.get(), &SshExec::failed, this, [this](const QString& why) {
    result_.failed = why;
    end();
  });
  connect(exec_.get(), &SshExec::ended, this, [this](const SshExit& how) {
    result_.how = how;
    end();
  });
  connect(&deadline_, &QTimer::timeout, this, [this, within_ms] {
    result_.had_ms = within_ms;
    let_go(QString("did not end within %1 s").arg(within_ms / 1000.0, 0, 'g', 2));
  });
  deadline_.start(within_ms);
  exec_->end_stdin();
}

void SshCommand::take(QByteArray& said, const QByteArray& bytes) {
  said += bytes;
  if (result_.out.size() + result_.error_out.size() > ssh_said_bytes_max)
    let_go(QString("said more than %1 MiB").arg(ssh_said_bytes_max >> 20));
}

void SshCommand::let_go(const QString& why) {
  result_.failed = QString("a command on %1 %2").arg(result_.host, why);
  result_.let_go = true;
  end();
}

/// What led here may be the exec's own signal.
void SshCommand::end() {
  result_.took_ms = deadline_.taken_ms();
  deadline_.stop();
  exec_->disconnect(this);
  exec_.release()->deleteLater();
  deleteLater();
  if (const Over over = std::exchange(over_, nullptr)) over(result_);
}

QString SshCommand::Result::problem() const {
  if (!failed.isEmpty()) return failed;
  if (!how.lost.none()) return how.lost.why;
  if (how.code == 0 && how.signal.isEmpty()) return {};
  const QByteArray last = error_out.trimmed().split('\n').back().left(told_chars_max);
  if (!last.isEmpty())
    return host + ": " + QString::fromStdString(wire::printable({last.constData(), static_cast<std::size_t>(last.size())}));
  return how.signal.isEmpty() ? QString("%1: a command there ended with exit code %2").arg(host).arg(how.code)
                              : QString("%1: a command there was ended by signal %2").arg(host, how.signal);
}

}  // namespace n2nq::app
