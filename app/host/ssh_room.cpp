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
    look_at_staging(link, sftp);
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    for_logs = error.problem;
  }
  return false;
}

void LookAtRoom::look_at_staging(SshLink& link, Sftp& sftp) {
  const QString folder = staging_folder_there, host = link.target().name, for_whom = "what groups have not written to their logs yet";
  const QString advice = QString("Have that machine's administrator make %1 larger (mount -o remount,size=128m %1)").arg(folder);
  const auto there = sftp.look_through(folder);
  if (!there || !there->is_folder) {
    throw SshError(SshProblem::Kind::files, QString("%1: there is no %2, where %3 lies in memory").arg(host, folder, for_whom),
                   QString("Have that machine's administrator mount it (mount -t tmpfs tmpfs %1), or run with log: off").arg(folder));
  }
  const auto memory = sftp.space(folder);
  if (!memory) return;
  if (memory->read_only)
    throw SshError(SshProblem::Kind::files, QString("%1: %2, where %3 lies in memory, is read-only").arg(host, folder, for_whom),
                   QString("Have that machine's administrator change that (mount -o remount,rw %1), or run with log: off").arg(folder));
  if (sftp.try_folder(folder).time_s == 0) {
    throw SshError(SshProblem::Kind::files, QString("%1: no file can be made in %2, where %3 lies in memory").arg(host, folder, for_whom),
                   QString("Have that machine's administrator let everybody write there (chmod 1777 %1), or run with log: off").arg(folder));
  }
  const QString free = QString("%1: %2 are free in %3").arg(host, mib(memory->free_bytes), folder);
  if (memory->free_bytes < staging_bytes_min) {
    throw SshError(SshProblem::Kind::files, QString("%1, %2 are needed for %3").arg(free, mib(staging_bytes_min), for_whom),
                   QString("Remove from it what nobody needs. %1, or run with log: off").arg(advice));
  }
  if (memory->free_bytes >= 2 * staging_bytes_wanted) return;
  little_staging = {SshProblem::Kind::files,
                    QString("%1, where %2 for each of two takes %3: with less, lines may be missing in logs of much traffic")
                        .arg(free, for_whom, mib(staging_bytes_wanted)),
                    QString("Remove from it what nobody needs. %1").arg(advice)};
}

}  // namespace n2nq::app
