// SPDX-License-Identifier: GPL-3.0-or-later
// What is done with files on a host, in steps that each take a fraction of a second, so that several can go on in turns and one can be
// given up. On the thread of a session for files; what goes wrong is thrown as SshError.
#pragma once

#include <QCryptographicHash>
#include <QFile>
#include <QString>
#include <QStringList>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "app/host/brief_file.h"
#include "app/host/needed_there.h"
#include "app/host/ssh_sftp.h"

namespace n2nq::app {

/// Told from time to time, on the thread of the session.
using FileProgress = std::function<void(qint64 done_bytes, qint64 all_bytes)>;

class SshTask {
 public:
  virtual ~SshTask() = default;
  /// False: done.
  virtual bool go_on(SshLink& link) = 0;
};

/// How much of a file one step takes: what goes in about a second. A long way costs its round trip for each, a slow one is to show that it
/// gets on, and others have their turn in between.
class StepBytes {
 public:
  qint64 next() const { return next_; }
  /// `bytes` took so long: fewer than next() say something only where they took too long.
  void note(qint64 bytes, std::chrono::steady_clock::duration took) {
    constexpr qint64 least = 32 << 10, most = 1 << 20;
    if (took >= std::chrono::seconds(1)) {
      next_ = std::max(next_ / 2, least);
    } else if (bytes >= next_) {
      next_ = std::min(next_ * 2, most);
    }
  }

 private:
  qint64 next_ = 128 << 10;
};

/// Puts a program into `folder`/bin under a name that carries its SHA-256, unless one of that name and size is there that may be run:
/// written beside, read back, renamed. So whatever has that name was whole once, however the last attempt ended. (ssh_put_program.cpp)
class PutProgram : public SshTask {
 public:
  enum class If { not_there, damaged };    // damaged: what is there is not what its name says
  enum class Room { for_logs, as_it_is };  // what there has to be beside the program
  /// While it is read back nothing is written, and to another bench it would look as if a cut link had left it.
  static constexpr std::chrono::seconds touch_every_max{brief_file_s_max / 5};
  /// `progress`: of what has to be sent; when it is, again and again while it is read back.
  PutProgram(QString local_file, QString folder, If when = If::not_there, Room room = Room::for_logs, FileProgress progress = {},
             std::chrono::milliseconds touch_every = touch_every_max);
  bool go_on(SshLink& link) override;
  /// On any thread: what is there of it by half goes with the next step, which is the last one.
  void give_up() { given_up_.store(true); }
  bool is_given_up() const { return given_up_.load(); }
  /// The program there, once it is done.
  const QString& path() const { return path_; }
  /// Of the file here; its SHA-256 in hex.
  qint64 size() const { return size_; }
  QByteArray sha256() const { return hash_.toHex(); }
  /// Whether it had to be.
  bool sent() const { return sent_ > 0; }
  /// When it had changed there, in seconds of some clock, and what that is set to now: who finds that again next time finds the same file.
  qint64 changed_s() const { return changed_s_; }
  qint64 touched_s() const { return touched_s_; }

 private:
  bool begin(SshLink& link);
  qint64 send_piece(SshLink& link);
  bool read_back(SshLink& link, qint64& bytes_read);
  void put_in_place(SshLink& link);
  void clear_up(SshLink& link, const SshError& error);
  void sweep_parts(Sftp& sftp);
  void take_away(SshLink& link);

  QFile local_;
  const QString folder_;
  const If when_;
  const Room room_;
  const FileProgress progress_;
  const std::chrono::milliseconds touch_every_;
  std::atomic<bool> given_up_ = false;
  QString program_, path_, part_;
  std::optional<BriefFile> part_name_;
  QByteArray hash_;
  qint64 size_ = 0, sent_ = 0, changed_s_ = 0, touched_s_ = 0;
  StepBytes step_bytes_;
  std::unique_ptr<SftpFile> writing_, reading_;
  QCryptographicHash hash_there_{QCryptographicHash::Sha256};
  quint64 read_ = 0;
  std::chrono::steady_clock::time_point touched_at_;  // or written to
};

/// Of each program below `folder`/bin the last two versions stay: those in use first, then what was last touched. What was touched within
/// the last just_put_s, by the clock there, stays too: another bench is about to start it. What links that were cut have left there goes.
/// (ssh_put_program.cpp)
class SweepVersions : public SshTask {
 public:
  static constexpr std::size_t versions_max = 2;
  static constexpr qint64 just_put_s = 15;

