// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/brief_file.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QFile>
#include <QRandomGenerator>
#include <QSysInfo>
#include <mutex>
#include <set>

namespace n2nq::app {

namespace {

const QString part_prefix = ".part-", time_probe_prefix = ".now-";

/// As it stands behind the prefix.
QString this_machine() {
  const QByteArray processes = QFile::symLinkTarget(QStringLiteral("/proc/self/ns/pid")).toUtf8();
  const QByteArray machine =
      QCryptographicHash::hash(QSysInfo::machineUniqueId() + QSysInfo::bootUniqueId() + processes, QCryptographicHash::Sha256);
  return QString::fromLatin1(machine.toHex().left(8)) + '-';
}

/// Names that this process needs; its others were cut off.
class NamesInUse {
 public:
  void add(const QString& name) {
    const std::lock_guard lock(mutex_);
    names_.insert(name);
  }
  void remove(const QString& name) {
    const std::lock_guard lock(mutex_);
    names_.erase(name);
  }
  bool has(const QString& name) {
    const std::lock_guard lock(mutex_);
    return names_.contains(name);
  }

 private:
  std::mutex mutex_;
  std::set<QString> names_;
};
NamesInUse names_in_use;

}  // namespace

BriefFile::BriefFile(Kind kind, const QString& suffix)
    : name_((kind == Kind::part ? part_prefix : time_probe_prefix) + this_machine() + QString::number(::getpid()) + '-' +
            QString::number(QRandomGenerator::system()->generate(), 16) + suffix) {
  names_in_use.add(name_);
}

BriefFile::~BriefFile() {
  names_in_use.remove(name_);
}

bool BriefFile::is_one(const QString& name) {
  return name.startsWith(part_prefix) || name.startsWith(time_probe_prefix);
}

bool BriefFile::is_in_use(const QString& name) {
  return names_in_use.has(name);
}

bool BriefFile::is_left_over(const QString& name) {
  const QString machine = this_machine();
  for (const QString& prefix : {part_prefix, time_probe_prefix}) {
    if (!name.startsWith(prefix + machine)) continue;
    const pid_t pid = name.mid(prefix.size() + machine.size()).section('-', 0, 0).toInt();
    return pid == ::getpid() ? !names_in_use.has(name) : pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
  }
  return false;
}

}  // namespace n2nq::app
