// SPDX-License-Identifier: GPL-3.0-or-later
// A key as a person names it: by the file of its private half. That half may be behind a passphrase, or in an agent only; what can be known
// without it stands here. Reads files; any thread.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <vector>

#include "app/host/ssh_link.h"

namespace n2nq::app {

/// A public key, perhaps with a certificate, as hosts and agents are told of it.
struct SshPublicKey {
  QByteArray blob;
  SshKeyHandle key;  // null: not known, or of a kind that is not

  static SshPublicKey of(const QByteArray& blob);
  static SshPublicKey of_private(const SshKeyHandle& key);
  /// "ssh-ed25519", also where it is not known; empty: it is none at all.
  QByteArray kind() const;
  bool is_certificate() const;
  /// With or without certificate, which is for one of them at most.
  bool is_same_key(const SshPublicKey& other) const;
};

struct SshCertificate {
  QString file;
  SshPublicKey shown;
};

struct SshIdentity {
  QString file;
  SshPublicKey half;
  std::vector<SshCertificate> certificates;
  QString cipher;  // that its private half is encrypted with, as OpenSSH's own kind of file says; empty: not said

  /// As ssh does: `file`-cert.pub, and those of the other files that are for the same key.
  static SshIdentity of(const QString& file, const QStringList& certificate_files);
  /// Whether the other one is its key, or a certificate for it.
  bool is_for(const SshPublicKey& other) const;
  /// Whether libssh 0.10 can open the private half with its passphrase. With a cipher that authenticates, such as aes256-gcm@openssh.com, it
  /// crashes; ssh-keygen takes these by -Z only.
  bool can_be_opened() const;
};

}  // namespace n2nq::app
