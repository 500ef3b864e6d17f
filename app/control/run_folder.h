// SPDX-License-Identifier: GPL-3.0-or-later
// The folder one run leaves: where everything is in it.
//
//   runs/2026-11-20T14-02-11-broadcaster-50x50/
//     settings.yaml                    from the first moment on
//     senders/S001.log … receivers/R001.log …   growing while the run is on
//     broker.log
//     messages.tsv, latency.hgrm       at the end
//     summary.json                     last: a folder without it is a run that did not finish
#pragma once

#include <QDateTime>
#include <QString>
#include <optional>

#include "app/settings/settings.h"

namespace n2nq::app {

enum class Role;

class RunFolder {
 public:
  /// The user's data directory for runs.
  static QString default_parent();
  /// "2026-11-20T14-02-11-broadcaster-50x50".
  static QString name_for(const Settings& settings, const QDateTime& now);

  /// Makes a folder of its own below `parent` (a number is appended where the name is taken), or uses exactly `exact`, which must not
  /// exist or be empty. Empty result: `error` says why.
  static std::optional<RunFolder> make(const QString& parent, const QString& exact, const Settings& settings, const QDateTime& now,
                                       QString& error);

  const QString& path() const { return path_; }
  QString name() const;
  QString file(const QString& name) const { return path_ + '/' + name; }
  /// The part of the folder a process writes into.
  QString part(Role role) const;
  QString log_path(Role role, int number) const;
  QString broker_log() const { return file("broker.log"); }
  /// Empty result: done.
  QString write_settings(const Settings& settings) const;

 private:
  explicit RunFolder(QString path) : path_(std::move(path)) {}
  QString path_;
};

}  // namespace n2nq::app
