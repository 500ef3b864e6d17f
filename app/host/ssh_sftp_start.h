// SPDX-License-Identifier: GPL-3.0-or-later
// The start of SFTP on a connection, whatever login scripts say before it.
//
// Where `Subsystem sftp` of sshd_config names a program, as Debian's does, sshd begins it through the user's shell, which reads .bashrc: what
// that writes comes before the server's first packet, which libssh takes for damage, or waits for what never comes (a first line that is
// empty reads as a packet of 160 MiB). Here it is taken away before libssh sees it.
#pragma once

#include <libssh/sftp.h>

#include <QString>
#include <cstddef>
#include <string_view>

namespace n2nq::app {

/// How many bytes of `came` are no part of the server's first packet: SSH_FXP_VERSION of version 1 to 6, behind its length
/// (draft-ietf-secsh-filexfer-02, sections 3 and 4). A beginning of that packet at the end is kept; text has no zero bytes, so is never one.
std::size_t noise_before_sftp(std::string_view came);

/// Null: could not be begun; `why` says what libssh tells of it, and `said` what was said instead, fit for a terminal. Blocks.
sftp_session start_sftp(ssh_session session, QString& why, QString& said);

}  // namespace n2nq::app
