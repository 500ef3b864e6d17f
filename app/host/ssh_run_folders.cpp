// SPDX-License-Identifier: GPL-3.0-or-later
// Folders of runs on a host. A bench that ends in order brings their files back and removes them; one that was killed leaves them, and the
// next one to connect sweeps them, a day later: until then a person can get at the logs. With them goes what groups that were killed, too,
// had not written to these logs yet.
#include <QRandomGenerator>
#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "app/host/ssh_programs_folder.h"
#include "app/host/ssh_room.h"
#include "app/host/ssh_tasks.h"

namespace n2nq::app {

namespace {

const QString mark_prefix = ".process-";
// Of one sweep; the next connection goes on.
constexpr std::size_t folders_max = 100;  // that are removed
constexpr std::size_t looked_into_max = 1000;  // each costs a few round trips, also one that stays
constexpr std::size_t staging_max = 100;       // likewise
constexpr std::size_t files_per_step = 20;
constexpr quint64 command_line_bytes = 4096;

/// As SshLauncher::folder_there() makes them: nothing else is touched.
bool is_run_folder(const SftpEntry& entry) {
  static const QRegularExpression name("-[0-9a-f]{12}\\z");
  return entry.is_folder && name.match(entry.name).hasMatch();
}

bool is_of_a_run(const SftpEntry& entry) {
  return entry.is_file && (!entry.name.startsWith('.') || MakeRunFolder::is_mark(entry.name));
}

/// Any of them that lie together: the first ones may all have to stay, and would keep each sweep from the others.
template <typename Queue>
void keep_some(Queue& queue, std::size_t max) {
  if (queue.size() <= max) return;
  std::rotate(queue.begin(), queue.begin() + QRandomGenerator::global()->bounded(static_cast<int>(queue.size())), queue.end());
  queue.resize(max);
}

/// Whether a program of ours, from whichever folder, runs under this number, which may be somebody else's by now.
bool runs(Sftp& sftp, const QString& pid) {
  try {
    const auto file = sftp.open_to_read("/proc/" + pid + "/cmdline");
    return file && file->read_at(0, command_line_bytes).contains("/n2nq-");
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
    return true;  // that is not known
  }
}

/// As Recorder makes them; captures the process's number.
const QRegularExpression& staging_name() {
  static const QRegularExpression name("\\An2nq-(?:senders|receivers)-([0-9]{1,10})-[0-9]+\\.staging\\z");
  return name;
}

}  // namespace

bool SweepRunFolders::is_staging(const QString& name) {
  return staging_name().match(name).hasMatch();
}

bool MakeRunFolder::is_mark(const QString& name) {
  static const QRegularExpression mark("\\A" + QRegularExpression::escape(mark_prefix) + "[0-9]{1,10}\\z");
  return mark.match(name).hasMatch();
}

bool MakeRunFolder::go_on(SshLink& link) {
  Sftp sftp(link);
  sftp.make_folder(folder_);
  const QString mark = folder_ + '/' + mark_prefix + QString::number(pid_);
  if (!sftp.look(mark)) sftp.make_file(mark);
  const QString kept = folder_ + '/' + kept_name;
  if (keep_ && !sftp.look(kept)) sftp.make_file(kept);
  return false;
}

bool SweepRunFolders::go_on(SshLink& link) {
  Sftp sftp(link);
  if (!std::exchange(listed_, true)) {
    list(sftp);
  } else if ((!removing_.path.isEmpty() || !brief_.isEmpty()) && !std::exchange(checked_, true)) {
    check(link, sftp);
  } else if (!removing_.path.isEmpty()) {
    remove_some(sftp);
  } else if (!brief_.isEmpty()) {
    for (const QString& file : std::exchange(brief_, {})) sftp.remove_file(file);
  } else if (!std::exchange(listed_staging_, true)) {
    list_staging(sftp);
  } else if (!staging_.empty()) {
    if (!runs(sftp, staging_.front().pid)) sftp.remove_file(staging_.front().path);
    staging_.pop_front();
  } else if (!waiting_.empty()) {
    look_into(sftp, waiting_.front());
    waiting_.pop_front();
  }
  return !waiting_.empty() || !removing_.path.isEmpty() || !brief_.isEmpty() || !listed_staging_ || !staging_.empty();
}

/// Once, and only where there is something to judge by it.
void SweepRunFolders::look_around(Sftp& sftp) {
  if (std::exchange(looked_around_, true)) return;
  now_s_ = sftp.time_there_s(runs_);
  sees_processes_ = sftp.look("/proc/self").has_value();
}

/// Nothing is removed before.
void SweepRunFolders::check(SshLink& link, Sftp& sftp) {
  try {
    user_ = ProgramsFolder::check_that_it_is_safe(link, sftp, folder_, runs_);
    return;
  } catch (const SshError& error) {
    if (error.problem.kind != SshProblem::Kind::files) throw;
  }
  waiting_.clear();
  brief_.clear();
  removing_ = {};
  files_.clear();
}

bool SweepRunFolders::is_old_brief(const SftpEntry& file) const {
  return BriefFile::is_left_over(file.name) || now_s_ - file.changed_s > brief_file_s_max;
}

void SweepRunFolders::list(Sftp& sftp) {
  std::vector<SftpEntry> folders = sftp.list(runs_);
  std::erase_if(folders, [](const SftpEntry& entry) { return !is_run_folder(entry) && !(entry.is_file && BriefFile::is_one(entry.name)); });
  if (folders.empty()) return;
  look_around(sftp);
  std::sort(folders.begin(), folders.end(), [](const SftpEntry& a, const SftpEntry& b) { return a.name < b.name; });
  for (const SftpEntry& entry : folders) {
    if (entry.is_folder) {
      const QString folder = runs_ + '/' + entry.name;
      if (now_s_ - entry.changed_s > kept_s && !needed_.has_folder(folder)) waiting_.push_back({folder, entry.owner});
    } else if (is_old_brief(entry)) {
      brief_ += runs_ + '/' + entry.name;
    }
  }
  keep_some(waiting_, looked_into_max);
}

void SweepRunFolders::look_into(Sftp& sftp, const RunFolder& folder) {
  const std::vector<SftpEntry> entries = sftp.list(folder.path);
  for (const SftpEntry& entry : entries) {
    if (!is_of_a_run(entry) || now_s_ - entry.changed_s <= kept_s) return;
    if (MakeRunFolder::is_mark(entry.name) && (!sees_processes_ || runs(sftp, entry.name.mid(mark_prefix.size())))) return;
  }
  const auto is_mark = [](const SftpEntry& entry) { return MakeRunFolder::is_mark(entry.name); };
  // A name can be anybody's; the mark is there before a process hears of its folder, and so before there is anything else in it.
  if (!entries.empty() && std::none_of(entries.begin(), entries.end(), is_mark)) return;
  removing_ = folder;
  for (const bool marks : {false, true}) {  // last, so that what a cut leaves is swept the next time
    for (const SftpEntry& entry : entries) {
      if (is_mark(entry) == marks) files_.push_back(folder.path + '/' + entry.name);
    }
  }
}

void SweepRunFolders::remove_some(Sftp& sftp) {
  // Where all may make folders others may have made it, or put another one in its place.
  if (user_ && removing_.owner && removing_.owner != user_) {
    files_.clear();
    removing_ = {};
    return;
  }
  for (std::size_t i = 0; i < files_per_step && !files_.empty(); ++i) {
    sftp.remove_file(files_.front());
    files_.pop_front();
  }
  if (!files_.empty()) return;
  sftp.remove_folder(removing_.path);
  if (!sftp.look(removing_.path) && ++removed_ == folders_max) waiting_.clear();
  removing_ = {};
}

/// A group that lives touches its own, and so does a bench that may start a killed one again; one that stands still has its process. What
/// is another user's stays there: its folder lets nobody else remove it.
void SweepRunFolders::list_staging(Sftp& sftp) {
  for (const SftpEntry& entry : sftp.list(staging_folder_there)) {
    const QString path = QString(staging_folder_there) + '/' + entry.name;
    if (entry.is_file && BriefFile::is_one(entry.name)) {  // of a check
      look_around(sftp);
      if (is_old_brief(entry)) sftp.remove_file(path);
      continue;
    }
    const auto found = staging_name().match(entry.name);
    if (!entry.is_file || !found.hasMatch()) continue;
    look_around(sftp);
    if (!sees_processes_) return;
    const QString pid = found.captured(1);
    if (now_s_ - entry.changed_s <= kept_s || needed_.has_process(pid.toInt())) continue;
    staging_.push_back({path, pid});
  }
  keep_some(staging_, staging_max);
}

}  // namespace n2nq::app
