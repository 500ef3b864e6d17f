// SPDX-License-Identifier: GPL-3.0-or-later
// Files on a host, by SFTP, as the thread of a session for files sees them. Every call blocks; what goes wrong is thrown as SshError, with
// the path, the host and what SFTP said. Paths are absolute or begin in the home folder there.
#pragma once

#include <libssh/sftp.h>

#include <QByteArray>
#include <QString>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "app/host/ssh_link.h"

namespace n2nq::app {

struct SftpEntry {
  QString name;
  quint64 size = 0;
  qint64 changed_s = 0;  // of that host's clock, since 1970
  bool is_file = false, is_folder = false, is_link = false;
  bool runs = false;  // its owner may read, write and run it
  bool anybody_writes = false, group_writes = false;
  bool is_sticky = false;  // folders: only its owner may remove or rename what is in it
  std::optional<quint32> owner, group;  // by number; none: that host does not say

  /// Whether somebody else may change it, as far as SFTP tells: not who is in a group. One that has its owner's number is taken for theirs
  /// alone, as useradd makes it.
  bool others_write() const { return anybody_writes || (group_writes && group != owner); }
};

/// What a file tells that is made in a folder and removed again.
struct SftpTrial {
  qint64 time_s = 0;             // by that host's clock, to the second; 0: none can be made there
  std::optional<quint32> owner;  // whose it was: who is logged in there
};

struct SftpSpace {
  quint64 free_bytes = 0;  // for this user
  bool read_only = false;
};

/// May be destroyed on any thread: elsewhere than on the session's it is closed with the connection.
class SftpFile {
 public:
  SftpFile(SshLink& link, sftp_file file, QString path)
      : link_(link), handle_(link.keep(file)), thread_(std::this_thread::get_id()), path_(std::move(path)) {}
  ~SftpFile();
  SftpFile(const SftpFile&) = delete;
  SftpFile& operator=(const SftpFile&) = delete;

  /// At most `bytes_max` from there on; empty: the end of the file, for now.
  QByteArray read_at(quint64 offset, quint64 bytes_max);
  /// Behind what was written before, many pieces at once.
  void write(const QByteArray& bytes);
  /// On the disk there, as far as that host can say.
  void sync();
  quint64 size();
  std::optional<quint32> owner();

 private:
  SshLink& link_;
  std::shared_ptr<sftp_file> handle_;
  const std::thread::id thread_;
  QString path_;
};

class Sftp {
 public:
  /// Opens SFTP on this connection at first.
  explicit Sftp(SshLink& link);

  std::optional<SftpEntry> look(const QString& path);
  /// The same of what links lead to.
  std::optional<SftpEntry> look_through(const QString& path);
  /// Without any links. Of what is there.
  QString real_path(const QString& path);
  /// "." of what is in the home folder there.
  static QString above(const QString& path);
  std::vector<SftpEntry> list(const QString& folder);
  /// With all folders above it, for this user alone.
  void make_folder(const QString& path);
  /// Where the folder is, or will be. None: that host does not say.
  std::optional<SftpSpace> space(const QString& folder);
  /// Null: there is no such file.
  std::unique_ptr<SftpFile> open_to_read(const QString& path);
  /// One that is not there yet.
  std::unique_ptr<SftpFile> make_file(const QString& path);
  void make_executable(const QString& path);
  /// False: there is one of the new name already.
  bool rename(const QString& from, const QString& to);
  /// Which clock is right does not matter there, but all times that are compared have to be of one.
  SftpTrial try_folder(const QString& folder);
  qint64 time_there_s(const QString& folder) { return try_folder(folder).time_s; }
  /// What its time is now, by that host's clock. `folder`: where a file may be made that tells it; empty: the one that it is in.
  SftpTrial touch(const QString& path, const QString& folder = {});
  /// Why it is still there, as SFTP's code; SSH_FX_OK: it is not, also where it never was.
  int remove_file(const QString& path);
  int remove_folder(const QString& path);

  /// `code`: of SFTP. `else_do`: what would help where there is no such path, or the disk is no longer to be written to.
  [[noreturn]] static void fail(SshLink& link, const QString& doing, const QString& path, int code, const QString& else_do = {});
  [[noreturn]] static void fail(SshLink& link, const QString& doing, const QString& path);

 private:
  std::optional<SftpEntry> entry_at(const QString& path, sftp_attributes (*ask)(sftp_session, const char*));
  bool is_not_there();
  int remove(const QString& path, int (*ask)(sftp_session, const char*));
  void fail_if_dangling(const QString& path);
  [[noreturn]] void fail_to_make(const QString& folder, int code);
  SshLink& link_;
  sftp_session sftp_;
};

/// No call blocks for longer.
inline constexpr int sftp_call_ms_max = 8'000;

}  // namespace n2nq::app
