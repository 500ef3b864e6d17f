// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "app/host/ssh_programs_folder.h"
#include "app/host/ssh_room.h"
#include "app/host/ssh_tasks.h"

namespace n2nq::app {

namespace {

constexpr qint64 piece_bytes = 256 << 10;  // of what is only read
constexpr qint64 program_bytes_max = 256 << 20;

}  // namespace

PutProgram::PutProgram(QString local_file, QString folder, If when, Room room, FileProgress progress, std::chrono::milliseconds touch_every)
    : local_(std::move(local_file)),
      folder_(std::move(folder)),
      when_(when),
      room_(room),
      progress_(std::move(progress)),
      touch_every_(touch_every) {
  program_ = QFileInfo(local_.fileName()).fileName();
}

bool PutProgram::go_on(SshLink& link) {
  if (is_given_up()) return take_away(link), false;
  if (part_.isEmpty()) return begin(link);
  const auto began = SshShared::Clock::now();
  qint64 bytes = 0;
  if (sent_ < size_) {
    bytes = send_piece(link);
  } else if (!read_back(link, bytes)) {
    put_in_place(link);
    return false;
  }
  step_bytes_.note(bytes, SshShared::Clock::now() - began);
  return true;
}

bool PutProgram::begin(SshLink& link) {
  if (!local_.open(QIODevice::ReadOnly) || local_.size() > program_bytes_max) {
    throw SshError(SshProblem::Kind::program, QString("%1 cannot be read: %2").arg(local_.fileName(), local_.errorString()),
                   "Build it, or put it beside n2nq-bench");
  }
  QCryptographicHash hash(QCryptographicHash::Sha256);
  hash.addData(&local_);
  hash_ = hash.result();
  size_ = local_.size();
  local_.seek(0);
  Sftp sftp(link);
  const ProgramsFolder programs(link, sftp, folder_);
  const QString& bin = programs.path();
  path_ = bin + '/' + program_ + '-' + QString::fromLatin1(hash_.toHex());
  const auto there = sftp.look(path_);
  const bool is_whole = there && there->is_file && there->runs && there->size == static_cast<quint64>(size_);
  if (is_whole && !there->others_write() && when_ == If::not_there) {
    if (room_ == Room::for_logs) check_room_for_logs(link, sftp, folder_);
    const SftpTrial made = sftp.touch(path_);
    const auto home = made.time_s == 0 ? sftp.look(".") : std::nullopt;
    const std::optional<quint32> user = home ? home->owner : made.owner;
    programs.check_owner(link, user);
    if (ProgramsFolder::may_own(there->owner, user)) {
      changed_s_ = there->changed_s;
      touched_s_ = made.time_s > 0 ? made.time_s : changed_s_;  // nothing can be made or touched in a folder of root's
      return false;
    }
  }
  // It was whole once: a disk there has lost some of it, or somebody its right to be run, or it is somebody else's, who may change it.
  if (there) sftp.remove_file(path_);
  sweep_parts(sftp);
  check_room(link, sftp, bin, ssh_spare_bytes + static_cast<quint64>(size_), program_);
  if (room_ == Room::for_logs) check_room_for_logs(link, sftp, folder_);
  part_name_.emplace(BriefFile::Kind::part, '-' + program_);
  part_ = bin + '/' + part_name_->name();
  try {
    writing_ = sftp.make_file(part_);
  } catch (const SshError& error) {
    if (error.problem.kind == SshProblem::Kind::files) programs.check_that_it_is_no_roots(link, path_.section('/', -1));
    throw;
  }
  try {
    programs.check_owner(link, writing_->owner());
  } catch (const SshError&) {
    writing_.reset();
    sftp.remove_file(part_);
    throw;
  }
  if (progress_) progress_(0, size_);  // on a slow link the first piece takes its time, too
  return true;
}

/// How many bytes that were.
qint64 PutProgram::send_piece(SshLink& link) {
  const QByteArray bytes = local_.read(step_bytes_.next());
  if (bytes.isEmpty()) {
    throw SshError(SshProblem::Kind::program, QString("%1 changed while it was sent").arg(local_.fileName()),
                   "Is it being built or copied here? Try again when that is over");
  }
  try {
    writing_->write(bytes);
  } catch (const SshError& error) {
    clear_up(link, error);
    throw;
  }
  sent_ += bytes.size();
  if (progress_) progress_(sent_, size_);
  return bytes.size();
}

/// What was not written is of no use. Throws what it was for, where that is known.
void PutProgram::clear_up(SshLink& link, const SshError& error) {
  if (error.problem.kind != SshProblem::Kind::files) return;
  writing_.reset();
  reading_.reset();
  Sftp sftp(link);
  const auto space = sftp.space(folder_ + "/bin");
  sftp.remove_file(part_);
  if (space && space->free_bytes < ssh_spare_bytes) {
    throw SshError(SshProblem::Kind::files,
                   QString("%1: the disk became full after %2 of %3 of %4")
                       .arg(link.target().name, mib(static_cast<quint64>(sent_)), mib(static_cast<quint64>(size_)), program_),
                   other_folder("Make room there"));
  }
}

void PutProgram::take_away(SshLink& link) {
  writing_.reset();
  reading_.reset();
  if (!part_.isEmpty()) Sftp(link).remove_file(part_);
}

/// Whether that is to go on. `bytes_read`: in this step.
bool PutProgram::read_back(SshLink& link, qint64& bytes_read) {
  try {
    if (writing_) {
      writing_->sync();
      writing_.reset();  // before it is run: what is open for writing cannot be
      reading_ = Sftp(link).open_to_read(part_);
      touched_at_ = SshShared::Clock::now();
    }
    if (SshShared::Clock::now() - touched_at_ >= touch_every_) {
      Sftp(link).touch(part_);
      touched_at_ = SshShared::Clock::now();
    }
    const QByteArray bytes = reading_ ? reading_->read_at(read_, static_cast<quint64>(step_bytes_.next())) : QByteArray();
    hash_there_.addData(bytes);
    bytes_read = bytes.size();
    read_ += static_cast<quint64>(bytes_read);
    if (progress_) progress_(sent_, size_);  // it gets on
    if (!bytes.isEmpty() && read_ <= static_cast<quint64>(size_)) return true;
    reading_.reset();
    if (hash_there_.result() == hash_) return false;
    throw SshError(SshProblem::Kind::files, QString("%1: %2 is not there as it was sent").arg(link.target().name, program_),
                   "Try again; if it stays so, look at the disk there");
  } catch (const SshError& error) {
    clear_up(link, error);
    throw;
  }
}

void PutProgram::put_in_place(SshLink& link) {
  try {
    Sftp sftp(link);
    sftp.make_executable(part_);
    // Another bench may have been faster; what has that name is the same.
    if (!sftp.rename(part_, path_)) sftp.remove_file(part_);
    touched_s_ = sftp.touch(path_).time_s;
  } catch (const SshError& error) {
    clear_up(link, error);
    throw;
  }
}

/// What uploads that were cut have left, of this bench, of those of this machine that are gone, and old ones. Whose clock is right does not
/// matter.
void PutProgram::sweep_parts(Sftp& sftp) {
  const QString bin = folder_ + "/bin";
  qint64 newest_s = 0;
  const auto entries = sftp.list(bin);
  for (const SftpEntry& entry : entries) newest_s = std::max(newest_s, entry.changed_s);
  for (const SftpEntry& entry : entries) {
    if (!entry.is_file || !BriefFile::is_one(entry.name) || BriefFile::is_in_use(entry.name)) continue;
    if (BriefFile::is_left_over(entry.name) || newest_s - entry.changed_s > brief_file_s_max) sftp.remove_file(bin + '/' + entry.name);
  }
}

bool SweepVersions::go_on(SshLink& link) {
  Sftp sftp(link);
  if (!std::exchange(listed_, true)) {
    list(sftp);
    return !going_.isEmpty();
  }
  ProgramsFolder::check_that_it_is_safe(link, sftp, folder_, bin_);
  for (const QString& name : going_) sftp.remove_file(bin_ + '/' + name);
  return false;
}

void SweepVersions::list(Sftp& sftp) {
  static const QRegularExpression version("\\A(n2nq-[a-z]+)-[0-9a-f]{64}\\z");
  std::map<QString, std::vector<SftpEntry>> programs;
  std::vector<SftpEntry> brief;
  for (const SftpEntry& entry : sftp.list(bin_)) {
    if (!entry.is_file) continue;
    const auto name = version.match(entry.name);
    if (name.hasMatch()) programs[name.captured(1)].push_back(entry);
    if (BriefFile::is_left_over(entry.name)) going_ += entry.name;
    else if (BriefFile::is_one(entry.name) && !BriefFile::is_in_use(entry.name)) brief.push_back(entry);
  }
  const qint64 now_s = sftp.time_there_s(bin_);
  if (now_s == 0) return;  // what another bench has just put cannot be told from the rest
  for (const SftpEntry& entry : brief) {
    if (std::abs(now_s - entry.changed_s) > brief_file_s_max) going_ += entry.name;
  }
  const auto in_use = [this](const SftpEntry& entry) { return in_use_.contains(bin_ + '/' + entry.name); };
  for (auto& [program, entries] : programs) {
    std::sort(entries.begin(), entries.end(),
              [&](const SftpEntry& a, const SftpEntry& b) { return in_use(a) != in_use(b) ? in_use(a) : a.changed_s > b.changed_s; });
    for (std::size_t i = versions_max; i < entries.size(); ++i) {
      if (std::abs(now_s - entries[i].changed_s) > just_put_s) going_ += entries[i].name;
    }
  }
}

bool HashFile::go_on(SshLink& link) {
  try {
    if (!file_) file_ = Sftp(link).open_to_read(remote_);
    const QByteArray bytes = file_ ? file_->read_at(at_, piece_bytes) : QByteArray();
    hash_.addData(bytes);
    at_ += static_cast<quint64>(bytes.size());
    if (at_ > size_) {
      hash_.reset();
    } else if (!bytes.isEmpty()) {
      return true;
    }
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    hash_.reset();  // what cannot be read is not what was put
  }
  file_.reset();  // on the thread that opened it
  return false;
}

}  // namespace n2nq::app
