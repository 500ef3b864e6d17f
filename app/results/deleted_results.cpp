// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/deleted_results.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUuid>
#include <cerrno>

#include "app/results/folder_lock.h"
#include "app/results/result_index.h"

namespace n2nq::app {

namespace {

constexpr int same_name_max = 1000;
const QString deleted = QStringLiteral("/.deleted"), forgotten = QStringLiteral("/.forgotten");
const char* const slash_in_deleted = "⁄";

bool is_held(const QString& lock_file) {
  const QFileInfo lock(lock_file);
  if (!lock.exists()) return false;
  // Taken only where nothing else tells: a bench that begins in that moment would be refused. One that found no room to say who it is, or
  // whose file may not be read, works there all the same.
  const bool is_told = lock.isReadable() && lock.size() > 0;
  // Where the file system has no locks nobody can hold one.
  return FolderLock::holder(lock_file) != 0 || (!is_told && !FolderLock::take(lock_file) && (errno == EWOULDBLOCK || errno == EACCES));
}

/// Why nothing in this folder may be moved now; empty: it may.
QString in_use(const QString& folder) {
  QString test_case = folder;
  if (!QFileInfo::exists(test_case + "/case.yaml")) test_case = QFileInfo(QFileInfo(folder).path()).path();
  if (is_held(test_case + "/case.lock"))
    return QString("A bench works on the test case %1: pause or stop it first").arg(QFileInfo(test_case).fileName());
  if (is_held(folder + "/run.lock")) return QString("A bench is making the run %1: stop it first").arg(QFileInfo(folder).fileName());
  return {};
}

/// Links are deleted, and not followed.
void delete_folder(const QString& folder, const std::atomic<bool>& cancelled) {
  constexpr auto everything = QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot;
  for (const QFileInfo& info : QDir(folder).entryInfoList(everything, QDir::NoSort)) {
    if (cancelled) return;
    if (info.isDir() && !info.isSymLink()) {
      delete_folder(info.filePath(), cancelled);
    } else {
      QFile::remove(info.filePath());
    }
  }
  QDir().rmdir(folder);
}

}  // namespace

QString DeletedResults::place_of_deleted(const QString& folder) const {
  return folder_ + deleted + '/' + folder.mid(folder_.size() + 1).replace('/', QString::fromUtf8(slash_in_deleted));
}

QString DeletedResults::remove(const QString& folder) {
  if (!folder.startsWith(folder_ + '/') || folder.contains("/../"))
    return QString("%1 is not below %2: it is not deleted").arg(folder, folder_);
  if (const QString why = in_use(folder); !why.isEmpty()) return why;
  const QString to = place_of_deleted(folder);
  if (!QDir().mkpath(folder_ + deleted) || QFileInfo::exists(to) || !QDir().rename(folder, to))
    return QString("Cannot move %1 to %2").arg(folder, to);
  return {};
}

QString DeletedResults::restore(const QString& folder) {
  if (QFileInfo::exists(folder)) return QString("%1 is there again: what was deleted stays in %2").arg(folder, place_of_deleted(folder));
  if (!QDir().rename(place_of_deleted(folder), folder)) return QString("Cannot move %1 back to %2").arg(place_of_deleted(folder), folder);
  return {};
}

bool DeletedResults::can_be_restored(const QString& folder) const {
  return QFileInfo::exists(place_of_deleted(folder));
}

/// False: some of it is still where it was.
bool DeletedResults::put_back_what_is_in_nobodys_place() const {
  bool all = true;
  for (const QFileInfo& info : QDir(folder_ + deleted).entryInfoList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot, QDir::NoSort)) {
    const QString place = folder_ + '/' + info.fileName().replace(QString::fromUtf8(slash_in_deleted), "/");
    if (!QFileInfo::exists(place) || holds_a_result(place)) continue;  // free, or a result is there that was made since
    bool back = false;
    for (int i = 2; !back && i <= same_name_max; ++i) {
      const QString beside = QString("%1-%2").arg(place, QString::number(i));
      back = !QFileInfo::exists(beside) && QDir().rename(info.filePath(), beside);
    }
    all = all && back;
  }
  return all;
}

void DeletedResults::forget() {
  if (!QFileInfo::exists(folder_ + deleted) || !put_back_what_is_in_nobodys_place()) return;
  if (!QDir().mkpath(folder_ + forgotten)) return;
  QDir().rename(folder_ + deleted, folder_ + forgotten + '/' + QUuid::createUuid().toString(QUuid::WithoutBraces));
}

void DeletedResults::delete_forgotten(const std::atomic<bool>& cancelled) const {
  delete_folder(folder_ + forgotten, cancelled);
}

}  // namespace n2nq::app
