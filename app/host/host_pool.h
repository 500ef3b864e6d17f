// SPDX-License-Identifier: GPL-3.0-or-later
// The lab machines that are in use: one LabHost for each, shared by who launches, checks and fetches. Lives on one thread, never blocks it.
#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <string>

#include "app/host/host.h"
#include "app/host/lab_host.h"
#include "app/host/open_questions.h"
#include "app/host/ssh_launcher.h"

namespace n2nq::app {

class HostPool : public QObject {
  Q_OBJECT
 public:
  /// `questions` lives longer. `programs_folder`: where the programs that are put on hosts are; empty: beside the running executable.
  explicit HostPool(SshQuestions& questions, QString programs_folder = {}, QObject* parent = nullptr);

  /// Its connections are shared, as long as it is the same and ~/.ssh/config, which is read each time, says the same of it.
  std::shared_ptr<LabHost> host(const Host& host);
  /// Who asks for a host from now on gets new connections, logged in anew; who has one keeps it.
  void connect_anew();
  std::unique_ptr<Launcher> launcher(const Host& host, SshLauncher::Reached reached = SshLauncher::Reached::by_other_hosts);
  /// What the connections ask of the person, and whether they wait for it.
  const OpenQuestions& questions() const { return questions_; }
  const QString& programs_folder() const { return programs_folder_; }

 private:
  std::shared_ptr<SshSession> hop(const QStringList& jumps, SshUse use, QStringList behind = {});

  OpenQuestions questions_;
  QString programs_folder_;
  std::shared_ptr<SshSecrets> secrets_ = std::make_shared<SshSecrets>();
  std::map<std::string, std::shared_ptr<LabHost>> hosts_;  // by name
  std::map<QString, std::shared_ptr<SshSession>> hops_;    // by jumps and use
};

}  // namespace n2nq::app
