// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

#include "app/host/ssh_tasks.h"
#include "broker/wire/printable.h"

namespace n2nq::app {

namespace {

constexpr qint64 compared_bytes = 4 << 10;
constexpr std::chrono::seconds growing_max(15);  // so long whoever wrote a log may live on, behind a cut link
constexpr qsizetype named_max = 3;
constexpr qsizetype removed_per_step = 20;

/// A host may call its files what it wants; only what processes write there becomes a file here, and none that the bench writes itself.
bool is_log(const QString& name) {
  static const QRegularExpression log("\\A(broker|[SR][0-9]{3,9})\\.log\\z");
  return log.match(name).hasMatch();
}

[[noreturn]] void fail_here(const QFile& file) {
  const QString why = file.error() == QFile::NoError ? QString("only a part of it was taken") : file.errorString();
  throw SshError(SshProblem::Kind::files, QString("%1 cannot be written: %2").arg(file.fileName(), why), "Is there room on the disk here?");
}

/// Half a sentence; empty: not known.
QString why_not_removed(Sftp& sftp, const QString& folder, int code) {
  if (code == SSH_FX_PERMISSION_DENIED || code == SSH_FX_WRITE_PROTECT) return "that is not permitted";
  const auto space = sftp.space(folder);
  return space && space->read_only ? QString("its file system is read-only") : QString();
}

}  // namespace

// The disk here may stand still for a while (a network drive, one that wakes up): before it is used the step with the host ends, whose
// silence that is not.

/// False: it is not there.
bool FetchFile::open(SshLink& link) {
  try {
    file_ = Sftp(link).open_to_read(remote_);
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    unreadable_ = true;
  }
  if (!file_) return false;
  link.shared().end_step();
  if (!local_.open(QIODevice::ReadWrite)) {
    file_.reset();  // whoever follows it tries again
    fail_here(local_);
  }
  line_up(link, file_->size());
  return true;
}

/// What is here is gone on with if it begins as what is there, or the other way round: a host that was restarted may have lost the last
/// lines of a file of which they are here. Else all is fetched anew. The head of a log tells it from one that was begun anew in its place.
void FetchFile::line_up(SshLink& link, quint64 size_there) {
  link.shared().end_step();
  const qint64 here = local_.size(), there = static_cast<qint64>(size_there);
  const qint64 both = std::min(here, there), compared = std::min(both, compared_bytes);
  const auto is_same_at = [&](qint64 at) {
    local_.seek(at);
    const QByteArray bytes_here = local_.read(compared);
    const bool is_same = bytes_here == file_->read_at(static_cast<quint64>(at), static_cast<quint64>(compared));
    link.shared().end_step();
    return is_same;
  };
  const bool same = compared == 0 || (is_same_at(both - compared) && (both == compared || is_same_at(0)));
  if (!same && !local_.resize(0)) fail_here(local_);
  local_.seek(local_.size());
  shorter_there_ = there < local_.size() ? std::optional(size_there) : std::nullopt;
}

bool FetchFile::go_on(SshLink& link, StepBytes& step_bytes, qint64& done) {
  if (!file_ && !open(link)) return false;
  const quint64 size = size_there_ = file_->size();
  const bool is_cut = !shorter_there_ && size < static_cast<quint64>(local_.pos());
  if (is_cut || (shorter_there_ && *shorter_there_ != size)) line_up(link, size);  // it is written on with something else, perhaps
  const auto at = static_cast<quint64>(local_.pos());
  const auto wanted = static_cast<quint64>(step_bytes.next());
  const auto began = SshShared::Clock::now();
  const QByteArray bytes = size > at ? file_->read_at(at, std::min(wanted, size - at)) : QByteArray();
  step_bytes.note(bytes.size(), SshShared::Clock::now() - began);
  link.shared().end_step();
  if (local_.write(bytes) != bytes.size() || !local_.flush()) fail_here(local_);
  done = local_.pos();
  return !bytes.isEmpty();
}

bool FollowFile::go_on(SshLink& link) {
  qint64 done = 0;
  return file_.go_on(link, step_bytes_, done);
}

BringFolder::BringFolder(QString remote, QString local, FileProgress progress, bool keep, std::shared_ptr<std::atomic<bool>> is_there,
                         bool clears)
    : remote_(std::move(remote)),
      local_(std::move(local)),
      progress_(std::move(progress)),
      keep_(keep),
      is_there_(is_there ? std::move(is_there) : std::make_shared<std::atomic<bool>>(false)),
      clears_(clears) {}

bool BringFolder::go_on(SshLink& link) {
  try {
    return take_step(link);
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    now_.reset();  // on the thread that opened it
    look_for_folder(link);
    throw;
  }
}

/// What fails because its disk went away is waited for.
void BringFolder::look_for_folder(SshLink& link) const {
  if (*is_there_) FindRunFolder(remote_, true).go_on(link);
}

bool BringFolder::take_step(SshLink& link) {
  if (!listed_) {
    list(link);
    return true;
  }
  if (!now_) {
    if (waiting_.empty()) return end_with(link);
    const QString name = waiting_.front().name;
    waiting_.pop_front();
    now_ = std::make_unique<FetchFile>(remote_ + '/' + name, local_ + '/' + name);
    begun_at_ = SshShared::Clock::now();
    last_target_.reset();
  }
  return fetch_some(link);
}

bool BringFolder::fetch_some(SshLink& link) {
  qint64 done = 0;
  const bool more = now_->go_on(link, step_bytes_, done);
  if (!now_->is_open()) look_for_folder(link);
  progress_(before_bytes_ + done, std::max(all_bytes_, before_bytes_ + done));
  const bool grows = more && goes_on_growing(done);
  if (more && !grows) return true;
  const QString name = now_->remote().section('/', -1);
  if (now_->unreadable()) {
    unreadable_ += name;
  } else if (grows) {
    growing_ += name;
  } else if (now_->is_open()) {
    names_ += name;
  }  // else somebody has removed it
  before_bytes_ += done;
  now_.reset();
  return true;
}

/// One that is written as fast as it is read would never end. What was there when nobody may write to it any more is fetched, however long that
/// takes.
bool BringFolder::goes_on_growing(qint64 done) {
  if (SshShared::Clock::now() - begun_at_ < growing_max) return false;
  const auto there = static_cast<qint64>(now_->size_there());
  if (!last_target_) last_target_ = there;
  return done >= *last_target_ && there > *last_target_;
}

bool FindRunFolder::go_on(SshLink& link) {
  try {
    if (Sftp(link).look_through(is_made_ ? remote_ : remote_.section('/', 0, -2))) return false;
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;  // what a disk will be mounted over may be closed to its user
  }
  throw SshError(SshProblem::Kind::missing, QString("%1: the folder %2, where the logs are, is not there").arg(link.target().name, remote_),
                 "Is the disk mounted there that it is on, or has somebody removed it?");
}

void BringFolder::list(SshLink& link) {
  listed_ = true;
  look_for_folder(link);
  const std::vector<SftpEntry> entries = Sftp(link).list(remote_);
  if (entries.empty()) {
    look_for_folder(link);  // it may have gone in between
  } else {
    *is_there_ = true;
  }
  for (const SftpEntry& entry : entries) {
    if (entry.is_file && is_log(entry.name)) {
      waiting_.push_back(entry);
      all_bytes_ += static_cast<qint64>(entry.size);
    } else if (entry.is_file && (MakeRunFolder::is_mark(entry.name) || SweepRunFolders::is_staging(entry.name))) {
      marks_ += entry.name;
    } else if (keep_ && entry.is_file && entry.name == MakeRunFolder::kept_name) {
      is_kept_ = true;
    } else {
      strange_ += entry.name;
    }
  }
  std::sort(waiting_.begin(), waiting_.end(), [](const SftpEntry& a, const SftpEntry& b) { return a.name < b.name; });
  link.shared().end_step();
  if (!waiting_.empty() && !QDir().mkpath(local_))
    throw SshError(SshProblem::Kind::files, QString("the folder %1 cannot be made on this machine").arg(local_),
                   "Look whether its disk is full or read-only, and who may write there");
}

/// Behind the last file. False: it is done.
bool BringFolder::end_with(SshLink& link) {
  if (clears_ && !std::exchange(clearing_, true)) begin_clearing(link);
  if (gone_ < going_.size()) return clear_some(link), true;
  if (folder_goes_) remove_folder(link);
  tell_what_stays(link);
  return false;
}

void BringFolder::begin_clearing(SshLink& link) {
  all_here_ = strange_.isEmpty() && unreadable_.isEmpty() && growing_.isEmpty();
  folder_goes_ = all_here_ && (!keep_ || names_.isEmpty());
  const QString kept = MakeRunFolder::kept_name;
  going_ = keep_ ? QStringList() : names_;
  if (keep_ && folder_goes_ && is_kept_) going_ += kept;
  if (keep_ && !folder_goes_ && !is_kept_) mark_as_kept(link, remote_ + '/' + kept);
  if (keep_ || folder_goes_) going_ += marks_;
}

/// Over a slow link all of them take minutes: others have their turn meanwhile, and it can be given up. It is no silence either.
void BringFolder::clear_some(SshLink& link) {
  Sftp sftp(link);
  for (qsizetype i = 0; i < removed_per_step && gone_ < going_.size(); ++i) {
    const int code = sftp.remove_file(remote_ + '/' + going_[gone_++]);
    if (refused_ == SSH_FX_OK) refused_ = code;
  }
  progress_(before_bytes_, std::max(all_bytes_, before_bytes_));
}

void BringFolder::tell_what_stays(const SshLink& link) const {
  if (!unreadable_.isEmpty()) fail_by(link, unreadable_, "of the logs in %1 cannot be read", "Look there who may read them");
  if (!growing_.isEmpty()) fail_by(link, growing_, "of the logs in %1 go on growing", "Look there what writes to them, and end it");
  if (!keep_ && !strange_.isEmpty()) fail_by(link, strange_, "things in %1 are no files of a run", "Look at them there, and remove them");
}

void BringFolder::mark_as_kept(SshLink& link, const QString& file) const {
  try {
    Sftp(link).make_file(file);
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    throw SshError(SshProblem::Kind::files,
                   QString("%1: what is in %2 stays there for a day only, as it cannot be marked: %3")
                       .arg(link.target().name, remote_, error.problem.why),
                   error.problem.what_to_do);
  }
}

void BringFolder::remove_folder(SshLink& link) {
  look_for_folder(link);  // else what was not there was taken for removed
  *is_there_ = false;
  Sftp sftp(link);
  const int code = sftp.remove_folder(remote_);
  if (!sftp.look(remote_)) return;
  QStringList new_there;
  for (const SftpEntry& entry : sftp.list(remote_)) {
    if (!going_.contains(entry.name)) new_there += entry.name;
  }
  all_here_ = new_there.isEmpty();
  if (!all_here_)
    fail_by(link, new_there, "things in %1 were not there when it was listed", "Look at them there, and remove them");
  const QString why = why_not_removed(sftp, remote_, refused_ == SSH_FX_OK ? code : refused_);
  throw SshError(SshProblem::Kind::files,
                 QString("%1: all logs were brought, but the folder %2 could not be removed there%3")
                     .arg(link.target().name, remote_, why.isEmpty() ? QString() : ": " + why),
                 "Remove it there");
}

void BringFolder::fail_by(const SshLink& link, const QStringList& names, const QString& what, const QString& what_to_do) const {
  const QString first = QString::fromStdString(wire::printable(names.mid(0, named_max).join(", ").toStdString()));
  throw SshError(SshProblem::Kind::files,
                 QString("%1: %2 %3 and stay there: %4").arg(link.target().name).arg(names.size()).arg(what.arg(remote_), first),
                 what_to_do);
}

}  // namespace n2nq::app
