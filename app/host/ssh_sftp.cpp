// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_sftp.h"

#include <fcntl.h>
#include <sys/time.h>

#include <QLocale>
#include <algorithm>

#include "app/host/brief_file.h"
#include "app/host/ssh_room.h"
#include "app/host/ssh_sftp_writes.h"

namespace n2nq::app {

namespace {

constexpr std::uint32_t read_piece_bytes = 32 << 10;  // what every server answers in one piece
constexpr quint64 reads_under_way = 32;
constexpr std::size_t list_max = 100'000;
constexpr mode_t folder_mode = 0700, file_mode = 0600, program_mode = 0700, others_write = 0002, group_write = 0020, sticky = 01000;

struct AttributesFree {
  void operator()(sftp_attributes attributes) const { sftp_attributes_free(attributes); }
};
using Attributes = std::unique_ptr<sftp_attributes_struct, AttributesFree>;

struct SpaceFree {
  void operator()(sftp_statvfs_t space) const { sftp_statvfs_free(space); }
};

struct DirectoryFree {
  void operator()(sftp_dir directory) const { sftp_closedir(directory); }
};

std::optional<quint32> owner_of(const sftp_attributes_struct& attributes) {
  return (attributes.flags & SSH_FILEXFER_ATTR_UIDGID) != 0 ? std::optional(attributes.uid) : std::nullopt;
}

SftpEntry entry_of(const sftp_attributes_struct& attributes, const QString& name) {
  const std::optional<quint32> owner = owner_of(attributes);
  return {.name = name,
          .size = attributes.size,
          .changed_s = static_cast<qint64>(attributes.mtime),
          .is_file = attributes.type == SSH_FILEXFER_TYPE_REGULAR,
          .is_folder = attributes.type == SSH_FILEXFER_TYPE_DIRECTORY,
          .is_link = attributes.type == SSH_FILEXFER_TYPE_SYMLINK,
          .runs = (attributes.permissions & program_mode) == program_mode,
          .anybody_writes = (attributes.permissions & others_write) != 0,
          .group_writes = (attributes.permissions & group_write) != 0,
          .is_sticky = (attributes.permissions & sticky) != 0,
          .owner = owner,
          .group = owner ? std::optional(attributes.gid) : std::nullopt};
}

void begin_call(SshLink& link, const QString& path, int limit_ms, Takes takes = Takes::other_time) {
  link.shared().begin_step(
      limit_ms,
      {SshProblem::Kind::silent,
       QString("%1 did not answer for %2 s at %3").arg(link.target().name).arg(limit_ms / 1000.0, 0, 'g', 2).arg(path),
       advice_in_hurry("Does the disk there answer? A network drive that is away holds SFTP up", limit_ms, sftp_call_ms_max)},
      takes);
}

void begin(SshLink& link, const QString& path) {
  link.shared().check();
  begin_call(link, path, link.shared().step_ms(sftp_call_ms_max), Takes::host_time);
}

/// What moves bytes has all of its time: a link may be slow, and a start waits for it as long as it gets on.
void begin_moving(SshLink& link, const QString& path) {
  link.shared().check();
  begin_call(link, path, sftp_call_ms_max);
}

}  // namespace

void Sftp::fail(SshLink& link, const QString& doing, const QString& path) {
  fail(link, doing, path, sftp_get_error(link.sftp()));
}

void Sftp::fail(SshLink& link, const QString& doing, const QString& path, int code, const QString& else_do) {
  link.shared().check();
  if (!ssh_is_connected(link.session())) link.throw_lost(doing + ' ' + path);
  const QString host = link.target().name;
  switch (code) {
    case SSH_FX_PERMISSION_DENIED:
    case SSH_FX_WRITE_PROTECT:
      throw SshError(SshProblem::Kind::files, QString("%1: %2 %3 is not permitted").arg(host, doing, path),
                     other_folder("Give its user the right to write there"));
    case SSH_FX_NO_SUCH_FILE:
    case SSH_FX_NO_SUCH_PATH:
      throw SshError(SshProblem::Kind::files, QString("%1: %2 %3 failed: it is not there").arg(host, doing, path),
                     else_do.isEmpty() ? "Does something there remove files meanwhile? Look, and try again." : else_do);
    default:
      throw SshError(SshProblem::Kind::files, QString("%1: %2 %3 failed").arg(host, doing, path),
                     QString("Is the disk there full, or its quota, or the file system read-only? " + else_do).trimmed());
  }
}

Sftp::Sftp(SshLink& link) : link_(link) {
  link.shared().check();
  const int limit_ms = link.shared().step_ms(sftp_call_ms_max);
  link.shared().begin_step(
      limit_ms,
      {SshProblem::Kind::silent,
       QString("%1 did not answer for %2 s when SFTP was begun").arg(link.target().name).arg(limit_ms / 1000.0, 0, 'g', 2),
       advice_in_hurry("Does sftp get in there by hand? Look at Subsystem sftp in its sshd_config", limit_ms, sftp_call_ms_max)},
      Takes::host_time);
  sftp_ = link.sftp();
  link.shared().end_step();
}

QString Sftp::above(const QString& path) {
  const qsizetype end = path.lastIndexOf('/');
  return end > 0 ? path.left(end) : end == 0 ? QString("/") : QString(".");
}

std::optional<SftpEntry> Sftp::look(const QString& path) {
  return entry_at(path, sftp_lstat);  // not what a link points to: nothing here makes links
}

std::optional<SftpEntry> Sftp::look_through(const QString& path) {
  return entry_at(path, sftp_stat);
}

QString Sftp::real_path(const QString& path) {
  begin(link_, path);
  const std::unique_ptr<char, decltype(&ssh_string_free_char)> real(sftp_canonicalize_path(sftp_, path.toUtf8().constData()),
                                                                    ssh_string_free_char);
  if (!real) fail(link_, "looking at", path);
  return QString::fromUtf8(real.get());
}

std::optional<SftpEntry> Sftp::entry_at(const QString& path, sftp_attributes (*ask)(sftp_session, const char*)) {
  begin(link_, path);
  const Attributes found(ask(sftp_, path.toUtf8().constData()));
  if (found) return entry_of(*found, path);
  if (is_not_there()) return {};
  fail(link_, "looking at", path);
}

/// Whether that was the answer: behind a connection that is lost libssh keeps the one before.
bool Sftp::is_not_there() {
  link_.shared().check();
  const int error = sftp_get_error(sftp_);
  return ssh_is_connected(link_.session()) && (error == SSH_FX_NO_SUCH_FILE || error == SSH_FX_NO_SUCH_PATH);
}

std::vector<SftpEntry> Sftp::list(const QString& folder) {
  begin(link_, folder);
  const std::unique_ptr<sftp_dir_struct, DirectoryFree> directory(sftp_opendir(sftp_, folder.toUtf8().constData()));
  if (!directory) {
    if (is_not_there()) return {};
    fail(link_, "listing", folder);
  }
  std::vector<SftpEntry> out;
  for (std::size_t entries = 0;; ++entries) {
    begin(link_, folder);
    const Attributes entry(sftp_readdir(sftp_, directory.get()));
    if (!entry) break;
    // Whatever they are called: a server may say "." for ever.
    if (entries == list_max + 2) {
      throw SshError(SshProblem::Kind::files,
                     QString("%1: %2 has more than %3 entries").arg(link_.target().name, folder, QLocale(QLocale::English).toString(quint64{list_max})),
                     "Look there what they are, and remove some");
    }
    const QString name = QString::fromUtf8(entry->name);
    if (name != "." && name != "..") out.push_back(entry_of(*entry, name));
  }
  if (!sftp_dir_eof(directory.get())) fail(link_, "listing", folder);
  return out;
}

void Sftp::make_folder(const QString& path) {
  begin(link_, path);
  if (sftp_mkdir(sftp_, path.toUtf8().constData(), folder_mode) == SSH_OK) return;  // all but the last are there: the usual case
  for (qsizetype end = path.indexOf('/', 1);; end = path.indexOf('/', end + 1)) {
    const QString part = end < 0 ? path : path.left(end);
    if (!part.isEmpty() && part != ".") {
      begin(link_, part);
      const Attributes there(sftp_stat(sftp_, part.toUtf8().constData()));
      if (there && there->type != SSH_FILEXFER_TYPE_DIRECTORY) {
        throw SshError(SshProblem::Kind::files, QString("%1: %2 is there, and is no folder").arg(link_.target().name, part),
                       other_folder("Move it away there"));
      }
      if (!there && sftp_mkdir(sftp_, part.toUtf8().constData(), folder_mode) != SSH_OK) {
        const int code = sftp_get_error(sftp_);
        // Somebody else may have made it in between.
        if (!Attributes(sftp_stat(sftp_, part.toUtf8().constData()))) {
          fail_if_dangling(part);
          fail_to_make(part, code);
        }
      }
    }
    if (end < 0) return;
  }
}

void Sftp::fail_if_dangling(const QString& path) {
  begin(link_, path);
  const Attributes itself(sftp_lstat(sftp_, path.toUtf8().constData()));
  if (!itself || itself->type != SSH_FILEXFER_TYPE_SYMLINK) return;
  throw SshError(SshProblem::Kind::files, QString("%1: %2 is a link that leads nowhere").arg(link_.target().name, path),
                 other_folder("Make there what it leads to"));
}

/// A read-only file system has no error of its own in SFTP, nor has a full one.
void Sftp::fail_to_make(const QString& folder, int code) {
  const auto there = space(above(folder));
  const QString host = link_.target().name;
  if (code != SSH_FX_PERMISSION_DENIED && there && there->read_only) {
    throw SshError(SshProblem::Kind::files, QString("%1: the folder %2 would be on a read-only file system").arg(host, folder),
                   other_folder());
  }
  if (code != SSH_FX_PERMISSION_DENIED && there && there->free_bytes < ssh_spare_bytes) {
    throw SshError(SshProblem::Kind::files,
                   QString("%1: the disk is full: %2 are free where the folder %3 would be").arg(host, mib(there->free_bytes), folder),
                   other_folder("Make room there"));
  }
  // What it would be in is there. Of any failure libssh says that: it looks then whether the folder is there, and keeps what that says.
  const bool missing = code == SSH_FX_NO_SUCH_FILE || code == SSH_FX_NO_SUCH_PATH;
  fail(link_, "making the folder", folder, missing ? SSH_FX_FAILURE : code, other_folder());
}

std::optional<SftpSpace> Sftp::space(const QString& folder) {
  if (!sftp_extension_supported(sftp_, "statvfs@openssh.com", "2")) return {};
  begin(link_, folder);
  const std::unique_ptr<sftp_statvfs_struct, SpaceFree> found(sftp_statvfs(sftp_, folder.toUtf8().constData()));
  if (!found) {
    const int error = sftp_get_error(sftp_);
    const bool not_made_yet = error == SSH_FX_NO_SUCH_FILE || error == SSH_FX_NO_SUCH_PATH;
    return not_made_yet && folder != "." && folder != "/" ? space(above(folder)) : std::nullopt;
  }
  // A file system without a limit of its own (tmpfs with size=0, ramfs) says 0 of everything.
  const bool read_only = (found->f_flag & SSH_FXE_STATVFS_ST_RDONLY) != 0;
  if (found->f_blocks == 0 && !read_only) return {};
  return SftpSpace{found->f_bavail * found->f_frsize, read_only};
}

std::unique_ptr<SftpFile> Sftp::open_to_read(const QString& path) {
  begin(link_, path);
  sftp_file file = sftp_open(sftp_, path.toUtf8().constData(), O_RDONLY, 0);
  if (file) return std::make_unique<SftpFile>(link_, file, path);
  if (is_not_there()) return nullptr;
  fail(link_, "opening", path);
}

std::unique_ptr<SftpFile> Sftp::make_file(const QString& path) {
  begin(link_, path);
  sftp_file file = sftp_open(sftp_, path.toUtf8().constData(), O_WRONLY | O_CREAT | O_EXCL, file_mode);
  if (!file) fail(link_, "making the file", path, sftp_get_error(sftp_), other_folder());
  return std::make_unique<SftpFile>(link_, file, path);
}

void Sftp::make_executable(const QString& path) {
  begin(link_, path);
  if (sftp_chmod(sftp_, path.toUtf8().constData(), program_mode) != SSH_OK) fail(link_, "making a program of", path);
}

bool Sftp::rename(const QString& from, const QString& to) {
  begin(link_, to);
  if (sftp_rename(sftp_, from.toUtf8().constData(), to.toUtf8().constData()) == SSH_OK) return true;
  if (look(to)) return false;
  fail(link_, "renaming a file to", to);
}

SftpTrial Sftp::touch(const QString& path, const QString& folder) {
  const SftpTrial made = try_folder(folder.isEmpty() ? above(path) : folder);
  begin(link_, path);
  timeval now[2] = {{made.time_s, 0}, {made.time_s, 0}};
  if (made.time_s > 0) sftp_utimes(sftp_, path.toUtf8().constData(), now);
  return made;
}

SftpTrial Sftp::try_folder(const QString& folder) {
  const BriefFile brief(BriefFile::Kind::time_probe);
  const QString probe = folder + '/' + brief.name();
  begin(link_, probe);
  const sftp_file made = sftp_open(sftp_, probe.toUtf8().constData(), O_WRONLY | O_CREAT | O_EXCL, file_mode);
  if (!made) return {};
  const Attributes found(sftp_fstat(made));
  sftp_close(made);
  remove_file(probe);
  return found ? SftpTrial{static_cast<qint64>(found->mtime), owner_of(*found)} : SftpTrial();
}

int Sftp::remove_file(const QString& path) {
  return remove(path, sftp_unlink);
}

int Sftp::remove_folder(const QString& path) {
  return remove(path, sftp_rmdir);
}

int Sftp::remove(const QString& path, int (*ask)(sftp_session, const char*)) {
  begin(link_, path);
  if (ask(sftp_, path.toUtf8().constData()) == SSH_OK || is_not_there()) return SSH_FX_OK;
  return sftp_get_error(sftp_);
}

SftpFile::~SftpFile() {
  if (std::this_thread::get_id() != thread_ || !*handle_) return;
  begin_call(link_, path_, sftp_call_ms_max);  // closing waits for an answer, too
  sftp_close(*handle_);
  link_.shared().end_step();
  *handle_ = nullptr;
}

/// Many pieces are asked for at once, so that a long way costs its round trip once per megabyte.
QByteArray SftpFile::read_at(quint64 offset, quint64 bytes_max) {
  begin_moving(link_, path_);
  if (sftp_seek64(*handle_, offset) != SSH_OK) Sftp::fail(link_, "reading", path_);
  const quint64 pieces = std::min(reads_under_way, (bytes_max + read_piece_bytes - 1) / read_piece_bytes);
  std::vector<int> asked;
  for (quint64 i = 0; i < pieces; ++i) {
    const int id = sftp_async_read_begin(*handle_, read_piece_bytes);
    if (id < 0) Sftp::fail(link_, "reading", path_);
    asked.push_back(id);
  }
  QByteArray out;
  bool whole = true;  // so far: behind a short piece nothing fits
  bool failed = false;
  for (const int id : asked) {
    QByteArray piece(read_piece_bytes, Qt::Uninitialized);
    begin_moving(link_, path_);  // each has its own time: over a slow link the last one comes long after the first
    (*handle_)->eof = 0;  // of an earlier piece; every answer has to be taken, or what is asked next would get it
    const int got = sftp_async_read(*handle_, piece.data(), read_piece_bytes, static_cast<std::uint32_t>(id));
    failed |= got < 0;
    if (whole && got > 0) out.append(piece.constData(), got);
    if (got < static_cast<int>(read_piece_bytes)) whole = false;
  }
  if (failed) Sftp::fail(link_, "reading", path_);
  if (static_cast<quint64>(out.size()) > bytes_max) out.truncate(static_cast<qsizetype>(bytes_max));
  return out;
}

/// Each piece has its own time, for its way there as well.
void SftpFile::write(const QByteArray& bytes) {
  SftpWrites writes(link_, *handle_, [this] { begin_moving(link_, path_); });
  if (const std::uint32_t code = writes.write(bytes); code != SSH_FX_OK) Sftp::fail(link_, "writing", path_, static_cast<int>(code));
}

void SftpFile::sync() {
  begin_moving(link_, path_);
  if (sftp_extension_supported(link_.sftp(), "fsync@openssh.com", "1") && sftp_fsync(*handle_) != SSH_OK)
    Sftp::fail(link_, "writing", path_);
}

std::optional<quint32> SftpFile::owner() {
  begin(link_, path_);
  const Attributes found(sftp_fstat(*handle_));
  if (!found) Sftp::fail(link_, "looking at", path_);
  return owner_of(*found);
}

quint64 SftpFile::size() {
  begin(link_, path_);
  const Attributes found(sftp_fstat(*handle_));
  if (!found) Sftp::fail(link_, "looking at", path_);
  return found->size;
}

}  // namespace n2nq::app
