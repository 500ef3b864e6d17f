// SPDX-License-Identifier: GPL-3.0-or-later
// Whether there is room for something in a folder on a host.
#pragma once

#include "app/host/ssh_tasks.h"

namespace n2nq::app {

/// What is left free beside a program, and what the logs of a run need to begin with.
inline constexpr quint64 ssh_spare_bytes = 1 << 20;

/// What groups that write logs have not written to these yet lies in memory there: for each as much as the first says or, where that is not
/// free, less, down to the second (workers/recorder/staging_ring.h).
inline constexpr const char* staging_folder_there = "/dev/shm";
inline constexpr quint64 staging_bytes_wanted = 32 << 20, staging_bytes_min = 1 << 20;

/// "12.5 MiB", for sentences.
QString mib(quint64 bytes);
/// Throws where there is none, or nothing can be written: `what` needs `bytes` there. A host that does not say has room.
void check_room(SshLink& link, Sftp& sftp, const QString& folder, quint64 bytes, const QString& what);
/// The same for the logs of runs below the host's `folder`; also throws where no folder can be made for them.
void check_room_for_logs(SshLink& link, Sftp& sftp, const QString& folder);

/// How much is free where a host's `folder` lies, whether logs can be written there, and whether there is memory for groups that do.
class LookAtRoom : public SshTask {
 public:
  explicit LookAtRoom(QString folder) : folder_(std::move(folder)) {}
  bool go_on(SshLink& link) override;
  std::optional<SftpSpace> space;
  SshProblem for_logs;        // why they cannot
  SshProblem little_staging;  // why lines may be missing in those of two groups; nothing where there is none at all, which for_logs says

 private:
  void look_at_staging(SshLink& link, Sftp& sftp);
  const QString folder_;
};

}  // namespace n2nq::app
