// SPDX-License-Identifier: GPL-3.0-or-later
//   a public key:    its kind, and what the kind needs:                                                  "ssh-ed25519", 32 bytes
//   a certificate:   its kind, a random number, what the kind needs, and what is certified of whom by whom:
//   "ssh-ed25519-cert-v01@openssh.com", …
// each of it a length of four bytes and as many bytes (PROTOCOL.certkeys of OpenSSH). libssh's own comparison knows no certificates.
#include "app/host/ssh_identity.h"

#include <QFile>
#include <QFileInfo>
#include <QtEndian>
#include <algorithm>

namespace n2nq::app {

namespace {

const QString public_suffix = ".pub", certificate_suffix = "-cert.pub";
const QByteArray certificate_kind_suffix = "-cert-v01@openssh.com";
constexpr qint64 certificate_bytes_max = 64 << 10, private_key_bytes_max = 64 << 10;

/// The first string of it; what is behind remains. Empty: it is not whole.
QByteArray take_string(QByteArray& from) {
  if (from.size() < 4) return {};
  const quint32 length = qFromBigEndian<quint32>(from.constData());
  if (length > static_cast<quint32>(from.size()) - 4) return {};
  const QByteArray taken = from.mid(4, static_cast<qsizetype>(length));
  from.remove(0, 4 + static_cast<qsizetype>(length));
  return taken;
}

QByteArray kind_of(QByteArray blob) {
  return take_string(blob);
}

bool certifies(QByteArray certificate, QByteArray key) {
  const QByteArray kind = take_string(key);
  if (kind.isEmpty() || take_string(certificate) != kind + certificate_kind_suffix) return false;
  take_string(certificate);
  return !key.isEmpty() && certificate.startsWith(key);
}

SshPublicKey read_public(const QString& file) {
  if (!QFileInfo(file).isFile()) return {};  // a pipe would be waited for without end
  ssh_key raw = nullptr;
  if (ssh_pki_import_pubkey_file(file.toLocal8Bit().constData(), &raw) != SSH_OK) return {};
  return SshPublicKey::of_private(SshKeyHandle(raw));
}

/// "ssh-ed25519-cert-v01@openssh.com AAAA… comment".
SshCertificate read_certificate(const QString& file) {
  QFile text(file);
  if (!QFileInfo(file).isFile() || !text.open(QIODevice::ReadOnly)) return {};
  return {file, SshPublicKey::of(QByteArray::fromBase64(text.read(certificate_bytes_max).simplified().split(' ').value(1)))};
}

/// From the head of the file (openssh/PROTOCOL.key), before its passphrase is known.
QString read_cipher(const QString& file) {
  QFile text(file);
  if (!QFileInfo(file).isFile() || !text.open(QIODevice::ReadOnly)) return {};
  const QByteArray pem = text.read(private_key_bytes_max), head = "-----BEGIN OPENSSH PRIVATE KEY-----";
  const qsizetype begin = pem.indexOf(head);
  if (begin < 0) return {};
  const qsizetype from = begin + head.size();
  QByteArray key = QByteArray::fromBase64(pem.mid(from, pem.indexOf("-----END", from) - from));
  const QByteArray magic("openssh-key-v1", 15);  // with its 0
  if (!key.startsWith(magic)) return {};
  key.remove(0, magic.size());
  return QString::fromLatin1(take_string(key));
}

}  // namespace

SshPublicKey SshPublicKey::of(const QByteArray& blob) {
  const ssh_keytypes_e type = ssh_key_type_from_name(kind_of(blob).constData());
  ssh_key raw = nullptr;
  if (type == SSH_KEYTYPE_UNKNOWN || ssh_pki_import_pubkey_base64(blob.toBase64().constData(), type, &raw) != SSH_OK)
    return {blob, nullptr};
  return {blob, SshKeyHandle(raw)};
}

SshPublicKey SshPublicKey::of_private(const SshKeyHandle& key) {
  char* raw = nullptr;
  if (!key || ssh_pki_export_pubkey_base64(key.get(), &raw) != SSH_OK) return {};
  const SshText text(raw);
  return of(QByteArray::fromBase64(text.get()));
}

QByteArray SshPublicKey::kind() const {
  return kind_of(blob);
}

bool SshPublicKey::is_certificate() const {
  return kind().endsWith(certificate_kind_suffix);
}

bool SshPublicKey::is_same_key(const SshPublicKey& other) const {
  return !blob.isEmpty() && (blob == other.blob || certifies(blob, other.blob) || certifies(other.blob, blob));
}

SshIdentity SshIdentity::of(const QString& file, const QStringList& certificate_files) {
  SshIdentity out;
  out.file = file;
  out.half = read_public(file + public_suffix);
  if (!out.half.key) out.half = read_public(file);  // a public key itself, or a private one that tells its other half
  out.cipher = read_cipher(file);
  const QString stem = file.endsWith(public_suffix) ? file.chopped(public_suffix.size()) : file;
  QStringList candidates = {stem + certificate_suffix};
  candidates += certificate_files;
  candidates.removeDuplicates();
  for (const QString& candidate : candidates) {
    SshCertificate certificate = read_certificate(candidate);
    if (!certificate.shown.key || !certificate.shown.is_certificate()) continue;
    if (!out.half.key || certificate.shown.is_same_key(out.half)) out.certificates.push_back(std::move(certificate));
  }
  return out;
}

bool SshIdentity::is_for(const SshPublicKey& other) const {
  return half.is_same_key(other) ||
         std::any_of(certificates.begin(), certificates.end(), [&](const SshCertificate& each) { return each.shown.is_same_key(other); });
}

bool SshIdentity::can_be_opened() const {
  return cipher.isEmpty() || cipher.endsWith("-ctr") || cipher.endsWith("-cbc");
}

}  // namespace n2nq::app
