// SPDX-License-Identifier: GPL-3.0-or-later
// The folder on a host from which programs are run: nobody but who logs in there, and root, who can do anything, may change what is in it,
// or put another one in its place. Known as far as SFTP tells: not who is in a group, and of what is further up than the folder above the
// host's `folder` nothing.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "app/host/ssh_sftp.h"

namespace n2nq::app {

class ProgramsFolder {
 public:
  /// `folder`/bin, which is made where it is not there. Throws where others may write to it, to `folder`, or to what that is in, and where
  /// a link stands in its place. (`folder` may be a link.)
  ProgramsFolder(SshLink& link, Sftp& sftp, const QString& folder);

  const QString& path() const { return path_; }
  /// Throws where one of the two belongs to somebody else. `user`: who is logged in there; none: that host does not say.
  void check_owner(const SshLink& link, std::optional<quint32> user) const;
  /// Whether what belongs to that one, and nobody else may write to, is as good as the user's own.
  static bool may_own(std::optional<quint32> owner, std::optional<quint32> user);
  /// Throws where somebody else may have put what is to stay in the place of what this program has made in `within`, a folder in `folder`.
  /// In a sticky one they cannot, where that is the user's, whose number it returns (none: that host does not say).
  static std::optional<quint32> check_that_it_is_safe(SshLink& link, Sftp& sftp, const QString& folder, const QString& within);
  /// Throws what is to be done where nothing can be put into it as `name`, because it is root's.
  void check_that_it_is_no_roots(const SshLink& link, const QString& name) const;

 private:
  void look_at(SshLink& link, const QString& path, const SftpEntry& entry);

  const QString path_;
  bool roots_ = false;
  std::vector<std::pair<QString, std::optional<quint32>>> owners_;
};

}  // namespace n2nq::app