  /// `in_use`: paths as PutProgram gives them.
  SweepVersions(const QString& folder, QStringList in_use) : folder_(folder), bin_(folder + "/bin"), in_use_(std::move(in_use)) {}
  bool go_on(SshLink& link) override;

 private:
  void list(Sftp& sftp);

  const QString folder_, bin_;
  const QStringList in_use_;
  bool listed_ = false;
  QStringList going_;
};

/// SHA-256 of a file there, which it reads: for hosts that cannot say it themselves. (ssh_put_program.cpp)
class HashFile : public SshTask {
 public:
  /// `size`: of the file that it should be; what is longer is not read to its end.
  HashFile(QString remote, qint64 size) : remote_(std::move(remote)), size_(static_cast<quint64>(size)) {}
  bool go_on(SshLink& link) override;
  /// In hex, once it is done; of a file that is not there, is too long or cannot be read, that of nothing.
  QByteArray sha256() const { return hash_.result().toHex(); }

 private:
  const QString remote_;
  const quint64 size_;
  QCryptographicHash hash_{QCryptographicHash::Sha256};
  std::unique_ptr<SftpFile> file_;
  quint64 at_ = 0;
};

/// Sets the time of a file or folder there to now, by the clock there, which a file in `folder` tells. What is not there is no error.
class TouchFile : public SshTask {
 public:
  TouchFile(QString remote, QString folder) : remote_(std::move(remote)), folder_(std::move(folder)) {}
  bool go_on(SshLink& link) override {
    // Where runs are kept what is left of a cut is swept; before the first of them there is no such folder.
    if (Sftp sftp(link); sftp.touch(remote_, folder_ + "/runs").time_s == 0) sftp.touch(remote_, folder_);
    return false;
  }

 private:
  const QString remote_, folder_;
};

/// Fails with `missing` where a run's folder is not there that was made, or else not even the one that it would have been made in: their disk
/// is not mounted yet. (ssh_fetch.cpp)
class FindRunFolder : public SshTask {
 public:
  FindRunFolder(QString remote, bool is_made) : remote_(std::move(remote)), is_made_(is_made) {}
  bool go_on(SshLink& link) override;

 private:
  const QString remote_;
  const bool is_made_;
};

/// Makes a run's folder, and in it an empty file whose name says which process writes there. (ssh_run_folders.cpp)
class MakeRunFolder : public SshTask {
 public:
  /// One that is none of a run's: SweepRunFolders leaves a folder with it alone.
  static constexpr const char* kept_name = ".kept";

  /// `keep`: nobody sweeps it, whatever becomes of this bench.
  MakeRunFolder(QString folder, int pid, bool keep) : folder_(std::move(folder)), pid_(pid), keep_(keep) {}
  bool go_on(SshLink& link) override;
  /// Whether a file in a run's folder is one of these.
  static bool is_mark(const QString& name);

 private:
  const QString folder_;
  const int pid_;
  const bool keep_;
};

/// Removes what benches that were killed have left below `folder`/runs: run folders in which nothing has changed for kept_s, by the clock
/// there, and whose process is gone; and, likewise, the staging files of groups that were killed with them. Benches that are at work there,
/// of this machine or another, are not disturbed, but for what another one needs that slept for so long. (ssh_run_folders.cpp)
class SweepRunFolders : public SshTask {
 public:
  static constexpr qint64 kept_s = 24 * 3600;

  /// `needed`: stays, however old.
  SweepRunFolders(const QString& folder, NeededThere needed)
      : folder_(folder), runs_(folder + "/runs"), needed_(std::move(needed)) {}
  bool go_on(SshLink& link) override;
  /// Whether a file is what a killed group had not written to its logs yet.
  static bool is_staging(const QString& name);

 private:
  void look_around(Sftp& sftp);
  struct RunFolder {
    QString path;
    std::optional<quint32> owner;
  };
  /// Behind look_around().
  bool is_old_brief(const SftpEntry& file) const;
  void list(Sftp& sftp);
  void check(SshLink& link, Sftp& sftp);
  void look_into(Sftp& sftp, const RunFolder& folder);
  void remove_some(Sftp& sftp);
  void list_staging(Sftp& sftp);

  struct StagingFile {
    QString path, pid;  // of the group that it was
  };

