// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_room.h"

#include <QRandomGenerator>

namespace n2nq::app {

QString mib(quint64 bytes) {
  return QString("%1 MiB").arg(static_cast<double>(bytes) / (1 << 20), 0, 'f', 1);
}

void check_room(SshLink& link, Sftp& sftp, const QString& folder, quint64 bytes, const QString& what) {
  const auto space = sftp.space(folder);
  if (!space) return;
  const QString host = link.target().name;
  if (space->read_only)
    throw SshError(SshProblem::Kind::files, QString("%1: the folder %2 is on a read-only file system").arg(host, folder),
                   other_folder());
  if (space->free_bytes < bytes) {
    throw SshError(SshProblem::Kind::files,
                   QString("%1: the disk is full: %2 are free where %3 lies, %4 are needed for %5")
                       .arg(host, mib(space->free_bytes), folder, mib(bytes), what),
                   other_folder("Make room there"));
  }
}

void check_room_for_logs(SshLink& link, Sftp& sftp, const QString& folder) {
  const QString runs = folder + "/runs";
  check_room(link, sftp, runs, ssh_spare_bytes, "the logs of a run");
  // What may be made there is known when it was made. It is called as a run's folder is: where it is left, it is swept as those are.
  const QString trial = runs + QString("/trial-%1").arg(QRandomGenerator::system()->generate64() >> 16, 12, 16, QChar('0'));
  sftp.make_folder(trial);
  sftp.remove_folder(trial);
}

bool LookAtRoom::go_on(SshLink& link) {
  Sftp sftp(link);
  space = sftp.space(folder_);
  try {
    check_room_for_logs(link, sftp, folder_);
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    for_logs = error.problem;
  }
  return false;
}

}  // namespace n2nq::app
