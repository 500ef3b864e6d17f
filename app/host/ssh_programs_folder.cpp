// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_programs_folder.h"

namespace n2nq::app {

namespace {

constexpr quint32 root = 0;

[[noreturn]] void refuse(const SshLink& link, const QString& why, const QString& advice) {
  throw SshError(SshProblem::Kind::files, QString("%1: %2, so nothing is run from it").arg(link.target().name, why), other_folder(advice));
}

/// Whoever may write to it may put another folder in the place of one that is in it, but where it is sticky.
void check_above(const SshLink& link, Sftp& sftp, const QString& folder) {
  const QString path = Sftp::above(folder);
  const auto there = sftp.look_through(path);
  if (!there || !there->anybody_writes || there->is_sticky) return;
  refuse(link, QString("anybody there may put something else in the place of the folder %1, by a right to write to %2").arg(folder, path),
         QString("Take that right to %1 away (chmod o-w, or +t)").arg(path));
}

}  // namespace

ProgramsFolder::ProgramsFolder(SshLink& link, Sftp& sftp, const QString& folder) : path_(folder + "/bin") {
  auto there = sftp.look(path_);
  if (!there || !(there->is_folder || there->is_link)) {
    sftp.make_folder(path_);
    there = sftp.look(path_);
  }
  if (there && there->is_link) refuse(link, QString("%1 is a link").arg(path_), QString("Remove it there"));
  if (there) look_at(link, path_, *there);
  roots_ = there && there->owner == root;
  QString real = folder;
  auto around = sftp.look(folder);
  if (around && around->is_link) {
    owners_.emplace_back(folder, around->owner);
    check_above(link, sftp, folder);
    real = sftp.real_path(folder);
    around = sftp.look(real);
  }
  if (around) look_at(link, real, *around);
  check_above(link, sftp, real);
}

void ProgramsFolder::look_at(SshLink& link, const QString& path, const SftpEntry& entry) {
  if (entry.others_write()) {
    refuse(link, QString("%1 there may change what is in the folder %2").arg(entry.anybody_writes ? "anybody" : "a group", path),
           QString("Take that right away (chmod %1)").arg(entry.anybody_writes ? "go-w" : "g-w"));
  }
  owners_.emplace_back(path, entry.owner);
}

void ProgramsFolder::check_owner(const SshLink& link, std::optional<quint32> user) const {
  for (const auto& [path, owner] : owners_) {
    if (may_own(owner, user)) continue;
    refuse(link,
           QString("%1 belongs to another user there (number %2, and the one of the log-in is %3)")
               .arg(path, QString::number(*owner), QString::number(*user)),
           QString("Remove it there, or give it another name"));
  }
}

bool ProgramsFolder::may_own(std::optional<quint32> owner, std::optional<quint32> user) {
  return !user || !owner || owner == user || owner == root;
}

std::optional<quint32> ProgramsFolder::check_that_it_is_safe(SshLink& link, Sftp& sftp, const QString& folder, const QString& within) {
  ProgramsFolder programs(link, sftp, folder);
  const SftpTrial made = sftp.try_folder(programs.path());
  const auto home = made.time_s == 0 ? sftp.look(".") : std::nullopt;
  const std::optional<quint32> user = home ? home->owner : made.owner;
  const auto there = sftp.look_through(within);
  if (there && !(there->is_sticky && user)) programs.look_at(link, within, *there);
  programs.check_owner(link, user);
  return user;
}

void ProgramsFolder::check_that_it_is_no_roots(const SshLink& link, const QString& name) const {
  if (!roots_) return;
  throw SshError(SshProblem::Kind::files,
                 QString("%1: %2 belongs to root there, and %3 is not in it, or not as it is to be").arg(link.target().name, path_, name),
                 other_folder("Let root put that program there under this name, for all to read and run (mode 755), or remove the folder"));
}

}  // namespace n2nq::app
