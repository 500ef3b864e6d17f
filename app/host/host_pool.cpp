// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_pool.h"

#include <time.h>

#include <QCoreApplication>
#include <QDir>
#include <QTimer>
#include <algorithm>
#include <utility>

namespace n2nq::app {

namespace {

constexpr qint64 sleep_ms_min = 1'000;

/// CLOCK_MONOTONIC stands still meanwhile.
qint64 slept_by_clocks_ms() {
  timespec all{}, awake{};
  ::clock_gettime(CLOCK_BOOTTIME, &all);
  ::clock_gettime(CLOCK_MONOTONIC, &awake);
  return qint64{all.tv_sec - awake.tv_sec} * 1'000 + (all.tv_nsec - awake.tv_nsec) / 1'000'000;
}

}  // namespace

HostPool::HostPool(SshQuestions& questions, QString programs_folder, QObject* parent, SleptMs slept_ms)
    : QObject(parent),
      questions_(questions),
      programs_folder_(programs_folder.isEmpty() ? QCoreApplication::applicationDirPath() : std::move(programs_folder)),
      slept_ms_(slept_ms ? std::move(slept_ms) : slept_by_clocks_ms),
      slept_ms_seen_(slept_ms_()) {}

const SshConfig& HostPool::ssh_config() {
  if (!ssh_config_) {
    ssh_config_ = SshConfig::of_user();
    QTimer::singleShot(0, this, [this] { ssh_config_.reset(); });
  }
  return *ssh_config_;
}

std::shared_ptr<LabHost> HostPool::host(const Host& host) {
  const qint64 slept_ms = slept_ms_();
  if (slept_ms - std::exchange(slept_ms_seen_, slept_ms) >= sleep_ms_min) connect_anew();
  Known& known = hosts_[host.name];
  SshHostConfig config = ssh_config().look_up(QString::fromStdString(host.ssh_target()), QString::fromStdString(host.user), host.port);
  if (!host.identity_file.empty()) {
    QString file = QString::fromStdString(host.identity_file);
    if (file.startsWith("~/")) file.replace(0, 1, QDir::homePath());
    config.identity_files.prepend(file);
  }
  config.identity_files.removeDuplicates();
  Way way = way_of(config.jumps);
  if (known.lab && known.lab->host() == host && known.lab->config() == config && known.way == way) return known.lab;
  known = {std::make_shared<LabHost>(host, config, questions_, secrets_, needed_,
                                     [this](const QStringList& jumps, SshUse use, bool patient) { return hop(jumps, use, patient); }),
           std::move(way)};
  return known.lab;
}

void HostPool::connect_anew() {
  hosts_.clear();
  hops_.clear();
}

std::unique_ptr<Launcher> HostPool::launcher(const Host& given, SshLauncher::Reached reached) {
  return std::make_unique<SshLauncher>(host(given), programs_folder_, reached);
}

/// Each jump host as its own lines say, the last of them first; a circle ends where it comes to one again.
HostPool::Way HostPool::way_of(QStringList jumps) {
  Way way;
  QStringList behind;
  const auto is_behind = [&behind](const QString& jump) { return behind.contains(jump); };
  while (!jumps.isEmpty() && std::none_of(jumps.begin(), jumps.end(), is_behind)) {
    const QString last_jump = jumps.takeLast();
    const SshDestination last = *SshDestination::parse(last_jump);
    SshHostConfig config = ssh_config().look_up(last.name, last.user, last.port);
    // As ssh does: the first of them is reached as its own lines say.
    if (!jumps.isEmpty()) {
      config.jumps = jumps;
      config.proxy_command.clear();
    }
    // "Host *" with a ProxyJump speaks of the jump host, too.
    if (config.jumps.contains(last_jump)) config.jumps.clear();
    behind += last_jump;
    jumps = config.jumps;
    way.push_back(std::move(config));
  }
  return way;
}

/// The last of the jump hosts, reached through those before it. Control and files have their own, so that neither waits for the other
/// there.
std::shared_ptr<SshSession> HostPool::hop(const QStringList& jumps, SshUse use, bool patient) {
  return hop(jumps, way_of(jumps), use, patient);
}

std::shared_ptr<SshSession> HostPool::hop(const QStringList& jumps, const Way& way, SshUse use, bool patient) {
  const QString key = jumps.join(',') + (use == SshUse::files ? " files" : " control");
  const Hop& known = hops_[key];
  const bool stands = known.session && known.session->state() != SshSession::State::ended && known.way == way;
  // Who was asked would be asked for each attempt.
  if (stands && (known.session->lets_through() || (patient && known.session->person_asked()))) return known.session;
  const SshHostConfig& config = way.front();
  const Way before(way.begin() + 1, way.end());  // none: it is connected to from here, or it is a circle, and the session says so
  auto session = std::make_shared<SshSession>(config.name, config, SshUse::control, questions_, secrets_,
                                              before.empty() ? nullptr : hop(config.jumps, before, use, patient));
  hops_[key] = {session, way};
  return session;
}

}  // namespace n2nq::app
