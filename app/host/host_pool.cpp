// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_pool.h"

#include <QCoreApplication>
#include <QDir>
#include <algorithm>

namespace n2nq::app {

HostPool::HostPool(SshQuestions& questions, QString programs_folder, QObject* parent)
    : QObject(parent),
      questions_(questions),
      programs_folder_(programs_folder.isEmpty() ? QCoreApplication::applicationDirPath() : std::move(programs_folder)) {}

std::shared_ptr<LabHost> HostPool::host(const Host& host) {
  std::shared_ptr<LabHost>& found = hosts_[host.name];
  SshHostConfig config =
      SshConfig::of_user().look_up(QString::fromStdString(host.ssh_target()), QString::fromStdString(host.user), host.port);
  if (!host.identity_file.empty()) {
    QString file = QString::fromStdString(host.identity_file);
    if (file.startsWith("~/")) file.replace(0, 1, QDir::homePath());
    config.identity_files.prepend(file);
  }
  config.identity_files.removeDuplicates();
  if (found && found->host() == host && found->config() == config) return found;
  found = std::make_shared<LabHost>(host, config, questions_, secrets_,
                                    [this](const QStringList& jumps, SshUse use) { return hop(jumps, use); });
  return found;
}

void HostPool::connect_anew() {
  hosts_.clear();
  hops_.clear();
}

std::unique_ptr<Launcher> HostPool::launcher(const Host& given, SshLauncher::Reached reached) {
  return std::make_unique<SshLauncher>(host(given), programs_folder_, reached);
}

/// The last of the jump hosts, reached through those before it. Control and files have their own, so that neither waits for the other
/// there. `behind`: the jump hosts that are reached through it.
std::shared_ptr<SshSession> HostPool::hop(const QStringList& jumps, SshUse use, QStringList behind) {
  const QString key = jumps.join(',') + (use == SshUse::files ? " files" : " control");
  std::shared_ptr<SshSession>& found = hops_[key];
  if (found && found->state() != SshSession::State::ended) return found;
  const SshDestination last = *SshDestination::parse(jumps.back());
  SshHostConfig config = SshConfig::of_user().look_up(last.name, last.user, last.port);
  // As ssh does: the first of them is reached as its own lines say.
  if (jumps.size() > 1) config.jumps = jumps.mid(0, jumps.size() - 1);
  // "Host *" with a ProxyJump speaks of the jump host, too.
  if (config.jumps.contains(jumps.back())) config.jumps.clear();
  behind += jumps.back();
  const auto is_behind = [&behind](const QString& jump) { return behind.contains(jump); };
  const bool circle = std::any_of(config.jumps.begin(), config.jumps.end(), is_behind);  // the session says so
  found = std::make_shared<SshSession>(last.name, config, SshUse::control, questions_, secrets_,
                                       config.jumps.isEmpty() || circle ? nullptr : hop(config.jumps, use, behind));
  return found;
}

}  // namespace n2nq::app
