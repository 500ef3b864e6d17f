// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_standby.h"

#include <QRegularExpression>

#include "app/host/ssh_room.h"

namespace n2nq::app {

namespace {

/// The paths come over stdin. Who has read the file back has removed it, and who has fetched the logs their folder, and not what that was in.
/// With no room there the file stays where it is, and its copy takes none.
const QByteArray command =
    "exec /bin/sh -c 'cd; read -r file && read -r folder || exit 1; while timeout 13 /bin/sh -c \"read -r still\"; do :; done; "
    "[ -f \"$file\" ] || exit 0; mv -f \"$file\" \"$folder/\" || { rm -f \"$folder/${file##*/}\"; [ -d \"$folder\" ] || "
    "{ [ -d \"${folder%/*}\" ] && rm -f \"$file\"; }; }'";

}  // namespace

SshStandby::SshStandby(SshSession& session, const QString& file, const QString& folder) : exec_(session, command) {
  static const QRegularExpression safe("\\A[A-Za-z0-9._/-]+\\z");
  const QString in_memory = QString(staging_folder_there) + '/';
  const bool is_staging = file.startsWith(in_memory) && file.count('/') == in_memory.count('/');
  if (!is_staging || !safe.match(file).hasMatch() || !safe.match(folder).hasMatch()) {
    exec_.end_stdin();
    return;
  }
  exec_.write(file.toLatin1() + '\n' + folder.toLatin1() + '\n');
  constexpr int still_every_ms = 2000;
  still_timer_.setInterval(still_every_ms);
  connect(&still_timer_, &QTimer::timeout, &exec_, [this] { exec_.write("\n"); });
  still_timer_.start();
}

}  // namespace n2nq::app
