// SPDX-License-Identifier: GPL-3.0-or-later
// A process on this machine: a child of the bench, in a process group of its own, which does not outlive the bench.
#pragma once

#include <QProcess>
#include <memory>

#include "app/host/launcher.h"
#include "app/host/line_tail.h"

namespace n2nq::app {

class LocalLauncher : public Launcher {
  Q_OBJECT
 public:
  /// `folder`: where the programs are. `data_address`: where other hosts reach this one; empty: nowhere, loopback is for this one alone.
  explicit LocalLauncher(QString folder, QString data_address = {});
  /// Kills what still runs.
  ~LocalLauncher() override;

  QString data_address() const override;
  QString folder_there(const QString& local_folder) const override;
  void put_file(const QString& program) override;
  void start(const QString& program) override;
  void write(const QByteArray& bytes) override;
  void terminate() override;
  void kill() override;
  void pause() override;
  void resume() override;
  void bring_back(const QString& local_folder) override;
  void touch(const QString& path) override;

 private:
  void on_error(QProcess::ProcessError error);
  void on_finished(int code, QProcess::ExitStatus status);
  void send(int signal);
  bool watch_over_pause();
  void end_watch();

  QString folder_, data_address_;
  LineTail stderr_tail_{stderr_lines_max, stderr_line_chars_max};
  std::unique_ptr<QProcess> process_ = std::make_unique<QProcess>();
  std::unique_ptr<QProcess> watch_;  // while it is paused
};

class LocalLauncherFactory : public LauncherFactory {
 public:
  /// The programs stand beside the running executable, unless a folder is given.
  explicit LocalLauncherFactory(const QString& folder = {});
  MakeLauncher launchers_of(const QString& host) override;
  /// The given folder, or the one of the running executable.
  static QString folder_or_own(const QString& folder);

 private:
  QString folder_;
};

}  // namespace n2nq::app
