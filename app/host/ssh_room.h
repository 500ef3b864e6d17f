// SPDX-License-Identifier: GPL-3.0-or-later
// Whether there is room for something in a folder on a host.
#pragma once

#include "app/host/ssh_tasks.h"

namespace n2nq::app {

/// What is left free beside a program, and what the logs of a run need to begin with.
inline constexpr quint64 ssh_spare_bytes = 1 << 20;

/// "12.5 MiB", for sentences.
QString mib(quint64 bytes);
/// Throws where there is none, or nothing can be written: `what` needs `bytes` there. A host that does not say has room.
void check_room(SshLink& link, Sftp& sftp, const QString& folder, quint64 bytes, const QString& what);
/// The same for the logs of runs below the host's `folder`; also throws where no folder can be made for them.
void check_room_for_logs(SshLink& link, Sftp& sftp, const QString& folder);

/// How much is free where a host's `folder` lies, and whether logs can be written there.
class LookAtRoom : public SshTask {
 public:
  explicit LookAtRoom(QString folder) : folder_(std::move(folder)) {}
  bool go_on(SshLink& link) override;
  std::optional<SftpSpace> space;
  SshProblem for_logs;  // why they cannot

 private:
  const QString folder_;
};

}  // namespace n2nq::app