  const QString folder_, runs_;
  const NeededThere needed_;
  bool listed_ = false, listed_staging_ = false, looked_around_ = false, sees_processes_ = false;
  qint64 now_s_ = 0;
  bool checked_ = false;          // whether anything may be removed there, and of whom
  std::optional<quint32> user_;   // who is logged in there, then; none: that host does not say
  QStringList brief_;             // files that go
  std::deque<RunFolder> waiting_;  // folders that are old enough
  RunFolder removing_;             // the one that goes, with `files_` still in it
  std::deque<QString> files_;
  std::size_t removed_ = 0;          // folders that are gone
  std::deque<StagingFile> staging_;  // those that are old enough
};

/// Copies what a file there has more than the one here. Goes on where an earlier copy ended, if what is here is what is there; where that
/// is shorter, and else the same, what is here stays as it is. (ssh_fetch.cpp)
class FetchFile {
 public:
  FetchFile(QString remote, QString local) : remote_(std::move(remote)), local_(std::move(local)) {}
  /// False: all that is there now is here. `done`: bytes that are here. `step_bytes` learns, of one file for the next.
  bool go_on(SshLink& link, StepBytes& step_bytes, qint64& done);
  /// Of the one there, before what the last go_on() read.
  quint64 size_there() const { return size_there_; }
  /// Behind that: it was found, and is being read, or was read to its end.
  bool is_open() const { return file_ != nullptr; }
  /// It is there, and the host does not let it be read.
  bool unreadable() const { return unreadable_; }
  const QString& remote() const { return remote_; }

 private:
  bool open(SshLink& link);
  void line_up(SshLink& link, quint64 size_there);
  const QString remote_;
  bool unreadable_ = false;
  QFile local_;
  std::unique_ptr<SftpFile> file_;
  quint64 size_there_ = 0;
  std::optional<quint64> shorter_there_;  // bytes there, while more are here
};

/// Until it is given up: looks for more each time.
class FollowFile : public SshTask {
 public:
  FollowFile(QString remote, QString local) : file_(std::move(remote), std::move(local)) {}
  bool go_on(SshLink& link) override;

 private:
  FetchFile file_;
  StepBytes step_bytes_;
};

/// All logs of a folder there into one here, and then away there with what was brought. One that goes on growing is fetched so far, and stays.
/// Fails with `missing` also where the folder goes away meanwhile, with its disk.
class BringFolder : public SshTask {
 public:
  /// `keep`: what was brought stays there, too, and nobody sweeps it. `is_there`: as long as it is true, a folder that is not there is
  /// missing; it becomes true where something is found in it, and false when it is about to be removed. Null, or false: then there was
  /// nothing to bring.
  /// `clears`: false: nothing is removed there.
  BringFolder(QString remote, QString local, FileProgress progress, bool keep = false, std::shared_ptr<std::atomic<bool>> is_there = {},
              bool clears = true);
  bool go_on(SshLink& link) override;
  /// On any thread: every log was brought; what goes on, or has failed, is clearing away there.
  bool all_here() const { return all_here_; }

 private:
  bool take_step(SshLink& link);
  void look_for_folder(SshLink& link) const;
  void list(SshLink& link);
  bool fetch_some(SshLink& link);
  bool goes_on_growing(qint64 done);
  bool end_with(SshLink& link);
  void begin_clearing(SshLink& link);
  void clear_some(SshLink& link);
  void tell_what_stays(const SshLink& link) const;
  void mark_as_kept(SshLink& link, const QString& file) const;
  void remove_folder(SshLink& link);
  [[noreturn]] void fail_by(const SshLink& link, const QStringList& names, const QString& what, const QString& what_to_do) const;
  const QString remote_, local_;
  FileProgress progress_;
  const bool keep_;
  const std::shared_ptr<std::atomic<bool>> is_there_;
  const bool clears_;
  bool listed_ = false;
  std::atomic<bool> all_here_ = false;
  std::deque<SftpEntry> waiting_;
  QStringList names_;  // of all that is fetched
  QStringList unreadable_;
  QStringList growing_;  // when they were fetched
  QStringList marks_;  // of processes
  QStringList strange_;
  bool is_kept_ = false;  // as MakeRunFolder marks that
  bool clearing_ = false, folder_goes_ = false;
  QStringList going_;         // files that are removed there
  qsizetype gone_ = 0;        // of those
  int refused_ = 0;           // why the first of those that stay could not be removed, as SFTP's code
  std::unique_ptr<FetchFile> now_;
  std::chrono::steady_clock::time_point begun_at_;  // with this one
  std::optional<qint64> last_target_;               // how long it was when it should not grow any more
  StepBytes step_bytes_;
  qint64 before_bytes_ = 0, all_bytes_ = 0;
};

}  // namespace n2nq::app
