// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/run_folder.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "app/control/run_control.h"
#include "app/settings/new_folder.h"
#include "app/settings/settings_file.h"
#include "app/settings/whole_file.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

QString RunFolder::default_parent() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + "/n2nq/runs";
}

QString RunFolder::name_for(const Settings& settings, const QDateTime& now) {
  return QString("%1-%2-%3x%4")
      .arg(now.toString("yyyy-MM-ddTHH-mm-ss"), QString::fromStdString(value_text(settings, "queue.mode")))
      .arg(settings.senders.amount)
      .arg(settings.receivers.amount);
}

std::optional<RunFolder> RunFolder::make(const QString& parent, const QString& exact, const Settings& settings, const QDateTime& now,
                                         QString& error) {
  const QString path = exact.isEmpty() ? make_own_folder(QDir(parent).absolutePath(), name_for(settings, now), error)
                                       : make_exact_folder(exact, "so that no other run's files are mixed in", error);
  if (path.isEmpty()) return {};
  RunFolder folder(path);
  for (const Role role : {Role::senders, Role::receivers}) {
    if (!QDir().mkpath(folder.part(role))) return error = "Cannot make the folder " + folder.part(role), std::nullopt;
  }
  error = folder.write_settings(settings);
  if (!error.isEmpty()) return {};
  return folder;
}

QString RunFolder::name() const {
  return QFileInfo(path_).fileName();
}

QString RunFolder::part(Role role) const {
  switch (role) {
    case Role::senders:
      return file("senders");
    case Role::receivers:
      return file("receivers");
    case Role::broker:
      break;
  }
  return path_;
}

QString RunFolder::log_path(Role role, int number) const {
  if (role == Role::broker) return broker_log();
  const std::string name = measure::service_name(role == Role::senders ? 'S' : 'R', static_cast<std::uint32_t>(number));
  return part(role) + '/' + QString::fromStdString(name) + ".log";
}

QString RunFolder::write_settings(const Settings& settings) const {
  return write_whole(file("settings.yaml"), QByteArray::fromStdString(settings_yaml(settings)));
}

}  // namespace n2nq::app
