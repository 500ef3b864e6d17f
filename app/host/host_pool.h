// SPDX-License-Identifier: GPL-3.0-or-later
// The lab machines that are in use: one LabHost for each, shared by who launches, checks and fetches. Lives on one thread, never blocks it.
#pragma once

#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/host/host.h"
#include "app/host/lab_host.h"
#include "app/host/needed_there.h"
#include "app/host/open_questions.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_launcher.h"

namespace n2nq::app {

class HostPool : public QObject {
  Q_OBJECT
 public:
  using SleptMs = std::function<qint64()>;
  /// `questions` lives longer. `programs_folder`: where the programs that are put on hosts are; empty: beside the running executable.
  /// `slept_ms`: for how long this machine has slept until now; empty: as its clocks say.
  explicit HostPool(SshQuestions& questions, QString programs_folder = {}, QObject* parent = nullptr, SleptMs slept_ms = {});

  /// Its connections are shared, as long as it is the same, ~/.ssh/config, which is read each time, says the same of it and of the jump
  /// hosts on the way there, and this machine has not slept: it does not know yet what was lost meanwhile.
  std::shared_ptr<LabHost> host(const Host& host);
  /// Who asks for a host from now on gets new connections, logged in anew; who has one keeps it.
  void connect_anew();
  std::unique_ptr<Launcher> launcher(const Host& host, SshLauncher::Reached reached = SshLauncher::Reached::by_other_hosts);
  /// What the connections ask of the person, and whether they wait for it.
  const OpenQuestions& questions() const { return questions_; }
  const QString& programs_folder() const { return programs_folder_; }
  /// ~/.ssh/config, read anew when the event loop comes round: however many hosts are asked for at a time, once for all of them.
  const SshConfig& ssh_config();
  using Way = std::vector<SshHostConfig>;  // of jump hosts, the nearest to the target first
  /// To who is reached through `jumps`, as ~/.ssh/config says now, the jump hosts of jump hosts included.
  Way way_of(QStringList jumps);

 private:
  struct Known {
    std::shared_ptr<LabHost> lab;
    Way way;
  };
  struct Hop {
    std::shared_ptr<SshSession> session;
    Way way;
  };

  std::shared_ptr<SshSession> hop(const QStringList& jumps, SshUse use, bool patient);
  std::shared_ptr<SshSession> hop(const QStringList& jumps, const Way& way, SshUse use, bool patient);

  OpenQuestions questions_;
  QString programs_folder_;
  const SleptMs slept_ms_;
  qint64 slept_ms_seen_;
  std::shared_ptr<SshSecrets> secrets_ = std::make_shared<SshSecrets>();
  const std::shared_ptr<NeededThere> needed_ = std::make_shared<NeededThere>();  // also when its connections are made anew
  std::map<std::string, Known> hosts_;  // by name
  std::map<QString, Hop> hops_;         // by jumps and use
  std::optional<SshConfig> ssh_config_;
};

}  // namespace n2nq::app
